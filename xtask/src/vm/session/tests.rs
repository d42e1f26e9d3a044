//! Sessions with a guest that a thread plays: however it behaves, there is a verdict,
//! soon, and nothing is left running.

use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;

use super::*;
use crate::vm::ktap::Status;

/// The guest's end of its sockets.
struct Guest {
    dir: File,
}

impl Guest {
    fn port(&self, name: &str) -> UnixStream {
        let path = format!("/proc/self/fd/{}/{name}", self.dir.as_raw_fd());
        let begun = Instant::now();
        loop {
            match UnixStream::connect(&path) {
                // A socket's file is there as soon as it is bound; it takes
                // connections only once it is listened on.
                Err(e)
                    if e.kind() == std::io::ErrorKind::ConnectionRefused
                        && begun.elapsed() < Duration::from_secs(10) =>
                {
                    std::thread::sleep(Duration::from_millis(2));
                }
                connected => return connected.unwrap(),
            }
        }
    }
}

fn say(port: &mut UnixStream, text: &str) {
    // The session may have ended the "emulator" already.
    let _ = port.write_all(text.as_bytes());
}

/// Runs a session whose emulator is a shell command, and whose guest is `play`.
fn session(emulator: &str, play: impl FnOnce(Guest) + Send + 'static) -> (Outcome, String) {
    session_with(emulator, |_| {}, play)
}

fn session_with(
    emulator: &str,
    change: impl FnOnce(&mut Limits),
    play: impl FnOnce(Guest) + Send + 'static,
) -> (Outcome, String) {
    let out = tempfile::tempdir().unwrap();
    let run = RunDir::new(None).unwrap();
    let dir = File::open(run.path()).unwrap();
    let path = run.path().to_owned();
    let guest = std::thread::spawn(move || {
        while !path.join(QMP).exists() {
            std::thread::sleep(Duration::from_millis(2));
        }
        play(Guest { dir });
    });
    let mut limits = Limits {
        boot: Duration::from_secs(20),
        silence: Duration::from_secs(20),
        grace: Duration::from_millis(300),
        ..Limits::default()
    };
    change(&mut limits);
    let cmd = Cmd::new("sh").args(["-c", emulator]);
    let setup = Setup {
        cmd: &cmd,
        run: &run,
        output: out.path(),
        limits,
        total: limits.total.unwrap_or(Duration::from_secs(20)),
        scanner: Scanner::new(Vec::new()),
        console_on: None,
    };
    let outcome = super::run(setup, &mut |_| {}).unwrap();
    guest.join().unwrap();
    let console = std::fs::read_to_string(out.path().join("console.log")).unwrap();
    (outcome, console)
}

const HELLO: &str = "hello 6.12.1 x86_64\nbegin 0 a\n";
const FOREVER: &str = "exec sleep 60";
/// Gives the guest time to speak before the emulator ends.
const SHORT: &str = "sleep 0.4";

#[test]
fn a_guest_that_does_all_it_should() {
    let (o, console) = session(SHORT, |g| {
        let (mut con, mut ktap, mut ctl) = (g.port(CONSOLE), g.port(KTAP), g.port(CTL));
        say(&mut con, "[    0.000000] Linux version 6.12.1\n");
        say(&mut ctl, HELLO);
        say(&mut ktap, "KTAP version 1\n1..1\nok 1 - a\n");
        say(&mut ctl, "end 0 1.250\nbye done\n");
    });
    assert_eq!(o.verdict, Verdict::Completed);
    assert_eq!(o.document.root.tests[0].status, Status::Pass);
    assert_eq!(
        (o.release.as_deref(), o.times.get(&0), o.running),
        (Some("6.12.1"), Some(&1.25), None)
    );
    assert!(o.transcript.booted && console.contains("Linux version"));
}

