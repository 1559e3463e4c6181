//! Comparison of a catalog with a manifest in a file.

use std::fs;
use std::path::Path;

use super::list::list_tools;
use super::revision::Revision;
use crate::catalog::{Catalog, Diagnostic, DiagnosticKind, Diagnostics, Naming};

/// Compares the MCP manifest of a catalog with the file at `path`; see [`Catalog::expect_manifest`].
pub(crate) fn expect_manifest(
    catalog: Catalog,
    path: &Path,
    revision: Revision,
    naming: Naming,
) -> Result<Catalog, Diagnostics> {
    let failed = |message: String| Diagnostics::from(Diagnostic::new(DiagnosticKind::Unexpected, message, []));
    let manifest = format!("{:#}\n", list_tools(&catalog, revision, naming)?);
    if std::env::var_os("TOOLKIT_BLESS").is_some_and(|value| value == "1") {
        fs::write(path, manifest).map_err(|error| failed(format!("{}: {error}", path.display())))?;
        return Ok(catalog);
    }
    let expected = fs::read_to_string(path)
        .map_err(|error| failed(format!("{}: {error}; run with TOOLKIT_BLESS=1 to write the file", path.display())))?;
    let lines = || expected.lines().map(Some).chain([None]).zip(manifest.lines().map(Some).chain([None]));
    match lines().enumerate().find(|(_, (expected, found))| expected != found) {
        None => Ok(catalog),
        Some((idx, (expected, found))) => Err(failed(format!(
            "{}:{} is `{}`, but the catalog has `{}`; run with TOOLKIT_BLESS=1 to update the file",
            path.display(),
            idx + 1,
            expected.map_or("nothing", str::trim),
            found.map_or("nothing", str::trim),
        ))),
    }
}
