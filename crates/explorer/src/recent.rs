//! Recent calls: a layer that records them, and a stream of them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use futures_util::stream::{Stream, unfold};
use serde::Serialize;
use tokio::sync::broadcast;
use tokio::time::timeout;
use toolkit::call::{BoxError, ErrorKind};
use toolkit::dispatch::Call;
use toolkit::{Arguments, RunResult, ToolError};
use toolkit_mcp_server::{Caller, Request, Server};
use tower::util::BoxCloneSyncService;
use tower::{Layer, Service, ServiceExt, service_fn};

/// The number of calls that are kept.
const MAX_CALLS: usize = 200;

/// The number of changes that a slow reader may fall behind.
const MAX_BEHIND: usize = 256;

/// A layer that records the latest 200 calls of a dispatcher, for [`Explorer::recent_calls`](crate::Explorer::recent_calls).
/// Clones share the calls.
///
/// A record has the tool, the caller, start and duration, the sizes of arguments and result, the outcome, and up to 4 KiB of
/// the arguments. Properties that the input schema marks as secret (`writeOnly`) are replaced by `"…"`; invalid arguments of
/// a tool with such properties are omitted. Results are not recorded.
///
/// Add it as the first layer, so that calls that other layers reject are recorded too.
///
/// # Examples
///
/// ```standalone_crate
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit_explorer::RecentCalls;
///
/// let calls = RecentCalls::new().without_arguments();
/// let dispatcher = Dispatcher::builder(Catalog::linked()?).layer(calls.clone()).build()?;
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone)]
pub struct RecentCalls {
    shared: Arc<SharedCalls>,
}

struct SharedCalls {
    calls: Mutex<VecDeque<Arc<CallRecord>>>,
    changes: broadcast::Sender<Arc<CallRecord>>,
    last_id: AtomicU64,
    omits_arguments: AtomicBool,
}

impl RecentCalls {
    /// Creates a layer without calls.
    #[must_use]
    pub fn new() -> Self {
        let shared = SharedCalls {
            calls: Mutex::default(),
            changes: broadcast::Sender::new(MAX_BEHIND),
            last_id: AtomicU64::new(0),
            omits_arguments: AtomicBool::new(false),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Omits all arguments, for tools whose schemas do not mark their secrets. It applies to all clones.
    #[must_use]
    pub fn without_arguments(self) -> Self {
        self.shared.omits_arguments.store(true, Ordering::Relaxed);
        self
    }

    /// Adds a call, or replaces the record of one that was running.
    fn put(&self, record: CallRecord) {
        let record = Arc::new(record);
        let mut calls = self.shared.calls.lock().unwrap_or_else(PoisonError::into_inner);
        match calls.iter_mut().rev().find(|call| call.id == record.id) {
            Some(call) => *call = Arc::clone(&record),
            None if record.is_running() => {
                calls.push_back(Arc::clone(&record));
                if calls.len() > MAX_CALLS {
                    calls.pop_front();
                }
            }
            // More than the kept calls have started since.
            None => {}
        }
        // Under the lock, so that a new reader misses no change. Without readers, nothing is sent.
        let _ = self.shared.changes.send(record);
    }
}

/// The calls that a caller may see.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Viewer {
    /// All calls.
    Operator,
    /// The calls of one authenticated caller, or those of callers without a subject.
    Caller(Option<(String, String)>),
}

impl Viewer {
    pub(crate) fn new(caller: Option<&Caller>) -> Self {
        Viewer::Caller(caller.and_then(identity))
    }

    fn sees(&self, record: &CallRecord) -> bool {
        match self {
            Viewer::Operator => true,
            Viewer::Caller(identity) => *identity == record.identity,
        }
    }
}

impl Default for RecentCalls {
    fn default() -> Self {
        Self::new()
    }
}

toolkit::debug_fields!(
    it,
    RecentCalls { n_calls: it.shared.calls.lock().unwrap_or_else(PoisonError::into_inner).len() }
);

/// The size of recorded arguments, in bytes.
const MAX_ARGUMENTS: usize = 4 << 10;

/// The length of a trace context, which is a claim of the client.
const MAX_TRACE: usize = 64;

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CallRecord {
    /// Microseconds since 1970, at least one more than those of the call before. A number of the call would tell a caller how
    /// many calls others make.
    id: u64,
    /// The id of the tool.
    tool: String,
    caller: Option<String>,
    #[serde(skip)]
    identity: Option<(String, String)>,
    /// Milliseconds since 1970.
    started_at: u64,
    /// Microseconds; `None` while the call runs.
    duration: Option<u64>,
    /// `ok`, the kind of an error, or `None` while the call runs.
    outcome: Option<&'static str>,
    bytes_in: usize,
    bytes_out: Option<usize>,
    /// JSON text, which may be truncated.
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<String>,
    /// The `traceparent` of the client, by which it recognizes its own call.
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<String>,
}

impl CallRecord {
    fn new(last_id: &AtomicU64, call: &Call, omits_arguments: bool) -> Self {
        let request = call.context().get::<Request>();
        let caller = request.and_then(Request::caller);
        let trace = request.and_then(Request::traceparent).filter(|trace| trace.len() <= MAX_TRACE);
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = since_epoch.as_micros().try_into().unwrap_or(u64::MAX);
        let id_after = |last: u64| Some(now.max(last + 1));
        let last = last_id.fetch_update(Ordering::Relaxed, Ordering::Relaxed, id_after).unwrap_or_default();
        Self {
            id: now.max(last + 1),
            tool: call.tool().id().to_string(),
            caller: caller.and_then(Caller::subject).map(str::to_owned),
            identity: caller.and_then(identity),
            started_at: since_epoch.as_millis().try_into().unwrap_or(u64::MAX),
            duration: None,
            outcome: None,
            bytes_in: text(call.arguments()).map_or(0, <[u8]>::len),
            bytes_out: None,
            arguments: if omits_arguments { None } else { arguments(call) },
            trace: trace.map(str::to_owned),
        }
    }

