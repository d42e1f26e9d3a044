//! Ctrl-C and termination: children end with us, and nothing stays half-written.
//!
//! A thread waits for the signals. On the first it raises a flag and ends the
//! registered process groups; the work then fails at its next [`check`] and its
//! clean-up runs as for any failure. A second signal, or five seconds without an
//! end, exits at once; so does the first one while something runs that cannot be
//! stopped and leaves nothing behind ([`at_once`]).

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::error::{Error, Kind, Result};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// How many run that may be cut off.
static CUTTABLE: AtomicUsize = AtomicUsize::new(0);
static GROUPS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Begins to listen for SIGINT, SIGTERM and SIGHUP. `say` tells of an end that no
/// one else can tell of.
///
/// # Errors
/// When the handlers cannot be registered.
pub fn install(say: impl Fn(&Error) + Clone + Send + 'static) -> Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|e| Error::host("cannot listen for signals").found(e.to_string()))?;
    std::thread::spawn(move || {
        for _ in signals.forever() {
            if INTERRUPTED.swap(true, Ordering::SeqCst) || CUTTABLE.load(Ordering::SeqCst) > 0 {
                exit(&say);
            }
            end_groups(Signal::SIGTERM);
            let say = say.clone();
            std::thread::spawn(move || {
                std::thread::sleep(Duration::from_secs(2));
                end_groups(Signal::SIGKILL);
                std::thread::sleep(Duration::from_secs(3));
                exit(&say);
            });
        }
    });
    Ok(())
}

/// Ends at once: the work has not come to a [`check`].
fn exit(say: &impl Fn(&Error)) -> ! {
    end_groups(Signal::SIGKILL);
    say(&ended());
    std::process::exit(i32::from(Kind::Interrupted.exit_code()))
}

/// Fails when the user has asked to end; long work calls it between its steps.
///
/// # Errors
/// After the first SIGINT, SIGTERM or SIGHUP.
pub fn check() -> Result<()> {
    if INTERRUPTED.load(Ordering::SeqCst) { Err(ended()) } else { Ok(()) }
}

fn ended() -> Error {
    Error::new(Kind::Interrupted, "ended by the user")
        .hint("nothing was left half-written; run the command again to go on")
}

/// Work that nothing can stop, such as a user's template: until this is dropped, a
/// signal ends the process at once. It must not write anything.
#[derive(Debug)]
pub struct AtOnce(());

/// Begins such work.
///
/// # Errors
/// As [`check`].
pub fn at_once() -> Result<AtOnce> {
    CUTTABLE.fetch_add(1, Ordering::SeqCst);
    let begun = AtOnce(());
    check()?;
    Ok(begun)
}

impl Drop for AtOnce {
    fn drop(&mut self) {
        CUTTABLE.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Registers a child's process group, to be ended with us.
pub fn register(group: i32) {
    if let Ok(mut groups) = GROUPS.lock() {
        groups.insert(group);
    }
}

/// Takes a group that has ended off the list.
pub fn unregister(group: i32) {
    if let Ok(mut groups) = GROUPS.lock() {
        groups.remove(&group);
    }
}

fn end_groups(signal: Signal) {
    if let Ok(groups) = GROUPS.lock() {
        for group in groups.iter() {
            let _ = killpg(Pid::from_raw(*group), signal);
        }
    }
}
