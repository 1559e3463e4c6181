//! HTTP headers that must match the message: its metadata, and arguments of tools (2026-07-28, Streamable HTTP).

use std::borrow::Cow;

use http::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use toolkit::Arguments;
use toolkit::mcp::Revision;

use super::json_text::{JsonText, text};
use super::meta::{BATCHES, MODERN, Meta};
use super::rpc::{Code, RpcError};

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// Returns true if the header declares revision 2026-07-28.
pub(super) fn is_modern(headers: &HeaderMap) -> bool {
    headers.get(&VERSION).is_some_and(|version| version == MODERN)
}

/// Returns true if the request has the header of the revision, which the first one of a client may lack.
pub(super) fn has_revision(headers: &HeaderMap) -> bool {
    headers.contains_key(&VERSION)
}

/// Returns true if the request may contain a batch: the header declares the revision with batches, or is missing, since
/// clients of that revision do not send it.
pub(super) fn takes_batches(headers: &HeaderMap) -> bool {
    headers.get(&VERSION).is_none_or(|version| version == BATCHES)
}

/// Checks the headers against the message and returns the revision of the request.
pub(super) fn check(
    headers: &HeaderMap,
    method: &str,
    params: Params<'_>,
    meta: &Meta<'_>,
) -> Result<Revision, RpcError> {
    let version = headers.get(&VERSION).map(|value| value.to_str().unwrap_or("?").trim());
    if let (Some(version), Some(declared)) = (version, meta.version())
        && version != declared
    {
        return Err(mismatch(&VERSION, "is not the version in `_meta`"));
    }
    let revision = meta.revision(version)?;
    if revision == Revision::V2025_11_25 {
        return Ok(revision);
    }
    if version.is_none() {
        return Err(mismatch(&VERSION, "is missing"));
    }
    require(headers, &METHOD, method, "`method`")?;
    let named = match method {
        "tools/call" | "prompts/get" => params.text_of(|names| names.name),
        "resources/read" => params.text_of(|names| names.uri),
        // For load balancers. Clients of the Python SDK, such as FastMCP's, do not send it.
        "tasks/get" | "tasks/update" | "tasks/cancel" if headers.contains_key(&NAME) => {
            params.text_of(|names| names.task)
        }
        _ => None,
    };
    if let Some(named) = named {
        require(headers, &NAME, &named, "the name in `params`")?;
    }
    Ok(revision)
}

/// Checks the headers that repeat arguments of the tool.
pub(super) fn check_param_headers(
    headers: &HeaderMap,
    params: &[ParamHeader],
    arguments: &Arguments<'_>,
) -> Result<(), RpcError> {
    if params.is_empty() {
        return Ok(());
    }
    let arguments: Option<&RawValue> = match arguments {
        Arguments::Json(json) => serde_json::from_slice(json).ok(),
        _ => None,
    };
    params.iter().try_for_each(|param| {
        param.agrees(headers, arguments).map_err(|reason| RpcError::bad_request(Code::HeaderMismatch, reason))
    })
}

/// The parameters of a request, as far as a header repeats them.
#[derive(Clone, Copy)]
pub(super) enum Params<'m> {
    Unread(Option<&'m RawValue>),
    /// Those of a call with this name.
    Call(&'m str),
}

#[derive(Deserialize)]
struct Names<'m> {
    #[serde(borrow)]
    name: Option<JsonText<'m>>,
    #[serde(borrow)]
    uri: Option<JsonText<'m>>,
    #[serde(borrow, rename = "taskId")]
    task: Option<JsonText<'m>>,
}

impl<'m> Params<'m> {
    fn text_of(self, field: impl FnOnce(Names<'m>) -> Option<JsonText<'m>>) -> Option<Cow<'m, str>> {
        match self {
            Self::Call(name) => Some(name.into()),
            Self::Unread(params) => text(field(serde_json::from_str(params?.get()).ok()?)?.get()),
        }
    }
}

fn require(headers: &HeaderMap, header: &HeaderName, wanted: &str, what: &str) -> Result<(), RpcError> {
    match headers.get(header) {
        None => Err(mismatch(header, "is missing")),
        Some(value) => match decoded(value) {
            Some(value) if value == wanted => Ok(()),
            Some(_) => Err(mismatch(header, &format!("is not {what}"))),
            None => Err(mismatch(header, "cannot be decoded")),
        },
    }
}

fn mismatch(header: &HeaderName, what: &str) -> RpcError {
    RpcError::bad_request(Code::HeaderMismatch, format!("the header `{header}` {what}"))
}

// Arguments that clients repeat in HTTP headers: `x-mcp-header` (2026-07-28, Streamable HTTP, Custom Headers).

