//! Questions of servers to the users of calls (elicitation).
//!
//! A server of revision 2026-07-28 asks in the result of a call, which is then repeated with the answers. An earlier one
//! sends a request, which does not state the call that it belongs to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use rmcp::model::{ElicitRequestParams, InputResponses};
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep};
use toolkit::call::ask::{Answer, Form, Mode, Question, UnsupportedMode};
use toolkit::lint::invisible::{escaped, hidden};
use toolkit::{CancelToken, Context, ToolError};

use super::remote::Remote;

/// The maximum number of characters of a message.
const MAX_MESSAGE: usize = 4000;

/// The time for which a question may belong to a call that ended without a response.
const ABANDONED: Duration = Duration::from_secs(300);

/// The maximum number of such calls that are remembered.
const MAX_ABANDONED: usize = 1024;

/// The time before the question of a cancelled call is answered with an error.
const CANCELLED_FIRST: Duration = Duration::from_secs(1);

/// The maximum number of characters of a title or description in a form.
const MAX_TEXT: usize = 1000;

/// The maximum size of the schema of a form in bytes.
const MAX_FORM: usize = 64 << 10;

/// The maximum number of questions in a result.
const MAX_QUESTIONS: usize = 10;

/// The calls that run on a connection.
#[derive(Clone, Default)]
pub(super) struct RunningCalls(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    last: u64,
    calls: HashMap<u64, Running>,
    /// The times at which calls ended without a response. The server may still run them and ask.
    abandoned: Vec<Instant>,
}

struct Running {
    context: Context,
    ended: CancelToken,
    /// The number of open questions, which end with the call.
    n_asking: usize,
}

/// A running call. Dropping it ends its open questions.
pub(super) struct RunningCall {
    calls: RunningCalls,
    id: u64,
    ended: CancelToken,
    has_response: bool,
}

impl RunningCalls {
    pub(super) fn add(&self, context: &Context) -> RunningCall {
        let ended = CancelToken::new();
        let mut state = self.state();
        state.last += 1;
        let id = state.last;
        state.calls.insert(id, Running { context: context.clone(), ended: ended.clone(), n_asking: 0 });
        drop(state);
        RunningCall { calls: self.clone(), id, ended, has_response: false }
    }

