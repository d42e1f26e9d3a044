//! One guest from its start to its end: listens to all it says, and ends it when
//! it cannot go on. Whatever happens, there is a verdict.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::channel::{Event, RunDir, forward};
use super::console::{Console, Transcript};
use super::ktap::{self, Seen};
use super::machine::{CONSOLE, CTL, KTAP, QMP};
use super::qmp::{Monitor, Told};
use super::request::Limits;
use super::splat::Scanner;
use super::verdict::Verdict;
use crate::error::{IoContext as _, Result};
use crate::host::process::{Cmd, Running, Stream, code_of};
use crate::host::signals;

/// Bytes of the emulator's own words that are kept.
const MAX_SAID: usize = 16 << 10;

/// What is told while a guest runs.
#[derive(Debug)]
pub enum Progress<'p> {
    /// The agent has spoken.
    Booted {
        /// Seconds since the start.
        seconds: f64,
        /// The kernel's release.
        release: &'p str,
    },
    /// A test begins.
    Begin(&'p str),
    /// A result line has come.
    Seen(&'p Seen),
}

/// How the session is set up.
#[derive(Debug)]
pub(super) struct Setup<'s> {
    pub cmd: &'s Cmd,
    pub run: &'s RunDir,
    /// Where `console.log` and `ktap.log` are written.
    pub output: &'s Path,
    pub limits: Limits,
    pub total: Duration,
    pub scanner: Scanner,
    /// The program's own output on which the console comes, if not on a socket.
    pub console_on: Option<Stream>,
}

/// What a session leaves behind.
#[derive(Debug)]
pub(super) struct Outcome {
    pub verdict: Verdict,
    pub document: ktap::Document,
    pub transcript: Transcript,
    pub release: Option<String>,
    pub boot_seconds: Option<f64>,
    /// Seconds each test took, by its place in the plan.
    pub times: BTreeMap<usize, f64>,
    /// The test that was running at the end.
    pub running: Option<String>,
    pub seconds: f64,
    /// The CPUs' registers, of a guest that hung.
    pub registers: Option<String>,
}

struct Session<'s> {
    setup: &'s Setup<'s>,
    begun: Instant,
    console: Console,
    results: File,
    result_bytes: u64,
    parser: ktap::Parser,
    monitor: Monitor,
    ctl: Vec<u8>,
    said: Vec<u8>,
    /// Any sign of life; of the agent alone.
    last_sign: Instant,
    last_beat: Instant,
    release: Option<String>,
    boot: Option<Duration>,
    bye: Option<String>,
    panic_at: Option<Instant>,
    bye_at: Option<Instant>,
    closed_at: Option<Instant>,
    shutdown: Option<String>,
    registers: Option<String>,
    running: Option<(usize, String)>,
    times: BTreeMap<usize, f64>,
}

/// Runs the command and everything it starts to an end.
///
/// # Errors
/// When it cannot be started, a log cannot be written, or the user ends it.
/// All that goes wrong in the guest is a verdict.
pub(super) fn run(setup: Setup<'_>, tell: &mut dyn FnMut(&Progress<'_>)) -> Result<Outcome> {
    let (tx, rx) = mpsc::sync_channel(64);
    if setup.console_on.is_none() {
        setup.run.listen(CONSOLE, &tx, Event::Console, false)?;
    }
    setup.run.listen(KTAP, &tx, Event::Ktap, false)?;
    setup.run.listen(CTL, &tx, Event::Ctl, false)?;
    setup.run.listen(QMP, &tx, Event::Qmp, true)?;
    let console_path = setup.output.join("console.log");
    let ktap_path = setup.output.join("ktap.log");
    let console = Console::begin(&console_path, setup.scanner.clone())?;
    let results = File::create(&ktap_path).at("create", &ktap_path)?;
    let mut running = setup.cmd.spawn()?;
    for (stream, pipe) in running.take_outputs() {
        let tx = tx.clone();
        let wrap: fn(Vec<u8>) -> Event = match stream {
            stream if setup.console_on == Some(stream) => Event::Console,
            _ => Event::Said,
        };
        std::thread::spawn(move || forward(pipe, &tx, wrap));
    }
    drop(tx);
    let now = Instant::now();
    let mut session = Session {
        setup: &setup,
        begun: now,
        console,
        results,
        result_bytes: 0,
        parser: ktap::Parser::default(),
        monitor: Monitor::default(),
        ctl: Vec::new(),
        said: Vec::new(),
        last_sign: now,
        last_beat: now,
        release: None,
        boot: None,
        bye: None,
        panic_at: None,
        bye_at: None,
        closed_at: None,
        shutdown: None,
        registers: None,
        running: None,
        times: BTreeMap::new(),
    };
    let ended = session.listen(&mut running, &rx, tell)?;
    let code = code_of(running.wait()?);
    signals::check()?;
    session.finish(ended, code)
}

