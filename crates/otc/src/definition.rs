//! Tool definitions of Open Tool Calling, and their ids, such as `Toolkit.Tool@1.0.0`.

mod read;
mod write;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use toolkit::version::{Version, parse};

use crate::error::OtcError;

pub use self::write::Naming;

/// A tool definition of Open Tool Calling (`ToolDefinition`).
///
/// # Examples
///
/// ```
/// # use serde_json::json;
/// # use toolkit_otc::Definition;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let json = json!({
///     "id": "Calculator.Add@1.0.0",
///     "name": "Calculator_Add",
///     "description": "Adds two numbers together.",
///     "version": "1.0.0",
///     "input_schema": { "parameters": {
///         "type": "object",
///         "properties": { "a": { "type": "number", "description": "The first number to add." } },
///         "required": ["a"],
///     } },
///     "output_schema": { "type": "number" },
/// });
/// let tool = Definition::from_json(&json)?.to_tool()?;
/// assert_eq!(tool.id().to_string(), "Calculator:Add:1.0.0");
/// assert_eq!(serde_json::to_value(Definition::from_tool(&tool, &Default::default())?)?, json);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Definition {
    id: OtcId,
    name: String,
    description: String,
    version: String,
    input_schema: Input,
    /// `None` if the tool returns nothing.
    output_schema: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Requirements::is_empty")]
    requirements: Requirements,
}

impl Definition {
    /// Returns the id, which has the version of the definition.
    #[must_use]
    pub fn id(&self) -> &OtcId {
        &self.id
    }

    /// Returns the name: 1 to 64 letters, digits, `_` and `-`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// The key in the `_meta` of a tool for the definition that it was read from, if `Definition::from_tool` would produce
/// another.
const AS_READ: &str = "open-tool-calling/definition";

/// The maximum length of a name.
const MAX_NAME_LEN: usize = 64;

fn is_definition_name(name: &str) -> bool {
    (1..=MAX_NAME_LEN).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Input {
    parameters: Map<String, Value>,
}

/// Like [`toolkit::tool::Requirements`], but `oauth2` is optional.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Requirements {
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub(crate) authorization: Vec<Authorization>,
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub(crate) secrets: Vec<Secret>,
    #[serde(deserialize_with = "or_default", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) user_id: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Authorization {
    pub(crate) id: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) oauth2: Option<OAuth2>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct OAuth2 {
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub(crate) scopes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Secret {
    pub(crate) id: String,
}

impl Requirements {
    pub(crate) fn is_empty(&self) -> bool {
        self.authorization.is_empty() && self.secrets.is_empty() && !self.user_id
    }
}

impl From<&toolkit::tool::Requirements> for Requirements {
    fn from(required: &toolkit::tool::Requirements) -> Self {
        let authorization = required.authorization.iter().map(|authorization| {
            let scopes: Vec<String> = authorization.scopes.iter().map(ToString::to_string).collect();
            let oauth2 = (!scopes.is_empty()).then_some(OAuth2 { scopes });
            Authorization { id: authorization.id.to_string(), oauth2 }
        });
        Self {
            authorization: authorization.collect(),
            secrets: required.secrets.iter().map(|secret| Secret { id: secret.id.to_string() }).collect(),
            user_id: required.user_id,
        }
    }
}

impl From<Requirements> for toolkit::tool::Requirements {
    fn from(required: Requirements) -> Self {
        let authorization = required.authorization.into_iter().map(|authorization| {
            toolkit::tool::Authorization::new(authorization.id, authorization.oauth2.unwrap_or_default().scopes)
        });
        let mut requirements = Self::NONE;
        requirements.authorization = authorization.collect();
        requirements.secrets =
            required.secrets.into_iter().map(|secret| toolkit::tool::Secret::new(secret.id)).collect();
        requirements.user_id = required.user_id;
        requirements
    }
}

/// Deserializes a field, with its default value for `null`, which some programs write for an absent one.
pub(crate) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

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
