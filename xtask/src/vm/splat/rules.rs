//! The head lines of splats, from 5.10 to 7.3 and for x86 and arm64.

use serde::Serialize;

/// What a splat is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// `Kernel panic - not syncing`.
    Panic,
    /// A fault in the kernel: NULL dereference, protection fault, invalid opcode.
    Oops,
    /// `kernel BUG at`, and any other line that begins with `BUG:`.
    Bug,
    /// Use after free or out of bounds, by KASAN.
    Kasan,
    /// A data race, by KCSAN.
    Kcsan,
    /// Memory errors by KFENCE or KMSAN.
    Kfence,
    /// Undefined behaviour, by UBSAN.
    Ubsan,
    /// Sleeping, or scheduling, where it is forbidden.
    AtomicSleep,
    /// Locking that can deadlock, by lockdep.
    Lockdep,
    /// RCU used without its protection.
    RcuUsage,
    /// An RCU grace period that does not end.
    RcuStall,
    /// A task that does not run on.
    HungTask,
    /// A CPU that does not get on.
    Lockup,
    /// `WARNING:`.
    Warning,
    /// Memory ran out.
    Memory,
    /// Objects that were not freed: kmemleak, a net device that is held.
    Leak,
    /// An interrupt nobody handled.
    Irq,
    /// A call trace without a head line that is known here.
    Trace,
}

impl Kind {
    /// The word for reports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Kind::Panic => "panic",
            Kind::Oops => "oops",
            Kind::Bug => "bug",
            Kind::Kasan => "kasan",
            Kind::Kcsan => "kcsan",
            Kind::Kfence => "kfence",
            Kind::Ubsan => "ubsan",
            Kind::AtomicSleep => "atomic-sleep",
            Kind::Lockdep => "lockdep",
            Kind::RcuUsage => "rcu-usage",
            Kind::RcuStall => "rcu-stall",
            Kind::HungTask => "hung-task",
            Kind::Lockup => "lockup",
            Kind::Warning => "warning",
            Kind::Memory => "memory",
            Kind::Leak => "leak",
            Kind::Irq => "irq",
            Kind::Trace => "trace",
        }
    }
}

/// What a line must contain to be a head line; the first rule that fits names it.
/// Each is a list of parts that must all be there, in order.
const RULES: &[(&[&str], Kind)] = &[
    (&["Kernel panic - not syncing"], Kind::Panic),
    (&["BUG: KASAN:"], Kind::Kasan),
    (&["BUG: KCSAN:"], Kind::Kcsan),
    (&["BUG: KFENCE:"], Kind::Kfence),
    (&["BUG: KMSAN:"], Kind::Kfence),
    (&["UBSAN:"], Kind::Ubsan),
    (&["BUG: sleeping function called from invalid context"], Kind::AtomicSleep),
    (&["BUG: scheduling while atomic"], Kind::AtomicSleep),
    (&["BUG: using ", "in preemptible"], Kind::AtomicSleep),
    (&["BUG: soft lockup"], Kind::Lockup),
    (&["hard LOCKUP"], Kind::Lockup),
    (&["BUG: workqueue lockup"], Kind::Lockup),
    (&["BUG: spinlock"], Kind::Lockup),
    (&["BUG: rwlock"], Kind::Lockup),
    (&["WARNING: suspicious RCU usage"], Kind::RcuUsage),
    (&["WARNING: possible circular locking dependency"], Kind::Lockdep),
    (&["WARNING: possible recursive locking"], Kind::Lockdep),
    (&["WARNING: possible irq lock inversion"], Kind::Lockdep),
    (&["WARNING: inconsistent lock state"], Kind::Lockdep),
    (&["WARNING: Nested lock was not taken"], Kind::Lockdep),
    (&["WARNING: HARDIRQ-"], Kind::Lockdep),
    (&["WARNING: SOFTIRQ-"], Kind::Lockdep),
    (&["-safe -> ", "-unsafe lock order detected"], Kind::Lockdep),
    (&["WARNING: bad unlock balance"], Kind::Lockdep),
    (&["WARNING: bad contention"], Kind::Lockdep),
    (&["WARNING: lock held when returning to user space"], Kind::Lockdep),
    (&["WARNING: held lock freed"], Kind::Lockdep),
    (&["WARNING: ", "still has locks held"], Kind::Lockdep),
    (&["BUG: Invalid wait context"], Kind::Lockdep),
    (&["BUG: MAX_LOCK"], Kind::Lockdep),
    (&["BUG: held lock freed"], Kind::Lockdep),
    (&["INFO: trying to register non-static key"], Kind::Lockdep),
    (&["WARNING: invalid lock", "context"], Kind::Lockdep),
    (&["rcu", "detected stall"], Kind::RcuStall),
    (&["rcu", "self-detected stall"], Kind::RcuStall),
    (&["rcu", "detected expedited stalls"], Kind::RcuStall),
    (&["rcu", "kthread starved"], Kind::RcuStall),
    (&["blocked for more than ", " seconds"], Kind::HungTask),
    (&["BUG: unable to handle"], Kind::Oops),
    (&["BUG: kernel NULL pointer dereference"], Kind::Oops),
    (&["Unable to handle kernel"], Kind::Oops),
    (&["kernel tried to execute NX-protected page"], Kind::Oops),
    (&["stack guard page was hit"], Kind::Oops),
    (&["kernel stack overflow"], Kind::Oops),
    (&["Insufficient stack space to handle exception"], Kind::Oops),
    (&["Internal error: "], Kind::Oops),
    (&["traps: PANIC: double fault"], Kind::Oops),
    (&["kernel BUG at "], Kind::Bug),
    (&["WARNING: "], Kind::Warning),
    (&["invoked oom-killer"], Kind::Memory),
    (&["page allocation failure"], Kind::Memory),
    (&["Out of memory: Killed process"], Kind::Memory),
    (&["kmemleak: ", "suspected memory leaks"], Kind::Leak),
    (&["unregister_netdevice: waiting for "], Kind::Leak),
    (&["Objects remaining in "], Kind::Leak),
    (&["irq ", ": nobody cared"], Kind::Irq),
];

