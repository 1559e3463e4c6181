//! Expectations about the contents of a catalog, for tests.

use std::collections::BTreeSet;

use super::Catalog;
use crate::tool::{Diagnostic, DiagnosticKind, Diagnostics, Tool};

impl Catalog {
    /// Returns an error unless the catalog has exactly `n_tools` tools, counting each version.
    ///
    /// The linker silently drops a crate that nothing refers to; this check detects it.
    ///
    /// ```standalone_crate
    /// use toolkit::{Catalog, tool};
    ///
    /// /// Adds two integers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// let catalog = Catalog::linked()?.expect_count(1)?;
    /// assert!(catalog.expect_count(2).unwrap_err().to_string().starts_with("expected 2 tools, found 1"));
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the number differs.
    pub fn expect_count(self, n_tools: usize) -> Result<Self, Diagnostics> {
        if self.len() == n_tools {
            return Ok(self);
        }
        let message = format!("expected {n_tools} tools, found {}", self.len());
        Err(Diagnostics::from(Diagnostic::new(DiagnosticKind::Unexpected, message, &self)))
    }

    /// Returns an error unless the tools have exactly these ids.
    ///
    /// ```standalone_crate
    /// use toolkit::{Catalog, tool};
    ///
    /// /// Reads a file.
    /// #[tool(namespace = "files")]
    /// fn read(path: String) -> String {
    ///     path
    /// }
    ///
    /// let catalog = Catalog::linked()?.expect_ids(["files:read"])?;
    /// let diagnostics = catalog.expect_ids(["files:read", "files:write"]).unwrap_err();
    /// assert_eq!(
    ///     diagnostics.to_string(),
    ///     "`files:write` is missing; is its crate linked? see `toolkit::link!`"
    /// );
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns every missing id and every unexpected tool.
    pub fn expect_ids<'i>(self, ids: impl IntoIterator<Item = &'i str>) -> Result<Self, Diagnostics> {
        let expected: BTreeSet<&str> = ids.into_iter().collect();
        let ids_of: Vec<String> = self.iter().map(|tool| tool.id().to_string()).collect();
        let found: BTreeSet<&str> = ids_of.iter().map(|id| &**id).collect();
        let missing = expected.difference(&found).map(|id| {
            let message = format!("`{id}` is missing; is its crate linked? see `toolkit::link!`");
            Diagnostic::new(DiagnosticKind::Unexpected, message, [])
        });
        let is_new = |tool: &&Tool| !expected.contains(&*tool.id().to_string());
        let new = self.iter().filter(is_new).map(|tool| {
            let message = format!("`{}` is unexpected", tool.id());
            Diagnostic::new(DiagnosticKind::Unexpected, message, [tool])
        });
        let diagnostics: Vec<Diagnostic> = missing.chain(new).collect();
        Diagnostics::none_or(diagnostics).map(|()| self)
    }
}
