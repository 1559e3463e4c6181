//! Lists of servers, page by page.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolkit::ToolError;
use toolkit::call::ErrorKind;
use toolkit_mcp::Code;

use super::connection::Connection;
use super::failure::{Failure, unreadable};
use super::outgoing::Request;
use super::raw::Raw;
use super::remote::Remote;
use super::remote::in_time;

/// The key of an entry of a list that cannot be read, whose value is the reason.
pub(super) const UNREADABLE: &str = "rs.toolkit/unreadable";

/// The length in characters to which the name of such an entry is truncated.
const MAX_NAME_CHARS: usize = 128;

/// A list and its limits.
#[derive(Clone, Copy)]
pub(super) struct PagedList {
    pub(super) method: &'static str,
    /// The field with the entries.
    pub(super) field: &'static str,
    pub(super) max_entries: usize,
    /// The maximum size of all entries.
    pub(super) max_bytes: usize,
    /// The maximum size of an entry. Larger ones are left out.
    pub(super) max_entry_bytes: usize,
}

/// The entries of a list.
#[derive(Default)]
pub(super) struct Listed {
    pub(super) entries: Vec<Value>,
    pub(super) cache: ListCache,
}

/// How clients may cache the list of a server: the least time of its pages, and whether one of them is private.
#[derive(Default)]
pub(super) struct ListCache {
    pub(super) ttl: Option<Duration>,
    pub(super) is_private: bool,
}

impl ListCache {
    fn add(&mut self, page: &Raw) {
        let ttl = page.field("ttlMs").and_then(|ttl| ttl.get().parse().ok()).map(Duration::from_millis);
        self.ttl = self.ttl.into_iter().chain(ttl).min();
        self.is_private |= page.text_field("cacheScope").is_some_and(|scope| scope == "private");
    }
}

impl PagedList {
    /// Returns the limits of the list of tools.
    pub(super) fn of(remote: &Remote) -> Self {
        let (max_entries, max_bytes) = (remote.limits.tools, remote.limits.list_bytes);
        Self { method: "", field: "", max_entries, max_bytes, max_entry_bytes: usize::MAX }
    }
}

/// Lists the entries of all pages. Those that were read count although the cursor repeats, or there are too many pages.
pub(super) async fn pages(
    remote: &Remote,
    connection: &Arc<Connection>,
    list: &PagedList,
) -> Result<Listed, ToolError> {
    let PagedList { method, field, .. } = *list;
    let invalid = |how: String| ToolError::new(ErrorKind::InvalidResponse, format!("{remote} lists {how}"));
    let (mut all, mut n_listed, mut n_bytes) = (Listed::default(), 0, 0);
    let mut cursors: Vec<String> = Vec::new();
    for _ in 0..remote.limits.pages {
        let page = match page(remote, connection, list, cursors.last().map(String::as_str)).await {
            Ok(Some(page)) => page,
            Ok(None) => return Ok(all),
            Err(error) => return Err(error),
        };
        all.cache.add(&page);
        let listed = page.field(field).and_then(|listed| listed.elements(list.max_entries - n_listed + 1));
        let Some(listed) = listed else {
            return Err(remote.invalid_response(&format!("to `{method}` without a list of {field}")));
        };
        n_listed += listed.len();
        if n_listed > list.max_entries {
            return Err(invalid(format!("more than {} {field}", list.max_entries)));
        }
        n_bytes += listed.iter().map(|entry| entry.get().len()).sum::<usize>();
        if n_bytes > list.max_bytes {
            return Err(invalid(format!("more than {} bytes of {field}", list.max_bytes)));
        }
        let listed = listed.iter().filter(|entry| entry.get().len() <= list.max_entry_bytes);
        all.entries.extend(listed.map(entry));
        // Some servers send an empty cursor on the last page.
        match page.text_field("nextCursor").filter(|next| !next.is_empty()) {
            Some(next) if cursors.contains(&next) => {
                tracing::warn!(server = &*remote.name, field, "a list of the server repeats its pages");
                return Ok(all);
            }
            Some(next) => cursors.push(next),
            None => return Ok(all),
        }
    }
    tracing::warn!(server = &*remote.name, field, "a list of the server has more than {} pages", remote.limits.pages);
    Ok(all)
}

/// Requests a page. Returns `None` if the server does not have the method, which a server without entries need not have.
async fn page(
    remote: &Remote,
    connection: &Arc<Connection>,
    list: &PagedList,
    cursor: Option<&str>,
) -> Result<Option<Raw>, ToolError> {
    let listing = connection.ask(Request::page(list.method, cursor));
    match in_time(remote, remote.limits.start, listing).await? {
        Ok(page) if page.is_object() => Ok(Some(page)),
        Ok(_) => Err(remote.invalid_response(&format!("to `{}` without a list of {}", list.method, list.field))),
        Err(Failure::Rpc(error)) if error.has_code(Code::MethodNotFound) => Ok(None),
        Err(failure) => Err(remote.failed(connection, failure).await),
    }
}

/// Parses an entry of a list, or describes why it cannot be read.
fn entry(entry: &Raw) -> Value {
    entry.parse().unwrap_or_else(|error| {
        let name = entry.text_field("name").or_else(|| entry.text_field("uri"));
        let name = name.map(|name| name.chars().take(MAX_NAME_CHARS).collect::<String>());
        json!({ UNREADABLE: unreadable(&error), "name": name })
    })
}
