//! The ids of tools in Open Tool Calling, and the names of definitions.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use toolkit::Tool;
use toolkit::catalog::{Diagnostic, DiagnosticKind, Diagnostics};
use toolkit::version::{Version, parse};

use crate::error::OtcError;

/// The id of a tool in Open Tool Calling, such as `Toolkit.Tool@1.0.0`. Both names consist of letters, digits and `_`.
///
/// In a call, the version may be omitted or be a single number: `@1` means `@1.0.0`.
///
/// # Examples
///
/// ```
/// # use toolkit_otc::OtcId;
/// # fn main() -> Result<(), toolkit_otc::OtcError> {
/// let id: OtcId = "Calculator.Add@1".parse()?;
/// assert_eq!(id.to_string(), "Calculator.Add@1.0.0");
/// assert_eq!((id.toolkit(), id.tool()), ("Calculator", "Add"));
/// assert!("Calculator.Add@1.0".parse::<OtcId>().is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OtcId {
    toolkit: String,
    tool: String,
    version: Option<Version>,
}

impl OtcId {
    /// Creates an id from validated parts.
    pub(super) fn new(toolkit: String, tool: String, version: Option<Version>) -> Self {
        debug_assert!(is_name(&toolkit) && is_name(&tool));
        Self { toolkit, tool, version }
    }

    /// Returns the name of the toolkit, before the dot.
    #[must_use]
    pub fn toolkit(&self) -> &str {
        &self.toolkit
    }

    /// Returns the name of the tool, after the dot.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Returns the version, after the `@`.
    #[must_use]
    pub fn version(&self) -> Option<&Version> {
        self.version.as_ref()
    }

    /// Returns the name that the published examples give to a tool with this id.
    pub(super) fn default_name(&self) -> String {
        format!("{}_{}", self.toolkit, self.tool)
    }
}

/// Returns true if the text is a valid name of a toolkit or a tool.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Parses a version of exactly three numbers.
pub(super) fn release(text: &str) -> Option<Version> {
    let version = parse(text).ok()?;
    (version.to_string() == text && version.pre.is_empty() && version.build.is_empty()).then_some(version)
}

impl fmt::Display for OtcId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.toolkit, self.tool)?;
        match &self.version {
            Some(version) => write!(f, "@{version}"),
            None => Ok(()),
        }
    }
}

impl FromStr for OtcId {
    type Err = OtcError;

    fn from_str(text: &str) -> Result<Self, OtcError> {
        let invalid = OtcError::Id;
        let (path, version) = match text.split_once('@') {
            Some((path, version)) => (path, Some(version)),
            None => (text, None),
        };
        let names = path.split_once('.').filter(|(toolkit, tool)| is_name(toolkit) && is_name(tool));
        let (toolkit, tool) = names.ok_or(invalid(
            "expected two names of letters, digits and `_`, separated by a dot, such as `Calculator.Add`",
        ))?;
        let version = match version {
            Some(major) if !major.contains('.') => release(&format!("{major}.0.0")),
            Some(version) => release(version),
            None => return Ok(Self::new(toolkit.to_owned(), tool.to_owned(), None)),
        };
        let version = version.ok_or(invalid("the version must be one number or three, such as `@1.0.0`"))?;
        Ok(Self::new(toolkit.to_owned(), tool.to_owned(), Some(version)))
    }
}

impl Serialize for OtcId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Defaults for the parts of an id that a tool may lack: the toolkit and the version.
///
/// Without a default, a tool without a namespace or a version cannot be published.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Naming {
    /// The toolkit of tools without a namespace: letters, digits and `_`.
    pub toolkit: Option<String>,
    /// The version of tools without one: three numbers.
    pub version: Option<String>,
}

impl Naming {
    /// Creates a `Naming` with both defaults. `-` and `.` in the toolkit become `_`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use toolkit_otc::Naming;
    /// assert_eq!(Naming::new("my-tools", "0.0.0").toolkit.as_deref(), Some("my_tools"));
    /// ```
    #[must_use]
    pub fn new(toolkit: &str, version: &str) -> Self {
        Self { toolkit: Some(as_name(toolkit)), version: Some(version.to_owned()) }
    }
}

/// The maximum length of a name.
pub(super) const MAX_NAME_LEN: usize = 64;

pub(super) fn is_definition_name(name: &str) -> bool {
    (1..=MAX_NAME_LEN).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

pub(super) fn id_of(tool: &Tool, naming: &Naming) -> Result<OtcId, Diagnostics> {
    let wrong = |kind, message: String| Diagnostics::from(Diagnostic::new(kind, message, [tool]));
    let id = tool.id();
    let toolkit = id.namespace().map(as_name).or_else(|| naming.toolkit.clone());
    let toolkit = toolkit.filter(|toolkit| is_name(toolkit)).ok_or_else(|| {
        let message = "an id in Open Tool Calling requires a toolkit of letters, digits and `_`, but the tool has no \
                       namespace; add one, or set `Naming::toolkit`";
        wrong(DiagnosticKind::InvalidName, message.to_owned())
    })?;
    let name = as_name(id.name());
    if !is_name(&name) {
        let message = "an id in Open Tool Calling allows only letters, digits and `_`, but the tool's name has others";
        return Err(wrong(DiagnosticKind::InvalidName, message.to_owned()));
    }
    let version = match id.version() {
        Some(version) => release(version.strip_prefix('v').unwrap_or(version)),
        None => naming.version.as_deref().and_then(release),
    };
    let version = version.ok_or_else(|| {
        let message = match id.version() {
            Some(_) => "a version in Open Tool Calling must be three numbers, but the tool's is not",
            None => {
                "an id in Open Tool Calling requires a version, but the tool has none; add one, or set \
                 `Naming::version`"
            }
        };
        wrong(DiagnosticKind::InvalidVersion, message.to_owned())
    })?;
    Ok(OtcId::new(toolkit, name, Some(version)))
}

/// Replaces the characters of a name that an id does not allow.
fn as_name(name: &str) -> String {
    name.replace(['-', '.'], "_")
}

pub(super) fn name_of(tool: &Tool, id: &OtcId) -> Result<String, Diagnostics> {
    let names = [tool.title().map(str::to_owned), Some(id.default_name()), Some(id.tool().to_owned())];
    names.into_iter().flatten().find(|name| is_definition_name(name)).ok_or_else(|| {
        let message =
            format!("a name in Open Tool Calling has at most {MAX_NAME_LEN} characters, but the tool's has more");
        Diagnostic::new(DiagnosticKind::InvalidName, message, [tool]).into()
    })
}
