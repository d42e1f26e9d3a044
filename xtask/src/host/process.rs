//! The one place that starts other programs.
//!
//! Each child leads a process group of its own, which is ended with the command
//! that started it: on time-out, on Ctrl-C, on drop, and (by the parent-death
//! signal) when we are killed.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::error::{Error, Result};
use crate::host::signals;

/// The longest that a user may have anything waited for, a week, in seconds: limits are added
/// up, and far above it there is no sum.
pub const LONGEST: u64 = 7 * 24 * 60 * 60;

/// A program to run with its arguments and surroundings.
#[derive(Clone, Debug)]
pub struct Cmd {
    program: OsString,
    args: Vec<OsString>,
    env: Vec<(OsString, Option<OsString>)>,
    cwd: Option<PathBuf>,
    stdin: Option<Vec<u8>>,
    hold_stdin: bool,
    timeout: Option<Duration>,
    hint: Option<String>,
    talk: bool,
}

/// What a program left behind.
#[derive(Debug)]
pub struct Output {
    /// Exit code, or 128 + signal number as shells count it.
    pub code: i32,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
    /// Ended by us because its time was up.
    pub timed_out: bool,
}

impl Output {
    /// Whether it ended with code 0.
    #[must_use]
    pub fn ok(&self) -> bool {
        self.code == 0
    }
    /// Standard output as text, without the last line end.
    #[must_use]
    pub fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.stdout);
        text.strip_suffix('\n').unwrap_or(&text).to_owned()
    }
}

/// Which of a child's outputs a line came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

