//! Filtering of incoming messages before `rmcp` handles them.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, GetExtensions, GetMeta, JsonRpcMessage, ProgressNotificationParam,
    ProgressToken, RequestId,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::{Notify, watch};
use toolkit::resource::ResourceChanges;

use super::caller::Listener;
use super::watches::{MAX_URI_LEN, is_uri};

/// A filter of the incoming messages, in the order of their arrival. Clones share their state.
///
/// `rmcp` spawns a task for each notification, so that progress may arrive after the response, and a server that sends
/// many notifications delays everything else. It also closes the connection on a response to an unknown request. The
/// screen therefore handles notifications itself and drops such responses.
#[derive(Clone)]
pub(super) struct Screen {
    state: Arc<Mutex<State>>,
    /// Incremented whenever the list of tools may have changed.
    changes: watch::Sender<u64>,
    resources: ResourceChanges,
    /// The number of tools of a list that are parsed. Further ones are dropped.
    pub(super) max_tools: usize,
}

#[derive(Default)]
struct State {
    /// The ids of requests without a response.
    open: HashSet<RequestId>,
    /// The listeners by progress token. They are owned by their calls.
    listeners: HashMap<ProgressToken, Weak<Listener>>,
    /// The tasks whose state is requested, by id. They are owned by their calls.
    tasks: HashMap<Arc<str>, Weak<TaskWatch>>,
}

/// The decision about a message.
pub(super) enum Verdict<'m> {
    /// Handled here.
    Done,
    /// The answer to an open request, with this result.
    Result(RequestId, &'m RawValue),
    /// Another message for `rmcp`.
    Pass,
    /// Not a message of the protocol.
    Stray,
}

/// The fields that determine the kind of a message.
#[derive(Deserialize)]
struct Envelope<'m> {
    id: Option<RequestId>,
    #[serde(borrow)]
    method: Option<Cow<'m, str>>,
    #[serde(borrow)]
    params: Option<&'m RawValue>,
    #[serde(borrow)]
    result: Option<&'m RawValue>,
    #[serde(borrow)]
    error: Option<&'m RawValue>,
}

/// The announcement that the status of a task has changed.
#[derive(Deserialize)]
struct TaskStatus<'m> {
    #[serde(rename = "taskId", borrow)]
    id: Cow<'m, str>,
}

/// A task whose state is requested. Its requests have it as an extension.
pub(super) struct TaskWatch {
    id: Arc<str>,
    changed: Notify,
}

impl TaskWatch {
    pub(super) fn new(id: &Arc<str>) -> Self {
        Self { id: Arc::clone(id), changed: Notify::new() }
    }

    /// Waits until the server has announced a change of the status since the last wait.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }
}

impl Screen {
    pub(super) fn new(changes: watch::Sender<u64>, resources: ResourceChanges, max_tools: usize) -> Self {
        Self { state: Arc::default(), changes, resources, max_tools }
    }

