//! The state of a call while its client asks the user: `requestState` of revision 2026-07-28.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use toolkit::call::ask::Answer;
use toolkit::dispatch::BoxFuture;
use toolkit::{Arguments, Tool};
use toolkit_schema::equality::write_canonical;
use toolkit_schema::plan::Limited;
use toolkit_schema::tree::Tree;

use super::{Keys, QuestionHash};
use crate::request::Caller;

/// The keys and settings with which a server seals states.
pub(crate) struct Sealing {
    pub(crate) keys: Keys,
    /// The time within which the user has to answer.
    pub(crate) ttl: Duration,
    pub(crate) used: UsedRecord,
    /// The name of the server, which a state is bound to.
    pub(crate) name: String,
}

/// The record of the states that were used.
pub(crate) enum UsedRecord {
    InMemory(UsedInMemory),
    OfHost(Box<dyn UsedStates>),
}

/// The call that a state is bound to. It continues no other one.
pub(super) struct Binding {
    hash: [u8; 32],
}

impl Binding {
    /// Binds a state to a server, a caller, a tool with its contract, and arguments. Returns `None` if the arguments are
    /// not JSON.
    pub(super) fn new(server: &str, caller: Option<&Caller>, tool: &Tool, arguments: &Arguments<'_>) -> Option<Self> {
        let arguments = Tree::parse(&arguments.to_json().ok()?).ok()?;
        let mut canonical = String::new();
        write_canonical(&arguments.value, &mut canonical);
        // Numbers that the tree rounds are bound as they were sent.
        for pointer in arguments.all_rounded() {
            let number = arguments.rounded(&pointer).unwrap_or_default();
            canonical.extend(["\n", &*pointer, " ", number]);
        }
        let id = tool.id().to_string();
        let contract = tool.contract_hash();
        // A subject is unique within its issuer only, and an empty one differs from none.
        let subject = caller.and_then(Caller::subject).map_or_else(String::new, |subject| format!("subject {subject}"));
        let issuer = caller.and_then(Caller::issuer).unwrap_or_default();
        let parts: [&[u8]; 7] = [
            b"tools/call",
            server.as_bytes(),
            issuer.as_bytes(),
            subject.as_bytes(),
            id.as_bytes(),
            contract.as_bytes(),
            canonical.as_bytes(),
        ];
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Some(Self { hash: hash.finalize().into() })
    }
}

/// The sealed content.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct State {
    /// The identity of this state, as hexadecimal digits.
    id: String,
    /// The seconds since the Unix epoch at which the state expires, or 0 before it is sealed for the first time.
    expires: u64,
    /// The questions that were answered.
    pub(super) answered: Vec<Answered>,
    /// The keys and hashes of the open questions.
    pub(super) open: Vec<(String, String)>,
    /// The data that the call kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) kept: Option<String>,
}

/// An answered question.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Answered {
    hash: String,
    /// `None` if the user declined or closed the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Value>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_cancelled: bool,
}

impl Answered {
    pub(super) fn new(hash: String, answer: Answer) -> Self {
        let is_cancelled = answer == Answer::Cancelled;
        let content = match answer {
            Answer::Accepted(content) => Some(content),
            _ => None,
        };
        Self { hash, content, is_cancelled }
    }

    pub(super) fn is_to(&self, question: QuestionHash) -> bool {
        self.hash == text(question)
    }

    pub(super) fn answer(&self) -> Answer {
        match &self.content {
            Some(content) => Answer::Accepted(content.clone()),
            None if self.is_cancelled => Answer::Cancelled,
            None => Answer::Declined,
        }
    }
}

/// Returns a hash as text.
pub(super) fn text(question: QuestionHash) -> String {
    HEXLOWER.encode(&question.0)
}

impl Sealing {
    /// Seals a state. Returns `None` if it is too long.
    pub(super) fn seal(&self, state: State, binding: &Binding) -> Option<String> {
        let mut id = [0; 16];
        getrandom::fill(&mut id).ok()?;
        let expires = match state.expires {
            0 => SystemTime::now().duration_since(UNIX_EPOCH).ok()?.saturating_add(self.ttl).as_secs(),
            expires => expires,
        };
        let state = State { id: HEXLOWER.encode(&id), expires, ..state };
        let mut json = Vec::new();
        serde_json::to_writer(Limited::new(&mut json, MAX_STATE), &state).ok()?;
        self.keys.seal(&json, &binding.hash)
    }

    /// Opens a state of this binding that has not expired.
    pub(super) fn open(&self, sealed: &str, binding: &Binding) -> Option<State> {
        let state: State = serde_json::from_slice(&self.keys.open(sealed, &binding.hash)?).ok()?;
        (!state.has_expired()).then_some(state)
    }
}

impl State {
    /// Creates the state of the next round. It expires with the state of the first one, so that an approval does not
    /// live longer with further questions.
    pub(super) fn new(
        before: Option<&Self>,
        answered: Vec<Answered>,
        open: Vec<(String, String)>,
        kept: Option<String>,
    ) -> Self {
        Self { answered, open, kept, expires: before.map_or(0, |before| before.expires), ..Self::default() }
    }

    fn expires(&self) -> SystemTime {
        UNIX_EPOCH.checked_add(Duration::from_secs(self.expires)).unwrap_or_else(SystemTime::now)
    }

