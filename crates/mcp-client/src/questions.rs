//! Questions of servers to the users of calls (elicitation).
//!
//! A server of revision 2026-07-28 asks in the result of a call, which is then repeated with the answers, or in the state of a
//! task. An earlier one sends a request, which does not state the call that it belongs to unless it is a task; [`RunningCalls`]
//! are those that run on a connection.

#[cfg(test)]
mod tests;
mod users;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use reqwest::Url;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep};
use toolkit::call::ask::{Answer, Form, Mode, Question, UnsupportedMode};
use toolkit::schema::excerpt::{escaped, hidden};
use toolkit::{CancelToken, Context, ToolError};
use toolkit_runtime::Mutex;

pub(super) use self::users::Users;
use super::address_policy::AddressPolicy;
use super::remote::{Remote, RemoteTarget};

/// The maximum number of characters of a message.
const MAX_MESSAGE: usize = 4000;

/// The maximum number of characters of a title or description in a form.
const MAX_TEXT: usize = 1000;

/// The maximum size of the schema of a form in bytes.
const MAX_FORM: usize = 64 << 10;

/// The maximum length of a URL in bytes.
const MAX_URL: usize = 8 << 10;

/// The maximum number of times that a server asks during a call.
pub(super) const MAX_ROUNDS: usize = 10;

/// The maximum number of questions in a result.
const MAX_QUESTIONS: usize = 10;

