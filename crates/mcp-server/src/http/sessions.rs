//! The sessions of clients before 2026-07-28.
//!
//! Their ids are random, so that one client cannot cancel the calls of another. A session has no state on the server, so it
//! outlives a restart: what its client has declared is a part of the id. The server remembers only the most recently ended
//! sessions, whose requests it rejects. A tag tells the sessions that have begun in this process from invented ones, for
//! backends that hold something for each session.
//!
//! An id that another authenticated caller sends is another session, which shares nothing with that of the first one. It is not
//! rejected, since a gateway may pass on the requests of several users in one session.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use http::{HeaderMap, HeaderName};
use sha2::{Digest as _, Sha256};
use toolkit_runtime::Mutex;

use crate::ask::Modes;
use crate::request::Caller;

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// The number of ended sessions that are remembered.
const MAX_ENDED: usize = 4096;

/// The number of random bytes in a session id.
const N_RANDOM: usize = 16;

/// The position of the tag in a session id. The byte before has the modes of the client.
const TAG: usize = N_RANDOM + 1;

/// The number of bytes of a tag, and of the hash of a caller.
const N_HASH: usize = 8;

/// The number of bytes in a session id.
const N_BYTES: usize = TAG + N_HASH;

#[derive(Debug, Default)]
pub(super) struct Sessions {
    key: SessionKey,
    ended: Mutex<EndedSession>,
}

/// The key of the tags of a process, or `None` without a source of random numbers, where no session begins.
struct SessionKey(Option<[u8; 32]>);

#[derive(Debug, Default)]
struct EndedSession {
    names: HashSet<Arc<str>>,
    /// The same names, in the order in which they ended.
    order: VecDeque<Arc<str>>,
}

impl Sessions {
    /// Creates a session id: 128 random bits, the modes of the client and the tag of this process, as lowercase hexadecimal
    /// digits.
    pub(super) fn begin(&self, modes: Modes) -> Option<String> {
        let mut bytes = [0; N_BYTES];
        getrandom::fill(&mut bytes[..N_RANDOM]).ok()?;
        bytes[N_RANDOM] = modes.bits();
        let tag = self.key.tag(&bytes[..TAG])?;
        bytes[TAG..].copy_from_slice(&tag);
        Some(HEXLOWER.encode(&bytes))
    }

    /// Returns the name of the session of a request: its id, and a hash of an authenticated caller. Returns an error for an
    /// ended session, or an id that this server cannot have created.
    pub(super) fn of<'h>(&self, headers: &'h HeaderMap, caller: Option<&Caller>) -> Result<Option<Cow<'h, str>>, ()> {
        let Some(id) = headers.get(&SESSION) else {
            return Ok(None);
        };
        let id = id.to_str().ok().filter(|id| is_id(id)).ok_or(())?;
        let name = match caller.and_then(Caller::identity) {
            Some(identity) => Cow::Owned(id.to_owned() + &HEXLOWER.encode(&hash(id.as_bytes(), identity.as_bytes()))),
            None => Cow::Borrowed(id),
        };
        let ended = self.ended.lock();
        if ended.names.contains(&*name) { Err(()) } else { Ok(Some(name)) }
    }

    /// Returns true for the name of a session that has begun in this process.
    pub(super) fn has_begun(&self, name: &str) -> bool {
        let bytes = name.get(..2 * N_BYTES).and_then(|id| HEXLOWER.decode(id.as_bytes()).ok()).unwrap_or_default();
        bytes.split_at_checked(TAG).is_some_and(|(tagged, tag)| self.key.tag(tagged).is_some_and(|own| own == *tag))
    }

    pub(super) fn end(&self, name: &str) {
        let name: Arc<str> = name.into();
        let mut ended = self.ended.lock();
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

impl Default for SessionKey {
    fn default() -> Self {
        let mut key = [0; 32];
        Self(getrandom::fill(&mut key).ok().map(|()| key))
    }
}

impl fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionKey")
    }
}

impl SessionKey {
    /// Returns the tag of the other bytes of an id. Their number is fixed, so that no id extends another one.
    fn tag(&self, bytes: &[u8]) -> Option<[u8; N_HASH]> {
        Some(hash(self.0.as_ref()?, bytes))
    }
}

fn hash(key: &[u8], bytes: &[u8]) -> [u8; N_HASH] {
    let hash = Sha256::new().chain_update(key).chain_update(bytes).finalize();
    std::array::from_fn(|at| hash[at])
}

/// Returns what the client of a session has declared.
pub(super) fn modes_of(session: &str) -> Modes {
    let bits = session.get(2 * N_RANDOM..2 * TAG).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    Modes::from_bits(bits.unwrap_or(0))
}

/// Returns true for an id in the format of this server. Ids of other formats could equal the session names of other
/// transports.
fn is_id(id: &str) -> bool {
    id.len() == 2 * N_BYTES && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
