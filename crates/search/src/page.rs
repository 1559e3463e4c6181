//! Pagination of results.

use std::fmt;
use std::hash::{BuildHasher, Hash};

use data_encoding::BASE64URL_NOPAD;
use foldhash::quality::RandomState;
use serde::Serialize;

/// A page of a result.
///
/// ```
/// use toolkit::Tool;
/// use toolkit_search::Index;
///
/// let tools = ["mail", "files", "math"].map(|name| Tool::builder("list").namespace(name).build());
/// let index = Index::from_tools(&tools.into_iter().collect::<Result<Vec<_>, _>>()?);
/// let (mut names, mut cursor) = (Vec::new(), None);
/// loop {
///     let page = index.namespaces_page(2, cursor.as_deref())?;
///     names.extend(page.items);
///     cursor = page.next_cursor;
///     if cursor.is_none() {
///         break;
///     }
/// }
/// assert_eq!(names, ["files", "mail", "math"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Page<T> {
    /// The entries, at most as many as requested.
    pub items: Vec<T>,
    /// The cursor of the next page; `None` on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// An error of a paginated request.
///
/// ```
/// use toolkit::Tool;
/// use toolkit::tool::ToolBackend;
/// use toolkit_search::{CursorError, Index};
///
/// let index = Index::from_tools(&[Tool::builder("send").build()?, Tool::builder("send_later").build()?]);
/// let first = index.page("send", 1, None)?;
/// index.register(Tool::builder("send_now").build()?, ToolBackend::mcp("mail")?)?;
///
/// let error = index.page("send", 1, first.next_cursor.as_deref()).unwrap_err();
/// assert_eq!(error, CursorError::Stale);
/// assert_eq!(error.to_string(), "the tools have changed since the last page; start again without a cursor");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CursorError {
    /// The cursor is not from this index, or is from another query.
    Unknown,
    /// The index has changed since.
    Stale,
    /// The limit is zero.
    NoLimit,
}

impl fmt::Display for CursorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "the cursor is not from a page of this query; omit it to get the first page",
            Self::Stale => "the tools have changed since the last page; start again without a cursor",
            Self::NoLimit => "the limit must be at least 1",
        })
    }
}

impl std::error::Error for CursorError {}

/// Returns the page of `list` at a cursor. `list` returns at least the given number of entries of the whole result, or
/// all of them.
///
/// A cursor contains the position and the version of the index, with a keyed hash of these and `query`.
pub(super) fn paginate<T>(
    key: &RandomState,
    query: impl Hash + Copy,
    version: u64,
    limit: usize,
    cursor: Option<&str>,
    list: impl FnOnce(usize) -> Vec<T>,
) -> Result<Page<T>, CursorError> {
    if limit == 0 {
        return Err(CursorError::NoLimit);
    }
    let proof = |start: u64, version: u64| key.hash_one((start, version, query));
    let start = match cursor {
        None => 0,
        Some(cursor) => {
            let [start, of_version, shown] = read(cursor).ok_or(CursorError::Unknown)?;
            if shown != proof(start, of_version) {
                return Err(CursorError::Unknown);
            }
            if of_version != version {
                return Err(CursorError::Stale);
            }
            usize::try_from(start).map_err(|_| CursorError::Unknown)?
        }
    };
    let end = start.saturating_add(limit);
    // One more, to find out whether there is a next page.
    let mut items = list(end.saturating_add(1));
    let has_more = items.len() > end;
    items.truncate(end);
    items.drain(..start.min(items.len()));
    let next_cursor = has_more.then(|| write([end as u64, version, proof(end as u64, version)]));
    Ok(Page { items, next_cursor })
}

fn write(numbers: [u64; 3]) -> String {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    BASE64URL_NOPAD.encode(&bytes)
}

fn read(cursor: &str) -> Option<[u64; 3]> {
    // The fixed length of a cursor; others need not be decoded.
    let bytes: [u8; 24] =
        (cursor.len() == 32).then(|| BASE64URL_NOPAD.decode(cursor.as_bytes()).ok())??.try_into().ok()?;
    let number = |at: usize| bytes[at..at + 8].try_into().map(u64::from_le_bytes).unwrap_or_default();
    Some([number(0), number(8), number(16)])
}