    fn is_running(&self) -> bool {
        self.outcome.is_none()
    }

    fn ended(self, outcome: &'static str, duration: Duration, bytes_out: usize) -> Self {
        let duration = duration.as_micros().try_into().unwrap_or(u64::MAX);
        Self { duration: Some(duration), outcome: Some(outcome), bytes_out: Some(bytes_out), ..self }
    }
}

/// Returns what identifies a caller among those of all issuers.
fn identity(caller: &Caller) -> Option<(String, String)> {
    Some((caller.issuer().unwrap_or_default().to_owned(), caller.subject()?.to_owned()))
}

fn text<'a>(arguments: &'a Arguments<'_>) -> Option<&'a [u8]> {
    match arguments {
        Arguments::Json(json) => Some(json),
        _ => None,
    }
}

/// Returns the arguments without secrets.
fn arguments(call: &Call) -> Option<String> {
    let input = call.tool().input();
    let mut shown = match (input.holds_secret(), text(call.arguments())) {
        (false, Some(json)) => String::from_utf8_lossy(&json[..json.len().min(MAX_ARGUMENTS + 4)]).into_owned(),
        (false, None) => call.arguments().to_value().ok()?.to_string(),
        // Secrets can be located in valid arguments only.
        (true, _) => input.masked(&call.checked_arguments().ok()?).to_string(),
    };
    if shown.len() > MAX_ARGUMENTS {
        shown.truncate(shown.floor_char_boundary(MAX_ARGUMENTS));
        shown.push('…');
    }
    Some(shown)
}

impl<S> Layer<S> for RecentCalls
where
    S: Service<Call, Response = RunResult> + Clone + Send + Sync + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
{
    type Service = BoxCloneSyncService<Call, RunResult, ToolError>;

    fn layer(&self, inner: S) -> Self::Service {
        let calls = self.clone();
        BoxCloneSyncService::new(service_fn(move |call: Call| {
            let (mut running, inner) = (RunningRecord::new(calls.clone(), &call), inner.clone());
            async move {
                let outcome = inner.oneshot(call).await.map_err(ToolError::internal);
                match &outcome {
                    Ok(result) => running.end("ok", result.json().map_or(0, |json| json.len())),
                    Err(error) => running.end(error.kind().name(), 0),
                }
                outcome
            }
        }))
    }
}

/// A call that runs. Dropping it records that it was cancelled.
struct RunningRecord {
    calls: RecentCalls,
    started: Instant,
    /// `None` after the end.
    record: Option<CallRecord>,
}

impl RunningRecord {
    fn new(calls: RecentCalls, call: &Call) -> Self {
        let record = CallRecord::new(&calls.shared.last_id, call, calls.shared.omits_arguments.load(Ordering::Relaxed));
        calls.put(record.clone());
        Self { calls, started: Instant::now(), record: Some(record) }
    }

    fn end(&mut self, outcome: &'static str, bytes_out: usize) {
        if let Some(record) = self.record.take() {
            self.calls.put(record.ended(outcome, self.started.elapsed(), bytes_out));
        }
    }
}

impl Drop for RunningRecord {
    fn drop(&mut self) {
        self.end(ErrorKind::Cancelled.name(), 0);
    }
}

/// The time without events after which a comment is sent, so that proxies keep the connection open.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

struct EventsState {
    /// Calls that are known already.
    known: VecDeque<Arc<CallRecord>>,
    changes: broadcast::Receiver<Arc<CallRecord>>,
    viewer: Viewer,
    /// The server of what the caller sees.
    server: Server,
    has_begun: bool,
}

impl RecentCalls {
    /// Returns the calls that the viewer may see, as server-sent events: those that are kept, and then each change. A
    /// reader that falls behind is disconnected; it gets the kept calls when it connects again.
    pub(crate) fn events(&self, viewer: Viewer, server: &Server) -> impl Stream<Item = Bytes> + Send + use<> {
        let calls = self.shared.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let state = EventsState {
            known: calls.clone(),
            changes: self.shared.changes.subscribe(),
            viewer,
            server: server.clone(),
            has_begun: false,
        };
        drop(calls);
        unfold(state, async |mut state| {
            // Flushes the head of the response, so that the page sees that it is connected.
            if !std::mem::replace(&mut state.has_begun, true) {
                return Some((comment(), state));
            }
            loop {
                let record = match state.known.pop_front() {
                    Some(record) => record,
                    None => match timeout(KEEP_ALIVE, state.changes.recv()).await {
                        Err(_) => return Some((comment(), state)),
                        Ok(Err(_)) => return None,
                        Ok(Ok(record)) => record,
                    },
                };
                // Callers without a subject share their calls, and not all of them see the same tools.
                if state.viewer.sees(&record) && state.server.dispatcher().catalog().get(&record.tool).is_some() {
                    return Some((event(&record), state));
                }
            }
        })
    }
}

fn event(record: &CallRecord) -> Bytes {
    let mut event = b"event: call\ndata: ".to_vec();
    serde_json::to_writer(&mut event, record).expect("a record is serializable, and writing to a vector cannot fail");
    event.extend_from_slice(b"\n\n");
    event.into()
}

fn comment() -> Bytes {
    Bytes::from_static(b":\n\n")
}
