//! The frame of outgoing JSON-RPC messages: results, errors and notifications, as bytes.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The error codes of JSON-RPC and MCP. Those from -32022 to -32020 were added in revision 2026-07-28.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The text is not JSON.
    ParseError = -32700,
    /// The message is not a request.
    InvalidRequest = -32600,
    /// The method is unknown.
    MethodNotFound = -32601,
    /// The parameters are invalid.
    InvalidParams = -32602,
    /// The server has failed.
    Internal = -32603,
    /// Only up to revision 2025-11-25.
    ResourceNotFound = -32002,
    /// A header differs from the message.
    HeaderMismatch = -32020,
    /// The request needs a capability that the client has not declared.
    MissingClientCapability = -32021,
    /// The revision is not supported.
    UnsupportedVersion = -32022,
}

/// A JSON-RPC error.
#[derive(Debug)]
pub struct RpcError {
    /// The code.
    pub code: Code,
    /// True if the request is invalid independently of its method. HTTP then responds with an error status.
    pub is_bad_request: bool,
    message: String,
    data: Option<Value>,
}

impl RpcError {
    /// Creates an error.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, is_bad_request: false, message: message.into(), data: None }
    }

    /// Creates an error for a request that is invalid independently of its method.
    pub fn bad_request(code: Code, message: impl Into<String>) -> Self {
        Self { is_bad_request: true, ..Self::new(code, message) }
    }

    /// Creates the error for an unknown method, whose name is cut.
    pub fn unknown_method(method: &str) -> Self {
        let shown: String = method.chars().take(64).collect();
        Self::new(Code::MethodNotFound, format!("unknown method `{}`", shown.escape_debug()))
    }

    /// Sets the data.
    pub fn with_data(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }

    /// Writes the error response. The id is `None` if that of the request could not be read.
    pub fn to_response(&self, id: Option<&RawValue>) -> Vec<u8> {
        let mut error = Map::new();
        error.insert("code".to_owned(), (self.code as i32).into());
        error.insert("message".to_owned(), self.message.as_str().into());
        if let Some(data) = &self.data {
            error.insert("data".to_owned(), data.clone());
        }
        let mut bytes = Vec::with_capacity(128);
        bytes.extend_from_slice(br#"{"jsonrpc":"2.0","#);
        if let Some(id) = id {
            bytes.extend_from_slice(br#""id":"#);
            bytes.extend_from_slice(id.get().as_bytes());
            bytes.push(b',');
        }
        bytes.extend_from_slice(br#""error":"#);
        bytes.extend_from_slice(&json_bytes(&error));
        bytes.push(b'}');
        bytes
    }
}

/// Writes the response with a result, which must be a JSON object. `meta` holds the fields to write first, such as
/// `"_meta":{"a":1},`. If the first field of the result is `_meta` too, both are joined.
pub fn response(id: &RawValue, meta: &[u8], result: &[u8]) -> Vec<u8> {
    let id = id.get().as_bytes();
    let mut bytes = Vec::with_capacity(40 + id.len() + meta.len() + result.len());
    bytes.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    bytes.extend_from_slice(id);
    bytes.extend_from_slice(br#","result":{"#);
    join(&mut bytes, meta, result);
    bytes.push(b'}');
    bytes
}

/// Writes the fields of an object as [`response`] and [`with_meta`] put them before those of a result: without braces, with a
/// comma at the end.
pub fn meta_fields(object: &impl Serialize) -> Vec<u8> {
    let mut fields = json_bytes(object);
    fields.remove(0);
    fields.pop();
    fields.push(b',');
    fields
}

/// Returns an object with these fields before its own; see [`response`].
pub fn with_meta(meta: &[u8], object: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(meta.len() + object.len());
    bytes.push(b'{');
    join(&mut bytes, meta, object);
    bytes
}

/// Writes the fields of an object after those of `meta`, up to the closing brace.
fn join(bytes: &mut Vec<u8>, meta: &[u8], object: &[u8]) {
    let fields = object.get(1..).unwrap_or(b"}");
    let joined = meta.strip_suffix(b"},").zip(fields.strip_prefix(br#""_meta":{"#));
    if let Some((first, rest)) = joined {
        bytes.extend_from_slice(first);
        if !rest.starts_with(b"}") {
            bytes.push(b',');
        }
        return bytes.extend_from_slice(rest);
    }
    let is_empty = fields == b"}";
    bytes.extend_from_slice(if is_empty { meta.strip_suffix(b",").unwrap_or(meta) } else { meta });
    bytes.extend_from_slice(fields);
}

/// Writes a request. `params` must be the text of a JSON object.
pub fn request(id: u64, method: &str, params: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(64 + method.len() + params.len());
    bytes.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    bytes.extend_from_slice(id.to_string().as_bytes());
    bytes.extend_from_slice(br#","method":"#);
    bytes.extend_from_slice(&json_bytes(method));
    bytes.extend_from_slice(br#","params":"#);
    bytes.extend_from_slice(params);
    bytes.push(b'}');
    bytes
}

/// Writes a notification.
pub fn notification(method: &str, params: &impl Serialize) -> Vec<u8> {
    #[derive(Serialize)]
    struct Notification<'n, P> {
        jsonrpc: &'static str,
        method: &'n str,
        params: &'n P,
    }
    json_bytes(&Notification { jsonrpc: "2.0", method, params })
}

/// Writes a value with string keys as JSON.
///
/// # Panics
///
/// Panics if a map of the value has keys other than strings.
pub fn json_bytes(value: &(impl Serialize + ?Sized)) -> Vec<u8> {
    serde_json::to_vec(value).expect("the value has string keys only, and writing to memory does not fail")
}
