//! A manifest in a file as a test of a catalog.

use std::fs;
use std::path::Path;

use super::{Revision, list_tools};
use crate::catalog::{Catalog, Diagnostic, DiagnosticKind, Diagnostics, Naming};

impl Catalog {
    /// Fails unless the file at `path` is the MCP manifest of the catalog, as `export` writes it.
    ///
    /// With `TOOLKIT_BLESS=1` in the environment the file is written instead; review the difference like code.
    ///
    /// # Errors
    ///
    /// Returns the first line that differs, or the reason why the file cannot be read or written, or the manifest not be
    /// built.
    pub fn expect_manifest(
        self,
        path: impl AsRef<Path>,
        revision: Revision,
        naming: Naming,
    ) -> Result<Self, Diagnostics> {
        let path = path.as_ref();
        let failed = |message: String| Diagnostics::from(Diagnostic::new(DiagnosticKind::Unexpected, message, []));
        let manifest = format!("{:#}\n", list_tools(&self, revision, naming)?);
        if std::env::var_os("TOOLKIT_BLESS").is_some_and(|value| value == "1") {
            fs::write(path, manifest).map_err(|error| failed(format!("{}: {error}", path.display())))?;
            return Ok(self);
        }
        let expected = fs::read_to_string(path)
            .map_err(|error| failed(format!("{}: {error}; TOOLKIT_BLESS=1 writes it", path.display())))?;
        let lines = || expected.lines().map(Some).chain([None]).zip(manifest.lines().map(Some).chain([None]));
        match lines().enumerate().find(|(_, (expected, found))| expected != found) {
            None => Ok(self),
            Some((idx, (expected, found))) => Err(failed(format!(
                "{}:{} says `{}`, and the code says `{}`; TOOLKIT_BLESS=1 writes it anew",
                path.display(),
                idx + 1,
                expected.map_or("nothing", str::trim),
                found.map_or("nothing", str::trim),
            ))),
        }
    }
}
