//! Which base a command works on when none was named, and why that one.

use crate::cli::Ctx;
use crate::error::Result;
use crate::tree::known::Known;
use crate::tree::{self, Base, Origin, Store};

/// A base, and the reason it was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What to resolve.
    pub spec: String,
    /// Why, for a line of talk.
    pub reason: String,
}

/// The base of that name; without one, the user's default, else the first of
/// `bases` (what the series names) that is at hand, else the first of them that a
/// distribution has as a package. Says which, where it was not named.
///
/// # Errors
/// When it cannot be had.
pub fn resolve(ctx: &Ctx, store: &Store, named: Option<&str>, bases: &[String]) -> Result<Base> {
    let spec = match named {
        Some(spec) => spec.to_owned(),
        None => {
            let known = Known::load(&ctx.dirs)?;
            let at_hand = |spec: &str| match tree::lookup(&ctx.ui, &ctx.dirs, store, spec) {
                Ok(base) => base.is_some(),
                Err(e) => {
                    ctx.ui.warn(&format!(
                        "of the series' bases, {} is left out: {e}",
                        spec.escape_debug()
                    ));
                    false
                }
            };
            let choice = choose(&known, bases, at_hand);
            ctx.ui.note(&format!("base {}: {}", choice.spec, choice.reason));
            choice.spec
        }
    };
    tree::resolve(&ctx.ui, &ctx.dirs, store, &spec)
}

/// The choice without a named base; `at_hand` tells whether a base need not be
/// fetched.
fn choose(known: &Known, bases: &[String], at_hand: impl Fn(&str) -> bool) -> Choice {
    if let Some(spec) = known.default_base() {
        let reason = "the default of the user's bases.toml".to_owned();
        return Choice { spec: spec.to_owned(), reason };
    }
    if let Some(spec) = bases.iter().find(|b| at_hand(b)) {
        let reason = "the first of the series' bases that is at hand".to_owned();
        return Choice { spec: spec.clone(), reason };
    }
    let packaged = |name: &&str| matches!(known.get(name), Some(Origin::Debian { .. }));
    let spec = bases.iter().map(String::as_str).find(packaged).unwrap_or("6.12").to_owned();
    Choice { spec, reason: "a distribution's kernel source, since none is at hand".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_at_hand_then_the_first_package() {
        let known = Known::embedded().unwrap();
        let bases: Vec<String> = ["net-next", "6.1", "6.12"].map(String::from).to_vec();
        assert_eq!(choose(&known, &bases, |b| b == "6.12").spec, "6.12");
        assert_eq!(choose(&known, &bases, |_| true).spec, "net-next");
        assert_eq!(choose(&known, &bases, |_| false).spec, "6.1");
        assert_eq!(choose(&known, &[], |_| false).spec, "6.12");
    }
}
