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

/// The longest name that is taken for one.
const MAX_LEN: usize = 128;

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
    /// A name for a new session: 128 random bits.
    pub(super) fn begin() -> Option<String> {
        let mut bits = [0; 16];
        getrandom::fill(&mut bits).ok()?;
        Some(data_encoding::HEXLOWER.encode(&bits))
    }

    /// The session of a request; `Err` for one that has ended, or that is none of a server like this.
    pub(super) fn of<'h>(&self, headers: &'h HeaderMap) -> Result<Option<&'h str>, ()> {
        let Some(name) = headers.get(&SESSION) else {
            return Ok(None);
        };
        let name = name.to_str().ok().filter(|name| !name.is_empty() && name.len() <= MAX_LEN).ok_or(())?;
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