impl Session<'_> {
    /// Listens until the emulator ends (nothing), or has to be ended (why).
    fn listen(
        &mut self,
        running: &mut Running,
        rx: &mpsc::Receiver<Event>,
        tell: &mut dyn FnMut(&Progress<'_>),
    ) -> Result<Option<Verdict>> {
        loop {
            match rx.recv_timeout(Duration::from_millis(50)) {
                Ok(event) => self.take(event, tell)?,
                Err(error) => {
                    // All its ends are closed, but it may still run.
                    if error == RecvTimeoutError::Disconnected {
                        std::thread::sleep(Duration::from_millis(20));
                    }
                    if running.try_wait()?.is_some() {
                        // What it wrote last is on its way.
                        while let Ok(event) = rx.recv_timeout(Duration::from_millis(100)) {
                            self.take(event, tell)?;
                        }
                        return Ok(None);
                    }
                }
            }
            signals::check()?;
            if let Some(verdict) = self.overdue() {
                if matches!(verdict, Verdict::Hung { .. } | Verdict::TimedOut { .. }) {
                    self.look_at_cpus(rx, tell)?;
                }
                running.kill();
                return Ok(Some(verdict));
            }
        }
    }

    fn take(&mut self, event: Event, tell: &mut dyn FnMut(&Progress<'_>)) -> Result<()> {
        let now = Instant::now();
        match event {
            Event::Console(bytes) => {
                self.last_sign = now;
                let path = self.setup.output.join("console.log");
                self.console.push(&bytes).at("write", &path)?;
                if self.panic_at.is_none() && self.console.panicked().is_some() {
                    self.panic_at = Some(now);
                }
            }
            Event::Ktap(bytes) => {
                self.last_sign = now;
                self.last_beat = now;
                self.result_bytes += bytes.len() as u64;
                if self.result_bytes <= self.setup.limits.results {
                    let path = self.setup.output.join("ktap.log");
                    self.results.write_all(&bytes).at("write", &path)?;
                    self.parser.push(&bytes, |seen| tell(&Progress::Seen(seen)));
                }
            }
            Event::Ctl(bytes) => {
                self.last_sign = now;
                self.last_beat = now;
                self.ctl.extend(bytes);
                while let Some(at) = memchr::memchr(b'\n', &self.ctl) {
                    let line: Vec<u8> = self.ctl.drain(..=at).collect();
                    self.control(String::from_utf8_lossy(&line).trim_end(), tell);
                }
                // The agent's lines are short: anything else is noise.
                if self.ctl.len() > 1 << 16 {
                    self.ctl.clear();
                }
            }
            Event::QmpOpen(stream) => self.monitor.open(stream),
            Event::Qmp(bytes) => {
                for told in self.monitor.push(&bytes) {
                    match told {
                        Told::Shutdown(reason) => self.shutdown = Some(reason),
                        Told::Port { id, open } if id == "port-ktap" => {
                            self.closed_at = (!open).then_some(now);
                        }
                        Told::Port { .. } => {}
                        Told::Text(text) => self.registers = Some(text),
                    }
                }
            }
            Event::Said(bytes) => {
                self.said.extend(bytes);
                let over = self.said.len().saturating_sub(MAX_SAID);
                self.said.drain(..over);
            }
        }
        Ok(())
    }

    fn control(&mut self, line: &str, tell: &mut dyn FnMut(&Progress<'_>)) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let numbered = || {
            let (number, rest) = rest.split_once(' ')?;
            Some((number.parse::<usize>().ok()?, rest))
        };
        match word {
            "hello" => {
                let release = rest.split(' ').next().unwrap_or("").to_owned();
                let boot = self.begun.elapsed();
                tell(&Progress::Booted { seconds: boot.as_secs_f64(), release: &release });
                self.boot = Some(boot);
                self.release = Some(release);
            }
            "begin" => {
                if let Some((number, name)) = numbered() {
                    tell(&Progress::Begin(name));
                    self.running = Some((number, name.to_owned()));
                }
            }
            "end" => {
                if let Some((number, seconds)) = numbered()
                    && let Ok(seconds) = seconds.parse::<f64>()
                {
                    self.times.insert(number, seconds);
                }
                self.running = None;
            }
            "bye" => {
                self.bye = Some(rest.to_owned());
                self.bye_at = Some(Instant::now());
            }
            _ => {}
        }
    }

    /// Why the guest must be ended now, if it must.
    fn overdue(&self) -> Option<Verdict> {
        let limits = &self.setup.limits;
        let past = |since: Option<Instant>, limit: Duration| {
            since.is_some_and(|since| since.elapsed() > limit)
        };
        if self.console.total() > limits.console {
            return Some(Verdict::ConsoleFlood { bytes: self.console.total() });
        }
        if self.result_bytes > limits.results {
            return Some(Verdict::ResultFlood { bytes: self.result_bytes });
        }
        if past(self.panic_at, limits.grace) {
            return Some(self.panicked());
        }
        if past(self.bye_at, limits.grace) {
            return Some(self.goodbye());
        }
        if self.bye.is_none() && self.panic_at.is_none() && past(self.closed_at, limits.grace) {
            return Some(Verdict::PortClosed);
        }
        if self.bye.is_some() || self.panic_at.is_some() {
            return None;
        }
        let elapsed = self.begun.elapsed();
        let silent = self.last_sign.elapsed();
        if self.boot.is_none() && elapsed > limits.boot {
            return Some(Verdict::DidNotBoot {
                console: self.console.booted(),
                seconds: elapsed.as_secs(),
            });
        }
        // What starts a guest has work to do before the kernel's first word.
        let begun = self.console.total() > 0 || self.boot.is_some();
        if silent > if begun { limits.silence } else { limits.silence * 2 } {
            return Some(match (self.boot, self.console.total()) {
                (None, 0) => Verdict::DidNotBoot { console: false, seconds: silent.as_secs() },
                _ => Verdict::Hung { seconds: silent.as_secs() },
            });
        }
        // A kernel that goes on complaining is no sign that the agent lives.
        if self.boot.is_some() && self.last_beat.elapsed() > limits.silence * 2 {
            return Some(Verdict::Hung { seconds: self.last_beat.elapsed().as_secs() });
        }
        (elapsed > self.setup.total).then_some(Verdict::TimedOut { seconds: elapsed.as_secs() })
    }

    /// Where do the CPUs of a hung guest stand?
    fn look_at_cpus(
        &mut self,
        rx: &mpsc::Receiver<Event>,
        tell: &mut dyn FnMut(&Progress<'_>),
    ) -> Result<()> {
        self.monitor.ask_registers();
        let end = Instant::now() + Duration::from_secs(2);
        while self.registers.is_none() && Instant::now() < end {
            match rx.recv_timeout(Duration::from_millis(100)) {
                Ok(event) => self.take(event, tell)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        Ok(())
    }

    fn panicked(&self) -> Verdict {
        Verdict::Panicked { message: self.console.panicked().unwrap_or("").to_owned() }
    }

    fn goodbye(&self) -> Verdict {
        match self.bye.as_deref() {
            Some("done") => Verdict::Completed,
            Some("no-port") => Verdict::NoPort,
            Some("stuck") => Verdict::Stuck,
            _ => Verdict::GaveUp,
        }
    }

    /// The emulator has ended by itself.
    fn exited(&self, code: i32) -> Verdict {
        if self.panic_at.is_some() {
            return self.panicked();
        }
        if self.bye.is_some() {
            return self.goodbye();
        }
        if self.console.no_port() {
            return Verdict::NoPort;
        }
        if code != 0 {
            let said = String::from_utf8_lossy(&self.said);
            let lines: Vec<&str> = said.lines().rev().take(3).collect();
            let said = lines.into_iter().rev().collect::<Vec<_>>().join(" / ");
            // Above the signals it is a code: virtme-ng's 255 for whatever went wrong.
            let how = if (129..=192).contains(&code) {
                format!("was ended by signal {}", code - 128)
            } else {
                format!("ended with code {code}")
            };
            return Verdict::EmulatorDied { how, said };
        }
        match self.shutdown.as_deref() {
            Some("guest-reset") => Verdict::Rebooted,
            Some(reason) => Verdict::Vanished { reason: reason.to_owned() },
            None => Verdict::Vanished { reason: "no reason told".into() },
        }
    }

    fn finish(self, ended: Option<Verdict>, code: i32) -> Result<Outcome> {
        let verdict = ended.unwrap_or_else(|| self.exited(code));
        let path = self.setup.output.join("console.log");
        let mut console = self.console;
        if let Some(registers) = &self.registers {
            let text = format!("\n[the CPUs when the guest was ended]\n{registers}\n");
            console.append(text.as_bytes());
        }
        let transcript = console.finish().at("write", &path)?;
        Ok(Outcome {
            verdict,
            document: self.parser.finish(),
            transcript,
            release: self.release,
            boot_seconds: self.boot.map(|b| b.as_secs_f64()),
            times: self.times,
            running: self.running.map(|(_, name)| name),
            seconds: self.begun.elapsed().as_secs_f64(),
            registers: self.registers,
        })
    }
}

#[cfg(test)]
mod tests;
