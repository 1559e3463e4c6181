//! Comparison of a catalog with a manifest in a file.

use std::fs;
use std::path::Path;

use super::list::list_tools;
use super::revision::Revision;
use crate::catalog::{Catalog, Diagnostic, DiagnosticKind, Diagnostics, Naming};

impl Catalog {
    /// Compares the MCP manifest of the catalog with the file at `path`, and returns the catalog.
    ///
    /// With `TOOLKIT_BLESS=1` in the environment, it writes the file instead.
    ///
    /// ```
    /// use toolkit::catalog::Naming;
    /// use toolkit::mcp::{Revision, list_tools};
    /// use toolkit::{catalog, tool};
    ///
    /// /// Adds two integers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// let manifest = list_tools(&catalog![add]?, Revision::default(), Naming::Name)?;
    /// let path = std::env::temp_dir().join(format!("tools-{}.json", std::process::id()));
    /// std::fs::write(&path, format!("{manifest:#}\n").replace("integers", "numbers"))?;
    ///
    /// let diagnostics = catalog![add]?.expect_manifest(&path, Revision::default(), Naming::Name).unwrap_err();
    /// assert!(diagnostics.to_string().contains(r#"`"description": "Adds two numbers.","#), "{diagnostics}");
    /// std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
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
