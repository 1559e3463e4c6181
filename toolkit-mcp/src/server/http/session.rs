//! Sessions of clients before 2026-07-28: a name that nobody guesses, so that one client cannot cancel another's calls.
//!
//! Nothing is kept for a session, so that one outlives the server that began it. Only of those that clients have ended
//! the latest are remembered, since they are to be refused from then on.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use http::{HeaderMap, HeaderName};

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// How many ended sessions are remembered.
const MAX_ENDED: usize = 4096;

/// How many random bytes a name has, each of which is two digits.
const N_BYTES: usize = 16;

#[derive(Debug, Default)]
pub(super) struct Sessions {
    ended: Mutex<Ended>,
}

#[derive(Debug, Default)]
struct Ended {
    names: HashSet<Arc<str>>,
    /// The same, in the order in which they ended.
    order: VecDeque<Arc<str>>,
}

impl Sessions {
    /// A name for a new session: 128 random bits, in lower-case hexadecimal digits.
    pub(super) fn begin() -> Option<String> {
        let mut bytes = [0; N_BYTES];
        getrandom::fill(&mut bytes).ok()?;
        Some(data_encoding::HEXLOWER.encode(&bytes))
    }

    /// The session of a request; `Err` for one that has ended, or that is none of a server like this.
    pub(super) fn of<'h>(&self, headers: &'h HeaderMap) -> Result<Option<&'h str>, ()> {
        let Some(name) = headers.get(&SESSION) else {
            return Ok(None);
        };
        let name = name.to_str().ok().filter(|name| is_name(name)).ok_or(())?;
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if ended.names.contains(name) { Err(()) } else { Ok(Some(name)) }
    }

    pub(super) fn end(&self, name: &str) {
        let name: Arc<str> = name.into();
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if ended.names.insert(Arc::clone(&name)) {
            ended.order.push_back(name);
        }
        if ended.order.len() > MAX_ENDED
            && let Some(oldest) = ended.order.pop_front()
        {
            ended.names.remove(&oldest);
        }
    }
}

/// Whether a server gives such names. No other is taken for one, since other ways to the same server know their clients
/// by names of their own.
fn is_name(name: &str) -> bool {
    name.len() == 2 * N_BYTES && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
