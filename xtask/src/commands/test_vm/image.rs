//! Booting an image that is there already.

use std::path::Path;

use super::TestVm;
use crate::error::{Error, Result};
use crate::vm::{self, Arch, GuestRequest, TestKind, TestProgram};

/// A folder name for the results of an image.
pub(super) fn label(kernel: &Path) -> String {
    let name = kernel.file_name().map_or_else(|| "kernel".into(), |n| n.to_string_lossy());
    name.chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' })
        .collect()
}

impl TestVm {
    /// The request for `--kernel`.
    pub(super) fn image_request(&self, kernel: &Path, output: &Path) -> Result<GuestRequest> {
        let image = vm::sniff(kernel)?;
        let arch = match &self.arch {
            Some(name) => name.parse::<Arch>()?,
            None => image.arch,
        };
        let release = image.release.as_deref().unwrap_or(image.format);
        let name = format!("{} ({release}, {arch})", kernel.display());
        let mut request = GuestRequest::new(name, kernel, arch, output);
        request.config.clone_from(&self.kernel_config);
        request.modules_dir.clone_from(&self.modules_dir);
        request.modules.clone_from(&self.modules);
        for program in &self.programs {
            request.tests.push(program_test(program)?);
        }
        for suite in &self.kunit {
            request.tests.push(TestProgram::new(suite, TestKind::Kunit(suite.clone())));
        }
        self.options(&mut request)?;
        Ok(request)
    }
}

fn program_test(path: &Path) -> Result<TestProgram> {
    let name = path.file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    if !path.is_file() {
        return Err(Error::usage(format!("--program {}", path.display())).found("no such file"));
    }
    let kind = if path.extension().is_some_and(|e| e == "c") {
        TestKind::Sources(vec![path.to_owned()])
    } else {
        TestKind::Program(path.to_owned())
    };
    Ok(TestProgram::new(name, kind))
}
