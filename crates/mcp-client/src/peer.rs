//! The other end of a connection: the requests that are open, and the messages of the server.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};
use toolkit::dispatch::BoxFuture;
use toolkit::resource::ResourceChanges;
use toolkit_mcp::{RpcError, json_bytes, response};
use toolkit_runtime::Mutex;

use super::caller::{Listener, Progress};
use super::failure::{Failure, ServerError};
use super::incoming::{self, Incoming, number};
use super::message_memory::Received;
use super::meta::Meta;
use super::outgoing::{Request, cancelled};
use super::questions::Users;
use super::raw::Raw;
use super::server_info::{ServerInfo, modern_meta};
use super::task_watch::TaskWatch;
use super::watches::{MAX_URI_LEN, Watches, is_uri};

/// The answer to a request.
pub(super) type PeerAnswer = Result<Raw, Failure>;

/// The other end of a connection.
pub(super) struct Peer {
    transport: Box<dyn Transport>,
    /// Absent while the connection begins.
    info: OnceLock<ServerInfo>,
    last_id: AtomicU64,
    state: Mutex<PeerState>,
    /// The users that the server may ask.
    pub(super) users: Users,
    /// Incremented whenever the list of tools may have changed.
    pub(super) changes: watch::Sender<u64>,
    resources: ResourceChanges,
    watches: Arc<Watches>,
}

/// The way to the server.
pub(super) trait Transport: Send + Sync {
    /// Sends a request and waits for the answer.
    fn ask<'t>(&'t self, peer: &'t Arc<Peer>, asking: Asking<'t>) -> BoxFuture<'t, PeerAnswer>;

    /// Sends a message that has no answer.
    fn send<'t>(&'t self, peer: &'t Arc<Peer>, message: Vec<u8>) -> BoxFuture<'t, Result<(), Failure>>;

    /// Records the revision of the following messages.
    fn agreed(&self, _version: &str) {}

    /// Begins a session, after `initialize`.
    fn begin<'t>(&'t self, peer: &'t Arc<Peer>) -> BoxFuture<'t, Result<(), Failure>>;

    /// Ends the connection, and waits until it has ended.
    fn close(&self) -> BoxFuture<'_, ()>;

    /// Counts a request of the server. Returns false if it reads no responses.
    fn admits_request(&self) -> bool {
        true
    }

    /// Records that the response to such a request was sent.
    fn has_responded(&self) {}

    /// Returns true if messages have headers, and the end of a request cancels it since revision 2026-07-28.
    fn is_http(&self) -> bool;
}

/// A request to be sent.
pub(super) struct Asking<'t> {
    pub(super) request: &'t Request,
    /// Receives the acknowledgement of a subscription.
    pub(super) acknowledged: Option<oneshot::Sender<Raw>>,
    /// Receives the id of the request.
    pub(super) sent: &'t (dyn Fn(u64) + Send + Sync),
}

#[derive(Default)]
struct PeerState {
    /// The requests without an answer, by id, or `None` after the end of the connection.
    open: OpenRequests,
    is_closed: bool,
    /// The listeners by progress token, which is the id of the request. They are owned by their calls.
    listeners: HashMap<u64, Weak<Listener>>,
    /// The tasks whose state is requested, by id. They are owned by their calls.
    tasks: HashMap<Arc<str>, Weak<TaskWatch>>,
}

type OpenRequests = HashMap<u64, OpenRequest>;

/// A request without an answer.
struct OpenRequest {
    answer: oneshot::Sender<PeerAnswer>,
    /// Receives the acknowledgement of a subscription.
    acknowledged: Option<oneshot::Sender<Raw>>,
}

/// A request that was or will be sent. Dropping it ends the wait.
pub(super) struct Asked<'p> {
    peer: &'p Arc<Peer>,
    pub(super) id: u64,
    pub(super) answer: oneshot::Receiver<PeerAnswer>,
    /// True while the server may work on the request.
    pub(super) is_sent: bool,
}

