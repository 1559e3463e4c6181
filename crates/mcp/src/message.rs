//! Incoming JSON-RPC messages, borrowed from their bytes.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::json_text::{is_id, object, text};
use super::meta::Meta;
use super::rpc::{Code, RpcError};

/// An incoming message.
#[derive(Debug)]
pub enum Message<'m> {
    /// A request.
    Request {
        /// A string or an integer.
        id: &'m RawValue,
        /// The name of the method.
        method: Cow<'m, str>,
        /// Any value.
        params: Option<&'m RawValue>,
    },
    /// A request for `tools/call`, in the form that clients usually send.
    Call {
        /// A string or an integer.
        id: &'m RawValue,
        /// The parameters.
        call: CallRequest<'m>,
    },
    /// A notification.
    Notification {
        /// The name of the method.
        method: Cow<'m, str>,
        /// Any value.
        params: Option<&'m RawValue>,
    },
    /// A response to a request of the server.
    Response {
        /// A string or an integer. Errors may lack it.
        id: Option<&'m RawValue>,
        /// Any value.
        result: Option<&'m RawValue>,
        /// Any value.
        error: Option<&'m RawValue>,
    },
}

/// The error of a malformed message, with the id of the request if it could be read.
#[derive(Debug)]
pub struct Malformed<'m> {
    /// The id of the request.
    pub id: Option<&'m RawValue>,
    /// The error.
    pub fault: RpcError,
}

#[derive(Deserialize)]
struct MessageFields<'m> {
    #[serde(borrow)]
    jsonrpc: Option<&'m RawValue>,
    // `"id": null` is present but invalid.
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'m RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'m RawValue>,
    #[serde(borrow)]
    params: Option<&'m RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'m RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'m RawValue>,
}

fn present<'m, D: Deserializer<'m>>(deserializer: D) -> Result<Option<&'m RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl<'m> Message<'m> {
    /// Reads a message.
    ///
    /// # Errors
    ///
    /// Returns the error response for a text that is not a message.
    pub fn parse(json: &'m [u8]) -> Result<Self, Malformed<'m>> {
        if let Some((id, call)) = CallRequest::read(json) {
            return Ok(Self::Call { id, call });
        }
        // A derived `Deserialize` would accept an array of the fields too.
        if json.trim_ascii_start().first() != Some(&b'{') {
            return Err(not_an_object(json));
        }
        let fields: MessageFields<'m> = serde_json::from_slice(json).map_err(|error| {
            // A data error of valid JSON is a duplicate field.
            let code = if error.is_data() { Code::InvalidRequest } else { Code::ParseError };
            malformed(None, code, "the message is not JSON, or has a duplicate field")
        })?;
        let id = fields.id.filter(|id| is_id(id.get()));
        let invalid = |message| malformed(id, Code::InvalidRequest, message);
        if fields.jsonrpc.is_none_or(|version| version.get() != "\"2.0\"") {
            return Err(invalid("`jsonrpc` must be \"2.0\""));
        }
        if fields.id.is_some() && id.is_none() {
            return Err(invalid("`id` must be a string or an integer"));
        }
        let Some(method) = fields.method else {
            return match fields.result.or(fields.error) {
                Some(_) => Ok(Message::Response { id, result: fields.result, error: fields.error }),
                None => Err(invalid("the message has neither `method`, `result` nor `error`")),
            };
        };
        let method = text(method.get()).ok_or_else(|| invalid("`method` must be a string"))?;
        let params = fields.params;
        Ok(match id {
            Some(id) => Message::Request { id, method, params },
            None => Message::Notification { method, params },
        })
    }
}

impl<'m> Message<'m> {
    /// Returns the id of a request.
    pub fn id(&self) -> Option<&'m RawValue> {
        match self {
            Message::Request { id, .. } | Message::Call { id, .. } => Some(id),
            Message::Notification { .. } | Message::Response { .. } => None,
        }
    }
}

fn not_an_object(json: &[u8]) -> Malformed<'static> {
    match serde_json::from_slice::<&RawValue>(json) {
        Ok(value) if value.get().starts_with('[') => {
            malformed(None, Code::InvalidRequest, "batches are not supported; send one message at a time")
        }
        Ok(_) => malformed(None, Code::InvalidRequest, "the message must be a JSON object"),
        Err(_) => malformed(None, Code::ParseError, "the message is not JSON"),
    }
}

