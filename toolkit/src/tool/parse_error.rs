//! The error of a document that is not a tool.

use std::fmt;

use super::json::EXTENSIONS;
use super::text::META_KEY;
use toolkit_schema::{Violations, child};

/// The error of a document that is not a tool.
///
/// # Examples
///
/// ```
/// use toolkit::Tool;
/// use toolkit::tool::ParseToolError;
///
/// let error = Tool::from_mcp_json(r#"{"name": "read", "inputSchema": []}"#).unwrap_err();
/// let ParseToolError::Form(violations) = error else { panic!("{error}") };
/// assert_eq!(violations[0].pointer, "/inputSchema");
///
/// let error = Tool::from_json("[]").unwrap_err();
/// assert!(matches!(error, ParseToolError::Json(_)));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ParseToolError {
    /// The text is not JSON, or not an object.
    Json(String),
    /// The violations of the form of a tool.
    Form(Violations),
}

impl ParseToolError {
    /// Replaces "argument" by "field" in the messages of a schema.
    pub(super) fn from_violations(violations: Violations) -> Self {
        ParseToolError::Form(violations.reworded(|violation| {
            if violation.keyword == "additionalProperties" {
                violation.rule = "is not a field".to_owned();
            }
        }))
    }

    pub(super) fn carried(rule: &str) -> Self {
        ParseToolError::Form(Violations::from_type_error(child(&child("", "_meta"), META_KEY), rule.to_owned()))
    }

    /// Restores the locations of fields that were in the record.
    pub(super) fn relocate_to_record(self) -> Self {
        let ParseToolError::Form(violations) = self else { return self };
        let place = child(&child("", "_meta"), META_KEY);
        ParseToolError::Form(violations.reworded(|violation| {
            let field = violation.pointer.split('/').nth(1).unwrap_or_default();
            if EXTENSIONS.contains(&field) {
                violation.pointer.insert_str(0, &place);
            }
        }))
    }
}

impl fmt::Display for ParseToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseToolError::Json(reason) => write!(f, "not a tool: {reason}"),
            ParseToolError::Form(violations) => write!(f, "not a tool:\n{violations}"),
        }
    }
}

impl std::error::Error for ParseToolError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ParseToolError::Json(_) => None,
            ParseToolError::Form(violations) => Some(violations),
        }
    }
}
