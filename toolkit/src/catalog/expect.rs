//! What a catalogue is expected to hold, for a one-line test that notices what is missing.

use std::collections::BTreeSet;

use super::Catalog;
use crate::tool::{Problem, ProblemKind, Problems, Tool};

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
    pub fn expect_count(self, n_tools: usize) -> Result<Self, Problems> {
        if self.len() == n_tools {
            return Ok(self);
        }
        let message = format!("{n_tools} tools were expected, and there are {}", self.len());
        Err(Problems::from(Problem::new(ProblemKind::Unexpected, message, &self)))
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
    pub fn expect_ids<'i>(self, ids: impl IntoIterator<Item = &'i str>) -> Result<Self, Problems> {
        let expected: BTreeSet<&str> = ids.into_iter().collect();
        let ids_of: Vec<String> = self.iter().map(|tool| tool.id().to_string()).collect();
        let found: BTreeSet<&str> = ids_of.iter().map(|id| &**id).collect();
        let missing = expected.difference(&found).map(|id| {
            let message = format!("`{id}` is missing; is its crate linked? see `toolkit::link!`");
            Problem::new(ProblemKind::Unexpected, message, [])
        });
        let is_new = |tool: &&Tool| !expected.contains(&*tool.id().to_string());
        let new = self.iter().filter(is_new).map(|tool| {
            let message = format!("`{}` was not expected", tool.id());
            Problem::new(ProblemKind::Unexpected, message, [tool])
        });
        let problems: Vec<Problem> = missing.chain(new).collect();
        Problems::none_or(problems).map(|()| self)
    }
}
