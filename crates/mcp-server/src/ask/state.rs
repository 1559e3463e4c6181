//! The state of a call while its client asks the user: `requestState` of revision 2026-07-28.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use toolkit::call::ask::Answer;
use toolkit::{Arguments, Tool};
use toolkit_schema::equality::write_canonical;
use toolkit_schema::plan::Limited;
use toolkit_schema::tree::Tree;

use super::Keys;
use super::elicitation::QuestionHash;
use super::used_states::{UsedInMemory, UsedStates};
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
pub(super) struct CallState {
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
    pub(super) fn seal(&self, state: CallState, binding: &Binding) -> Option<String> {
        let mut id = [0; 16];
        getrandom::fill(&mut id).ok()?;
        let expires = match state.expires {
            0 => SystemTime::now().duration_since(UNIX_EPOCH).ok()?.saturating_add(self.ttl).as_secs(),
            expires => expires,
        };
        let state = CallState { id: HEXLOWER.encode(&id), expires, ..state };
        let mut json = Vec::new();
        serde_json::to_writer(Limited::new(&mut json, MAX_STATE), &state).ok()?;
        self.keys.seal(&json, &binding.hash)
    }

    /// Opens a state of this binding that has not expired.
    pub(super) fn open(&self, sealed: &str, binding: &Binding) -> Option<CallState> {
        let state: CallState = serde_json::from_slice(&self.keys.open(sealed, &binding.hash)?).ok()?;
        (!state.has_expired()).then_some(state)
    }
}

impl CallState {
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
