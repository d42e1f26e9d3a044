//! How a guest ended: every way has a name, a sentence, and a mend where
//! there is one.

use serde::Serialize;

/// How a guest ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Verdict {
    /// The agent ran all tests and said goodbye.
    Completed,
    /// The kernel panicked.
    Panicked {
        /// The panic's line.
        message: String,
    },
    /// No sign of life, neither on the console nor from the agent.
    Hung {
        /// For how long.
        seconds: u64,
    },
    /// It lived, but took longer than it was given in all.
    TimedOut {
        /// What it was given.
        seconds: u64,
    },
    /// The agent never spoke within the time for booting.
    DidNotBoot {
        /// The kernel said something on the console.
        console: bool,
        /// The time it was given.
        seconds: u64,
    },
    /// It reset itself before the tests had ended.
    Rebooted,
    /// It ended without a goodbye.
    Vanished {
        /// What QEMU says of why.
        reason: String,
    },
    /// The console wrote more than is reasonable.
    ConsoleFlood {
        /// How much had come.
        bytes: u64,
    },
    /// The tests wrote more results than is reasonable.
    ResultFlood {
        /// How much had come.
        bytes: u64,
    },
    /// The agent's ports were closed while the guest went on: the agent is dead.
    PortClosed,
    /// The kernel has no virtio port for the results.
    NoPort,
    /// A test could not be killed; those after it were not run.
    Stuck,
    /// The agent gave up before the tests.
    GaveUp,
    /// QEMU, or what starts it, died or refused.
    EmulatorDied {
        /// How.
        how: String,
        /// What it said last.
        said: String,
    },
}

impl Verdict {
    /// Whether the results are whole.
    #[must_use]
    pub fn completed(&self) -> bool {
        *self == Verdict::Completed
    }

    /// One sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self {
            Verdict::Completed => "ran to its end".into(),
            Verdict::Panicked { message } => format!("the kernel panicked: {message}"),
            Verdict::Hung { seconds } => format!("hung: no sign of life for {seconds} s"),
            Verdict::TimedOut { seconds } => format!("took longer than {seconds} s in all"),
            Verdict::DidNotBoot { console: true, seconds } => {
                format!("the kernel began to boot, but its init did not speak within {seconds} s")
            }
            Verdict::DidNotBoot { console: false, seconds } => {
                format!("nothing came from the kernel within {seconds} s")
            }
            Verdict::Rebooted => "rebooted before its tests had ended".into(),
            Verdict::Vanished { reason } => format!("vanished without a goodbye ({reason})"),
            Verdict::ConsoleFlood { bytes } => {
                format!("flooded the console ({} MiB)", bytes >> 20)
            }
            Verdict::ResultFlood { bytes } => {
                format!("flooded the result port ({} MiB)", bytes >> 20)
            }
            Verdict::PortClosed => "closed its ports: the agent in it died".into(),
            Verdict::NoPort => "has no virtio port for the results".into(),
            Verdict::Stuck => "a test could not be killed".into(),
            Verdict::GaveUp => "the agent in it gave up".into(),
            Verdict::EmulatorDied { how, said } if said.is_empty() => {
                format!("the emulator {how}, and said nothing")
            }
            Verdict::EmulatorDied { how, said } => format!("the emulator {how}: {said}"),
        }
    }

    /// What may mend it.
    #[must_use]
    pub fn mend(&self) -> Option<&'static str> {
        match self {
            Verdict::DidNotBoot { console: false, .. } => Some(
                "a kernel without a serial console, or for another machine, looks like this; \
                 kconfigs/vm.config has what a guest needs",
            ),
            Verdict::DidNotBoot { console: true, .. } => {
                Some("console.log says how far it came; --timeout gives it more time")
            }
            Verdict::NoPort => Some("set CONFIG_VIRTIO_CONSOLE=y and CONFIG_VIRTIO_PCI=y"),
            Verdict::TimedOut { .. } => Some("--timeout gives each test more time"),
            Verdict::Hung { .. } => {
                Some("console.log ends where it hung; the CPUs' registers follow")
            }
            _ => None,
        }
    }
}
