//! The sessions of clients before 2026-07-28.
//!
//! Their ids are random, so that one client cannot cancel the calls of another. A session has no state on the server, so it
//! outlives a restart: what its client has declared is a part of the id. The server remembers only the most recently ended
//! sessions, whose requests it rejects.

#[cfg(test)]
mod tests;

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use http::{HeaderMap, HeaderName};

use crate::ask::Modes;

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// The number of ended sessions that are remembered.
const MAX_ENDED: usize = 4096;

/// The number of random bytes in a session id.
const N_RANDOM: usize = 16;

/// The number of bytes in a session id. The last one has the modes of the client.
const N_BYTES: usize = N_RANDOM + 1;

#[derive(Debug, Default)]
pub(super) struct Sessions {
    ended: Mutex<EndedSession>,
}

#[derive(Debug, Default)]
struct EndedSession {
    names: HashSet<Arc<str>>,
    /// The same ids, in the order in which they ended.
    order: VecDeque<Arc<str>>,
}

impl Sessions {
    /// Creates a session id: 128 random bits and the modes of the client, as lowercase hexadecimal digits.
    pub(super) fn begin(modes: Modes) -> Option<String> {
        let mut bytes = [0; N_BYTES];
        getrandom::fill(&mut bytes[..N_RANDOM]).ok()?;
        bytes[N_RANDOM] = modes.bits();
        Some(data_encoding::HEXLOWER.encode(&bytes))
    }

    /// Returns the session of a request. Returns an error for an ended session, or an id that this server cannot have
    /// created.
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

/// Returns what the client of a session has declared.
pub(super) fn modes_of(session: &str) -> Modes {
    let bits = session.get(2 * N_RANDOM..).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    Modes::from_bits(bits.unwrap_or(0))
}

/// Returns true for an id in the format of this server. Ids of other formats could equal the session names of other
/// transports.
fn is_name(name: &str) -> bool {
    name.len() == 2 * N_BYTES && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