impl<'t> Asking<'t> {
    /// Asks without more than the answer.
    pub(super) fn of(request: &'t Request) -> Self {
        Self { request, acknowledged: None, sent: &|_| {} }
    }
}

impl Peer {
    pub(super) fn new(
        transport: impl Transport + 'static,
        users: Users,
        changes: watch::Sender<u64>,
        resources: ResourceChanges,
        watches: &Arc<Watches>,
    ) -> Arc<Self> {
        Arc::new(Self {
            transport: Box::new(transport),
            info: OnceLock::new(),
            last_id: AtomicU64::new(0),
            state: Mutex::default(),
            users,
            changes,
            resources,
            watches: Arc::clone(watches),
        })
    }

    pub(super) fn transport(&self) -> &dyn Transport {
        &*self.transport
    }

    /// Returns what the server has declared, once the connection has begun.
    pub(super) fn info(&self) -> Option<&ServerInfo> {
        self.info.get()
    }

    pub(super) fn set_info(&self, info: ServerInfo) {
        // A later session of the same server declares the same.
        let _ = self.info.set(info);
    }

    /// Returns true if the server uses a revision with `initialize`.
    pub(super) fn is_legacy(&self) -> bool {
        self.info().is_some_and(ServerInfo::is_legacy)
    }

    /// Sends a request and waits for the answer. Dropping the future notifies the server that the request is cancelled.
    pub(super) async fn ask(self: &Arc<Self>, request: &Request) -> PeerAnswer {
        self.ask_with(Asking::of(request)).await
    }

    /// Does the same, and passes on the id of the request, and the acknowledgement of a subscription.
    pub(super) async fn ask_with(self: &Arc<Self>, asking: Asking<'_>) -> PeerAnswer {
        self.transport.ask(self, asking).await
    }

    /// Sends a notification.
    pub(super) async fn notify(self: &Arc<Self>, method: &str, params: &Value) -> Result<(), Failure> {
        self.send(toolkit_mcp::notification(method, params)).await
    }

    /// Sends a message that has no answer.
    async fn send(self: &Arc<Self>, message: Vec<u8>) -> Result<(), Failure> {
        self.transport.send(self, message).await
    }

    /// Returns what each request declares since revision 2026-07-28.
    pub(super) fn meta(&self, request: &Request) -> Meta {
        let is_modern = request.method == "server/discover" || self.info().is_some_and(|info| !info.is_legacy());
        if is_modern { modern_meta(self.users.capabilities()) } else { Meta::default() }
    }