/// Asks the user of a call all questions of an `InputRequiredResult` and returns the responses.
///
/// # Errors
///
/// Returns an error for requests other than questions, for invalid questions, and if the user cannot be asked.
pub(super) async fn respond(
    remote: &Remote,
    context: &Context,
    requests: &Map<String, Value>,
) -> Result<Map<String, Value>, ToolError> {
    if requests.len() > MAX_QUESTIONS {
        let message = format!("with {} questions, more than the limit of {MAX_QUESTIONS}", requests.len());
        return Err(remote.invalid_response(&message));
    }
    let parsed = requests.iter().map(|(key, request)| {
        match request["method"].as_str() {
            Some("elicitation/create") => {}
            Some(method) => {
                let method: String = method.chars().take(64).collect();
                let message = format!("{} (`{}`)", unsupported_request().message(), escaped(&method));
                return Err(ToolError::failed(message));
            }
            None => return Err(unsupported_request()),
        }
        let question = question_of(&remote.name, &address_policy(remote), &request["params"]);
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

/// Creates the error of a tool that requests input or sampling, which this client does not support.
pub(super) fn unsupported_request() -> ToolError {
    ToolError::failed("the tool requires a client capability that this program does not support")
}

/// Creates the error of a server that asks again and again.
pub(super) fn too_many_rounds(remote: &Remote) -> ToolError {
    ToolError::failed(format!("{remote} asked for more than {MAX_ROUNDS} times"))
}

/// Returns the rules for URLs that users open for a server: those for the pages of its logins. A process is local.
fn address_policy(remote: &Remote) -> AddressPolicy {
    let url = match &*remote.target {
        RemoteTarget::Http(endpoint) => endpoint.url.clone(),
        RemoteTarget::Stdio(_) => Url::parse("http://localhost").expect("the URL is valid"),
    };
    AddressPolicy::new(url, false)
}

/// Converts a question of a server, which the user reads with the name of the server.
///
/// # Errors
///
/// Returns the reason why it cannot be shown.
fn question_of(server: &str, addresses: &AddressPolicy, params: &Value) -> Result<Question, String> {
    let text = |field: &str| params[field].as_str().ok_or_else(|| format!("`{field}` must be a string"));
    // The server must not hide a part of its question from the user.
    let message = text("message")?.chars().take(MAX_MESSAGE).collect::<String>();
    let message = format!("{server}: {}", escaped(&message));
    match params["mode"].as_str().unwrap_or("form") {
        "form" => {
            let form = Form::from_foreign_schema(&params["requestedSchema"]).map_err(|error| error.to_string())?;
            let mut schema = form.schema().clone();
            visible(&mut schema)?;
            let form = Form::from_schema(&schema).map_err(|error| error.to_string())?;
            Ok(Question::from_form(message, form))
        }
        "url" => {
            let url = text("url")?;
            if url.len() > MAX_URL {
                return Err(format!("its URL has more than {MAX_URL} bytes"));
            }
            let url = Url::parse(url).map_err(|_| "its URL is malformed".to_owned())?;
            addresses.check(&url)?;
            Ok(Question::from_url(message, url))
        }
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
fn result_of(answer: Answer) -> Option<Value> {
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

/// The key of the task that a question belongs to, in `_meta`.
const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

/// The time for which a question may belong to a call that ended without a response.
const ABANDONED: Duration = Duration::from_secs(300);

/// The maximum number of such calls that are remembered.
const MAX_ABANDONED: usize = 1024;

/// The time before the question of a cancelled call is answered with an error.
const CANCELLED_FIRST: Duration = Duration::from_secs(1);

/// The calls that run on a connection.
#[derive(Clone, Default)]
pub(super) struct RunningCalls(Arc<Mutex<CallsState>>);

#[derive(Default)]
struct CallsState {
    last: u64,
    calls: HashMap<u64, CallOnConnection>,
    /// The times at which calls ended without a response. The server may still run them and ask.
    abandoned: Vec<Instant>,
}

struct CallOnConnection {
    context: Context,
    ended: CancelToken,
    /// The number of open questions, which end with the call.
    n_asking: usize,
    task: TaskOfCall,
}

/// The task that runs a call. The questions of a task contain its id.
enum TaskOfCall {
    None,
    /// The server has not returned the id yet.
    Requested,
    Created(Arc<str>),
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
        let mut state = self.0.lock();
        state.last += 1;
        let id = state.last;
        let (context, task) = (context.clone(), TaskOfCall::None);
        state.calls.insert(id, CallOnConnection { context, ended: ended.clone(), n_asking: 0, task });
        drop(state);
        RunningCall { calls: self.clone(), id, ended, has_response: false }
    }

    /// Asks the user of the call that a question belongs to: that of the task, or else the only one that runs. If several
    /// run, the question must not reach the user of another one.
    pub(super) async fn ask(&self, question: &Question, task: Option<&str>) -> Result<Answer, &'static str> {
        let (id, context, ended) = {
            let mut state = self.0.lock();
            let id = match task {
                Some(task) => state.call_of_task(task)?,
                None => state.only_call()?,
            };
            let call = state.calls.get_mut(&id).ok_or("the call has ended")?;
            call.n_asking += 1;
            (id, call.context.clone(), call.ended.clone())
        };
        tokio::select! {
            answer = context.ask_question(question) => {
                if let Some(call) = self.0.lock().calls.get_mut(&id) {
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
}

impl CallsState {
    fn only_call(&mut self) -> Result<u64, &'static str> {
        self.abandoned.retain(|ended| ended.elapsed() < ABANDONED);
        if !self.abandoned.is_empty() {
            return Err("a call has ended without a response, and the request may belong to it");
        }
        let mut calls = self.calls.keys();
        match (calls.next(), calls.next()) {
            (Some(&only), None) => Ok(only),
            (None, _) => Err("no call is running that could ask its user"),
            (Some(_), Some(_)) => Err("several calls are running, and the request does not state its call"),
        }
    }

    fn call_of_task(&self, id: &str) -> Result<u64, &'static str> {
        let only = |is_of_task: &dyn Fn(&TaskOfCall) -> bool| {
            let mut calls = self.calls.iter().filter(|(_, call)| is_of_task(&call.task));
            calls.next().filter(|_| calls.next().is_none()).map(|(&call, _)| call)
        };
        let created = only(&|task| matches!(task, TaskOfCall::Created(created) if **created == *id));
        // The server may ask before its response with the id of the task was read.
        let requested = || only(&|task| matches!(task, TaskOfCall::Requested));
        created.or_else(requested).ok_or("the task of the request is not that of a running call")
    }
}

impl RunningCall {
    /// Records that the server has responded, so that it does not ask any longer.
    pub(super) fn has_response(&mut self) {
        self.has_response = true;
    }

    /// Records that the call was sent with the request to run it as a task.
    pub(super) fn requests_task(&self) {
        self.set_task(TaskOfCall::Requested);
    }

    /// Records the task that runs the call.
    pub(super) fn runs_as(&self, task: &Arc<str>) {
        self.set_task(TaskOfCall::Created(Arc::clone(task)));
    }

    fn set_task(&self, task: TaskOfCall) {
        if let Some(call) = self.calls.0.lock().calls.get_mut(&self.id) {
            call.task = task;
        }
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        let mut state = self.calls.0.lock();
        let is_asking = state.calls.remove(&self.id).is_some_and(|call| call.n_asking > 0);
        if !self.has_response && !is_asking && state.abandoned.len() < MAX_ABANDONED {
            state.abandoned.push(Instant::now());
        }
        drop(state);
        self.ended.cancel();
    }
}