impl Cmd {
    /// A program by name (found on PATH) or path.
    pub fn new(program: impl AsRef<OsStr>) -> Cmd {
        Cmd {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: None,
            stdin: None,
            hold_stdin: false,
            timeout: None,
            hint: None,
            talk: false,
        }
    }
    /// Lets it talk to the user by itself: its standard error is ours.
    #[must_use]
    pub fn talk(mut self) -> Cmd {
        self.talk = true;
        self
    }
    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Cmd {
        self.args.push(arg.as_ref().to_owned());
        self
    }
    /// Adds arguments.
    #[must_use]
    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Cmd {
        self.args.extend(args.into_iter().map(|a| a.as_ref().to_owned()));
        self
    }
    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, key: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Cmd {
        self.env.push((key.as_ref().to_owned(), Some(value.as_ref().to_owned())));
        self
    }
    /// Takes a variable out of the child's environment.
    #[must_use]
    pub fn env_remove(mut self, key: impl AsRef<OsStr>) -> Cmd {
        self.env.push((key.as_ref().to_owned(), None));
        self
    }
    /// The folder it runs in.
    #[must_use]
    pub fn cwd(mut self, dir: &Path) -> Cmd {
        self.cwd = Some(dir.to_owned());
        self
    }
    /// What it reads; without it standard input is empty.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Cmd {
        self.stdin = Some(bytes.into());
        self
    }
    /// Keeps its standard input open and empty for as long as it is watched: the
    /// pipe closes when we end, however we end, and grandchildren can wait for that.
    #[must_use]
    pub fn stdin_held(mut self) -> Cmd {
        self.hold_stdin = true;
        self
    }
    /// Ends it after this time.
    #[must_use]
    pub fn timeout(mut self, time: Duration) -> Cmd {
        self.timeout = Some(time);
        self
    }
    /// What to do when the program is not there ("apt-get install …").
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Cmd {
        self.hint = Some(hint.into());
        self
    }

    /// The command as a shell would take it.
    #[must_use]
    pub fn display(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.args);
        shell_words::join(words.map(|w| w.to_string_lossy()))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        for (key, value) in &self.env {
            match value {
                Some(value) => command.env(key, value),
                None => command.env_remove(key),
            };
        }
        if let Some(dir) = &self.cwd {
            command.current_dir(dir);
        }
        command
    }

    /// Starts it with piped outputs.
    ///
    /// # Errors
    /// When the program is missing or cannot be started.
    pub fn spawn(&self) -> Result<Running> {
        let mut command = self.command();
        let piped = self.stdin.is_some() || self.hold_stdin;
        command.stdin(if piped { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped());
        command.stderr(if self.talk { Stdio::inherit() } else { Stdio::piped() });
        command.process_group(0);
        let parent = nix::unistd::getpid();
        // SAFETY: between fork and exec only async-signal-safe calls are made
        // (prctl, getppid); nothing allocates or takes a lock.
        #[allow(unsafe_code)]
        unsafe {
            command.pre_exec(move || {
                nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
                if nix::unistd::getppid() != parent {
                    return Err(std::io::Error::from(nix::errno::Errno::ESRCH));
                }
                Ok(())
            });
        }
        signals::check()?;
        let mut child = command.spawn().map_err(|e| self.spawn_error(&e))?;
        let group = i32::try_from(child.id()).unwrap_or(0);
        signals::register(group);
        if let Some(bytes) = self.stdin.clone()
            && let Some(mut pipe) = child.stdin.take()
        {
            // A child that does not read all of it closes the pipe; its exit
            // code tells whether that was a failure.
            std::thread::spawn(move || {
                let _ = pipe.write_all(&bytes);
            });
        }
        Ok(Running { child, group, ended: None })
    }

    fn spawn_error(&self, e: &std::io::Error) -> Error {
        let name = self.program.to_string_lossy();
        if e.kind() != std::io::ErrorKind::NotFound {
            return Error::host(format!("cannot start {name}")).found(e.to_string());
        }
        if let Some(dir) = self.cwd.as_ref().filter(|d| !d.is_dir()) {
            return Error::host(format!("cannot start {name} in {}", dir.display()))
                .found("no such folder");
        }
        let error = Error::host(format!("{name} is needed for this")).found("it is not on PATH");
        match &self.hint {
            Some(hint) => error.hint(hint.clone()),
            None => error.hint("cargo xtask doctor lists what is missing and how to install it"),
        }
    }

    /// Runs it to its end and gives what it wrote. A non-zero code is no error here.
    ///
    /// # Errors
    /// When it cannot be started, or the user ends it.
    pub fn output(&self) -> Result<Output> {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let (code, timed_out) = self.pump(|stream, line| {
            if stream == Stream::Out { &mut out } else { &mut err }.extend_from_slice(line);
        })?;
        Ok(Output { code, stdout: out, stderr: err, timed_out })
    }

    /// Runs it to its end; a non-zero code is an error with the end of stderr.
    ///
    /// # Errors
    /// As [`Cmd::output`], and when the program fails.
    pub fn run(&self) -> Result<Output> {
        let output = self.output()?;
        if output.ok() {
            return Ok(output);
        }
        Err(self.failure(&output))
    }

    /// The failure of a run that ended with a code other than 0.
    #[must_use]
    pub fn failure(&self, output: &Output) -> Error {
        let how = match (output.timed_out, self.timeout) {
            (true, Some(t)) => format!("was ended after {} s", t.as_secs()),
            _ => format!("ended with code {}", output.code),
        };
        let error = Error::host(format!("`{}` {how}", self.display()));
        let said = tail(if output.stderr.is_empty() { &output.stdout } else { &output.stderr }, 12);
        if said.is_empty() { error.found("it said nothing") } else { error.found(said) }
    }

    /// Runs it to its end and gives each line (with its line end) as it comes;
    /// returns the exit code.
    ///
    /// # Errors
    /// As [`Cmd::output`].
    pub fn stream(&self, on_line: impl FnMut(Stream, &[u8])) -> Result<i32> {
        Ok(self.pump(on_line)?.0)
    }

    /// Runs it on the user's own terminal: it reads and writes what we do, and may
    /// ask questions. What it writes to its standard output goes to our `stream`:
    /// talk has no place among results. Returns the exit code.
    ///
    /// # Errors
    /// When it cannot be started, or the user ends it.
    pub fn on_terminal(&self, stream: Stream) -> Result<i32> {
        let mut command = self.command();
        if self.stdin.is_some() {
            command.stdin(Stdio::piped());
        }
        if stream == Stream::Err {
            command.stdout(std::io::stderr());
        }
        signals::check()?;
        // It stays in our process group: only the terminal's foreground group may
        // read, and Ctrl-C reaches it there.
        let mut child = command.spawn().map_err(|e| self.spawn_error(&e))?;
        if let (Some(bytes), Some(mut pipe)) = (self.stdin.clone(), child.stdin.take()) {
            std::thread::spawn(move || {
                let _ = pipe.write_all(&bytes);
            });
        }
        let status = child.wait().map_err(|e| wait_error(&e))?;
        signals::check()?;
        Ok(code_of(status))
    }

    fn pump(&self, mut on_line: impl FnMut(Stream, &[u8])) -> Result<(i32, bool)> {
        let mut running = self.spawn()?;
        let (tx, rx) = mpsc::sync_channel::<(Stream, Vec<u8>)>(1024);
        for (stream, pipe) in running.take_outputs() {
            let tx = tx.clone();
            std::thread::spawn(move || read_lines(pipe, stream, &tx));
        }
        drop(tx);
        let end = self.timeout.map(|t| Instant::now() + t);
        let mut timed_out = false;
        loop {
            match rx.recv_timeout(Duration::from_millis(100)) {
                Ok((stream, line)) => on_line(stream, &line),
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                // A daemon that inherited the pipe must not hold us for ever.
                Err(mpsc::RecvTimeoutError::Timeout) if running.try_wait()?.is_some() => {
                    while let Ok((stream, line)) = rx.recv_timeout(Duration::from_millis(200)) {
                        on_line(stream, &line);
                    }
                    break;
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
            if !timed_out && end.is_some_and(|end| Instant::now() >= end) {
                timed_out = true;
                running.kill();
            }
        }
        let status = running.wait()?;
        signals::check()?;
        Ok((code_of(status), timed_out))
    }
}

/// A started child and its process group.
#[derive(Debug)]
pub struct Running {
    child: Child,
    group: i32,
    ended: Option<ExitStatus>,
}

impl Running {
    /// The process id, which is the group's id too.
    #[must_use]
    pub fn id(&self) -> i32 {
        self.group
    }

    /// The pipes from its outputs, once.
    pub fn take_outputs(&mut self) -> Vec<(Stream, Box<dyn Read + Send>)> {
        let mut pipes: Vec<(Stream, Box<dyn Read + Send>)> = Vec::new();
        if let Some(out) = self.child.stdout.take() {
            pipes.push((Stream::Out, Box::new(out)));
        }
        if let Some(err) = self.child.stderr.take() {
            pipes.push((Stream::Err, Box::new(err)));
        }
        pipes
    }

    /// Its end, if it has come.
    ///
    /// # Errors
    /// When the system cannot say.
    pub fn try_wait(&mut self) -> Result<Option<ExitStatus>> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().map_err(|e| wait_error(&e))?;
        }
        Ok(self.ended)
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// When the system cannot say.
    pub fn wait(&mut self) -> Result<ExitStatus> {
        if let Some(status) = self.ended {
            return Ok(status);
        }
        let status = self.child.wait().map_err(|e| wait_error(&e))?;
        self.ended = Some(status);
        signals::unregister(self.group);
        Ok(status)
    }

    /// Ends the whole group at once.
    pub fn kill(&mut self) {
        let _ = killpg(Pid::from_raw(self.group), Signal::SIGKILL);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The leader may have gone and left group members behind.
        self.kill();
        let _ = self.child.wait();
        signals::unregister(self.group);
    }
}

fn wait_error(e: &std::io::Error) -> Error {
    Error::host("cannot wait for a child process").found(e.to_string())
}

/// Exit code, or 128 + signal number as shells count it.
#[must_use]
pub fn code_of(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

fn read_lines(pipe: impl Read, stream: Stream, tx: &mpsc::SyncSender<(Stream, Vec<u8>)>) {
    let mut pipe = BufReader::new(pipe);
    loop {
        // A line without an end must not fill the memory: long ones come in pieces.
        let mut line = Vec::new();
        match pipe.by_ref().take(1 << 20).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                if tx.send((stream, line)).is_err() {
                    return;
                }
            }
        }
    }
}