    /// Registers a request before it is sent.
    ///
    /// # Errors
    ///
    /// Returns an error after the end of the connection.
    pub(super) fn open<'p>(
        self: &'p Arc<Self>,
        request: &Request,
        acknowledged: Option<oneshot::Sender<Raw>>,
    ) -> Result<Asked<'p>, Failure> {
        let (sender, answer) = oneshot::channel();
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let mut state = self.state.lock();
        if state.is_closed {
            return Err(Failure::Closed);
        }
        state.open.insert(id, OpenRequest { answer: sender, acknowledged });
        if let Some(listener) = &request.listener {
            state.listeners.retain(|_, listener| listener.strong_count() > 0);
            state.listeners.insert(id, Arc::downgrade(listener));
        }
        if let Some(task) = &request.task
            && state.tasks.get(&task.id).is_none_or(|known| known.strong_count() == 0)
        {
            state.tasks.retain(|_, task| task.strong_count() > 0);
            state.tasks.insert(Arc::clone(&task.id), Arc::downgrade(task));
        }
        drop(state);
        Ok(Asked { peer: self, id, answer, is_sent: false })
    }

    /// Returns true if a request has no answer.
    pub(super) fn is_open(&self, id: u64) -> bool {
        self.state.lock().open.contains_key(&id)
    }

    /// Returns the id of the only open request.
    pub(super) fn only_open(&self) -> Option<u64> {
        let state = self.state.lock();
        let mut ids = state.open.keys().copied();
        ids.next().filter(|_| ids.next().is_none())
    }

    /// Ends a request.
    pub(super) fn answer(&self, id: u64, answer: PeerAnswer) -> bool {
        let open = self.state.lock().open.remove(&id);
        let is_open = open.is_some();
        if let Some(open) = open {
            let _ = open.answer.send(answer);
        }
        is_open
    }

    /// Ends all requests, and with them the connection.
    pub(super) fn close(&self) {
        let mut state = self.state.lock();
        state.is_closed = true;
        let open = std::mem::take(&mut state.open);
        drop(state);
        drop(open);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state.lock().is_closed
    }

    /// Records that the server was restarted, so that its tools and resources may have changed.
    pub(super) fn is_restarted(&self) {
        self.changes.send_modify(|n| *n += 1);
        self.resources.list_changed();
        self.watches.lose();
    }

    /// Records that updates of resources may have been missed.
    pub(super) fn has_missed_updates(&self) {
        self.watches.lose();
    }

    /// Handles a text with messages of the server. Returns true if it has other parts.
    ///
    /// `exchange` is the request in whose HTTP response the text was sent. Its answer belongs to it, whatever id it has: many
    /// servers and gateways send the id `null`, none, or one of their own.
    pub(super) async fn receive(self: &Arc<Self>, text: Received, exchange: Option<u64>) -> bool {
        let incoming::Messages { messages, has_strays } = incoming::read(text).await;
        let mut foreign = Vec::new();
        for message in messages {
            match message {
                Incoming { id: Some(id), method: Some(method), params, .. } => self.requested(id, method, params),
                Incoming { method: Some(method), params, .. } => self.notified(&method, params.as_ref(), exchange),
                answer => foreign.extend(self.answered(answer)),
            }
        }
        for answer in foreign {
            if exchange.is_none_or(|request| !self.answer(request, answer)) {
                tracing::debug!("the server responded to a request that is not open");
            }
        }
        has_strays
    }

    /// Handles an answer. Returns it if it is not that of an open request.
    fn answered(&self, message: Incoming) -> Option<PeerAnswer> {
        let id = message.own_id();
        let answer = match (message.error, message.result) {
            (Some(error), _) => Err(Failure::Rpc(ServerError::read(&error))),
            (None, Some(result)) => Ok(result),
            (None, None) => return None,
        };
        let open = id.and_then(|id| self.state.lock().open.remove(&id));
        match open {
            Some(open) => {
                let _ = open.answer.send(answer);
                None
            }
            None => Some(answer),
        }
    }

    fn notified(&self, method: &str, params: Option<&Raw>, exchange: Option<u64>) {
        match (method, params) {
            ("notifications/message", Some(params)) => {
                if let Some(listener) = self.logger(exchange) {
                    listener.log(params.get());
                }
            }
            ("notifications/progress", Some(params)) => {
                if let Ok(progress) = serde_json::from_str::<Progress<'_>>(params.get()) {
                    let listener = number(progress.token.get()).and_then(|token| self.listener(token));
                    if let Some(listener) = listener {
                        listener.report(&progress);
                    }
                }
            }
            // The prompts are listed with the tools.
            ("notifications/tools/list_changed" | "notifications/prompts/list_changed", _) => {
                self.changes.send_modify(|n| *n += 1);
            }
            ("notifications/resources/list_changed", _) => self.resources.list_changed(),
            ("notifications/resources/updated", Some(params)) => {
                if let Some(uri) = updated_uri(params.get()) {
                    self.resources.updated(&uri);
                }
            }
            ("notifications/tasks/status", Some(params)) => {
                let task = serde_json::from_str::<TaskStatus>(params.get()).ok();
                let task = task.and_then(|task| self.state.lock().tasks.get(&*task.id).and_then(Weak::upgrade));
                if let Some(task) = task {
                    task.announce();
                }
            }
            ("notifications/subscriptions/acknowledged", Some(params)) => self.acknowledged(params, exchange),
            // The server gives up a subscription.
            ("notifications/cancelled", Some(params)) => {
                let id = params.fields().and_then(|fields| number(fields.get("requestId")?.get()));
                if let Some(id) = id.filter(|id| self.is_subscription(*id)) {
                    self.answer(id, Err(Failure::Closed));
                }
            }
            // This client uses no other notification.
            _ => {}
        }
    }

    fn is_subscription(&self, id: u64) -> bool {
        self.state.lock().open.get(&id).is_some_and(|open| open.acknowledged.is_some())
    }

    /// Passes on the acknowledgement of a subscription: that of the exchange, or the one with the stated id.
    fn acknowledged(&self, params: &Raw, exchange: Option<u64>) {
        let stated = || {
            let meta = params.fields()?.remove("_meta")?.fields()?;
            number(meta.get("io.modelcontextprotocol/subscriptionId")?.get())
        };
        let Some(id) = stated().or(exchange) else { return };
        let sender = self.state.lock().open.get_mut(&id).and_then(|open| open.acknowledged.take());
        if let Some(sender) = sender {
            let _ = sender.send(params.clone());
        }
    }

    fn listener(&self, token: u64) -> Option<Arc<Listener>> {
        self.state.lock().listeners.get(&token).and_then(Weak::upgrade)
    }

    /// Returns the call that a log message belongs to. Without a request that is the only one that runs: the message must
    /// not reach the caller of another one.
    fn logger(&self, exchange: Option<u64>) -> Option<Arc<Listener>> {
        if let Some(request) = exchange {
            return self.listener(request);
        }
        let state = self.state.lock();
        let mut running = state.listeners.values().filter_map(Weak::upgrade);
        running.next().filter(|_| running.next().is_none())
    }

    /// Answers a request of the server.
    fn requested(self: &Arc<Self>, id: Raw, method: String, params: Option<Raw>) {
        if !self.transport.admits_request() {
            self.close();
            return;
        }
        let peer = Arc::downgrade(self);
        let users = self.users.clone();
        tokio::spawn(async move {
            let answer = match &*method {
                "ping" => Ok(json!({})),
                "elicitation/create" => users.ask(params.as_ref()).await,
                // Some servers send such requests anyway and wait for the response.
                "sampling/createMessage" => Err(users.refuse("sampling")),
                "roots/list" => Err(users.refuse("roots")),
                other => Err(RpcError::unknown_method(other)),
            };
            let Ok(id) = serde_json::from_str::<&RawValue>(id.get()) else { return };
            let message = match answer {
                Ok(result) => response(id, b"", &json_bytes(&result)),
                Err(error) => error.to_response(Some(id)),
            };
            if let Some(peer) = peer.upgrade()
                && peer.send(message).await.is_ok()
            {
                peer.transport.has_responded();
            }
        });
    }
}

