//! Comparison of a catalog with a manifest in a file.

use std::fs;
use std::path::Path;

use super::{Revision, list_tools};
use crate::catalog::{Catalog, Diagnostic, DiagnosticKind, Diagnostics, Naming};

impl Catalog {
    /// Compares the MCP manifest of the catalog with the file at `path`, and returns the catalog.
    ///
    /// With `TOOLKIT_BLESS=1` in the environment, it writes the file instead.
    ///
    /// ```no_run
    /// use toolkit::mcp::Revision;
    /// use toolkit::catalog::Naming;
    ///
    /// /// Adds two integers.
    /// #[toolkit::tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// # fn main() -> Result<(), toolkit::catalog::Diagnostics> {
    /// toolkit::catalog![add]?.expect_manifest("tools.json", Revision::default(), Naming::Name)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the first line that differs, or the reason why the file cannot be read or written or the manifest cannot
    /// be created.
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
        let expected = fs::read_to_string(path).map_err(|error| {
            failed(format!("{}: {error}; run with TOOLKIT_BLESS=1 to write the file", path.display()))
        })?;
        let lines = || expected.lines().map(Some).chain([None]).zip(manifest.lines().map(Some).chain([None]));
        match lines().enumerate().find(|(_, (expected, found))| expected != found) {
            None => Ok(self),
            Some((idx, (expected, found))) => Err(failed(format!(
                "{}:{} is `{}`, but the catalog has `{}`; run with TOOLKIT_BLESS=1 to update the file",
                path.display(),
                idx + 1,
                expected.map_or("nothing", str::trim),
                found.map_or("nothing", str::trim),
            ))),
        }
    }
}
