//! Pages of lists, and their cursors.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use toolkit::mcp::Revision;
use toolkit_mcp::{Code, RpcError, json_bytes, text};

use super::ServedTools;

/// Reads `params.cursor` of `tools/list`: the id of the last tool of the previous page, or `None` for the first page.
pub(crate) fn cursor_of(params: Option<&RawValue>) -> Result<Option<String>, RpcError> {
    match cursor_text(params)? {
        Some(id) if id.parse::<toolkit::ToolId>().is_err() => Err(invalid_cursor()),
        id => Ok(id),
    }
}

/// Reads `params.cursor`: the key of the last entry of the previous page, or `None` for the first page.
///
/// A cursor is a key in Base64, so that it stays valid when the list changes between two requests.
pub(crate) fn cursor_text(params: Option<&RawValue>) -> Result<Option<String>, RpcError> {
    #[derive(Deserialize)]
    struct CursorParams<'m> {
        #[serde(borrow)]
        cursor: Option<&'m RawValue>,
    }
    let params: Option<CursorParams<'_>> = match params {
        Some(params) => Some(serde_json::from_str(params.get()).map_err(|_| invalid_cursor())?),
        None => None,
    };
    let Some(cursor) = params.and_then(|params| params.cursor) else {
        return Ok(None);
    };
    let cursor: Cow<'_, str> = text(cursor.get()).ok_or_else(invalid_cursor)?;
    let key = data_encoding::BASE64URL_NOPAD.decode(cursor.as_bytes()).map_err(|_| invalid_cursor())?;
    String::from_utf8(key).map(Some).map_err(|_| invalid_cursor())
}

fn invalid_cursor() -> RpcError {
    RpcError::new(Code::InvalidParams, "`cursor` is invalid; expected a `nextCursor` of this server")
}

/// Writes the result with the page after a tool.
pub(crate) fn page(
    served: &ServedTools,
    revision: Revision,
    after: Option<&str>,
    size: usize,
    cache: CacheHints,
) -> Vec<u8> {
    // Ids are not ordered like their text.
    let after = after.and_then(|id| id.parse::<toolkit::ToolId>().ok());
    let start = after.map_or(0, |after| served.entries.partition_point(|entry| served.tool(entry).id() <= &after));
    let end = served.entries.len().min(start.saturating_add(size.max(1)));
    let next = (end < served.entries.len()).then(|| served.entries[end - 1].id.as_bytes());
    let next = next.map(|id| data_encoding::BASE64URL_NOPAD.encode(id));
    write("tools", &served.listed(revision)[start..end], next.as_deref(), revision, cache)
}

/// Writes the result with all of these tools on one page.
pub(crate) fn whole(tools: &[impl AsRef<[u8]>], revision: Revision, cache: CacheHints) -> Vec<u8> {
    write("tools", tools, None, revision, cache)
}

/// How clients may cache a list.
#[derive(Clone, Copy)]
pub(crate) struct CacheHints {
    pub(crate) ttl_ms: u64,
    /// `public` or `private`.
    pub(crate) scope: &'static str,
}

/// Writes the result with a page of entries, under the name of their field.
pub(crate) fn write(
    field: &str,
    entries: &[impl AsRef<[u8]>],
    next: Option<&str>,
    revision: Revision,
    cache: CacheHints,
) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(128 + entries.iter().map(|entry| entry.as_ref().len() + 1).sum::<usize>());
    bytes.push(b'{');
    if revision == Revision::V2026_07_28 {
        let CacheHints { ttl_ms, scope } = cache;
        let hints = format!(r#""resultType":"complete","ttlMs":{ttl_ms},"cacheScope":"{scope}","#);
        bytes.extend_from_slice(hints.as_bytes());
    }
    if let Some(next) = next {
        bytes.extend_from_slice(br#""nextCursor":"#);
        bytes.extend_from_slice(&json_bytes(&json!(next)));
        bytes.push(b',');
    }
    bytes.extend_from_slice(format!(r#""{field}":["#).as_bytes());
    for (idx, entry) in entries.iter().enumerate() {
        if idx > 0 {
            bytes.push(b',');
        }
        bytes.extend_from_slice(entry.as_ref());
    }
    bytes.extend_from_slice(b"]}");
    bytes
}