#[test]
fn a_guest_that_does_not_power_off_is_ended_and_has_completed() {
    let begun = Instant::now();
    let (o, _) = session(FOREVER, |g| {
        let (mut ktap, mut ctl) = (g.port(KTAP), g.port(CTL));
        say(&mut ktap, "KTAP version 1\n1..1\nok 1 - a\n");
        say(&mut ctl, "hello 1 x\nbye done\n");
        std::thread::sleep(Duration::from_millis(500));
    });
    assert_eq!(o.verdict, Verdict::Completed);
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_panic_names_the_test_that_ran() {
    for emulator in [SHORT, FOREVER] {
        let (o, _) = session(emulator, |g| {
            let (mut con, mut ktap, mut ctl) = (g.port(CONSOLE), g.port(KTAP), g.port(CTL));
            say(&mut ctl, HELLO);
            say(&mut ktap, "KTAP version 1\n1..2\n  ok 1 x\n");
            std::thread::sleep(Duration::from_millis(50));
            say(
                &mut con,
                "[    1.000000] kseries: begin a\n[    1.200000] Kernel panic - not syncing: ouch\n",
            );
            std::thread::sleep(Duration::from_millis(300));
        });
        let message = "Kernel panic - not syncing: ouch".to_owned();
        assert_eq!(o.verdict, Verdict::Panicked { message });
        assert_eq!(o.running.as_deref(), Some("a"));
        assert_eq!(o.transcript.splats[0].test.as_deref(), Some("a"));
    }
}

#[test]
fn a_hung_guest_is_looked_at_and_ended() {
    let silence = |l: &mut Limits| l.silence = Duration::from_millis(400);
    let (o, console) = session_with(FOREVER, silence, |g| {
        let (mut con, mut ctl, mut qmp) = (g.port(CONSOLE), g.port(CTL), g.port(QMP));
        say(&mut con, "Linux version 6\n");
        say(&mut ctl, HELLO);
        std::thread::sleep(Duration::from_millis(700));
        say(&mut qmp, "{\"return\": \"RIP=ffffffff81000000\"}\n");
        std::thread::sleep(Duration::from_millis(100));
    });
    assert!(matches!(o.verdict, Verdict::Hung { .. }), "{:?}", o.verdict);
    assert!(
        console.ends_with("[the CPUs when the guest was ended]\nRIP=ffffffff81000000\n"),
        "{console}"
    );
}

#[test]
fn a_kernel_that_complains_for_ever_is_no_sign_of_the_agent() {
    let silence = |l: &mut Limits| l.silence = Duration::from_millis(300);
    let (o, _) = session_with(FOREVER, silence, |g| {
        let (mut con, mut ctl) = (g.port(CONSOLE), g.port(CTL));
        say(&mut ctl, HELLO);
        for _ in 0..20 {
            say(&mut con, "rcu: INFO: rcu_preempt self-detected stall on CPU\n");
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    assert!(matches!(o.verdict, Verdict::Hung { .. }), "{:?}", o.verdict);
    assert!(!o.transcript.splats.is_empty());
}

#[test]
fn nothing_at_all_is_told_from_a_boot_that_stops() {
    let short = |l: &mut Limits| {
        l.silence = Duration::from_millis(300);
        l.boot = Duration::from_millis(1500);
    };
    let (o, _) = session_with(FOREVER, short, |_| {});
    assert_eq!(o.verdict, Verdict::DidNotBoot { console: false, seconds: 0 });
    let (o, _) = session_with(FOREVER, short, |g| {
        let mut con = g.port(CONSOLE);
        for _ in 0..18 {
            say(&mut con, "Linux version 6\n");
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    assert!(matches!(o.verdict, Verdict::DidNotBoot { console: true, .. }), "{:?}", o.verdict);
}

#[test]
fn a_time_limit_in_all_holds_though_the_guest_lives() {
    let total = |l: &mut Limits| l.total = Some(Duration::from_millis(500));
    let (o, _) = session_with(FOREVER, total, |g| {
        let mut ctl = g.port(CTL);
        say(&mut ctl, HELLO);
        for _ in 0..20 {
            say(&mut ctl, "beat 1.0\n");
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    assert!(matches!(o.verdict, Verdict::TimedOut { .. }), "{:?}", o.verdict);
    assert_eq!(o.running.as_deref(), Some("a"));
}

#[test]
fn floods_are_ended_and_bounded() {
    let bounds = |l: &mut Limits| {
        l.console = 1 << 20;
        l.results = 1 << 20;
    };
    for (port, console) in [(CONSOLE, true), (KTAP, false)] {
        let (o, log) = session_with(FOREVER, bounds, move |g| {
            let mut flood = g.port(port);
            let block = vec![b'x'; 64 << 10];
            while flood.write_all(&block).is_ok() {}
        });
        match o.verdict {
            Verdict::ConsoleFlood { .. } => assert!(console),
            Verdict::ResultFlood { .. } => assert!(!console),
            other => panic!("{other:?}"),
        }
        assert!(log.len() < 4 << 20);
    }
}

#[test]
fn the_emulators_own_end_is_told_from_the_guests() {
    let hello = |g: Guest| {
        say(&mut g.port(CTL), HELLO);
        std::thread::sleep(Duration::from_millis(300));
    };
    let died = |how: &str, said: &str| Verdict::EmulatorDied { how: how.into(), said: said.into() };
    let (o, _) = session("kill -SEGV $$", |_| {});
    assert_eq!(o.verdict, died("was ended by signal 11", ""));
    let (o, _) = session("echo no such machine >&2; exit 1", |_| {});
    assert_eq!(o.verdict, died("ended with code 1", "no such machine"));
    let (o, _) = session(SHORT, hello);
    assert_eq!(o.verdict, Verdict::Vanished { reason: "no reason told".into() });
    for (reason, want) in [
        ("guest-reset", Verdict::Rebooted),
        ("guest-shutdown", Verdict::Vanished { reason: "guest-shutdown".into() }),
    ] {
        let (o, _) = session(SHORT, move |g| {
            say(&mut g.port(CTL), HELLO);
            let event = format!(
                "{{\"event\":\"SHUTDOWN\",\"data\":{{\"guest\":true,\"reason\":\"{reason}\"}}}}\n"
            );
            say(&mut g.port(QMP), &event);
            std::thread::sleep(Duration::from_millis(100));
        });
        assert_eq!(o.verdict, want);
    }
}

#[test]
fn what_the_agent_says_on_leaving_is_heard() {
    for (bye, want) in [
        ("stuck", Verdict::Stuck),
        ("no-port", Verdict::NoPort),
        ("bail", Verdict::GaveUp),
        ("gibberish", Verdict::GaveUp),
    ] {
        let (o, _) = session(SHORT, move |g| {
            say(&mut g.port(CTL), &format!("noise\n{HELLO}\u{1}\nbye {bye}\n"));
            std::thread::sleep(Duration::from_millis(100));
        });
        assert_eq!(o.verdict, want);
    }
    let (o, _) = session(SHORT, |g| {
        say(&mut g.port(CONSOLE), "[    9.000000] kseries: no-port\r\n");
        std::thread::sleep(Duration::from_millis(100));
    });
    assert_eq!(o.verdict, Verdict::NoPort);
}

#[test]
fn a_closed_port_is_noticed() {
    let (o, _) = session(FOREVER, |g| {
        let (mut ctl, mut qmp) = (g.port(CTL), g.port(QMP));
        say(&mut ctl, HELLO);
        say(
            &mut qmp,
            "{\"event\":\"VSERPORT_CHANGE\",\"data\":{\"open\":false,\"id\":\"port-ktap\"}}\n",
        );
        std::thread::sleep(Duration::from_millis(700));
    });
    assert_eq!(o.verdict, Verdict::PortClosed);
}

#[test]
fn nothing_is_left_running() {
    let t = tempfile::tempdir().unwrap();
    let pid = t.path().join("pid");
    let emulator = format!("sleep 300 & echo $! > {}; exec sleep 300", pid.display());
    let short = |l: &mut Limits| l.silence = Duration::from_millis(500);
    session_with(&emulator, short, |_| {});
    let pid: i32 = std::fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
    // Killed with its group; it may take a moment to be reaped.
    let gone = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.is_empty() || stat.contains(") Z ")
    });
    assert!(gone, "process {pid} is still there");
}
