//! Tool ids such as `Toolkit.Tool@1.0.0`.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
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
    pub(crate) fn new(toolkit: String, tool: String, version: Option<Version>) -> Self {
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
    pub(crate) fn default_name(&self) -> String {
        format!("{}_{}", self.toolkit, self.tool)
    }
}

/// Returns true if the text is a valid name of a toolkit or a tool.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Parses a version of exactly three numbers.
pub(crate) fn release(text: &str) -> Option<Version> {
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
