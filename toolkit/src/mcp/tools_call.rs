//! `tools/call`: its parameters, the writers of its result, and errors as data in `_meta` of a result with `isError`.

use std::borrow::Cow;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::Revision;
use super::object_result::{is_wrapped, wrap};
use crate::call::{Arguments, Content, ErrorKind, McpResult, RunResult, ToolError, each_field, each_item, text};
use crate::tool::Tool;
use toolkit_schema::Violation;

/// The `params` of `tools/call` (`CallToolRequestParams` of both revisions), borrowed from the message.
///
/// ```
/// use toolkit::mcp::CallParams;
///
/// let params = CallParams::parse(br#"{"name": "add", "arguments": {"a": 1}}"#)?;
/// assert_eq!(params.name(), "add");
/// assert!(params.meta().is_none());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CallParams<'m> {
    name: Cow<'m, str>,
    arguments: Option<&'m [u8]>,
    meta: Option<&'m str>,
}

impl<'m> CallParams<'m> {
    /// Parses the `params` without parsing the arguments and `_meta`. The dispatcher parses the arguments.
    ///
    /// # Errors
    ///
    /// Returns an error if `json` is not an object with a `name`. Errors inside the arguments or `_meta` may be found
    /// only when these are parsed.
    pub fn parse(json: &'m [u8]) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Params<'m> {
            #[serde(borrow)]
            name: Cow<'m, str>,
            #[serde(borrow)]
            arguments: Option<&'m RawValue>,
            #[serde(borrow, rename = "_meta")]
            meta: Option<&'m RawValue>,
        }

        // serde would also accept an array of the fields, and its error would repeat a string in full.
        if !json.trim_ascii_start().starts_with(b"{") {
            serde_json::from_slice::<&RawValue>(json)?;
            return Err(serde_json::Error::custom("the params must be a JSON object"));
        }
        let Params { name, arguments, meta } = serde_json::from_slice(json)?;
        let arguments = arguments.map(|json| json.get().as_bytes());
        Ok(Self { name, arguments, meta: meta.map(RawValue::get) })
    }

    /// Returns the wire name of the tool; see [`WireNames::get`](crate::catalog::WireNames::get).
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the arguments, or [`Arguments::NONE`] if the message has none.
    #[must_use]
    pub fn arguments(&self) -> Arguments<'m> {
        self.arguments.map_or(Arguments::NONE, Arguments::from)
    }

    /// Returns `_meta` as the unparsed text of an object.
    #[must_use]
    pub fn meta(&self) -> Option<&'m str> {
        self.meta
    }
}

