//! Questions of servers to the users of calls (elicitation).
//!
//! A server of revision 2026-07-28 asks in the result of a call, which is then repeated with the answers. An earlier one
//! sends a request, which does not state the call that it belongs to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::join_all;
use rmcp::model::{ElicitRequestParams, InputResponses};
use serde_json::{Map, Value, json};
use toolkit::call::ask::{Answer, Form, Mode, Question, UnsupportedMode};
use toolkit::lint::invisible::escaped;
use toolkit::{CancelToken, Context, ToolError};

use super::remote::Remote;

/// The maximum number of characters of a message.
const MAX_MESSAGE: usize = 4000;

/// The maximum number of questions in a result.
const MAX_QUESTIONS: usize = 10;

/// The calls that run on a connection.
#[derive(Clone, Default)]
pub(super) struct RunningCalls(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    last: u64,
    calls: HashMap<u64, (Context, CancelToken)>,
}

/// A running call. Dropping it ends its open question.
pub(super) struct RunningCall {
    calls: RunningCalls,
    id: u64,
    ended: CancelToken,
}

impl RunningCalls {
    pub(super) fn add(&self, context: &Context) -> RunningCall {
        let ended = CancelToken::new();
        let mut state = self.state();
        state.last += 1;
        let id = state.last;
        state.calls.insert(id, (context.clone(), ended.clone()));
        drop(state);
        RunningCall { calls: self.clone(), id, ended }
    }

    /// Asks the user of the only running call. If several run, the question must not reach the user of another one.
    pub(super) async fn ask(&self, question: &Question) -> Result<Answer, &'static str> {
        let (context, ended) = {
            let state = self.state();
            let mut calls = state.calls.values();
            match (calls.next(), calls.next()) {
                (Some(only), None) => only.clone(),
                (None, _) => return Err("no call is running that could ask its user"),
                (Some(_), Some(_)) => return Err("several calls are running, and the request does not state its call"),
            }
        };
        tokio::select! {
            answer = context.ask_question(question) => answer.map_err(|_| "the user could not be asked"),
            () = ended.cancelled() => Err("the call has ended"),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.calls.state().calls.remove(&self.id);
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
    let responses = requests.iter().map(async |(key, request)| {
        if request["method"] != "elicitation/create" {
            return Err(ToolError::failed("the tool requires a client capability that this program does not support"));
        }
        let question = serde_json::from_value(request["params"].clone()).map_err(|error| error.to_string());
        let question = question.and_then(|params| question_of(&remote.name, params));
        let question =
            question.map_err(|reason| remote.invalid_response(&format!("with an invalid question: {reason}")))?;
        let answer = context.ask_question(&question).await?;
        let result = result_of(answer).ok_or_else(|| ToolError::from(UnsupportedMode::new(question.mode())))?;
        Ok((key.clone(), result))
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
            Ok(Question::form(shown(&message), form))
        }
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => match reqwest::Url::parse(&url) {
            Ok(parsed) if matches!(parsed.scheme(), "https" | "http") => Ok(Question::url(shown(&message), url)),
            _ => Err("its URL is not one of http or https".to_owned()),
        },
        _ => Err("its mode is unknown".to_owned()),
    }
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
