//! Calls in the form that clients usually send, read in one pass.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::json_text::{is_id, object};
use super::meta::Meta;

/// The parameters of a request for `tools/call`.
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
