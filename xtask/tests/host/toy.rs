//! An architecture that looks like one of the kernel's to make and to the tool, and
//! takes no time to build; a folder for its source and for a project.

use std::path::{Path, PathBuf};

pub const TARGETS: &str = r#"
default-fragments = ["boot"]
[arch.toy]
make-arch = "toy"
src-arch = "toy"
cross-compile = ""
image = "image"
image-path = "boot/image"
start = "allnoconfig"
package = "gcc"
qemu = "qemu-system-toy"
"#;

/// What of the user's environment would have a part in a build.
pub const BUILD_VARIABLES: [&str; 11] = [
    "ARCH",
    "CROSS_COMPILE",
    "LLVM",
    "CC",
    "O",
    "KBUILD_OUTPUT",
    "KCFLAGS",
    "W",
    "C",
    "V",
    "CCACHE_DIR",
];

pub struct Place {
    root: tempfile::TempDir,
}

impl Place {
    /// With a project that knows the architecture and boots with `CONFIG_NET`.
    pub fn empty() -> Place {
        let place = Place { root: tempfile::tempdir().unwrap() };
        place.write("project/series/.keep", "");
        place.write("project/kconfigs/targets.toml", TARGETS);
        place.write("project/kconfigs/boot.config", "CONFIG_NET=y\n");
        place
    }

    pub fn root(&self) -> &Path {
        self.root.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}
