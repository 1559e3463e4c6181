//! Answers page by page.

use std::fmt;
use std::hash::{BuildHasher, Hash};

use data_encoding::BASE64URL_NOPAD;
use foldhash::quality::RandomState;
use serde::Serialize;

/// Part of an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Page<T> {
    /// At most as many as were asked for.
    pub items: Vec<T>,
    /// Where the next page begins; `None` after the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Why there is no such page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InvalidCursor {
    /// It never was a cursor of this index, or belongs to another question.
    Unknown,
    /// The index has changed since.
    Stale,
    /// A page of nothing leads nowhere.
    NoLimit,
}

impl fmt::Display for InvalidCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "not a cursor of this question; begin without one, and pass the last page's on as it is",
            Self::Stale => "the tools have changed since the last page; begin again without a cursor",
            Self::NoLimit => "a page has at least one entry; ask for more than 0",
        })
    }
}

impl std::error::Error for InvalidCursor {}

/// The page of `list` at a cursor. `list` gives the first so many entries of the whole answer, or all there are.
///
/// A cursor says how many entries came before and at which version, and proves that this index gave it for `question`.
pub(super) fn of<T>(
    key: &RandomState,
    question: impl Hash + Copy,
    version: u64,
    limit: usize,
    cursor: Option<&str>,
    list: impl FnOnce(usize) -> Vec<T>,
) -> Result<Page<T>, InvalidCursor> {
    if limit == 0 {
        return Err(InvalidCursor::NoLimit);
    }
    let proof = |start: u64, version: u64| key.hash_one((start, version, question));
    let start = match cursor {
        None => 0,
        Some(cursor) => {
            let [start, of_version, shown] = read(cursor).ok_or(InvalidCursor::Unknown)?;
            if shown != proof(start, of_version) {
                return Err(InvalidCursor::Unknown);
            }
            if of_version != version {
                return Err(InvalidCursor::Stale);
            }
            usize::try_from(start).map_err(|_| InvalidCursor::Unknown)?
        }
    };
    let end = start.saturating_add(limit);
    // One more than is shown, to know whether there is a next page.
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
    // As long as one that was written: a longer one need not be decoded.
    let bytes: [u8; 24] =
        (cursor.len() == 32).then(|| BASE64URL_NOPAD.decode(cursor.as_bytes()).ok())??.try_into().ok()?;
    let number = |at: usize| bytes[at..at + 8].try_into().map(u64::from_le_bytes).unwrap_or_default();
    Some([number(0), number(8), number(16)])
}
