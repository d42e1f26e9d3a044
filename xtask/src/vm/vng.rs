//! The virtme-ng backend: the host's root file system is the guest's, and the
//! agent runs as the command. Results, signs of life and QEMU's monitor take the
//! same ports as with plain QEMU, since `vng` itself has no time-out and
//! gives 255 for a panic, a kernel without console and a host without udev alike.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::accel::Accel;
use super::machine::port_args;
use super::{Arch, GuestRequest};
use crate::error::{Error, Result};
use crate::host::paths::Dirs;
use crate::host::process::Cmd;

/// Runs its arguments, and ends the whole process group when the pipe on its
/// standard input closes, which it does when we die: virtme-ng's QEMU and
/// virtiofsd are grandchildren, whom the parent-death signal does not reach.
const WITH_US: &str = "exec 3<&0 </dev/null
(read -r _ <&3; kill -9 0) &
exec 3<&-
exec \"$@\"";

/// virtme-ng on this host.
#[derive(Debug)]
pub(super) struct Vng {
    program: PathBuf,
    pub version: String,
}

impl Vng {
    /// Finds it on PATH, or in the tool's own Python environment.
    ///
    /// # Errors
    /// When it is not there or does not run.
    pub fn find(dirs: &Dirs) -> Result<Vng> {
        let own = dirs.cache().join("tools/venv/bin/vng");
        let program =
            which::which("vng").or_else(|_| if own.is_file() { Ok(own) } else { Err(()) });
        let program = program.map_err(|()| {
            Error::host("virtme-ng is needed for --backend vng")
                .found("no vng on PATH, nor in the tool's own Python environment")
                .hint(format!(
                    "python3 -m venv {0} && {0}/bin/pip install virtme-ng, or apt-get install virtme-ng",
                    dirs.cache().join("tools/venv").display()
                ))
        })?;
        let output = Cmd::new(&program).arg("--version").timeout(Duration::from_secs(60)).run()?;
        let text = output.text();
        let version = text.split_whitespace().last().unwrap_or("unknown").to_owned();
        Ok(Vng { program, version })
    }

    /// The command that boots `request`'s kernel and runs `agent` with `plan` in it.
    ///
    /// # Errors
    /// When the guest's architecture is not the host's.
    pub fn command(
        &self,
        request: &GuestRequest,
        accel: &Accel,
        run: &Path,
        agent: &Path,
        plan: &Path,
        append: &[String],
    ) -> Result<Cmd> {
        if Arch::host() != Some(request.arch) {
            return Err(Error::usage(format!("--backend vng for a {} guest", request.arch))
                .found("its root is the host's, whose programs are for another architecture")
                .hint("--backend qemu boots it"));
        }
        let mut opts = port_args("virtio-serial-pci", &format!("{}/", run.display()));
        // A later -accel wins over what vng chose.
        if accel.is_emulation() {
            opts.extend(["-accel".into(), accel.option().into()]);
        }
        let mut cmd = Cmd::new("sh")
            .args(["-c", WITH_US, "sh"])
            .arg(&self.program)
            .arg("--run")
            .arg(&request.image)
            .args(["--verbose", "--user", "root", "--skip-modules", "--force-9p"])
            .args(["--cpus", &request.smp.to_string()])
            .args(["--memory", &format!("{}M", request.memory)]);
        if accel.is_emulation() {
            cmd = cmd.arg("--disable-kvm");
        }
        for arg in append {
            cmd = cmd.arg(format!("--append={arg}"));
        }
        let command = [agent, plan].map(|p| p.to_string_lossy().into_owned());
        cmd = cmd
            .arg(format!("--qemu-opts={}", shell_words::join(&opts)))
            .args(["--exec", &shell_words::join(command)])
            .cwd(run)
            .env("PATH", self.path())
            .stdin_held();
        Ok(cmd)
    }

    /// `vng` starts its other programs by name.
    fn path(&self) -> OsString {
        let own = self.program.parent().map(Path::to_path_buf).unwrap_or_default();
        let old = std::env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(own).chain(std::env::split_paths(&old));
        std::env::join_paths(all).unwrap_or(old)
    }
}
