//! A real SMTP server on this machine, on a port of its own, that keeps what it
//! is given.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::cli::Ctx;
use crate::error::{Error, IoContext as _, Result};
use crate::host::process::{Cmd, Running};
use crate::host::setup::{self, PythonTool};
use crate::mail::{self, Mail};

/// The server.
pub(super) const AIOSMTPD: PythonTool =
    PythonTool { package: "aiosmtpd", program: "aiosmtpd", version: "1.4.6" };
/// How long it may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// The running server; it ends with this.
pub(super) struct MailServer {
    _running: Running,
    folder: PathBuf,
    port: u16,
}

/// A mail that came in.
pub(super) struct Arrived {
    /// To whom the envelope said it should go.
    pub to: Vec<String>,
    /// The mail.
    pub bytes: Vec<u8>,
}

impl MailServer {
    /// Starts it; what comes in is kept below `folder`.
    ///
    /// # Errors
    /// When it cannot be installed, or does not answer.
    pub fn start(ctx: &Ctx, folder: &Path) -> Result<MailServer> {
        let program = setup::ensure_python(&ctx.ui, &ctx.dirs, AIOSMTPD)?;
        let port = free_port()?;
        let mut running = Cmd::new(program)
            .args(["--nosetuid", "--listen", &format!("127.0.0.1:{port}")])
            .args(["--class", "aiosmtpd.handlers.Mailbox"])
            .arg(folder.join("mails"))
            .spawn()?;
        for (_, mut pipe) in running.take_outputs() {
            std::thread::spawn(move || std::io::copy(&mut pipe, &mut std::io::sink()));
        }
        let end = Instant::now() + PATIENCE;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let ended = running.try_wait()?;
            if ended.is_some() || Instant::now() > end {
                return Err(Error::host("start a mail server on 127.0.0.1").found(
                    ended.map_or("it does not answer".into(), |s| format!("it ended: {s}")),
                ));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(MailServer { _running: running, folder: folder.to_owned(), port })
    }

    /// git's configuration that sends there and nowhere else.
    pub fn git_config(&self) -> String {
        format!(
            "[sendemail]\n\tsmtpServer = 127.0.0.1\n\tsmtpServerPort = {}\n\tsmtpEncryption = none\n\
             [user]\n\tname = CI\n\temail = ci@localhost\n",
            self.port
        )
    }

    /// What has come in, in order, and forgets it.
    ///
    /// # Errors
    /// When its folder cannot be read.
    pub fn take(&self) -> Result<Vec<Arrived>> {
        let new = self.folder.join("mails").join("new");
        let mut files = Vec::new();
        let entries = match std::fs::read_dir(&new) {
            Ok(entries) => entries,
            // The folder comes with the first mail.
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(e).at("read", &new),
        };
        for entry in entries {
            let path = entry.at("read", &new)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // `SECONDS.MmicrosecondsPpidQnumber.host`: the number counts deliveries.
            let number = name.split_once('Q').and_then(|(_, n)| n.split('.').next()?.parse().ok());
            files.push((number.unwrap_or(u64::MAX), path));
        }
        files.sort();
        let mut arrived = Vec::new();
        for (_, path) in files {
            let bytes = std::fs::read(&path).at("read", &path)?;
            std::fs::remove_file(&path).at("remove", &path)?;
            arrived.push(Arrived { to: envelope(&bytes), bytes });
        }
        Ok(arrived)
    }
}

/// A port that nobody listens on. Another program may take it before the server
/// does; then the server ends, and says so.
fn free_port() -> Result<u16> {
    TcpListener::bind(("127.0.0.1", 0))
        .and_then(|l| l.local_addr())
        .map(|a| a.port())
        .map_err(|e| Error::host("find a free port on 127.0.0.1").found(e.to_string()))
}

/// The server's own header with the addresses of the envelope.
fn envelope(mail: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(mail);
    let head = text.split("\n\n").next().unwrap_or_default();
    let line = head.lines().find_map(|l| l.strip_prefix("X-RcptTo: ")).unwrap_or_default();
    line.split(',').map(|a| a.trim().to_owned()).filter(|a| !a.is_empty()).collect()
}

/// The mails as an archive's mbox.
pub(super) fn mbox(arrived: &[Arrived]) -> Vec<u8> {
    let mails: Vec<Mail> = arrived
        .iter()
        .enumerate()
        .map(|(number, a)| {
            let from = b"From mboxrd@z Thu Jan  1 00:00:00 1970\n";
            let bytes = [from, a.bytes.as_slice()].concat();
            Mail { file_name: String::new(), bytes, number, warnings: Vec::new() }
        })
        .collect();
    mail::mbox(&mails)
}
