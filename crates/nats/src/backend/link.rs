//! The connection of a backend, and the workers that join and leave.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_nats::connection::State;
use async_nats::{Client, Request};
use bytes::Bytes;
use futures_util::StreamExt;
use tokio::sync::{broadcast, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use toolkit::ToolError;
use toolkit::call::ErrorKind;
use toolkit_runtime::Mutex;

use crate::backend::fleet::{Announcement, Fleet};
use crate::backend::inbox::Inbox;
use crate::bodies::Bodies;
use crate::connect::{Connect, NatsError};
use crate::subject::{SERVICE, Subjects};
use crate::wire;

/// The calls that a [`NatsBackend`](super::NatsBackend) sends again.
///
/// `NotStarted` and `Claimed` never run a call twice. `Idempotent` may. None of them loses a call silently.
///
/// # Examples
///
/// ```
/// use toolkit_nats::RetryPolicy;
///
/// assert_eq!(RetryPolicy::default(), RetryPolicy::NotStarted);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RetryPolicy {
    /// Calls that certainly have not started. No call runs twice.
    #[default]
    NotStarted,
    /// Also calls whose outcome is unknown, if the tool has the hint `idempotent` or `read_only` and the host trusts the
    /// backend. Such a call may run twice.
    Idempotent,
    /// Calls that no worker has claimed. Before it runs a call, a worker claims its id in a bucket of the NATS server, and
    /// stores the answer there. A call whose worker is lost before the claim runs on another worker, and the answer of a call
    /// whose reply is lost is found. No call runs twice. It takes two more round trips to the server, and the bucket
    /// `tk-calls` of [`Buckets`](crate::Buckets).
    Claimed,
}

/// The settings of a backend.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) connect: Connect,
    pub(super) prefix: String,
    pub(super) timeout: Duration,
    pub(super) accept_timeout: Duration,
    pub(super) discovery_timeout: Duration,
    pub(super) retry: RetryPolicy,
    /// The bucket for bodies, unless it is the one of the prefix.
    pub(super) body_bucket: Option<String>,
    pub(super) sends_credentials: bool,
    /// The tokens of the namespaces whose tools are used, unless all are.
    pub(super) only: Option<BTreeSet<String>>,
}

/// A connection that is established on the first use, and again after it was closed.
pub(super) struct Link {
    pub(super) settings: Settings,
    /// Held while connecting, so that there is one connection.
    current: tokio::sync::Mutex<()>,
    connected: Mutex<Option<Arc<Connected>>>,
    /// Counts the changes of the tools, over all connections.
    version: watch::Sender<u64>,
}

/// An established connection. The client reconnects by itself.
pub(super) struct Connected {
    pub(super) client: Client,
    pub(super) subjects: Subjects,
    pub(super) inbox: Inbox,
    pub(super) fleet: Arc<Fleet>,
    pub(super) bodies: Bodies,
    pub(super) body_bucket: String,
    /// The subjects to which this user may not publish.
    pub(super) denied: broadcast::Sender<String>,
    /// Receives messages until the connection is dropped.
    _services: JoinSet<()>,
}

/// The number of rejected calls that the others may not have noticed yet.
const MAX_DENIED: usize = 256;

/// The time that a call waits for a lost connection, and the interval in which it looks.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const RECONNECT_POLL: Duration = Duration::from_millis(20);

/// The pause before another attempt to connect while a host waits for changes.
const PAUSE: Duration = Duration::from_secs(1);

