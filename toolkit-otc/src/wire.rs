//! The messages of the call format (OXP 1.0), as both sides write and read them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Number;
use serde_json::value::RawValue;

use crate::absent::or_default;
use crate::definition::{Authorization, Requirements, Secret};

/// What every message may say it is.
pub(crate) const SCHEMA: &str = "urn:oxp:1.0";
/// What it was called before.
pub(crate) const OLD_SCHEMA: &str = "otc://1.0";
/// The header of an API key.
pub(crate) const API_KEY: &str = "oxp-api-key";
/// What a client that hears progress asks for.
pub(crate) const EVENT_STREAM: &str = "text/event-stream";

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
    // One of the published pages has the plural.
    #[serde(borrow, default, alias = "inputs", skip_serializing_if = "Option::is_none")]
    pub(crate) input: Option<&'a RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) context: Option<CallContext>,
}

/// The credentials that go along with a call. It is never printed.
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

/// The body of an answer of status 200.
#[derive(Deserialize)]
pub(crate) struct AnswerMessage<'a> {
    #[serde(borrow)]
    pub(crate) result: CallResult<'a>,
}

/// What a call came to (`CallToolResponse`), as far as a client looks at it.
#[derive(Deserialize)]
pub(crate) struct CallResult<'a> {
    pub(crate) success: bool,
    #[serde(borrow, default)]
    pub(crate) value: Option<&'a RawValue>,
    #[serde(default)]
    pub(crate) error: Option<CallError>,
}

/// Why a tool failed.
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

/// The body of an answer of any other status (`ServerErrorResponse`, `ValidationErrorResponse`).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Refused {
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

/// What a call lacks.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Missing {
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub(crate) authorization: Vec<MissingAuthorization>,
    // The format has no place for secrets here; a reader that does not know them still has the message.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub(crate) secrets: Vec<Secret>,
    #[serde(deserialize_with = "or_default", skip_serializing_if = "std::ops::Not::not")]
    pub(crate) user_id: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct MissingAuthorization {
    #[serde(flatten)]
    pub(crate) required: Authorization,
    /// Where the user can grant it.
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
