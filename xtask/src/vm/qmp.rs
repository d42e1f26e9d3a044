//! QEMU's machine protocol, as much of it as a run needs: why a machine shut down,
//! whether a port was closed, and a look at the CPUs of one that hangs.
//!
//! The protocol is JSON, a message a line; QEMU's `docs/interop/qmp-spec` has it.

use std::io::Write as _;
use std::os::unix::net::UnixStream;

use serde_json::Value;

/// What QEMU told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// The machine ended: `guest-shutdown`, `guest-reset`, `guest-panic`, `host-signal` …
    Shutdown(String),
    /// The guest opened or closed a port.
    Port { id: String, open: bool },
    /// The answer to a monitor command.
    Text(String),
}

/// The monitor of one machine.
#[derive(Debug, Default)]
pub(super) struct Monitor {
    stream: Option<UnixStream>,
    partial: Vec<u8>,
}

impl Monitor {
    /// Takes the connection and leaves the protocol's negotiation mode.
    pub fn open(&mut self, stream: UnixStream) {
        self.stream = Some(stream);
        self.send("{\"execute\":\"qmp_capabilities\"}");
    }

    /// Asks for the CPUs' registers; the answer comes as [`Told::Text`].
    pub fn ask_registers(&mut self) {
        self.send(
            "{\"execute\":\"human-monitor-command\",\
             \"arguments\":{\"command-line\":\"info registers -a\"}}",
        );
    }

    fn send(&mut self, line: &str) {
        // A machine that has gone needs no answer: its end is seen elsewhere.
        if let Some(stream) = &mut self.stream {
            let _ = stream.write_all(line.as_bytes()).and_then(|()| stream.write_all(b"\n"));
        }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Told> {
        self.partial.extend_from_slice(bytes);
        let mut told = Vec::new();
        while let Some(at) = memchr::memchr(b'\n', &self.partial) {
            let line: Vec<u8> = self.partial.drain(..=at).collect();
            told.extend(serde_json::from_slice(&line).ok().as_ref().and_then(read));
        }
        if self.partial.len() > 1 << 20 {
            self.partial.clear();
        }
        told
    }
}

fn read(value: &Value) -> Option<Told> {
    let text = |v: &Value| v.as_str().map(str::to_owned);
    if let Some(answer) = value.get("return").and_then(text) {
        return Some(Told::Text(answer));
    }
    let data = value.get("data")?;
    match value.get("event")?.as_str()? {
        "SHUTDOWN" => Some(Told::Shutdown(text(data.get("reason")?)?)),
        "VSERPORT_CHANGE" => {
            Some(Told::Port { id: text(data.get("id")?)?, open: data.get("open")?.as_bool()? })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_in_any_pieces() {
        let text = concat!(
            "{\"QMP\": {\"version\": {}}}\r\n{\"return\": {}}\r\n",
            "{\"timestamp\": {}, \"event\": \"VSERPORT_CHANGE\", \"data\": {\"open\": true, \"id\": \"port-ktap\"}}\r\n",
            "{\"return\": \"CPU#0\\r\\nRIP=1\"}\r\nnonsense\n",
            "{\"event\": \"SHUTDOWN\", \"data\": {\"guest\": true, \"reason\": \"guest-reset\"}}\r\n",
        );
        let mut monitor = Monitor::default();
        let told: Vec<Told> = text.as_bytes().chunks(7).flat_map(|c| monitor.push(c)).collect();
        assert_eq!(
            told,
            [
                Told::Port { id: "port-ktap".into(), open: true },
                Told::Text("CPU#0\r\nRIP=1".into()),
                Told::Shutdown("guest-reset".into()),
            ]
        );
    }
}
