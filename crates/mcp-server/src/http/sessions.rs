//! The sessions of clients before 2026-07-28.
//!
//! Their ids are random, so that one client cannot cancel the calls of another. A session has no state on the server, so it
//! outlives a restart: what its client has declared and who its caller is are parts of the id. The server remembers only the
//! most recently ended sessions, whose requests it rejects. A tag tells the sessions that have begun in this process from
//! invented ones, for backends that hold something for each session.

#[cfg(test)]
mod tests;

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use data_encoding::HEXLOWER;
use http::{HeaderMap, HeaderName};

use sha2::{Digest as _, Sha256};

use crate::ask::Modes;
use crate::request::Caller;

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// The number of ended sessions that are remembered.
const MAX_ENDED: usize = 4096;

/// The number of random bytes in a session id.
const N_RANDOM: usize = 16;

/// The position of the owner in a session id. The byte before has the modes of the client.
const OWNER: usize = N_RANDOM + 1;

/// The position of the tag, which has the length of the owner.
const TAG: usize = OWNER + N_HASH;

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
    /// The same ids, in the order in which they ended.
    order: VecDeque<Arc<str>>,
}

impl Sessions {
    /// Creates a session id: 128 random bits, the modes of the client, its caller and the tag of this process, as lowercase
    /// hexadecimal digits.
    pub(super) fn begin(&self, modes: Modes, caller: Option<&Caller>) -> Option<String> {
        let mut bytes = [0; N_BYTES];
        getrandom::fill(&mut bytes[..N_RANDOM]).ok()?;
        bytes[N_RANDOM] = modes.bits();
        let owner = owner(&bytes[..N_RANDOM], caller);
        bytes[OWNER..TAG].copy_from_slice(&owner);
        let tag = self.key.tag(&bytes[..TAG])?;
        bytes[TAG..].copy_from_slice(&tag);
        Some(HEXLOWER.encode(&bytes))
    }

    /// Returns the session of a request. Returns an error for an ended session, that of another caller, or an id that this
    /// server cannot have created.
    pub(super) fn of<'h>(&self, headers: &'h HeaderMap, caller: Option<&Caller>) -> Result<Option<&'h str>, ()> {
        let Some(name) = headers.get(&SESSION) else {
            return Ok(None);
        };
        let name = name.to_str().ok().filter(|name| is_name(name) && is_of(name, caller)).ok_or(())?;
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if ended.names.contains(name) { Err(()) } else { Ok(Some(name)) }
    }

    /// Returns true for a session that has begun in this process.
    pub(super) fn has_begun(&self, name: &str) -> bool {
        let Ok(bytes) = HEXLOWER.decode(name.as_bytes()) else { return false };
        bytes.split_at_checked(TAG).is_some_and(|(tagged, tag)| self.key.tag(tagged).is_some_and(|own| own == *tag))
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

/// Returns the owner in the id of a session that begins with `random`: zeros without an authenticated caller. Only the
/// owner of an id can send it, so no key is needed.
fn owner(random: &[u8], caller: Option<&Caller>) -> [u8; N_HASH] {
    let identity = caller.and_then(Caller::identity);
    identity.map_or([0; N_HASH], |identity| hash(random, identity.as_bytes()))
}

/// Returns true if an id with the length of one has this owner.
fn is_of(name: &str, caller: Option<&Caller>) -> bool {
    let mut bytes = [0; TAG];
    let digits = &name.as_bytes()[..2 * TAG];
    HEXLOWER.decode_mut(digits, &mut bytes).is_ok() && bytes[OWNER..] == owner(&bytes[..N_RANDOM], caller)
}

fn hash(key: &[u8], bytes: &[u8]) -> [u8; N_HASH] {
    let hash = Sha256::new().chain_update(key).chain_update(bytes).finalize();
    std::array::from_fn(|at| hash[at])
}

/// Returns what the client of a session has declared.
pub(super) fn modes_of(session: &str) -> Modes {
    let bits = session.get(2 * N_RANDOM..2 * OWNER).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    Modes::from_bits(bits.unwrap_or(0))
}

/// Returns true for an id in the format of this server. Ids of other formats could equal the session names of other
/// transports.
fn is_name(name: &str) -> bool {
    name.len() == 2 * N_BYTES && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
