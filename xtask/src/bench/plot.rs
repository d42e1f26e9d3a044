//! A figure's boots as a picture: in the order in which they were, so that a drift of the
//! host, an outlier and a difference are all seen at once. SVG, without a bitmap or a font.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::kept::{Boot, Compared, Kept, Measured};
use super::{Side, figures, number};
use crate::error::{Error, Result};
use crate::series::model::{Figure, FigureKind};

const SIZE: (u32, u32) = (760, 420);

/// Colours that readers who see fewer tell apart as well (Okabe and Ito 2002).
fn colour(side: Side) -> RGBColor {
    match side {
        Side::Baseline => RGBColor(0, 114, 178),
        Side::Patched => RGBColor(213, 94, 0),
    }
}

/// The picture of a figure, as SVG.
///
/// # Errors
/// When it cannot be drawn.
pub fn svg(kept: &Kept, bench: &Measured, figure: &Compared) -> Result<String> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        draw(&area, kept, bench, figure).map_err(|e| {
            Error::host(format!("draw {} of {}", figure.label, bench.name)).found(e.to_string())
        })?;
    }
    Ok(text)
}

/// A name for its file.
#[must_use]
pub fn file_name(bench: &str, label: &str) -> String {
    let word: String = label
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
        .take(60)
        .collect();
    let parts: Vec<&str> = word.split('-').filter(|p| !p.is_empty()).collect();
    format!("{bench}-{}.svg", if parts.is_empty() { "figure".into() } else { parts.join("-") })
}

type Drawn<'a, T> =
    std::result::Result<T, DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;

fn draw<'a>(
    area: &DrawingArea<SVGBackend<'a>, Shift>,
    kept: &Kept,
    bench: &Measured,
    figure: &Compared,
) -> Drawn<'a, ()> {
    area.fill(&WHITE)?;
    let (low, high) = range(figure);
    let last = bench.boots.len().max(1);
    let emulated =
        if kept.emulated && figure.kind == FigureKind::Time { ", of an emulator" } else { "" };
    let title = format!("{}: {}{emulated}", bench.name, figure.label);
    let subtitle = format!(
        "{} on {}, {}, {}: {}, {}",
        kept.series,
        kept.base,
        kept.arch,
        kept.machine.accelerator,
        figure.change(),
        figure.verdict
    );
    let area = area.titled(&title, ("sans-serif", 20))?.titled(&subtitle, ("sans-serif", 14))?;
    let mut chart = ChartBuilder::on(&area)
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(84)
        .build_cartesian_2d(0.5..last as f64 + 0.5, low..high)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc("boot")
        .y_desc(if figure.unit.is_empty() { &figure.label } else { &figure.unit })
        .x_labels(last.min(20))
        .x_label_formatter(&|x| format!("{x:.0}"))
        .y_label_formatter(&|y| number::plain(*y))
        .draw()?;
    for side in Side::BOTH {
        let style = colour(side);
        let sample = match side {
            Side::Baseline => &figure.baseline,
            Side::Patched => &figure.patched,
        };
        let ends = [(0.5, sample.mean), (last as f64 + 0.5, sample.mean)];
        chart.draw_series(LineSeries::new(ends, style.stroke_width(1)))?;
        let points = points(bench, figure, side);
        let label = format!("{} ({})", kept.name(side), number::spread(sample.mean, sample.sd));
        chart
            .draw_series(points.iter().map(|(x, y)| Circle::new((*x, *y), 5, style.filled())))?
            .label(label)
            .legend(move |(x, y)| Circle::new((x + 8, y), 5, style.filled()));
        // A ring around what stands apart.
        let apart = sample.outliers.iter().filter_map(|i| points.get(*i));
        chart.draw_series(apart.map(|(x, y)| Circle::new((*x, *y), 9, BLACK.stroke_width(1))))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.3))
        .label_font(("sans-serif", 13))
        .draw()?;
    area.present()
}

/// Number of the boot and its value.
fn points(bench: &Measured, figure: &Compared, side: Side) -> Vec<(f64, f64)> {
    let key = Figure {
        label: figure.label.clone(),
        unit: figure.unit.clone(),
        better: figure.better,
        kind: figure.kind,
    };
    let of_it = |(i, boot): (usize, &Boot)| {
        let value = figures::of_boots(&key, std::iter::once(&boot.values)).first().copied()?;
        (boot.side == side).then_some(((i + 1) as f64, value))
    };
    bench.boots.iter().enumerate().filter_map(of_it).collect()
}

/// What the vertical axis shows: all values, and room around them.
fn range(figure: &Compared) -> (f64, f64) {
    let low = figure.baseline.min.min(figure.patched.min);
    let high = figure.baseline.max.max(figure.patched.max);
    let room = match (high - low) * 0.15 {
        room if room > 0.0 => room,
        _ => (high.abs() * 0.1).max(f64::MIN_POSITIVE.sqrt()),
    };
    // More above: the legend is there.
    (low - room, high + 2.0 * room)
}

#[cfg(test)]
mod tests {
    use super::super::kept::tests::{kept, usual};
    use super::*;

    #[test]
    fn a_picture_has_every_boot() {
        let kept = usual(true);
        let bench = &kept.benches[0];
        let text = svg(&kept, bench, &bench.figures[0]).unwrap();
        assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"));
        // Ten boots, and the two of the legend.
        assert_eq!(text.matches("<circle").count(), 12, "{text}");
        for what in ["stream: rate, of an emulator", "MB/s", "baseline (99.80 ± 1.04)", "patched"]
        {
            assert!(text.contains(what), "{what}: {text}");
        }
        let text = svg(&kept, bench, &bench.figures[1]).unwrap();
        assert!(text.contains("better") && !text.contains("of an emulator"));
    }

    #[test]
    fn odd_values_are_drawn_too() {
        for values in [[0.0; 4], [1e100, -1e100, 0.0, 1.0], [5.0; 4], [1e-300, 2e-300, 1e-300, 0.0]]
        {
            let values: Vec<_> =
                values.iter().enumerate().map(|(i, v)| (Side::BOTH[i % 2], *v, *v)).collect();
            let mut kept = kept(&values, false);
            kept.benches[0].figures[0].label = "<a & \"b\">".into();
            let bench = &kept.benches[0];
            let text = svg(&kept, bench, &bench.figures[0]).unwrap();
            assert!(text.contains("&lt;a &amp;"), "{text}");
        }
    }

    #[test]
    fn names_of_files() {
        assert_eq!(file_name("b", "CPU time per MB"), "b-cpu-time-per-mb.svg");
        assert_eq!(file_name("b", "→ / …"), "b-figure.svg");
    }
}