impl Link {
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            settings,
            current: tokio::sync::Mutex::default(),
            connected: Mutex::default(),
            version: watch::Sender::new(0),
        }
    }

    /// Returns the connection, or establishes it.
    pub(super) async fn connected(&self, name: &str) -> Result<Arc<Connected>, ToolError> {
        if let Some(connected) = self.existing() {
            return Ok(connected);
        }
        let _connecting = self.current.lock().await;
        if let Some(connected) = self.existing() {
            return Ok(connected);
        }
        let connected = Arc::new(self.connect().await.map_err(|error| offline(name).caused_by(error))?);
        *self.connected.lock() = Some(Arc::clone(&connected));
        Ok(connected)
    }

    async fn connect(&self) -> Result<Connected, crate::NatsError> {
        let Settings { connect, prefix, discovery_timeout, only, .. } = &self.settings;
        let denied = broadcast::Sender::new(MAX_DENIED);
        let client = connect.client("toolkit caller", denied.clone()).await?;
        let (subjects, caller) = (Subjects::new(prefix), wire::random_id());
        let mut services = JoinSet::new();
        let replies = connect.inbox(&caller);
        let inbox = Inbox::subscribe(&client, replies.clone(), subjects.clone(), &mut services).await?;
        let fleet = Arc::new(Fleet::new(client.clone(), subjects.clone(), only.clone(), self.version.clone()));
        let answers = format!("{replies}.info");
        follow(&fleet, answers, *discovery_timeout, &mut services).await?;
        let bodies = Bodies::new(&client);
        let body_bucket = self.settings.body_bucket.clone().unwrap_or_else(|| subjects.bodies());
        Ok(Connected { client, subjects, inbox, fleet, bodies, body_bucket, denied, _services: services })
    }

    pub(super) async fn disconnect(&self) {
        let connected = self.connected.lock().take();
        if let Some(connected) = connected {
            let _ = connected.client.flush().await;
        }
    }

    /// Returns true if there is a connection, and `None` before the first use.
    pub(super) fn is_online(&self) -> Option<bool> {
        self.connected.lock().as_ref().map(|connected| connected.is_online())
    }

    /// Waits until the tools differ from those that were listed last.
    pub(super) async fn changed(&self, name: &str) {
        let mut version = self.version.subscribe();
        loop {
            match self.connected(name).await {
                Ok(connected) => {
                    let listed = connected.fleet.listed();
                    let _ = version.wait_for(|version| *version != listed).await;
                    return;
                }
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    fn existing(&self) -> Option<Arc<Connected>> {
        self.connected.lock().clone()
    }
}

impl Connected {
    pub(super) fn is_online(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// Returns true if a worker runs a call, and false if the worker answers otherwise or does not answer.
    pub(super) async fn runs(&self, worker: &str, call: &str, limit: Duration) -> bool {
        let request = Request::new().payload(wire::STATE.into()).timeout(Some(limit));
        let state = self.client.send_request(self.subjects.control(worker, call), request).await;
        state.is_ok_and(|state| state.status.is_none() && state.payload == wire::RUNNING)
    }

    /// Waits for the connection if it is lost, for some seconds and at most until `deadline`. Returns false if it is not
    /// restored.
    pub(super) async fn restored(&self, deadline: Instant) -> bool {
        let deadline = deadline.min(Instant::now() + RECONNECT_TIMEOUT);
        while !self.is_online() {
            if Instant::now() >= deadline {
                return false;
            }
            tokio::time::sleep(RECONNECT_POLL).await;
        }
        true
    }
}

/// Creates the error for a backend without a connection.
pub(super) fn offline(name: &str) -> ToolError {
    let message = format!("the workers of `{}` cannot be reached", name.escape_debug());
    ToolError::new(ErrorKind::Unavailable, message)
}

/// The mean interval of requests to all workers, which vary by a fifth.
const PING: Duration = Duration::from_secs(15);

/// The time without an answer after which a worker is gone.
const SILENT: Duration = Duration::from_secs(40);

/// The time without an answer of another worker after which all have answered.
const QUIET: Duration = Duration::from_millis(100);

/// Asks for all workers, waits for their answers for at most `limit`, and follows their changes from then on.
pub(super) async fn follow(
    fleet: &Arc<Fleet>,
    inbox: String,
    limit: Duration,
    services: &mut JoinSet<()>,
) -> Result<(), NatsError> {
    let client = fleet.client.clone();
    let mut events = client.subscribe(fleet.subjects.events()).await.map_err(NatsError::closed)?;
    let mut answers = client.subscribe(inbox.clone()).await.map_err(NatsError::closed)?;
    let ask = move || {
        let (client, inbox) = (client.clone(), inbox.clone());
        async move { client.publish_with_reply(format!("$SRV.INFO.{SERVICE}"), inbox, Bytes::new()).await }
    };
    ask().await.map_err(NatsError::closed)?;
    let known = async {
        let mut next = answers.next().await;
        // A status means that there are no workers.
        while let Some(answer) = next.filter(|answer| answer.status.is_none()) {
            if let Some(digest) = joined(fleet, &answer.payload) {
                // Goes on after the time limit.
                let fleet = Arc::clone(fleet);
                let _ = tokio::spawn(async move { fleet.learn(&digest).await }).await;
            }
            // The answers of the others follow soon, unless a worker is slow.
            next = timeout(QUIET, answers.next()).await.unwrap_or_default();
        }
    };
    let _ = timeout(limit, known).await;

    let following = Arc::clone(fleet);
    let leave = fleet.subjects.leave();
    services.spawn(async move {
        while let Some(event) = events.next().await {
            match *event.subject == leave {
                true => {
                    if let Ok(announced) = serde_json::from_slice(&event.payload) {
                        following.left(&announced);
                    }
                }
                false => read(&following, &event.payload),
            }
        }
    });
    let following = Arc::clone(fleet);
    services.spawn(async move {
        while let Some(answer) = answers.next().await {
            if answer.status.is_none() {
                read(&following, &answer.payload);
            }
        }
    });
    let following = Arc::clone(fleet);
    services.spawn(async move {
        loop {
            sleep(PING.mul_f64(0.8 + 0.4 * fastrand::f64())).await;
            following.remove_silent(SILENT);
            if ask().await.is_err() {
                return;
            }
        }
    });
    Ok(())
}

/// Records a worker, and fetches its definitions beside the next messages.
fn read(fleet: &Arc<Fleet>, payload: &[u8]) {
    if let Some(digest) = joined(fleet, payload) {
        let fleet = Arc::clone(fleet);
        tokio::spawn(async move { fleet.learn(&digest).await });
    }
}

/// Records a worker. Returns its digest if its definitions are not known.
fn joined(fleet: &Fleet, payload: &[u8]) -> Option<String> {
    fleet.joined(serde_json::from_slice::<Announcement>(payload).ok()?)
}
