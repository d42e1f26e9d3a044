//! The machine that measures: what it is, and whether it had anything else to do.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How long it is watched before each boot.
const WATCH: Duration = Duration::from_millis(500);
/// Busy with something else beyond this part, a result is warned of.
const BUSY: f64 = 0.1;

/// What a reader must know of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// The CPU's model.
    pub cpu: String,
    /// CPUs that this process may use.
    pub cpus: usize,
    /// `uname -r`.
    pub kernel: String,
    /// What decides CPU 0's frequency; nothing where that cannot be seen.
    pub governor: Option<String>,
}

impl Host {
    /// This one.
    #[must_use]
    pub fn here() -> Host {
        let uname = nix::sys::utsname::uname();
        let governor = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
        Host {
            cpu: model(&read("/proc/cpuinfo")).unwrap_or_else(|| std::env::consts::ARCH.into()),
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            kernel: uname
                .map_or_else(|_| "unknown".into(), |u| u.release().to_string_lossy().into_owned()),
            governor: Some(read(governor).trim().to_owned()).filter(|g| !g.is_empty()),
        }
    }
}

/// What else it does just before a boot.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// The load average of the last minute; earlier boots are in it.
    pub average: Option<f64>,
    /// The part of its CPUs' time that others took, 0 to 1, while nothing of this run ran.
    pub busy: Option<f64>,
}

impl Load {
    /// Watches for half a second.
    #[must_use]
    pub fn now() -> Load {
        let first = ticks(&read("/proc/stat"));
        std::thread::sleep(WATCH);
        let busy = first.zip(ticks(&read("/proc/stat"))).and_then(|(a, b)| part(a, b));
        let average = read("/proc/loadavg");
        let average = average.split_whitespace().next().and_then(|n| n.parse().ok());
        Load { average: average.filter(|n: &f64| n.is_finite()), busy }
    }
}

/// What to warn of; nothing when the machine was quiet before each boot.
#[must_use]
pub fn disturbed<'l>(loads: impl Iterator<Item = &'l Load>) -> Option<String> {
    let busy: Vec<f64> = loads.filter_map(|l| l.busy).collect();
    let loud: Vec<f64> = busy.iter().copied().filter(|b| *b > BUSY).collect();
    let most = loud.iter().copied().fold(0.0, f64::max);
    (!loud.is_empty()).then(|| {
        format!(
            "the host had other work before {} of {} boots (up to {:.0} % of its CPUs): times are \
             less certain than their spread says",
            loud.len(),
            busy.len(),
            most * 100.0
        )
    })
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn model(cpuinfo: &str) -> Option<String> {
    let mut lines = cpuinfo.lines();
    let line = lines.find(|l| l.starts_with("model name") || l.starts_with("CPU part"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// All ticks of `/proc/stat`, and those in which nothing ran.
fn ticks(stat: &str) -> Option<(u64, u64)> {
    let line = stat.lines().find_map(|l| l.strip_prefix("cpu "))?;
    // user nice system idle iowait irq softirq steal; guest time is in the first two.
    let all: Vec<u64> =
        line.split_whitespace().take(8).map(|n| n.parse().ok()).collect::<Option<_>>()?;
    let idle = all.get(3)?.checked_add(*all.get(4)?)?;
    Some((all.iter().try_fold(0u64, |sum, n| sum.checked_add(*n))?, idle))
}

fn part((all, idle): (u64, u64), (all_later, idle_later): (u64, u64)) -> Option<f64> {
    let (all, idle) = (all_later.checked_sub(all)?, idle_later.saturating_sub(idle));
    (all > 0).then(|| 1.0 - idle.min(all) as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_read() {
        let stat = "cpu  100 10 50 800 40 0 0 0 7 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        assert_eq!(ticks(stat), Some((1000, 840)));
        for bad in ["", "cpu  1 2", "cpu  a b c d e", "intr 5"] {
            assert_eq!(ticks(bad), None, "{bad}");
        }
        assert_eq!(part((1000, 840), (1100, 915)), Some(0.25));
        assert_eq!(part((1000, 840), (1000, 840)), None);
    }

    #[test]
    fn only_a_host_with_other_work_is_warned_of() {
        let load = |busy| Load { average: Some(9.0), busy };
        assert_eq!(disturbed([load(Some(0.05)), load(None)].iter()), None);
        let warning = disturbed([load(Some(0.05)), load(Some(0.52))].iter()).unwrap();
        assert!(warning.contains("1 of 2 boots (up to 52 %"), "{warning}");
    }

    #[test]
    fn this_host_is_known() {
        let host = Host::here();
        assert!(!host.cpu.is_empty() && host.cpus > 0);
        assert!(Load::now().busy.is_none_or(|b| (0.0..=1.0).contains(&b)));
        assert_eq!(model("processor : 0\nmodel name\t: A B\n").as_deref(), Some("A B"));
    }
}