    /// Asks the user of the only running call. If several run, the question must not reach the user of another one.
    pub(super) async fn ask(&self, question: &Question) -> Result<Answer, &'static str> {
        let (id, context, ended) = {
            let mut state = self.state();
            state.abandoned.retain(|ended| ended.elapsed() < ABANDONED);
            if !state.abandoned.is_empty() {
                return Err("a call has ended without a response, and the request may belong to it");
            }
            let mut calls = state.calls.iter_mut();
            match (calls.next(), calls.next()) {
                (Some((&id, only)), None) => {
                    only.n_asking += 1;
                    (id, only.context.clone(), only.ended.clone())
                }
                (None, _) => return Err("no call is running that could ask its user"),
                (Some(_), Some(_)) => return Err("several calls are running, and the request does not state its call"),
            }
        };
        tokio::select! {
            answer = context.ask_question(question) => {
                if let Some(call) = self.state().calls.get_mut(&id) {
                    call.n_asking -= 1;
                }
                answer.map_err(|_| "the user could not be asked")
            }
            () = ended.cancelled() => {
                // The notification that the call is cancelled has to arrive first, or the server could continue without
                // an answer.
                sleep(CANCELLED_FIRST).await;
                Err("the call has ended")
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunningCall {
    /// Records that the server has responded, so that it does not ask any longer.
    pub(super) fn has_response(&mut self) {
        self.has_response = true;
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        let mut state = self.calls.state();
        let is_asking = state.calls.remove(&self.id).is_some_and(|call| call.n_asking > 0);
        if !self.has_response && !is_asking && state.abandoned.len() < MAX_ABANDONED {
            state.abandoned.push(Instant::now());
        }
        drop(state);
        self.ended.cancel();
    }
}

/// Asks the user of a call all questions of an `InputRequiredResult` and returns the responses.
///
/// # Errors
///
/// Returns an error for requests other than questions, for invalid questions, and if the user cannot be asked.
pub(super) async fn respond(
    remote: &Remote,
    context: &Context,
    requests: &Map<String, Value>,
) -> Result<InputResponses, ToolError> {
    if requests.len() > MAX_QUESTIONS {
        let message = format!("with {} questions, more than the limit of {MAX_QUESTIONS}", requests.len());
        return Err(remote.invalid_response(&message));
    }
    let parsed = requests.iter().map(|(key, request)| {
        if request["method"] != "elicitation/create" {
            return Err(ToolError::failed("the tool requires a client capability that this program does not support"));
        }
        let question = serde_json::from_value(request["params"].clone()).map_err(|error| error.to_string());
        let question = question.and_then(|params| question_of(&remote.name, params));
        let invalid = |reason| remote.invalid_response(&format!("with an invalid question: {reason}"));
        Ok((key, question.map_err(invalid)?))
    });
    // The user is asked only if all questions are valid.
    let questions: Vec<(&String, Question)> = parsed.collect::<Result<_, ToolError>>()?;
    let responses = questions.iter().map(async |(key, question)| {
        let answer = context.ask_question(question).await?;
        let result = result_of(answer).ok_or_else(|| ToolError::from(UnsupportedMode::new(question.mode())))?;
        Ok(((*key).clone(), result))
    });
    join_all(responses).await.into_iter().collect()
}

/// Converts a question of a server, which the user reads with the name of the server.
///
/// # Errors
///
/// Returns the reason why it cannot be shown.
pub(super) fn question_of(server: &str, params: ElicitRequestParams) -> Result<Question, String> {
    // The server must not hide a part of its question from the user.
    let shown =
        |message: &str| format!("{server}: {}", escaped(&message.chars().take(MAX_MESSAGE).collect::<String>()));
    match params {
        ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
            let schema = serde_json::to_value(requested_schema).map_err(|error| error.to_string())?;
            let form = Form::from_schema(&schema).map_err(|error| error.to_string())?;
            let mut schema = form.schema().clone();
            visible(&mut schema)?;
            let form = Form::from_schema(&schema).map_err(|error| error.to_string())?;
            Ok(Question::from_form(shown(&message), form))
        }
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => match reqwest::Url::parse(&url) {
            // With a user name, the start of the URL could look like another host.
            Ok(parsed) if matches!(parsed.scheme(), "https" | "http") && parsed.username().is_empty() => {
                Ok(Question::from_url(shown(&message), parsed.to_string()))
            }
            _ => Err("its URL is not one of http or https without a user name".to_owned()),
        },
        _ => Err("its mode is unknown".to_owned()),
    }
}

/// Escapes and shortens the texts of a form, so that nothing of it is hidden from the user.
///
/// # Errors
///
/// Returns an error if the form is too large, or has an invisible character in a name or value, which must stay as it is.
fn visible(schema: &mut Value) -> Result<(), String> {
    if schema.to_string().len() > MAX_FORM {
        return Err(format!("its form has more than {MAX_FORM} bytes"));
    }
    let mut rest = vec![schema];
    while let Some(value) = rest.pop() {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    let is_shown = matches!(key.as_str(), "title" | "description");
                    match value {
                        Value::String(text) if is_shown => {
                            *text = escaped(&text.chars().take(MAX_TEXT).collect::<String>());
                        }
                        _ if hidden(key).next().is_some() => return Err("a name in its form is invisible".to_owned()),
                        other => rest.push(other),
                    }
                }
            }
            Value::Array(items) => rest.extend(items),
            Value::String(text) if hidden(text).next().is_some() => {
                return Err("a value in its form is invisible".to_owned());
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns the `ElicitResult` of an answer, or `None` if no user was asked.
pub(super) fn result_of(answer: Answer) -> Option<Value> {
    Some(match answer {
        Answer::Accepted(content @ Value::Object(_)) => json!({ "action": "accept", "content": content }),
        Answer::Accepted(_) => json!({ "action": "accept" }),
        Answer::Declined => json!({ "action": "decline" }),
        Answer::Cancelled => json!({ "action": "cancel" }),
        Answer::Unsupported => return None,
    })
}

/// Returns the capability `elicitation` of a call with this context.
pub(super) fn modes(context: &Context) -> Option<Value> {
    let modes = [(Mode::Form, "form"), (Mode::Url, "url")].into_iter().filter(|(mode, _)| context.can_ask(*mode));
    let modes: Map<String, Value> = modes.map(|(_, name)| (name.to_owned(), json!({}))).collect();
    (!modes.is_empty()).then_some(Value::Object(modes))
}
