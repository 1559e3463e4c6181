//! Questions of tools to the user of the client (elicitation).
//!
//! Up to revision 2025-11-25 the server sends a request, and the call waits for its response (`requests`). Revision
//! 2026-07-28 has no requests of servers: the call ends with `input_required`, and the client repeats it with the
//! answers (`rounds`). What the server has to remember in between is sealed into `requestState` (`state`), so that any
//! server with the same key continues the call.
//!
//! | module | contains |
//! | --- | --- |
//! | this file | questions and answers in the format of MCP, and what a client can show |
//! | `requests` | requests of the server, and the limits of calls that wait |
//! | `rounds` | calls that end with questions and are repeated |
//! | `state` | sealed states, and those that were used |
//! | `keys` | the keys that seal them, of which a server without the feature `ask` has none |

#[cfg(feature = "ask")]
mod keys;
mod requests;
mod rounds;
mod state;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use toolkit::ToolError;
use toolkit::call::ask::{Answer, Form, Mode, Question};

pub(super) use self::keys::Keys;
#[cfg(not(feature = "ask"))]
pub(super) use self::keys::StateKey;
#[cfg(feature = "ask")]
pub use self::keys::{StateKey, WeakKeyError};
pub(super) use self::requests::{OpenQuestions, OpenRequest, OpenRequests, WaitingCalls};
pub(super) use self::rounds::{Outcome, Rounds};
#[cfg(feature = "ask")]
pub use self::state::UsedStates;
pub(super) use self::state::{Sealing, UsedInMemory, UsedRecord};

/// The maximum number of questions of a call.
pub(super) const MAX_QUESTIONS: usize = 10;

/// Creates the error of a call that asks too much.
pub(super) fn too_many() -> ToolError {
    ToolError::failed(format!("a call can ask at most {MAX_QUESTIONS} questions"))
}

// Questions and answers in the format of MCP: `ElicitRequest` and `ElicitResult`.

/// Returns the `params` of `elicitation/create`.
///
/// `id` is `elicitationId`, which only the revision 2025-11-25 has.
fn elicitation(question: &Question, id: Option<&str>) -> Value {
    let message = question.message();
    match (question.form(), question.url()) {
        // Without `mode`, which revision 2025-06-18 does not have and the later ones take for `form`.
        (Some(form), _) => json!({ "message": message, "requestedSchema": form.schema() }),
        (None, url) => {
            let mut params = json!({ "mode": "url", "message": message, "url": url.unwrap_or_default() });
            if let Some(id) = id {
                params["elicitationId"] = id.into();
            }
            params
        }
    }
}

/// Returns the `ElicitRequest` of a question since revision 2026-07-28.
pub(super) fn request(question: &Question) -> Value {
    json!({ "method": "elicitation/create", "params": elicitation(question, None) })
}

/// Parses an `ElicitResult`.
///
/// # Errors
///
/// Returns an error if `action` is missing or unknown, or the content is not an object.
pub(super) fn parse_answer(result: &Value) -> Result<Answer, &'static str> {
    #[derive(Deserialize)]
    struct ElicitResult {
        action: String,
        #[serde(default)]
        content: Option<Value>,
    }
    let result = ElicitResult::deserialize(result).map_err(|_| "an answer must be an object with `action`")?;
    match (&*result.action, result.content) {
        ("accept", None) => Ok(Answer::Accepted(json!({}))),
        ("accept", Some(content @ Value::Object(_))) => Ok(Answer::Accepted(content)),
        ("accept", Some(_)) => Err("the `content` of an answer must be an object"),
        ("decline", _) => Ok(Answer::Declined),
        ("cancel", _) => Ok(Answer::Cancelled),
        _ => Err("the `action` of an answer must be `accept`, `decline` or `cancel`"),
    }
}

/// A hash by which a question is recognized when its call runs again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct QuestionHash([u8; 16]);

impl QuestionHash {
    fn new(question: &Question) -> Self {
        let hash = Sha256::digest(elicitation(question, None).to_string().as_bytes());
        let mut half = [0; 16];
        half.copy_from_slice(&hash[..16]);
        Self(half)
    }
}

