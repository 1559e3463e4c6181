//! The messages of Open Tool Calling (OXP 1.0).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Number;
use serde_json::value::RawValue;

use crate::definition::{Authorization, Requirements, Secret, or_default};

/// The value of `$schema` in messages.
pub(crate) const SCHEMA: &str = "urn:oxp:1.0";
/// The former value of `$schema`.
pub(crate) const OLD_SCHEMA: &str = "otc://1.0";
/// The header of an API key.
pub(crate) const API_KEY: &str = "oxp-api-key";
/// The media type that a client accepts for progress and partial results.
pub(crate) const EVENT_STREAM: &str = "text/event-stream";

/// A correlation id of a call across programs. The client sends the one in the [`Context`](toolkit::Context) of a call,
/// and the server adds the one it has received to the context of the tool.
///
/// # Examples
///
/// ```
/// use toolkit::Context;
/// use toolkit_otc::TraceId;
///
/// let context = Context::new().with(TraceId("request-17".to_owned()));
/// assert_eq!(context.get::<TraceId>().unwrap().0, "request-17");
/// ```
#[cfg(feature = "http")]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TraceId(pub String);

/// The body of `POST /tools/call`.
#[derive(Serialize, Deserialize)]
pub(crate) struct CallMessage<'a> {
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub(crate) schema: Option<String>,
    #[serde(borrow)]
    pub(crate) request: CallRequest<'a>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct CallRequest<'a> {
    pub(crate) tool_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) call_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) trace_id: Option<String>,
    // One of the published documents uses the plural.
    #[serde(borrow, default, alias = "inputs", skip_serializing_if = "Option::is_none")]
    pub(crate) input: Option<&'a RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) context: Option<CallContext>,
}

/// The credentials of a call. They are never logged.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CallContext {
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub(crate) authorization: Vec<Token>,
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub(crate) secrets: Vec<SecretValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user_id: Option<String>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Token {
    pub(crate) id: String,
    pub(crate) token: String,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct SecretValue {
    pub(crate) id: String,
    pub(crate) value: String,
}

/// The body of a response with status 200.
#[derive(Deserialize)]
pub(crate) struct ResponseMessage<'a> {
    #[serde(borrow)]
    pub(crate) result: CallResult<'a>,
}

/// The outcome of a call (`CallToolResponse`), with the fields that a client reads.
#[derive(Deserialize)]
pub(crate) struct CallResult<'a> {
    pub(crate) success: bool,
    #[serde(borrow, default)]
    pub(crate) value: Option<&'a RawValue>,
    pub(crate) error: Option<CallError>,
}

/// The error of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct CallError {
    pub(crate) message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) developer_message: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) can_retry: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) additional_prompt_content: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) retry_after_ms: Option<Number>,
}

/// The body of a response with another status (`ServerErrorResponse`, `ValidationErrorResponse`).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ErrorBody {
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub(crate) schema: Option<String>,
    pub(crate) message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) developer_message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) missing_requirements: Option<Missing>,
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) parameter_errors: BTreeMap<String, String>,
}

/// The missing requirements of a call.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Missing {
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub(crate) authorization: Vec<MissingAuthorization>,
    // An extension: the format has no field for missing secrets.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub(crate) secrets: Vec<Secret>,
    #[serde(deserialize_with = "or_default", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) user_id: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct MissingAuthorization {
    #[serde(flatten)]
    pub(crate) required: Authorization,
    /// The URL where the user can grant the authorization.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
}

impl From<&toolkit::tool::Requirements> for Missing {
    fn from(missing: &toolkit::tool::Requirements) -> Self {
        let Requirements { authorization, secrets, user_id } = missing.into();
        let without_url = |required| MissingAuthorization { required, url: None };
        Self { authorization: authorization.into_iter().map(without_url).collect(), secrets, user_id }
    }
}

impl From<Missing> for toolkit::tool::Requirements {
    fn from(missing: Missing) -> Self {
        let Missing { authorization, secrets, user_id } = missing;
        let authorization = authorization.into_iter().map(|missing| missing.required).collect();
        Requirements { authorization, secrets, user_id }.into()
    }
}
