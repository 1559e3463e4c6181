//! A catalogue as it was, and what has become of it since.
//!
//! A [`Lock`] is the catalogue in a file. Comparing it with the code says of every change whether it breaks those who
//! call the tools: for what goes in, that everything that was accepted still is; for what comes out, that everything
//! that was promised still holds. It is decided by meaning, not by text: each schema is read as it is validated, by its
//! own dialect, and `format` is an annotation.
//!
//! Tools are compared by their names. Where a name, an alias or a version requirement resolves to another version or
//! another tool than before, the two are compared: a breaking 1.1.0 beside 1.0.0 breaks callers without a version.
//!
//! Comparing two schemas takes at most 250,000 steps, and comparing two catalogs at most 20,000,000; a step looks at one
//! keyword, property or item. What is not decided by then has the verdict [`Verdict::Unknown`], which counts as breaking,
//! and the change names the budget.
//!
//! ```no_run
//! #[test]
//! fn no_caller_is_broken_unannounced() {
//!     toolkit::Catalog::linked().unwrap().expect_lock("tools.lock.json").unwrap();
//! }
//! ```
//!
//! `TOOLKIT_BLESS=1` writes the file; so does `check --lock tools.lock.json --update` on the command line, where
//! `diff OLD NEW` compares two manifests.

mod budget;
mod change;
mod compare;
mod prove;
mod schemas;
mod version;
mod witness;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

pub use self::change::{Change, Comparison, Part, Verdict};
use crate::catalog::{Catalog, Diagnostic, DiagnosticKind, Diagnostics};
use crate::manifest::{InvalidManifest, Manifest};
use crate::tool::Tool;

/// The form of the file.
const LOCK_VERSION: u32 = 1;

/// A catalogue as it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Lock {
    /// In the order of their ids.
    tools: Vec<Tool>,
}

impl Lock {
    /// The catalogue as it is now; all versions of each tool.
    #[must_use]
    pub fn of(catalog: &Catalog) -> Self {
        Self { tools: catalog.iter().cloned().collect() }
    }

    /// Reads a lock, or a list of tools in the form of MCP.
    ///
    /// # Errors
    ///
    /// It is no list of tools, or a lock of another version; an entry of it is no tool, or has the id of an earlier one.
    /// A tool that was left out would count as one that was never there.
    pub fn from_json(json: &str) -> Result<Self, InvalidManifest> {
        let document = serde_json::from_str::<Value>(json).unwrap_or_default();
        let manifest = match document.get("lockVersion") {
            None => Manifest::from_mcp_json(json)?,
            Some(version) if *version == LOCK_VERSION => Manifest::from_json(json)?,
            Some(version) => {
                return Err(InvalidManifest::new(format!("`lockVersion` is {version}, and {LOCK_VERSION} is known")));
            }
        };
        let mut tools = Vec::new();
        for listing in manifest.listings() {
            let is_double = |diagnostic: &Diagnostic| diagnostic.kind() == DiagnosticKind::DuplicateId;
            match listing.tool() {
                Some(tool) if !listing.diagnostics().iter().any(is_double) => tools.push(tool.clone()),
                _ => return Err(InvalidManifest::new(format!("of its tools, {listing}"))),
            }
        }
        Ok(Self::of_tools(tools))
    }

    /// Locks these tools, such as those that other programs offer
    /// ([`Collected::offered`](crate::backend::Collected::offered)); of several with one id the first counts.
    #[must_use]
    pub fn from_tools(tools: impl IntoIterator<Item = Tool>) -> Self {
        let mut lock = Self::of_tools(tools.into_iter().collect());
        lock.tools.dedup_by(|later, first| later.id() == first.id());
        lock
    }

    pub(crate) fn of_tools(mut tools: Vec<Tool>) -> Self {
        tools.sort_by(|a, b| a.id().cmp(b.id()));
        Self { tools }
    }

    /// The lock as a file: one tool after the other, all keys sorted, so that a difference reads well.
    #[must_use]
    pub fn to_json(&self) -> String {
        let tools: Vec<Value> = self.tools.iter().map(Tool::to_json).collect();
        let mut lock = json!({ "lockVersion": LOCK_VERSION, "tools": tools });
        lock.sort_all_objects();
        format!("{lock:#}\n")
    }

    /// The tools, in the order of their ids.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter()
    }

    /// What has changed from this to `now`.
    #[must_use]
    pub fn compare(&self, now: &Lock) -> Comparison {
        compare::compare(&self.tools, &now.tools)
    }
}

impl Catalog {
    /// Fails if the file at `path` holds a catalogue whose callers this one would break without saying so by a version.
    ///
    /// A change that breaks nobody passes, and so does one whose version says that it breaks: the next major version,
    /// or below 1.0.0 the next minor one. With `TOOLKIT_BLESS=1` in the environment the file is written instead.
    ///
    /// # Errors
    ///
    /// Every change that breaks callers; there is no such file, or it cannot be read or written.
    pub fn expect_lock(self, path: impl AsRef<Path>) -> Result<Self, Diagnostics> {
        let path = path.as_ref();
        let failed = |message: String| Diagnostics::from(Diagnostic::new(DiagnosticKind::Unexpected, message, []));
        let now = Lock::of(&self);
        let is_blessed = std::env::var_os("TOOLKIT_BLESS").is_some_and(|value| value == "1");
        if is_blessed {
            fs::write(path, now.to_json()).map_err(|error| failed(format!("{}: {error}", path.display())))?;
            return Ok(self);
        }
        let text = fs::read_to_string(path)
            .map_err(|error| failed(format!("{}: {error}; TOOLKIT_BLESS=1 writes it", path.display())))?;
        let locked = Lock::from_json(&text).map_err(|error| failed(format!("{}: {error}", path.display())))?;
        let diagnostics: Vec<Diagnostic> = locked
            .compare(&now)
            .unannounced()
            .map(|change| Diagnostic::new(DiagnosticKind::Broken, change.to_string(), self.get(&change.tool)))
            .collect();
        Diagnostics::none_or(diagnostics).map(|()| self)
    }
}