impl Asked<'_> {
    /// Waits for the answer.
    pub(super) async fn answered(mut self) -> PeerAnswer {
        let answer = (&mut self.answer).await;
        self.is_sent = false;
        answer.unwrap_or(Err(Failure::Closed))
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.peer.state.lock().open.remove(&self.id);
        if !self.is_sent {
            return;
        }
        // Since revision 2026-07-28, the end of an HTTP request cancels it.
        let is_told = !self.peer.transport.is_http() || self.peer.is_legacy();
        if let (true, Ok(runtime)) = (is_told, tokio::runtime::Handle::try_current()) {
            let (peer, message) = (Arc::clone(self.peer), cancelled(self.id));
            runtime.spawn(async move { drop(peer.send(message).await) });
        }
    }
}

/// The announcement that the status of a task has changed.
#[derive(Deserialize)]
struct TaskStatus {
    #[serde(rename = "taskId")]
    id: String,
}

/// Returns the URI of an updated resource. Clients could not subscribe to one that is too long.
fn updated_uri(params: &str) -> Option<String> {
    /// The maximum length of a byte in a JSON string, which is that of `\u0000`.
    const MAX_ESCAPE: usize = 6;

    #[derive(Deserialize)]
    struct Params<'m> {
        #[serde(borrow)]
        uri: &'m RawValue,
    }
    let params: Params<'_> = serde_json::from_str(params).ok()?;
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
    use toolkit::resource::ResourceChange;

    use super::*;

    /// A transport that sends nothing.
    struct Silent;

    impl Transport for Silent {
        fn ask<'t>(&'t self, peer: &'t Arc<Peer>, asking: Asking<'t>) -> BoxFuture<'t, PeerAnswer> {
            Box::pin(async move { peer.open(asking.request, asking.acknowledged)?.answered().await })
        }

        fn send<'t>(&'t self, _: &'t Arc<Peer>, _: Vec<u8>) -> BoxFuture<'t, Result<(), Failure>> {
            Box::pin(async { Ok(()) })
        }

        fn begin<'t>(&'t self, _: &'t Arc<Peer>) -> BoxFuture<'t, Result<(), Failure>> {
            Box::pin(async { Ok(()) })
        }

        fn close(&self) -> BoxFuture<'_, ()> {
            Box::pin(async {})
        }

        fn is_http(&self) -> bool {
            true
        }
    }

    fn peer(resources: ResourceChanges) -> Arc<Peer> {
        let watches = Arc::new(Watches::new(resources.clone()));
        Peer::new(Silent, Users::of_server("peer"), watch::Sender::new(0), resources, &watches)
    }

    async fn announce(peer: &Arc<Peer>, method: &str, params: &Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        assert!(!peer.receive(message.to_string().into_bytes().into(), None).await, "{message}");
    }

    #[tokio::test]
    async fn only_updates_of_uris_are_passed_on() {
        let changes = ResourceChanges::new();
        let updated = Arc::new(Mutex::new(Vec::new()));
        let uris = Arc::clone(&updated);
        changes.listen(move |change| {
            if let ResourceChange::Updated(uri) = change {
                uris.lock().push(uri.to_owned());
            }
            ControlFlow::Continue(())
        });
        let peer = peer(changes);
        let longest = format!("x://{}", "a".repeat(MAX_URI_LEN - 4));
        let too_long = format!("{longest}a");
        for uri in ["x://a", &*longest, &*too_long, "x://\u{7}", "none", ""] {
            announce(&peer, "notifications/resources/updated", &json!({ "uri": uri })).await;
        }
        announce(&peer, "notifications/resources/updated", &json!({ "uri": 7 })).await;
        let escaped = br#"{ "method": "notifications/resources/updated", "params": { "uri": "x:\/\/b" } }"#;
        assert!(!peer.receive(escaped.to_vec().into(), None).await);
        assert_eq!(*updated.lock(), ["x://a", &longest, "x://b"]);
    }

    #[tokio::test]
    async fn a_status_notification_wakes_the_call_of_its_task() {
        let peer = peer(ResourceChanges::new());
        let task = Arc::new(TaskWatch::new(&"a\"b".into()));
        let mut request = Request::new("tasks/get");
        request.task = Some(Arc::clone(&task));
        let _asked = peer.open(&request, None).unwrap();
        let is_woken = || task.changed().now_or_never().is_some();
        for other in [json!("a"), json!(7), json!(null), json!(["a\"b"])] {
            announce(&peer, "notifications/tasks/status", &json!({ "taskId": other, "status": "completed" })).await;
        }
        assert!(!is_woken());
        announce(&peer, "notifications/tasks/status", &json!({ "taskId": "a\"b", "status": "completed" })).await;
        assert!(is_woken());
        assert!(!is_woken());
    }
}