/// The last `lines` lines of an output, as text.
#[must_use]
pub fn tail(bytes: &[u8], lines: usize) -> String {
    let text = String::from_utf8_lossy(bytes);
    let all: Vec<&str> = text.lines().collect();
    all.iter().skip(all.len().saturating_sub(lines)).copied().collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    fn sh(script: &str) -> Cmd {
        Cmd::new("sh").arg("-c").arg(script)
    }

    #[test]
    fn codes_and_outputs() {
        let o = sh("echo out; echo err >&2; exit 3").output().unwrap();
        assert_eq!((o.code, o.text().as_str(), o.stderr.as_slice()), (3, "out", &b"err\n"[..]));
        assert_eq!(sh("kill -9 $$").output().unwrap().code, 137);
        assert_eq!(Cmd::new("cat").stdin("hi").output().unwrap().stdout, b"hi");
    }

    #[test]
    fn a_time_out_ends_the_whole_group() {
        let begun = Instant::now();
        let o = sh("sleep 60 & sleep 60").timeout(Duration::from_millis(200)).output().unwrap();
        assert!(o.timed_out && begun.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn a_background_child_does_not_hold_us() {
        let begun = Instant::now();
        assert_eq!(sh("sleep 60 & echo x").output().unwrap().text(), "x");
        assert!(begun.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn a_missing_program_is_the_hosts_lack() {
        let e = Cmd::new("no-such-program-here").hint("install it").run().unwrap_err();
        assert_eq!(e.kind(), Kind::Host);
        assert_eq!(e.hints(), ["install it"]);
    }
}