    /// Records an outgoing message.
    pub(super) fn sent(&self, message: &ClientJsonRpcMessage) {
        match message {
            JsonRpcMessage::Request(sent) => {
                let mut state = self.state();
                state.open.insert(sent.id.clone());
                let listener = sent.request.extensions().get::<Arc<Listener>>();
                if let (Some(listener), Some(token)) = (listener, sent.request.get_meta().get_progress_token()) {
                    state.listeners.retain(|_, listener| listener.strong_count() > 0);
                    state.listeners.insert(token, Arc::downgrade(listener));
                }
                if let Some(task) = sent.request.extensions().get::<Arc<TaskWatch>>()
                    && state.tasks.get(&task.id).is_none_or(|known| known.strong_count() == 0)
                {
                    state.tasks.retain(|_, task| task.strong_count() > 0);
                    state.tasks.insert(Arc::clone(&task.id), Arc::downgrade(task));
                }
            }
            JsonRpcMessage::Notification(sent) => {
                if let ClientNotification::CancelledNotification(cancelled) = &sent.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.state().open.remove(id);
                }
            }
            _ => {}
        }
    }

    /// Records that the server was restarted, so that its tools and resources may have changed.
    pub(super) fn is_restarted(&self) {
        self.changes.send_modify(|n| *n += 1);
        self.resources.list_changed();
    }

    /// Decides about an incoming message.
    ///
    /// `request` is the progress token of the request in whose response the message was sent, if the transport knows it.
    pub(super) fn received<'m>(&self, json: &'m [u8], request: Option<&ProgressToken>) -> Verdict<'m> {
        let Ok(envelope) = serde_json::from_slice::<Envelope<'m>>(json) else {
            return Verdict::Stray;
        };
        match envelope {
            Envelope { id: None, method: Some(method), params, .. } => self.notified(&method, params, request),
            Envelope { method: Some(_), .. } => Verdict::Pass,
            // The error response to a malformed message has no id.
            Envelope { id: None, error: Some(_), .. } => Verdict::Pass,
            Envelope { id: Some(id), result, error, .. } if result.is_some() || error.is_some() => {
                match (self.close(id), result) {
                    (Some(id), Some(result)) => Verdict::Result(id, result),
                    (Some(_), None) => Verdict::Pass,
                    (None, _) => {
                        tracing::debug!("the server responded to a request that is not open");
                        Verdict::Done
                    }
                }
            }
            _ => Verdict::Stray,
        }
    }

    fn notified<'m>(&self, method: &str, params: Option<&'m RawValue>, request: Option<&ProgressToken>) -> Verdict<'m> {
        match method {
            "notifications/message" => {
                if let (Some(params), Some(listener)) = (params, self.logger(request)) {
                    listener.log(params);
                }
                Verdict::Done
            }
            "notifications/progress" => {
                let report = params.and_then(|params| serde_json::from_str(params.get()).ok());
                if let Some(report) = report {
                    self.progressed(report);
                }
                Verdict::Done
            }
            // The prompts are listed with the tools.
            "notifications/tools/list_changed" | "notifications/prompts/list_changed" => {
                self.changes.send_modify(|n| *n += 1);
                Verdict::Done
            }
            "notifications/resources/list_changed" => {
                self.resources.list_changed();
                Verdict::Done
            }
            "notifications/resources/updated" => {
                if let Some(uri) = params.and_then(updated_uri) {
                    self.resources.updated(&uri);
                }
                Verdict::Done
            }
            "notifications/tasks/status" => {
                let task = params.and_then(|params| serde_json::from_str::<TaskStatus<'_>>(params.get()).ok());
                let task = task.and_then(|task| self.state().tasks.get(&*task.id).and_then(Weak::upgrade));
                if let Some(task) = task {
                    task.changed.notify_one();
                }
                Verdict::Done
            }
            // These concern requests of this client.
            "notifications/cancelled" | "notifications/subscriptions/acknowledged" => Verdict::Pass,
            // This client uses no other notification.
            _ => Verdict::Done,
        }
    }

    fn progressed(&self, report: ProgressNotificationParam) {
        let listener = self.state().listeners.get(&report.progress_token).and_then(Weak::upgrade);
        if let Some(listener) = listener {
            listener.report(report);
        }
    }

    /// Returns the call that a log message belongs to. Without a request that is the only one that runs: the message must
    /// not reach the caller of another one.
    fn logger(&self, request: Option<&ProgressToken>) -> Option<Arc<Listener>> {
        let state = self.state();
        if let Some(request) = request {
            return state.listeners.get(request).and_then(Weak::upgrade);
        }
        let mut running = state.listeners.values().filter_map(Weak::upgrade);
        running.next().filter(|_| running.next().is_none())
    }

    /// Removes an open request and returns its id as it was sent. Some servers answer `1` with `"1"`.
    pub(super) fn close(&self, id: RequestId) -> Option<RequestId> {
        let mut state = self.state();
        if state.open.remove(&id) {
            return Some(id);
        }
        let RequestId::String(text) = &id else {
            return None;
        };
        let id = RequestId::Number(text.parse().ok()?);
        state.open.remove(&id).then_some(id)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the URI of an updated resource. Clients could not subscribe to one that is too long.
fn updated_uri(params: &RawValue) -> Option<String> {
    /// The maximum length of a byte in a JSON string, which is that of `\u0000`.
    const MAX_ESCAPE: usize = 6;

    #[derive(Deserialize)]
    struct Params<'m> {
        #[serde(borrow)]
        uri: &'m RawValue,
    }
    let params: Params<'_> = serde_json::from_str(params.get()).ok()?;
    let json = params.uri.get();
    if json.len() > MAX_ESCAPE * MAX_URI_LEN {
        return None;
    }
    serde_json::from_str(json).ok().filter(|uri: &String| is_uri(uri))
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use futures_util::FutureExt;
    use rmcp::model::{ClientRequest, PingRequest};
    use serde_json::json;
    use toolkit::resource::ResourceChange;

    use super::*;

    #[test]
    fn only_updates_of_uris_are_passed_on() {
        let changes = ResourceChanges::new();
        let updated = Arc::new(Mutex::new(Vec::new()));
        let uris = Arc::clone(&updated);
        changes.listen(move |change| {
            if let ResourceChange::Updated(uri) = change {
                uris.lock().unwrap().push(uri.to_owned());
            }
            ControlFlow::Continue(())
        });
        let screen = Screen::new(watch::Sender::new(0), changes, 1);
        let longest = format!("x://{}", "a".repeat(MAX_URI_LEN - 4));
        for uri in [
            json!("x://a"),
            json!(longest),
            json!(format!("{longest}a")),
            json!("x://\u{7}"),
            json!("none"),
            json!(""),
            json!(7),
        ] {
            let message =
                json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": { "uri": uri } });
            assert!(matches!(screen.received(message.to_string().as_bytes(), None), Verdict::Done));
        }
        let escaped = br#"{ "method": "notifications/resources/updated", "params": { "uri": "x:\/\/b" } }"#;
        assert!(matches!(screen.received(escaped, None), Verdict::Done));
        assert_eq!(*updated.lock().unwrap(), ["x://a", &longest, "x://b"]);
    }

    #[test]
    fn a_status_notification_wakes_the_call_of_its_task() {
        let screen = Screen::new(watch::Sender::new(0), ResourceChanges::new(), 1);
        let task = Arc::new(TaskWatch::new(&"a\"b".into()));
        let mut request = ClientRequest::PingRequest(PingRequest::default());
        request.extensions_mut().insert(Arc::clone(&task));
        screen.sent(&JsonRpcMessage::request(request, RequestId::Number(1)));
        let announce = |id: serde_json::Value| {
            let params = json!({ "taskId": id, "status": "completed" });
            let message = json!({ "jsonrpc": "2.0", "method": "notifications/tasks/status", "params": params });
            assert!(matches!(screen.received(message.to_string().as_bytes(), None), Verdict::Done));
        };
        let is_woken = || task.changed().now_or_never().is_some();
        for other in [json!("a"), json!(7), json!(null), json!(["a\"b"])] {
            announce(other);
        }
        assert!(!is_woken());
        announce(json!("a\"b"));
        assert!(is_woken());
        assert!(!is_woken());
    }
}
