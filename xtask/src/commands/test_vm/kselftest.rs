//! `--kselftest`: the kernel's own selftests, built from the tree that is booted,
//! installed by its own makefiles, and run in the guest.

use std::path::{Path, PathBuf};

use super::TestVm;
use super::series::Prepared;
use crate::build::target::Targets;
use crate::cli::Ctx;
use crate::error::{Error, IoContext as _, Result};
use crate::host::process::Cmd;
use crate::tree::{self, Oid};
use crate::vm::{Arch, Backend, GuestRequest, kselftest};

/// Host programs that selftests' scripts expect; those that are there are put into the guest.
const TOOLS: &[&str] = &[
    "bash", "ip", "tc", "ss", "bridge", "ethtool", "nft", "iptables", "ping", "socat", "nc", "jq",
    "timeout", "stdbuf", "awk", "sed", "grep", "sysctl", "unshare", "nsenter",
];

impl TestVm {
    /// Builds and installs the collections, and adds their tests to the request.
    pub(super) fn add_kselftests(
        &self,
        ctx: &Ctx,
        prepared: &Prepared,
        commit: Oid,
        request: &mut GuestRequest,
    ) -> Result<()> {
        if self.kselftest.is_empty() {
            return Ok(());
        }
        let root = self.install(ctx, prepared, commit, request.arch)?;
        request.tests.extend(kselftest::installed(&root, &self.tests)?);
        self.set_time_limits(request);
        if request.backend == Backend::Qemu && Arch::host() == Some(request.arch) {
            let there = |t: &&&str| which::which(t).is_ok();
            request.host_tools.extend(TOOLS.iter().filter(there).map(|t| (*t).to_owned()));
        }
        if self.memory.is_none() {
            // The whole collection is in memory, twice while it is unpacked.
            let size = (size_of(&root) >> 20).saturating_mul(2).saturating_add(512);
            let size = u32::try_from(size).unwrap_or(u32::MAX).next_multiple_of(128);
            request.memory = request.memory.max(size);
        }
        Ok(())
    }

    fn install(&self, ctx: &Ctx, prepared: &Prepared, commit: Oid, arch: Arch) -> Result<PathBuf> {
        let kernel = &prepared.kernel;
        let worktree = tree::worktree(&ctx.ui, &ctx.dirs, &kernel.store, &kernel.base, commit)?;
        let objdir = match worktree.path.parent() {
            Some(top) => top.join("obj").join(format!("kselftest-{arch}")),
            None => return Err(Error::host("find the worktree's folder")),
        };
        let root = objdir.join("install");
        if root.is_dir() {
            // What an earlier state of the tree installed must not be run.
            std::fs::remove_dir_all(&root).at("remove", &root)?;
        }
        std::fs::create_dir_all(&objdir).at("create folder", &objdir)?;
        let targets = Targets::load(ctx.dirs.project().ok())?;
        let target = targets.arch(arch.name())?;
        let mut vars =
            vec![format!("O={}", objdir.display()), format!("ARCH={}", target.make_arch)];
        if Arch::host() != Some(arch) {
            vars.push(format!("CROSS_COMPILE={}", target.cross_compile));
            // The guest has no loader for the cross compiler's libraries.
            vars.push("LDFLAGS=-static".into());
        }
        let jobs = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let make = |dir: &Path, words: &[String]| {
            Cmd::new("make")
                .arg("-C")
                .arg(dir)
                .args(["-s", &format!("-j{jobs}")])
                .args(&vars)
                .args(words)
        };
        let step = ctx.ui.step(format!("building kselftest {}", self.kselftest.join(", ")));
        make(&worktree.path, &["headers".into()]).run()?;
        let words = [
            "install".into(),
            format!("TARGETS={}", self.kselftest.join(" ")),
            "SKIP_TARGETS=".into(),
            "FORCE_TARGETS=1".into(),
            format!("INSTALL_PATH={}", root.display()),
        ];
        let selftests = worktree.path.join("tools/testing/selftests");
        for collection in &self.kselftest {
            if !selftests.join(collection).join("Makefile").is_file() {
                return Err(Error::usage(format!("--kselftest {collection}"))
                    .found(format!("{} has no such collection", kernel.base.name))
                    .hint("a folder of tools/testing/selftests: net, bpf, timers"));
            }
        }
        let made = make(&selftests, &words);
        let output = made.output()?;
        if !output.ok() {
            let failure = made.failure(&output);
            return Err(Error::check(format!("build kselftest {}", self.kselftest.join(", ")))
                .found(failure.what_was_found().join("\n"))
                .hint("some collections need libraries of the host: libcap-dev, libmnl-dev, libnuma-dev, clang"));
        }
        step.done("installed");
        Ok(root)
    }
}

fn size_of(dir: &Path) -> u64 {
    let files = walkdir::WalkDir::new(dir).into_iter().flatten();
    files
        .filter_map(|e| e.metadata().ok().filter(std::fs::Metadata::is_file))
        .map(|m| m.len())
        .sum()
}
