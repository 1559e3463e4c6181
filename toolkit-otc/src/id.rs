//! Ids: `Toolkit.Tool@1.0.0`.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use toolkit::version::{Version, parse};

/// The id of a tool in Open Tool Calling: `Toolkit.Tool@1.0.0`, each name of letters, digits and `_`.
///
/// A call may leave the version out, or give one number for it: `@1` is `@1.0.0`.
///
/// ```
/// # use toolkit_otc::OtcId;
/// let id: OtcId = "Calculator.Add@1".parse()?;
/// assert_eq!(id.to_string(), "Calculator.Add@1.0.0");
/// assert!("Calculator.Add@1.0".parse::<OtcId>().is_err());
/// # Ok::<(), toolkit_otc::InvalidOtcId>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OtcId {
    toolkit: String,
    tool: String,
    version: Option<Version>,
}

impl OtcId {
    /// An id of parts that are checked already.
    pub(crate) fn new(toolkit: String, tool: String, version: Option<Version>) -> Self {
        debug_assert!(is_name(&toolkit) && is_name(&tool));
        Self { toolkit, tool, version }
    }

    /// The part before the dot.
    #[must_use]
    pub fn toolkit(&self) -> &str {
        &self.toolkit
    }

    /// The part after the dot.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The part after the `@`: three numbers.
    #[must_use]
    pub fn version(&self) -> Option<&Version> {
        self.version.as_ref()
    }

    /// What the five published examples have for a name.
    pub(crate) fn default_name(&self) -> String {
        format!("{}_{}", self.toolkit, self.tool)
    }
}

/// Whether a text can stand on either side of the dot.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The version that is three numbers and nothing more; `None` for what else may be one.
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
    type Err = InvalidOtcId;

    fn from_str(text: &str) -> Result<Self, InvalidOtcId> {
        let invalid = |reason| InvalidOtcId { reason };
        let (path, version) = match text.split_once('@') {
            Some((path, version)) => (path, Some(version)),
            None => (text, None),
        };
        let names = path.split_once('.').filter(|(toolkit, tool)| is_name(toolkit) && is_name(tool));
        let (toolkit, tool) = names.ok_or(invalid(
            "it is two names with a dot between, such as `Calculator.Add`, of letters, digits and `_`",
        ))?;
        let version = match version {
            Some(major) if !major.contains('.') => release(&format!("{major}.0.0")),
            Some(version) => release(version),
            None => return Ok(Self::new(toolkit.to_owned(), tool.to_owned(), None)),
        };
        let version = version.ok_or(invalid("its version is three numbers, such as `@1.0.0`, or one"))?;
        Ok(Self::new(toolkit.to_owned(), tool.to_owned(), Some(version)))
    }
}

impl Serialize for OtcId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A text that is no id of Open Tool Calling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidOtcId {
    reason: &'static str,
}

impl fmt::Display for InvalidOtcId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a tool id: {}", self.reason)
    }
}

impl std::error::Error for InvalidOtcId {}
