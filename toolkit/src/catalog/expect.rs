//! What a catalogue is expected to hold, for a one-line test that notices what is missing.

use std::collections::BTreeSet;

use super::Catalog;
use crate::tool::{Diagnostic, DiagnosticKind, Diagnostics, Tool};

impl Catalog {
    /// Fails unless there are exactly `n_tools` tools, each version counted.
    ///
    /// The linker drops what nothing refers to, silently; this notices.
    ///
    /// ```
    /// # use toolkit::Catalog;
    /// Catalog::linked().and_then(|catalog| catalog.expect_count(0)).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// There are more or fewer.
    pub fn expect_count(self, n_tools: usize) -> Result<Self, Diagnostics> {
        if self.len() == n_tools {
            return Ok(self);
        }
        let message = format!("{n_tools} tools were expected, and there are {}", self.len());
        Err(Diagnostics::from(Diagnostic::new(DiagnosticKind::Unexpected, message, &self)))
    }

    /// Fails unless the tools have exactly these ids.
    ///
    /// ```
    /// # use toolkit::Catalog;
    /// Catalog::linked().and_then(|catalog| catalog.expect_ids([])).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// Every id that is missing, and every tool that was not expected.
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
            let message = format!("`{}` was not expected", tool.id());
            Diagnostic::new(DiagnosticKind::Unexpected, message, [tool])
        });
        let diagnostics: Vec<Diagnostic> = missing.chain(new).collect();
        Diagnostics::none_or(diagnostics).map(|()| self)
    }
}
