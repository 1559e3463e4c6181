//! What a catalogue is expected to hold, for a one-line test that notices what is missing.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::problem::{Problem, ProblemKind, Problems};
use super::{Catalog, Naming};
use crate::adapter::mcp::{Revision, list_tools};
use crate::tool::Tool;

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

    /// Fails unless the file at `path` holds the catalogue's MCP manifest, as `export` writes it.
    ///
    /// With `TOOLKIT_BLESS=1` in the environment the file is written instead; a difference in it is reviewed like code.
    ///
    /// # Errors
    ///
    /// The manifest differs, with the first line that does; it cannot be read, written or made.
    pub fn expect_manifest(self, path: impl AsRef<Path>, revision: Revision, naming: Naming) -> Result<Self, Problems> {
        let path = path.as_ref();
        let failed = |message: String| Problems::from(Problem::new(ProblemKind::Unexpected, message, []));
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
