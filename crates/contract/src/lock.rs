//! Lock files: snapshots of a catalog that its later versions are compared with.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use toolkit::catalog::{Diagnostic, DiagnosticKind, Diagnostics};
use toolkit::tool::ParseToolError;
use toolkit::{Catalog, Manifest, Tool};
use toolkit_schema::order;

use super::change::Comparison;
use super::compare::compare;

/// The version of the file format.
const LOCK_VERSION: u32 = 1;

/// A snapshot of a catalog.
///
/// A registry of backends takes it as the list of reviewed tools
/// (`Backends::with_lock`).
///
/// # Examples
///
/// ```
/// use toolkit::{catalog, tool};
/// use toolkit_contract::Lock;
///
/// /// Adds two integers.
/// #[tool(namespace = "math", version = "1.0.0")]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let lock = Lock::from_catalog(&catalog![add]?);
/// let file = lock.to_json();
/// let read = Lock::from_json(&file)?;
/// assert_eq!(read, lock);
/// assert_eq!(read.compare(&lock).verdict(), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Lock {
    /// Sorted by id.
    tools: Vec<Tool>,
}

impl Lock {
    /// Creates a lock of the catalog, with all versions of each tool.
    #[must_use]
    pub fn from_catalog(catalog: &Catalog) -> Self {
        Self { tools: catalog.iter().cloned().collect() }
    }

    /// Parses a lock, or a list of tools in the format of MCP.
    ///
    /// # Errors
    ///
    /// Returns an error if the document is not a list of tools, is a lock of another format version, or contains an
    /// entry that is not a tool or has a duplicate id. Ignoring such a tool would make it look as if it had never
    /// existed.
    pub fn from_json(json: &str) -> Result<Self, ParseToolError> {
        let document = serde_json::from_str::<Value>(json).unwrap_or_default();
        let manifest = match document.get("lockVersion") {
            None => Manifest::from_mcp_json(json)?,
            Some(version) if *version == LOCK_VERSION => Manifest::from_json(json)?,
            Some(version) => {
                return Err(ParseToolError::Manifest(format!(
                    "unsupported `lockVersion` {version}; expected {LOCK_VERSION}"
                )));
            }
        };
        let mut tools = Vec::new();
        for listing in manifest.listings() {
            let is_double = |diagnostic: &Diagnostic| diagnostic.kind() == DiagnosticKind::DuplicateId;
            match listing.tool() {
                Some(tool) if !listing.diagnostics().iter().any(is_double) => tools.push(tool.clone()),
                _ => return Err(ParseToolError::Manifest(format!("invalid tool {listing}"))),
            }
        }
        Ok(Self::sorted(tools))
    }

    /// Creates a lock of these tools, such as those that other programs offer
    /// (`Collected::offered`). Of several tools with the same id, the first one
    /// is kept.
    #[must_use]
    pub fn from_tools(tools: impl IntoIterator<Item = Tool>) -> Self {
        let mut lock = Self::sorted(tools.into_iter().collect());
        lock.tools.dedup_by(|later, first| later.id() == first.id());
        lock
    }

    fn sorted(mut tools: Vec<Tool>) -> Self {
        tools.sort_by(|a, b| a.id().cmp(b.id()));
        Self { tools }
    }

    /// Serializes the lock, one tool after the other, with properties in the order of their declaration and all other keys
    /// sorted, so that diffs are readable. The order is not part of a contract.
    #[must_use]
    pub fn to_json(&self) -> String {
        let tools: Vec<Value> = self.tools.iter().map(Tool::to_json).collect();
        let mut lock = json!({ "lockVersion": LOCK_VERSION, "tools": tools });
        order::sort(&mut lock);
        format!("{lock:#}\n")
    }

    /// Returns the tools, sorted by id.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter()
    }

    /// Compares this lock with a later one.
    #[must_use]
    pub fn compare(&self, now: &Lock) -> Comparison {
        compare(&self.tools, &now.tools)
    }
}

impl IntoIterator for Lock {
    type Item = Tool;
    type IntoIter = std::vec::IntoIter<Tool>;

    fn into_iter(self) -> Self::IntoIter {
        self.tools.into_iter()
    }
}

/// Checks that a catalog does not break callers of the catalog in the file at `path`, except by a new version.
///
/// Compatible changes are accepted, and so are breaking ones that are announced by the version of the tool: the
/// next major version, or the next minor version below 1.0.0. An earlier version that stays in the catalog keeps no
/// caller over MCP or of an export, which have the newest version only: [`Rule::UnlistedVersion`] reports it, and
/// [`Lock::compare`] the changes of the name. With `TOOLKIT_BLESS=1` in the environment, the file is written instead.
///
/// [`Rule::UnlistedVersion`]: crate::lint::Rule::UnlistedVersion
///
/// # Errors
///
/// Returns a diagnostic for each unannounced breaking change and a last one with the command that accepts them, or an error
/// if the file does not exist or cannot be read or written.
///
/// # Examples
///
/// ```
/// use toolkit::catalog::DiagnosticKind;
/// use toolkit::{catalog, tool};
/// use toolkit_contract::{Lock, expect_lock};
///
/// /// Adds two integers.
/// #[tool(namespace = "math", version = "1.0.0")]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// /// Negates an integer.
/// #[tool(namespace = "math", version = "1.0.0")]
/// fn negate(n: i64) -> i64 {
///     -n
/// }
///
/// let path = std::env::temp_dir().join(format!("tools-{}.lock.json", std::process::id()));
/// std::fs::write(&path, Lock::from_catalog(&catalog![add, negate]?).to_json())?;
/// let diagnostics = expect_lock(&catalog![add]?, &path).unwrap_err();
/// std::fs::remove_file(path)?;
/// assert_eq!(diagnostics.iter().next().unwrap().kind(), DiagnosticKind::Broken);
/// assert!(diagnostics.to_string().starts_with("breaking: math:negate:1.0.0 was removed"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn expect_lock(catalog: &Catalog, path: impl AsRef<Path>) -> Result<(), Diagnostics> {
    let path = path.as_ref();
    let failed = |message: String| Diagnostics::from(Diagnostic::new(DiagnosticKind::Unexpected, message, []));
    let now = Lock::from_catalog(catalog);
    let is_blessed = std::env::var_os("TOOLKIT_BLESS").is_some_and(|value| value == "1");
    if is_blessed {
        fs::write(path, now.to_json()).map_err(|error| failed(format!("{}: {error}", path.display())))?;
        return Ok(());
    }
    let text = fs::read_to_string(path)
        .map_err(|error| failed(format!("{}: {error}; `TOOLKIT_BLESS=1 cargo test` creates it", path.display())))?;
    let locked = Lock::from_json(&text).map_err(|error| failed(format!("{}: {error}", path.display())))?;
    let mut diagnostics: Vec<Diagnostic> = locked
        .compare(&now)
        .unannounced()
        .map(|change| Diagnostic::new(DiagnosticKind::Broken, change.to_string(), catalog.get(&change.tool)))
        .collect();
    if !diagnostics.is_empty() {
        let accept = format!(
            "{} has the tools that callers know; to break these callers nevertheless, write it again with \
             `TOOLKIT_BLESS=1 cargo test`",
            path.display()
        );
        diagnostics.push(Diagnostic::new(DiagnosticKind::Unexpected, accept, []));
    }
    Diagnostics::none_or(diagnostics)
}