// The capability `elicitation` of clients.

/// The ways in which a client can ask its user, from its capability `elicitation`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Modes(u8);

const FORM: u8 = 1;
const URL: u8 = 2;

/// The client knows only the forms of revision 2025-06-18.
const PLAIN: u8 = 4;

impl Modes {
    /// Reads `ClientCapabilities`.
    pub(super) fn declared(capabilities: &str) -> Self {
        #[derive(Deserialize)]
        struct Capabilities<'m> {
            #[serde(borrow)]
            elicitation: Option<&'m RawValue>,
        }
        #[derive(Deserialize)]
        struct Elicitation {
            form: Option<Value>,
            url: Option<Value>,
        }
        let capabilities = serde_json::from_str::<Capabilities<'_>>(capabilities);
        let Some(declared) = capabilities.ok().and_then(|capabilities| capabilities.elicitation) else {
            return Self::default();
        };
        match serde_json::from_str(declared.get()) {
            // An empty object declares forms, since revision 2025-06-18 has no other mode.
            Ok(Elicitation { form: None, url: None }) if declared.get().starts_with('{') => Self(FORM),
            Ok(Elicitation { form, url }) => Self(form.map_or(0, |_| FORM) | url.map_or(0, |_| URL)),
            Err(_) => Self::default(),
        }
    }

    pub(super) fn includes(self, mode: Mode) -> bool {
        let bit = match mode {
            Mode::Form => FORM,
            Mode::Url => URL,
            _ => 0,
        };
        self.0 & bit != 0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 & (FORM | URL) == 0
    }

    /// Restricts the forms to those of revision 2025-06-18.
    pub(super) fn with_plain_forms(self) -> Self {
        Self(self.0 | PLAIN)
    }

    /// Returns true if the client knows only the forms of revision 2025-06-18.
    pub(super) fn has_plain_forms(self) -> bool {
        self.0 & PLAIN != 0
    }

    /// Returns the modes as bits, for [`Modes::from_bits`].
    pub(super) fn bits(self) -> u8 {
        self.0
    }

    /// Reads the bits of a session id. A client that changes them changes only what it declares about itself.
    pub(super) fn from_bits(bits: u8) -> Self {
        Self(bits & (FORM | URL | PLAIN))
    }
}

// Forms of revision 2025-06-18.

/// Returns a question whose form has only what the revision defines: choices have their titles in `enumNames`, and only
/// booleans have a default. Returns `None` if the form has a field with several choices, which the revision lacks.
pub(super) fn plain(question: &Question) -> Option<Question> {
    let Some(form) = question.form() else {
        return Some(question.clone());
    };
    let mut schema = form.schema().clone();
    for field in schema["properties"].as_object_mut()?.values_mut() {
        lower(field.as_object_mut()?)?;
    }
    Some(Question::from_form(question.message(), Form::from_schema(&schema).ok()?))
}

fn lower(field: &mut Map<String, Value>) -> Option<()> {
    match field.get("type").and_then(Value::as_str) {
        Some("boolean") => return Some(()),
        Some("array") => return None,
        _ => field.remove("default"),
    };
    if let Some(Value::Array(choices)) = field.remove("oneOf") {
        let column = |key: &str| choices.iter().map(|choice| choice[key].clone()).collect::<Vec<_>>();
        field.insert("enum".to_owned(), column("const").into());
        field.insert("enumNames".to_owned(), column("title").into());
    }
    Some(())
}

/// Servers without the feature `ask` seal no states.
#[cfg(not(feature = "ask"))]
mod keys {
    /// A key, of which there are none.
    #[derive(Clone, Debug)]
    pub(crate) enum StateKey {}

    /// The keys of a server.
    #[derive(Clone, Debug)]
    pub(crate) struct Keys;

    impl Keys {
        pub(crate) fn new(_: Vec<StateKey>) -> Self {
            Self
        }

        pub(super) fn seal(&self, _: &[u8], _: &[u8]) -> Option<String> {
            None
        }

        pub(super) fn open(&self, _: &str, _: &[u8]) -> Option<Vec<u8>> {
            None
        }
    }
}
