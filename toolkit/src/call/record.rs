//! The serialized form of results and errors, for hosts that record the calls of a run and read them again.

use std::borrow::Cow;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::coerce::Change;
use super::content::Content;
use super::kind::ErrorKind;
use super::mcp_result::McpResult;
use super::result::RunResult;
use super::tool_error::ToolError;
use crate::tool::{Requirements, ToolBackend};
use toolkit_schema::Violation;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ResultForm<'r> {
    tool: Cow<'r, str>,
    backend: ToolBackend,
    /// Kept as text, in which numbers stay as the tool wrote them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    structured: Option<Cow<'r, RawValue>>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    content: Cow<'r, [Content]>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    changes: Cow<'r, [Change]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mcp: Option<Cow<'r, RawValue>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ErrorForm<'e> {
    kind: Cow<'e, str>,
    message: Cow<'e, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<Cow<'e, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    backend: Option<Cow<'e, ToolBackend>>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    violations: Cow<'e, [Violation]>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    content: Cow<'e, [Content]>,
    #[serde(default, skip_serializing_if = "Requirements::is_empty")]
    missing: Cow<'e, Requirements>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    retryable: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after: Option<Duration>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mcp: Option<Cow<'e, RawValue>>,
}

/// Writes all that the methods of a result return.
impl Serialize for RunResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let structured = self.json().map(serde_json::from_slice::<&RawValue>).transpose();
        let form = ResultForm {
            tool: self.tool().into(),
            backend: self.backend(),
            structured: structured.map_err(serde::ser::Error::custom)?.map(Cow::Borrowed),
            content: self.own_content().into(),
            changes: self.changes().into(),
            mcp: raw(self.mcp())?,
        };
        form.serialize(serializer)
    }
}

/// Reads a result that was recorded by the same program or a compatible one. It is not validated against the schema of the
/// tool again.
impl<'de> Deserialize<'de> for RunResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let form = ResultForm::deserialize(deserializer)?;
        let mcp = form.mcp.as_deref().map(parsed).transpose()?;
        let result = Self::from_backend(form.tool.into_owned(), form.backend, mcp, form.changes.into_owned());
        let result = result.with_content(form.content.into_owned());
        Ok(match form.structured {
            Some(json) => result.with_json(json.get().as_bytes().to_owned()),
            None => result,
        })
    }
}

/// Writes all that the methods of an error return. The cause of the error stays with the program: it may contain what
/// readers of the record must not see.
impl Serialize for ToolError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let form = ErrorForm {
            kind: self.kind().name().into(),
            message: self.message().into(),
            tool: self.tool().map(Cow::Borrowed),
            backend: self.backend().map(Cow::Borrowed),
            violations: self.violations().into(),
            content: self.content().into(),
            missing: Cow::Borrowed(self.missing()),
            retryable: self.is_retryable(),
            retry_after: self.retry_after(),
            mcp: raw(self.mcp())?,
        };
        form.serialize(serializer)
    }
}

/// Reads an error that was recorded by the same program or a compatible one.
impl<'de> Deserialize<'de> for ToolError {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let form = ErrorForm::deserialize(deserializer)?;
        let kind = ErrorKind::from_name(&form.kind).ok_or_else(|| D::Error::custom("unknown kind of error"))?;
        let mut error = match form.missing.is_empty() {
            true => Self::new(kind, form.message),
            false => Self::missing_requirements(form.missing.into_owned()),
        };
        error = error.with_violations(form.violations.into_owned()).with_content(form.content.into_owned());
        if let Some(mcp) = form.mcp {
            error = error.with_mcp_result(parsed(&mcp)?);
        }
        if let Some(tool) = form.tool {
            error = error.with_tool(&tool);
        }
        if let Some(backend) = form.backend {
            error = error.with_backend(backend.into_owned());
        }
        if form.retryable && (form.retry_after.is_some() || !error.is_retryable()) {
            error = error.retryable(form.retry_after);
        }
        Ok(error)
    }
}

/// Returns the text of a result of an MCP server.
fn raw<E: serde::ser::Error>(mcp: Option<&McpResult>) -> Result<Option<Cow<'_, RawValue>>, E> {
    let json = mcp.map(|mcp| RawValue::from_string(mcp.readable().into_owned())).transpose();
    Ok(json.map_err(E::custom)?.map(Cow::Owned))
}

fn parsed<E: serde::de::Error>(mcp: &RawValue) -> Result<McpResult, E> {
    McpResult::parse(mcp.get().as_bytes().to_owned()).map_err(E::custom)
}