/// Writes the result of a successful call (`CallToolResult`).
///
/// `content` contains the content that the tool returned, or else its result as text. `structuredContent` contains the
/// result if the tool has an output schema; see [`wrap_result`](super::wrap_result).
///
/// The result of an MCP server ([`RunResult::mcp_json`]) keeps the text of all of its fields, except for those of `_meta` that
/// describe the connection to that server. Up to 2025-11-25, its `structuredContent` that is not an object is wrapped.
///
/// ```
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
    if let Some(mcp) = result.mcp() {
        return write_mcp_result(tool, result, mcp, revision);
    }
    let json = result.json();
    let mut bytes = Vec::with_capacity(128 + json.map_or(0, |json| 2 * json.len() + json.len() / 4));
    bytes.push(b'{');
    bytes.extend_from_slice(first_fields(revision));
    bytes.extend_from_slice(br#""content":"#);
    match (result.own_content(), json) {
        ([], Some(json)) => write_text(&mut bytes, json),
        (content, _) => write_json(&mut bytes, content),
    }
    if let (Some(json), Some(schema)) = (json, tool.output()) {
        bytes.extend_from_slice(br#","structuredContent":"#);
        wrap(&mut bytes, json, is_wrapped(revision, schema.as_value()));
    }
    bytes.extend_from_slice(br#","isError":false}"#);
    bytes
}

/// Writes the result of another server.
fn write_mcp_result(tool: &Tool, result: &RunResult, mcp: &McpResult, revision: Revision) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(128 + mcp.json().len());
    bytes.push(b'{');
    if let Some(meta) = mcp.get("_meta").filter(|meta| meta.starts_with('{')) {
        // The first field, so that a server can join it with its own.
        bytes.extend_from_slice(br#""_meta":{"#);
        write_meta_fields(&mut bytes, meta, |key| !OF_CONNECTION.contains(&key));
        bytes.extend_from_slice(b"},");
    }
    bytes.extend_from_slice(first_fields(revision));
    let structured = match tool.output() {
        Some(schema) => {
            let is_wrapped = is_wrapped(revision, schema.as_value());
            mcp.exact_structured().map(|json| (json, is_wrapped))
        }
        None => foreign_structured(mcp, revision),
    };
    let content = match result.json().filter(|_| mcp.has_no_content()) {
        Some(json) => {
            let mut content = Vec::with_capacity(32 + json.len() + json.len() / 4);
            write_text(&mut content, json);
            content.into()
        }
        None => Cow::Borrowed(mcp.get("content").unwrap_or("[]").as_bytes()),
    };
    write_fields(&mut bytes, mcp, &content, structured);
    bytes.push(b'}');
    bytes
}

/// Writes the result of a failed or rejected call (`CallToolResult` with `isError`), so that the model can read the
/// error and correct the call.
///
/// [`ERROR_KEY`](super::ERROR_KEY) of `_meta` describes the error for programs, and [`ToolError::data`] is the
/// `structuredContent`. The result of an MCP server
/// ([`ToolError::mcp_result`]) keeps its other fields, as that of [`write_result`] does.
///
/// The server reports an unknown tool as a JSON-RPC error instead.
///
/// ```
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
    let mut bytes = Vec::with_capacity(256);
    // The first field, so that a server can join it with its own.
    bytes.extend_from_slice(br#"{"_meta":"#);
    write_meta(&mut bytes, error);
    let mcp = error.mcp();
    if let Some(meta) = mcp.and_then(|mcp| mcp.get("_meta")).filter(|meta| meta.starts_with('{')) {
        bytes.pop();
        let n_before = bytes.len();
        bytes.push(b',');
        write_meta_fields(&mut bytes, meta, |key| key != ERROR_KEY && !OF_CONNECTION.contains(&key));
        if bytes.len() == n_before + 1 {
            bytes.pop();
        }
        bytes.push(b'}');
    }
    bytes.push(b',');
    bytes.extend_from_slice(first_fields(revision));
    let written = || {
        let mut content = vec![Content::Text { text: error.to_string() }];
        content.extend_from_slice(error.content());
        let mut bytes = Vec::new();
        write_json(&mut bytes, &content);
        bytes
    };
    match mcp {
        Some(mcp) => {
            let content = mcp.get("content").filter(|_| !mcp.has_no_content());
            let content = content.map_or_else(|| written().into(), |content| Cow::Borrowed(content.as_bytes()));
            write_fields(&mut bytes, mcp, &content, foreign_structured(mcp, revision));
        }
        None => {
            bytes.extend_from_slice(br#""content":"#);
            bytes.extend_from_slice(&written());
            if let Some(data) = error.data() {
                bytes.extend_from_slice(br#","structuredContent":"#);
                let is_wrapped = revision == Revision::V2025_11_25 && !data.is_object();
                wrap(&mut bytes, data.to_string().as_bytes(), is_wrapped);
            }
            bytes.extend_from_slice(br#","isError":true"#);
        }
    }
    bytes.push(b'}');
    bytes
}

/// The fields of `_meta` that describe the connection to a server, and not the result.
const OF_CONNECTION: [&str; 2] = ["io.modelcontextprotocol/serverInfo", "io.modelcontextprotocol/related-task"];

/// Returns the `structuredContent` of another server for a tool without an output schema, and true if it is wrapped.
fn foreign_structured(mcp: &McpResult, revision: Revision) -> Option<(&[u8], bool)> {
    let structured = mcp.get("structuredContent")?;
    let must_be_object = revision == Revision::V2025_11_25;
    let is_written = !must_be_object || structured != "null";
    is_written.then(|| (structured.as_bytes(), must_be_object && !structured.starts_with('{')))
}

/// Writes the fields of a result of another server as they came, except for `_meta` and `resultType`, with these values of
/// `content` and `structuredContent`.
fn write_fields(bytes: &mut Vec<u8>, mcp: &McpResult, content: &[u8], structured: Option<(&[u8], bool)>) {
    let write_content = |bytes: &mut Vec<u8>| {
        bytes.extend_from_slice(br#""content":"#);
        bytes.extend_from_slice(content);
    };
    let write_structured = |bytes: &mut Vec<u8>, (json, is_wrapped): (&[u8], bool)| {
        bytes.extend_from_slice(br#""structuredContent":"#);
        wrap(bytes, json, is_wrapped);
    };
    let (has_content, has_structured) = (mcp.get("content").is_some(), mcp.get("structuredContent").is_some());
    let mut separator = "";
    let mut separated = |bytes: &mut Vec<u8>| {
        bytes.extend_from_slice(separator.as_bytes());
        separator = ",";
    };
    if !has_content {
        separated(bytes);
        write_content(bytes);
    }
    for (key, value) in mcp.fields() {
        match (&*text(key), structured) {
            ("_meta" | "resultType", _) | ("structuredContent", None) => {}
            ("content", _) => {
                separated(bytes);
                write_content(bytes);
            }
            ("structuredContent", Some(structured)) => {
                separated(bytes);
                write_structured(bytes, structured);
            }
            _ => {
                separated(bytes);
                bytes.extend_from_slice(key.as_bytes());
                bytes.push(b':');
                bytes.extend_from_slice(value.as_bytes());
            }
        }
    }
    if let Some(structured) = structured.filter(|_| !has_structured) {
        separated(bytes);
        write_structured(bytes, structured);
    }
}

/// Writes the accepted fields of `_meta` as they came, without its braces.
fn write_meta_fields(bytes: &mut Vec<u8>, meta: &str, accepts: impl Fn(&str) -> bool) {
    let mut separator = "";
    // The text was read before.
    let _ = each_field(meta, &mut |key, value| {
        if accepts(&text(key)) {
            [separator, key, ":", value].into_iter().for_each(|part| bytes.extend_from_slice(part.as_bytes()));
            separator = ",";
        }
    });
}

/// Returns the fields of a result before `content`.
fn first_fields(revision: Revision) -> &'static [u8] {
    match revision {
        Revision::V2025_11_25 => b"",
        Revision::V2026_07_28 => br#""resultType":"complete","#,
    }
}

/// Writes a result as a single text content.
fn write_text(bytes: &mut Vec<u8>, json: &[u8]) {
    bytes.extend_from_slice(br#"[{"type":"text","text":"#);
    if json.first() == Some(&b'"') {
        // A string result is shown without its quotes; its JSON is already quoted and escaped.
        bytes.extend_from_slice(json);
    } else {
        // Text of Rust's strings is checked faster than it is searched for bytes to replace.
        match str::from_utf8(json) {
            Ok(text) => write_json(bytes, text),
            Err(_) => write_json(bytes, &*String::from_utf8_lossy(json)),
        }
    }
    bytes.extend_from_slice(b"}]");
}

fn write_json(bytes: &mut Vec<u8>, value: &(impl serde::Serialize + ?Sized)) {
    serde_json::to_writer(bytes, value).expect("content is serializable, and writing to a vector cannot fail");
}

/// The key in `_meta` of a result with `isError`, whose value describes the error for programs.
///
/// The value has the fields `kind` ([`ErrorKind::name`]), `retryable`, `retryAfterMs` if the time is known, and
/// `violations` for invalid arguments, each with the fields of a [`Violation`]. It contains nothing that the text for
/// the model does not imply. Clients do not pass `_meta` to the model.
///
/// # Examples
///
/// ```
/// use serde_json::Value;
/// use toolkit::mcp::{ERROR_KEY, Revision, write_error};
/// use toolkit::{Dispatcher, tool};
///
/// /// Doubles a number.
/// #[tool]
/// fn double(n: i64) -> i64 {
///     n * 2
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let dispatcher = Dispatcher::new(toolkit::catalog![double]?)?;
/// let error = dispatcher.call_sync("double", r#"{"n": "two"}"#).unwrap_err();
/// let result: Value = serde_json::from_slice(&write_error(&error, Revision::V2025_11_25))?;
/// let data = &result["_meta"][ERROR_KEY];
/// assert_eq!((&data["kind"], &data["retryable"]), (&"invalid_arguments".into(), &false.into()));
/// assert_eq!(data["violations"][0]["pointer"], "/n");
/// # Ok(())
/// # }
/// ```
pub const ERROR_KEY: &str = "rs.toolkit/error";

/// The maximum number of violations, which is the number of lines in the text for the model.
const MAX_VIOLATIONS: usize = 20;

/// The maximum size of all violations in bytes of JSON.
const MAX_VIOLATION_BYTES: usize = 16 << 10;

/// The maximum size of a violation, beyond which its values are omitted.
const MAX_BYTES_OF_ONE: usize = 1 << 10;

/// The maximum length of a text that is read, in bytes.
const MAX_TEXT: usize = 2_000;

/// The upper bound of the time that another program advises to wait.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ErrorData<'e> {
    kind: &'static str,
    retryable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    violations: Vec<&'e Violation>,
}

/// Writes the object `_meta` of a result for an error.
pub(super) fn write_meta(bytes: &mut Vec<u8>, error: &ToolError) {
    let slim: Vec<Violation> = error.violations().iter().take(MAX_VIOLATIONS).map(slimmed).collect();
    let mut n_bytes = 0;
    let violations = slim.iter().take_while(|violation| {
        n_bytes += size(violation);
        n_bytes <= MAX_VIOLATION_BYTES
    });
    let kind = match error.kind() {
        // The text does not reveal the difference.
        ErrorKind::Panicked => ErrorKind::Internal,
        kind => kind,
    };
    let data = ErrorData {
        kind: kind.name(),
        // After a timeout, the tool may have run.
        retryable: error.is_retryable() && (error.kind() != ErrorKind::TimedOut || error.retry_after().is_some()),
        retry_after_ms: error.retry_after().map(|after| after.as_millis().try_into().unwrap_or(u64::MAX)),
        violations: violations.collect(),
    };
    bytes.extend_from_slice(br#"{"rs.toolkit/error":"#);
    serde_json::to_writer(&mut *bytes, &data).expect("the data is serializable, and writing to a vector cannot fail");
    bytes.push(b'}');
}

/// Omits the values of a violation if they are large.
fn slimmed(violation: &Violation) -> Violation {
    let mut violation = violation.clone();
    if size(&violation) > MAX_BYTES_OF_ONE {
        violation.allowed.clear();
        violation.limit = None;
        violation.sent = None;
    }
    violation
}

fn size(violation: &Violation) -> usize {
    serde_json::to_vec(violation).map_or(usize::MAX, |json| json.len())
}

/// Creates the error for a result with `isError` of another program: its data if it has any, and otherwise a failure.
///
/// The other program is not trusted. Its data changes only the fields of the error for programs, in bounds, and never
/// the text. Kinds that concern the caller or this program become [`ErrorKind::Failed`].
pub(crate) fn read_error(message: String, meta: Option<&str>) -> ToolError {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Data<'m> {
        kind: String,
        #[serde(default)]
        retryable: bool,
        retry_after_ms: Option<u64>,
        #[serde(borrow)]
        violations: Option<&'m RawValue>,
    }
    let data = meta.and_then(error_data);
    let Some(data) = data.and_then(|json| serde_json::from_str::<Data<'_>>(json).ok()) else {
        return ToolError::failed(message);
    };
    let kind = kind(&data.kind);
    let mut error = ToolError::new(kind, message);
    if data.retryable {
        let after = data.retry_after_ms.map(|after| Duration::from_millis(after).min(MAX_RETRY_AFTER));
        error = error.retryable(after);
    }
    if kind == ErrorKind::InvalidArguments {
        let (mut violations, mut n_left) = (Vec::new(), MAX_VIOLATIONS);
        let _ = each_item(data.violations.map_or("[]", RawValue::get), &mut |json| {
            let is_read = n_left > 0 && json.len() <= MAX_VIOLATION_BYTES;
            n_left = n_left.saturating_sub(1);
            if is_read {
                violations.extend(serde_json::from_str(json).ok().as_ref().and_then(violation));
            }
        });
        error = error.with_violations(violations);
    }
    error
}

/// Returns the text of the data of an error in `_meta`.
fn error_data(meta: &str) -> Option<&str> {
    let mut data = None;
    let _ = each_field(meta, &mut |key, value| {
        if text(key) == ERROR_KEY {
            data = Some(value);
        }
    });
    data
}

/// Returns true if `_meta` has the data of an error.
pub(crate) fn has_error_key(meta: &str) -> bool {
    error_data(meta).is_some()
}

/// Returns the kind with this name if another program can be the cause of it, and [`ErrorKind::Failed`] otherwise.
///
/// Approvals, credentials, requirements and answers of users are decided by this program, which must not report a
/// decision that it has not made. A limit is reported as such because it only advises to call again, which a server can
/// also do with `retryable`.
fn kind(name: &str) -> ErrorKind {
    const KINDS: [ErrorKind; 5] = [
        ErrorKind::Unavailable,
        ErrorKind::OutcomeUnknown,
        ErrorKind::InvalidArguments,
        ErrorKind::Overloaded,
        ErrorKind::TimedOut,
    ];
    KINDS.into_iter().find(|kind| kind.name() == name).unwrap_or(ErrorKind::Failed)
}

fn violation(json: &Value) -> Option<Violation> {
    let text = |field: &str| json.get(field)?.as_str().filter(|text| text.len() <= MAX_TEXT).map(str::to_owned);
    let mut violation = Violation::new(text("pointer")?, text("rule")?);
    violation.keyword = text("keyword").unwrap_or_default();
    violation.suggestion = text("suggestion");
    violation.limit = json.get("limit").cloned();
    violation.sent = json.get("sent").cloned();
    violation.allowed = json.get("allowed").and_then(Value::as_array).cloned().unwrap_or_default();
    Some(slimmed(&violation))
}