/// Whether a line, without its stamp, is the head of a splat.
pub(super) fn head(text: &str) -> Option<Kind> {
    if !worth_a_look(text) || is_end(text) {
        return None;
    }
    for (parts, kind) in RULES {
        let mut rest = text;
        let all = parts.iter().all(|part| match rest.find(part) {
            Some(at) => {
                rest = rest.get(at + part.len()..).unwrap_or("");
                true
            }
            None => false,
        });
        if all {
            return Some(*kind);
        }
    }
    if is_die(text) {
        return Some(Kind::Oops);
    }
    if text.trim_start().starts_with("BUG: ") {
        return Some(Kind::Bug);
    }
    None
}

/// A cheap test that every head line passes: most lines of a console do not.
fn worth_a_look(text: &str) -> bool {
    const WORDS: [&str; 20] = [
        "BUG",
        "WARNING",
        "panic",
        "UBSAN",
        "LOCKUP",
        "INFO: ",
        "rcu",
        "blocked for",
        "Unable to",
        "kernel tried",
        "stack",
        "Internal error",
        "PANIC",
        "[#",
        "oom-killer",
        "allocation failure",
        "Out of memory",
        "kmemleak",
        "unregister_netdevice",
        "nobody cared",
    ];
    WORDS.iter().any(|w| text.contains(w))
        || text.contains("Objects remaining")
        || text.contains("lock order")
}

/// `… : 0000 [#1] PREEMPT SMP`: what die() writes of any fault.
fn is_die(text: &str) -> bool {
    text.match_indices("[#").any(|(at, _)| {
        let number = text.get(at + 2..).unwrap_or("");
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        digits > 0 && number.get(digits..).is_some_and(|r| r.starts_with(']'))
    })
}

/// What comes within another splat belongs to it: the fault that a BUG raises,
/// the panic that an Oops leads to.
pub(super) fn follows(kind: Kind) -> bool {
    matches!(kind, Kind::Oops | Kind::Panic | Kind::Trace)
}

/// A call trace; alone it is the sign of a splat whose head line is not known.
pub(super) fn is_trace(text: &str) -> bool {
    let text = text.trim();
    text == "Call Trace:" || text == "Call trace:" || text.starts_with("Call Trace: ")
}

/// The last line of a splat.
pub(super) fn is_end(text: &str) -> bool {
    text.contains("---[ end trace") || text.contains("---[ end Kernel panic")
}