    fn has_expired(&self) -> bool {
        self.expires() <= SystemTime::now()
    }

    /// Records that the state is used. Returns false if it was used before, or has expired since it was opened.
    pub(super) async fn use_once(&self, sealing: &Arc<Sealing>, caller: Option<&Caller>) -> bool {
        let Ok(id) = u128::from_str_radix(&self.id, 16) else {
            return false;
        };
        if self.has_expired() {
            return false;
        }
        match &sealing.used {
            UsedRecord::InMemory(used) => {
                used.use_once(id, self.expires(), caller.and_then(Caller::identity).as_deref())
            }
            UsedRecord::OfHost(used) => used.use_once(id, self.expires()).await,
        }
    }
}

/// The maximum length of a state in bytes, which leaves space for its nonce and its tag in base64.
pub(super) const MAX_STATE: usize = 380 << 10;

// States that were used and must not be used again.

/// The record of the states that were used to continue a call.
///
/// A client that repeats a call with the answers of its user could do so twice. For a tool that is neither read-only nor
/// idempotent, the server therefore accepts each state once. By default it remembers them in memory. Servers that share
/// their keys ([`ServerBuilder::state_keys`](crate::ServerBuilder::state_keys)) should share this record too, for
/// example in a database: otherwise each of them accepts a state once.
///
/// The memory is bounded, for each caller and in total. A state beyond that is rejected.
///
/// # Examples
///
/// ```
/// use std::time::SystemTime;
/// use toolkit::dispatch::BoxFuture;
/// use toolkit_mcp_server::UsedStates;
///
/// struct Database;
///
/// impl Database {
///     async fn insert_if_absent(&self, id: u128, until: SystemTime) -> bool {
///         true
///     }
/// }
///
/// impl UsedStates for Database {
///     fn use_once(&self, id: u128, expires: SystemTime) -> BoxFuture<'_, bool> {
///         Box::pin(self.insert_if_absent(id, expires))
///     }
/// }
/// ```
pub trait UsedStates: Send + Sync + 'static {
    /// Records the use of a state. Returns false if it was used before, or cannot be recorded. The record may forget it
    /// once it has expired.
    fn use_once(&self, id: u128, expires: SystemTime) -> BoxFuture<'_, bool>;
}

/// The maximum number of states that are remembered.
const MAX_USED: usize = 100_000;

/// The maximum number of states of one caller that are remembered, so that it does not take the room of the others.
const MAX_OF_CALLER: usize = 10_000;

/// The maximum number of states of callers without a subject.
const MAX_ANONYMOUS: usize = 50_000;

/// A record in memory.
#[derive(Debug, Default)]
pub(crate) struct UsedInMemory(Mutex<Used>);

#[derive(Debug, Default)]
struct Used {
    states: HashMap<u128, UsedState>,
    /// The number of states of each caller.
    of_caller: HashMap<Option<Arc<str>>, usize>,
}

#[derive(Debug)]
struct UsedState {
    expires: SystemTime,
    caller: Option<Arc<str>>,
}

impl UsedInMemory {
    /// Records the use of a state by a caller; see [`UsedStates::use_once`].
    pub(super) fn use_once(&self, id: u128, expires: SystemTime, caller: Option<&str>) -> bool {
        let mut used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !used.has_room(caller) {
            used.forget_expired();
        }
        if !used.has_room(caller) || used.states.contains_key(&id) {
            return false;
        }
        let caller = caller.map(Arc::from);
        *used.of_caller.entry(caller.clone()).or_default() += 1;
        used.states.insert(id, UsedState { expires, caller });
        true
    }
}

impl Used {
    fn has_room(&self, caller: Option<&str>) -> bool {
        let max = if caller.is_some() { MAX_OF_CALLER } else { MAX_ANONYMOUS };
        let n_of_caller = self.of_caller.get(&caller.map(Arc::from)).copied().unwrap_or(0);
        self.states.len() < MAX_USED && n_of_caller < max
    }

    fn forget_expired(&mut self) {
        let now = SystemTime::now();
        self.states.retain(|_, state| state.expires > now);
        self.of_caller.clear();
        for state in self.states.values() {
            *self.of_caller.entry(state.caller.clone()).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::{MAX_OF_CALLER, UsedInMemory};

    #[test]
    fn a_caller_does_not_take_the_room_of_others() {
        let used = UsedInMemory::default();
        let expires = SystemTime::now() + Duration::from_secs(600);
        for id in 0..MAX_OF_CALLER as u128 {
            assert!(used.use_once(id, expires, Some("alice")));
        }
        assert!(!used.use_once(1 << 64, expires, Some("alice")));
        assert!(used.use_once(1 << 64, expires, Some("bob")));
        assert!(used.use_once(1 << 65, expires, None));
        assert!(!used.use_once(1, expires, Some("bob")), "it was used before");
    }

    #[test]
    fn expired_states_make_room() {
        let used = UsedInMemory::default();
        let expired = SystemTime::now() - Duration::from_secs(1);
        for id in 0..MAX_OF_CALLER as u128 {
            assert!(used.use_once(id, expired, Some("alice")));
        }
        assert!(used.use_once(1 << 64, SystemTime::now() + Duration::from_secs(600), Some("alice")));
    }
}