fn malformed<'m>(id: Option<&'m RawValue>, code: Code, message: &str) -> Malformed<'m> {
    Malformed { id, fault: RpcError::bad_request(code, message) }
}

/// The parameters of a request for `tools/call`, in the form that clients usually send.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallRequest<'m> {
    /// The name of the tool.
    pub name: &'m str,
    /// A JSON object.
    #[serde(borrow)]
    pub arguments: Option<&'m RawValue>,
    /// The metadata of the request.
    #[serde(borrow, rename = "_meta", default, deserialize_with = "object")]
    pub meta: Meta<'m>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallMessage<'m> {
    jsonrpc: &'m str,
    #[serde(borrow)]
    id: &'m RawValue,
    #[serde(rename = "method")]
    _method: CallMethod,
    #[serde(borrow, deserialize_with = "object")]
    params: CallRequest<'m>,
}

#[derive(Deserialize)]
enum CallMethod {
    #[serde(rename = "tools/call")]
    ToolsCall,
}

impl<'m> CallRequest<'m> {
    /// Reads a call and the id of its request. Returns `None` for a message of another form, including an invalid one and one
    /// with escapes in the name of the tool.
    pub(super) fn read(json: &'m [u8]) -> Option<(&'m RawValue, Self)> {
        let text = str::from_utf8(json).ok().filter(|text| text.trim_start().starts_with('{'))?;
        let CallMessage { jsonrpc, id, params, .. } = serde_json::from_str(text).ok()?;
        let is_object = params.arguments.is_none_or(|arguments| arguments.get().starts_with('{'));
        (jsonrpc == "2.0" && is_id(id.get()) && is_object).then_some((id, params))
    }
}

#[cfg(test)]
mod tests {
    use super::CallRequest;

    #[test]
    fn a_call_in_another_form_is_left_to_the_reader_of_all_messages() {
        let usual = r#" {"method": "tools/call", "id": "7", "jsonrpc": "2.0", "params":
            {"_meta": {"other": [1], "progressToken": 1}, "arguments": {"a": {}}, "name": "add"}} "#;
        let (id, call) = CallRequest::read(usual.as_bytes()).unwrap();
        let arguments = call.arguments.map(|arguments| arguments.get());
        assert_eq!((id.get(), call.name, arguments), ("\"7\"", "add", Some(r#"{"a": {}}"#)));
        assert_eq!(call.meta.progress_token().unwrap().get(), "1");
        for (part, other) in [
            ("\"2.0\"", "\"1.0\""),
            ("\"2.0\"", "2.0"),
            ("\"7\"", "null"),
            ("\"7\"", "{}"),
            ("\"7\"", "1, \"id\": 1"),
            ("tools/call", "tools/list"),
            ("\"add\"", "\"a\\u0064d\""),
            ("\"add\"", "null"),
            ("\"add\"", "\"add\", \"task\": {}"),
            ("\"add\"", "\"add\", \"name\": \"sub\""),
            ("{\"a\": {}}", "[]"),
            ("{\"a\": {}}", "\"{}\""),
            ("{\"a\": {}}", "{\"a\": }"),
            ("{\"other\": [1], \"progressToken\": 1}", "[\"2026-07-28\"]"),
            ("\"other\": [1]", "\"progressToken\": 2"),
            ("}} ", "}} {}"),
        ] {
            let json = usual.replacen(part, other, 1);
            assert_ne!(json, usual);
            assert!(CallRequest::read(json.as_bytes()).is_none(), "{json}");
        }
        for json in [
            r#"["2.0", 1, "tools/call", {"name": "add"}]"#,
            r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ["add", {}]}"#,
        ] {
            assert!(CallRequest::read(json.as_bytes()).is_none(), "{json}");
        }
        let invalid = [&usual.as_bytes()[..usual.len() - 5], b"\"\xff\"}}}"].concat();
        assert!(CallRequest::read(&invalid).is_none());
    }
}