const ANNOTATION: &str = "x-mcp-header";

/// An argument that clients repeat in a header.
#[derive(Clone, Debug)]
pub(super) struct ParamHeader {
    header: HeaderName,
    /// The path of the argument, as property names.
    path: Vec<String>,
    is_integer: bool,
}

impl ParamHeader {
    /// Collects the annotated properties of an input schema.
    ///
    /// # Errors
    ///
    /// Returns an error for an invalid annotation. Clients must reject a tool with such an annotation.
    pub(super) fn collect_from(schema: &Value) -> Result<Vec<Self>, String> {
        let mut found = Vec::new();
        collect(schema, &mut Vec::new(), &mut found)?;
        let n_annotations = count(schema);
        if n_annotations > found.len() {
            return Err(format!("`{ANNOTATION}` must be in a schema that is nested only through `properties`"));
        }
        for (idx, param) in found.iter().enumerate() {
            if found[..idx].iter().any(|other| other.header == param.header) {
                return Err(format!("two properties have the same header `{}`", param.header));
            }
        }
        Ok(found)
    }

    /// Checks that the header equals the argument.
    pub(super) fn agrees(&self, headers: &HeaderMap, arguments: Option<&RawValue>) -> Result<(), String> {
        let name = &self.header;
        let sent = headers.get(name).map(|value| decoded(value).ok_or_else(|| format!("`{name}` cannot be decoded")));
        let wanted = arguments.and_then(|arguments| self.find(arguments)).filter(|value| value.get() != "null");
        match (sent.transpose()?, wanted) {
            (None, None) => Ok(()),
            (None, Some(_)) => Err(format!("`{name}` is missing, but the argument is present")),
            (Some(_), None) => Err(format!("`{name}` is present, but the argument is missing")),
            (Some(sent), Some(wanted)) => match self.is_same(&sent, wanted) {
                true => Ok(()),
                false => Err(format!("`{name}` does not match the argument")),
            },
        }
    }

    fn find<'a>(&self, arguments: &'a RawValue) -> Option<&'a RawValue> {
        self.path.iter().try_fold(arguments, |value, key| {
            let object: std::collections::HashMap<Cow<'_, str>, &RawValue> = serde_json::from_str(value.get()).ok()?;
            object.get(key.as_str()).copied()
        })
    }

    fn is_same(&self, sent: &str, wanted: &RawValue) -> bool {
        if self.is_integer
            && let (Ok(sent), Ok(wanted)) = (sent.parse::<f64>(), wanted.get().parse::<f64>())
        {
            return sent == wanted;
        }
        text(wanted.get()).as_deref().unwrap_or(wanted.get()) == sent
    }
}

fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<ParamHeader>) -> Result<(), String> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Ok(());
    };
    for (name, property) in properties {
        path.push(name.clone());
        if let Some(annotation) = property.get(ANNOTATION) {
            let place = path.join("/");
            let header = annotation.as_str().filter(|name| !name.is_empty());
            let header = header.and_then(|name| format!("mcp-param-{name}").parse().ok());
            let header = header.ok_or_else(|| format!("`{ANNOTATION}` of `{place}` is not a valid header name"))?;
            // Clients reject a tool with any other type, including one that also allows `null`.
            let is_integer = match property.get("type").and_then(Value::as_str) {
                Some("integer") => true,
                Some("string" | "boolean") => false,
                _ => {
                    return Err(format!(
                        "`{ANNOTATION}` of `{place}`: the type must be a string, an integer or a boolean that is never `null`; \
                                 use a default value instead of an `Option`"
                    ));
                }
            };
            found.push(ParamHeader { header, path: path.clone(), is_integer });
        }
        collect(property, path, found)?;
        path.pop();
    }
    Ok(())
}

/// Counts the annotations anywhere in a schema. A property may have the annotation's name; its value is then a schema.
fn count(schema: &Value) -> usize {
    match schema {
        Value::Object(keywords) => {
            let own =
                usize::from(keywords.get(ANNOTATION).is_some_and(|value| !value.is_object() && !value.is_boolean()));
            own + keywords.values().map(count).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(count).sum(),
        _ => 0,
    }
}

/// Decodes the value of a header, which may be wrapped as `=?base64?…?=`.
pub(super) fn decoded(value: &HeaderValue) -> Option<Cow<'_, str>> {
    let value = value.to_str().ok()?.trim_matches([' ', '\t']);
    let Some(wrapped) = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) else {
        return Some(Cow::Borrowed(value));
    };
    let bytes = data_encoding::BASE64.decode(wrapped.as_bytes()).ok()?;
    String::from_utf8(bytes).ok().map(Cow::Owned)
}
