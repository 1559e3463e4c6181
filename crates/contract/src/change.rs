//! Changes between two catalogs, and the sentence that describes each of them.

use std::fmt;

use semver::Version;
use serde::Serialize;
use serde_json::Value;

use toolkit_schema::compare::Verdict;

/// A single change of a tool.
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use toolkit::Tool;
/// use toolkit_contract::{Lock, Part};
///
/// let tool = |maximum: u32| {
///     let input = json!({ "type": "object", "properties": { "days": { "type": "integer", "maximum": maximum } } });
///     Tool::builder("forecast").namespace("weather").version("1.2.0").input(input).build()
/// };
/// let comparison = Lock::from_tools([tool(14)?]).compare(&Lock::from_tools([tool(7)?]));
/// let change = comparison.changes().next().unwrap();
/// assert_eq!((change.part, &*change.pointer), (Part::Input, "/properties/days"));
/// assert_eq!(change.needs.as_deref(), Some("2.0.0"));
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Change {
    /// The id of the tool before the change, or the current id of a new tool.
    pub tool: String,
    /// The effect of the change on callers.
    pub verdict: Verdict,
    /// The part of the tool that changed.
    pub part: Part,
    /// The location: a JSON Pointer into the schema with its definitions inlined, or the name of a field.
    pub pointer: String,
    /// The description of the change, as a sentence without its subject.
    pub what: String,
    /// A value that used to be accepted and no longer is, or that is returned now and was not before, if one was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<Value>,
    /// The minimum version that would announce the change, if the current version does not. For a change that no version
    /// of the tool can announce, a description of what would, such as an alias.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<String>,
}

/// A part of a tool.
///
/// # Examples
///
/// ```
/// use toolkit::Tool;
/// use toolkit_contract::{Lock, Part};
///
/// let tool = |description: &'static str| Tool::builder("read").description(description).build();
/// let old = Lock::from_tools([tool("Reads a file.")?]);
/// let new = Lock::from_tools([tool("Reads a text file.")?]);
/// let parts: Vec<Part> = old.compare(&new).changes().map(|change| change.part).collect();
/// assert_eq!(parts, [Part::Record]);
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Part {
    /// The existence of the tool, and its metadata.
    Record,
    /// The input schema.
    Input,
    /// The output schema.
    Output,
}

/// The changes between two catalogs, sorted by tool, part and location.
///
/// # Examples
///
/// A check that fails if callers break without a new version:
///
/// ```
/// use serde_json::json;
/// use toolkit::Tool;
/// use toolkit_contract::Lock;
///
/// let tool = |version: &'static str, argument: &str| {
///     let input = json!({ "type": "object", "properties": { argument: {} }, "additionalProperties": false });
///     Tool::builder("read").namespace("files").version(version).input(input).build()
/// };
/// let old = Lock::from_tools([tool("1.0.0", "file")?]);
///
/// let renamed = Lock::from_tools([tool("1.0.1", "path")?]);
/// assert!(old.compare(&renamed).unannounced().next().is_some());
///
/// let announced = Lock::from_tools([tool("1.0.0", "file")?, tool("2.0.0", "path")?]);
/// assert!(old.compare(&announced).unannounced().next().is_none());
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Comparison {
    pub(super) changes: Vec<Change>,
}

impl Comparison {
    /// Returns the changes.
    pub fn changes(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter()
    }

    /// Returns the most severe verdict, or `None` if nothing changed.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::Tool;
    /// use toolkit_contract::{Lock, Verdict};
    ///
    /// let tool = |name: &'static str, title: &'static str| Tool::builder(name).title(title).build();
    /// let old = Lock::from_tools([tool("read", "Read")?]);
    /// let new = Lock::from_tools([tool("read", "Read a file")?, tool("write", "Write")?]);
    /// assert_eq!(old.compare(&new).verdict(), Some(Verdict::Additive));
    /// assert_eq!(new.compare(&old).verdict(), Some(Verdict::Breaking));
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        self.changes.iter().map(|change| change.verdict).max()
    }

    /// Returns the changes that break callers, or may break them, and are not announced by a version.
    pub fn unannounced(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(|change| change.verdict >= Verdict::Unknown && change.needs.is_some())
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = match self.part {
            Part::Record => "",
            Part::Input => "input ",
            Part::Output => "output ",
        };
        let place = if self.pointer.is_empty() && self.part != Part::Record { "root" } else { &self.pointer };
        let space = if place.is_empty() { "" } else { " " };
        write!(f, "{}: {} {part}{place}{space}{}", self.verdict, self.tool, self.what)?;
        if let Some(example) = &self.example {
            write!(f, ", for example {example}")?;
        }
        match &self.needs {
            Some(version) if Version::parse(version).is_ok() => write!(f, "; requires version {version}"),
            Some(needs) => write!(f, "; requires {needs}"),
            None => Ok(()),
        }
    }
}
