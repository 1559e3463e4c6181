//! Writers of the result of `tools/call`.

use super::error::write_meta;
use super::result::{is_wrapped, wrap};
use super::revision::Revision;
use crate::call::{Content, RunResult, ToolError};
use crate::tool::Tool;

/// Writes the result of a successful call (`CallToolResult`).
///
/// `content` contains the content that the tool returned, or else its result as text. `structuredContent` contains the
/// result if the tool has an output schema; see [`wrap_result`](super::wrap_result).
///
/// ```standalone_crate
/// # use toolkit::mcp::{CallParams, Revision, write_result};
/// # use toolkit::{Dispatcher, tool};
/// /// Adds two integers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let dispatcher = Dispatcher::new(toolkit::catalog![add]?)?;
/// let params = CallParams::parse(br#"{"name": "add", "arguments": {"a": 1, "b": 2}}"#)?;
/// let result = dispatcher.call_sync(params.name(), params.arguments())?;
/// let tool = dispatcher.catalog().resolve("add")?;
/// assert_eq!(
///     write_result(tool, &result, Revision::V2026_07_28),
///     br#"{"resultType":"complete","content":[{"type":"text","text":"3"}],"structuredContent":3,"isError":false}"#
/// );
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn write_result(tool: &Tool, result: &RunResult, revision: Revision) -> Vec<u8> {
    let json = result.json();
    let mut bytes = Vec::with_capacity(128 + json.map_or(0, |json| 2 * json.len() + json.len() / 4));
    bytes.push(b'{');
    bytes.extend_from_slice(first_fields(revision));
    match (result.own_content(), json) {
        ([], Some(json)) => write_text(&mut bytes, json),
        (content, _) => write_content(&mut bytes, content),
    }
    if let (Some(json), Some(schema)) = (json, tool.output()) {
        bytes.extend_from_slice(br#","structuredContent":"#);
        wrap(&mut bytes, json, is_wrapped(revision, schema.as_value()));
    }
    bytes.extend_from_slice(br#","isError":false}"#);
    bytes
}

/// Writes the result of a failed or rejected call (`CallToolResult` with `isError`), so that the model can read the
/// error and correct the call.
///
/// [`ERROR_KEY`](super::ERROR_KEY) of `_meta` describes the error for programs.
///
/// The server reports an unknown tool as a JSON-RPC error instead.
///
/// ```standalone_crate
/// use toolkit::mcp::{Revision, write_error};
/// use toolkit::{Dispatcher, tool};
///
/// /// Adds two integers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let dispatcher = Dispatcher::new(toolkit::catalog![add]?)?;
/// let error = dispatcher.call_sync("add", br#"{"a": 1}"#).unwrap_err();
/// let json: serde_json::Value = serde_json::from_slice(&write_error(&error, Revision::V2025_11_25))?;
/// assert_eq!(json["isError"], true);
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn write_error(error: &ToolError, revision: Revision) -> Vec<u8> {
    let mut content = vec![Content::Text { text: error.to_string() }];
    content.extend_from_slice(error.content());
    let mut bytes = Vec::with_capacity(256);
    // The first field, so that a server can join it with its own.
    bytes.extend_from_slice(br#"{"_meta":"#);
    write_meta(&mut bytes, error);
    bytes.push(b',');
    bytes.extend_from_slice(first_fields(revision));
    write_content(&mut bytes, &content);
    bytes.extend_from_slice(br#","isError":true}"#);
    bytes
}

/// Returns the fields of a result up to the value of `content`.
fn first_fields(revision: Revision) -> &'static [u8] {
    match revision {
        Revision::V2025_11_25 => br#""content":"#,
        Revision::V2026_07_28 => br#""resultType":"complete","content":"#,
    }
}

/// Writes a result as a single text content.
fn write_text(bytes: &mut Vec<u8>, json: &[u8]) {
    bytes.extend_from_slice(br#"[{"type":"text","text":"#);
    if json.first() == Some(&b'"') {
        // A string result is shown without its quotes; its JSON is already quoted and escaped.
        bytes.extend_from_slice(json);
    } else {
        write_quoted(bytes, json);
    }
    bytes.extend_from_slice(b"}]");
}

/// Writes JSON text as a JSON string.
fn write_quoted(bytes: &mut Vec<u8>, json: &[u8]) {
    // Control characters have to be escaped; the serializers of this crate do not write any.
    if json.iter().copied().min().is_some_and(|least| least < b' ') {
        return write_json(bytes, &*String::from_utf8_lossy(json));
    }
    bytes.push(b'"');
    let (words, rest) = json.as_chunks::<8>();
    for word in words {
        // Every few bytes of JSON is a quote, at unpredictable positions. Branchless code is therefore faster: each
        // byte is written with room for a backslash before it.
        let mut escaped = [b'\\'; 16];
        let mut length = 0;
        for byte in word {
            length += usize::from(needs_backslash(*byte));
            escaped[length & 15] = *byte;
            length += 1;
        }
        bytes.extend_from_slice(&escaped);
        bytes.truncate(bytes.len() - 16 + length);
    }
    for byte in rest {
        if needs_backslash(*byte) {
            bytes.push(b'\\');
        }
        bytes.push(*byte);
    }
    bytes.push(b'"');
}

#[inline]
fn needs_backslash(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\')
}

fn write_content(bytes: &mut Vec<u8>, content: &[Content]) {
    write_json(bytes, content);
}

fn write_json(bytes: &mut Vec<u8>, value: &(impl serde::Serialize + ?Sized)) {
    serde_json::to_writer(bytes, value).expect("content is serializable, and writing to a vector cannot fail");
}
