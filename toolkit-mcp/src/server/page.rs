//! Pagination of `tools/list`.

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::borrow::Cow;
use toolkit::mcp::Revision;

use super::message::text;
use super::reply::{Code, RpcError, json_bytes};
use super::served::ServedTools;

/// Reads `params.cursor`: the id of the last tool of the previous page, or `None` for the first page.
///
/// A cursor is an id in Base64, so that it stays valid when the list changes between two requests.
pub(super) fn cursor_of(params: Option<&RawValue>) -> Result<Option<String>, RpcError> {
    #[derive(Deserialize)]
    struct Params<'m> {
        #[serde(borrow)]
        cursor: Option<&'m RawValue>,
    }
    let invalid = || RpcError::new(Code::InvalidParams, "`cursor` is invalid; expected a `nextCursor` of this server");
    let params: Option<Params<'_>> = match params {
        Some(params) => Some(serde_json::from_str(params.get()).map_err(|_| invalid())?),
        None => None,
    };
    let Some(cursor) = params.and_then(|params| params.cursor) else {
        return Ok(None);
    };
    let cursor: Cow<'_, str> = text(cursor).ok_or_else(invalid)?;
    let id = data_encoding::BASE64URL_NOPAD.decode(cursor.as_bytes()).map_err(|_| invalid())?;
    let id = String::from_utf8(id).map_err(|_| invalid())?;
    match id.parse::<toolkit::ToolId>() {
        Ok(_) => Ok(Some(id)),
        Err(_) => Err(invalid()),
    }
}

/// Writes the result with the page after a tool.
pub(super) fn page(served: &ServedTools, revision: Revision, after: Option<&str>, size: usize, ttl_ms: u64) -> Vec<u8> {
    // Ids are not ordered like their text.
    let after = after.and_then(|id| id.parse::<toolkit::ToolId>().ok());
    let start = after.map_or(0, |after| served.entries.partition_point(|entry| served.tool(entry).id() <= &after));
    let end = served.entries.len().min(start.saturating_add(size.max(1)));
    let next = (end < served.entries.len()).then(|| served.entries[end - 1].id.as_bytes());
    let next = next.map(|id| data_encoding::BASE64URL_NOPAD.encode(id));
    write(&served.listed(revision)[start..end], next.as_deref(), revision, ttl_ms)
}

/// Writes the result with all of these tools on one page.
pub(super) fn whole(tools: &[Vec<u8>], revision: Revision, ttl_ms: u64) -> Vec<u8> {
    write(tools, None, revision, ttl_ms)
}

fn write(tools: &[Vec<u8>], next: Option<&str>, revision: Revision, ttl_ms: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(128 + tools.iter().map(|tool| tool.len() + 1).sum::<usize>());
    bytes.push(b'{');
    if revision == Revision::V2026_07_28 {
        // The list does not depend on the caller, so caches may share it.
        let hints = format!(r#""resultType":"complete","ttlMs":{ttl_ms},"cacheScope":"public","#);
        bytes.extend_from_slice(hints.as_bytes());
    }
    if let Some(next) = next {
        bytes.extend_from_slice(br#""nextCursor":"#);
        bytes.extend_from_slice(&json_bytes(&json!(next)));
        bytes.push(b',');
    }
    bytes.extend_from_slice(br#""tools":["#);
    for (idx, tool) in tools.iter().enumerate() {
        if idx > 0 {
            bytes.push(b',');
        }
        bytes.extend_from_slice(tool);
    }
    bytes.extend_from_slice(b"]}");
    bytes
}
