//! The tools of workers as a backend.
//!
//! | module | part |
//! |---|---|
//! | `link`, `inbox` | the connection, how workers come and go, and one inbox for all replies with their events |
//! | `fleet` | the known workers and their tools |
//! | `attempt` | one of the attempts of a call, all of which have the same arguments |

mod attempt;
mod fleet;
mod inbox;
mod link;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};
use toolkit::ToolError;
use toolkit::backend::{Backend, BackendCall, BackendResponse, BackendState, BackendStatus, OfferedTools};
use toolkit::call::{BoxFuture, ErrorKind};
use toolkit::tool::BackendKind;

use self::attempt::{Attempt, AttemptEnd, CallArguments};
use self::fleet::read_target;
use self::link::{Link, Settings, offline};
use crate::connect::Connect;
use crate::subject::{PREFIX, namespace_token};
use crate::wire::{self, random_id};

pub use self::fleet::Member;
pub use self::link::RetryPolicy;

/// The tools of all workers as a [`Backend`].
///
/// The backend follows workers that join and leave: [`Backend::changed`] completes, and a host that collects again finds their
/// tools. A call goes to any worker whose tool has the contract that the catalog contains. If workers have different
/// contracts of a tool with the same id, that of the worker that started last is listed; calls with the other contract go on
/// to the older workers until they leave.
///
/// # Failures
///
/// | event | the call fails with |
/// |---|---|
/// | no worker has the tool, or there is no connection | [`ErrorKind::Unavailable`](toolkit::call::ErrorKind::Unavailable): it has not started |
/// | all workers are at their limits | [`ErrorKind::Overloaded`](toolkit::call::ErrorKind::Overloaded), after several attempts: it has not started |
/// | the worker dies, or stops reporting | [`ErrorKind::OutcomeUnknown`](toolkit::call::ErrorKind::OutcomeUnknown), or is repeated; see [`RetryPolicy`] |
/// | the server restarts | nothing, if it is back within five seconds; a running call may end in `OutcomeUnknown` |
///
/// Dropping the future of a call cancels it on the worker. If the program of the caller dies or is disconnected, its calls are
/// cancelled within a second after the next [beat](crate::WorkerLimits::beat); if the network drops everything that the caller
/// sends, after three beats that it does not answer.
///
/// # Permissions
///
/// A caller with the prefix `tk` publishes to `tk.call.>` (or `tk.call.*.NAMESPACE.>` for the tools of one namespace),
/// `tk.tools.*`, `tk.ctl.>` and `$SRV.INFO.toolkit`, and subscribes to `tk.event.*` and its own inbox, such as `_INBOX.>`. For
/// bodies that do not fit into a message, it also needs the permissions for its bucket in `deploy/nats.conf`.
///
/// # Examples
///
/// ```no_run
/// use std::time::Duration;
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit_backends::Backends;
/// use toolkit_nats::{Connect, NatsBackend, RetryPolicy};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let fleet = NatsBackend::new("fleet", Connect::new("nats://localhost")?)
///     .timeout(Duration::from_secs(60))
///     .retry(RetryPolicy::Idempotent)
///     .trusted();
/// let backends = Backends::new();
/// backends.register(fleet)?;
/// let collected = backends.collect(Catalog::linked()?).await;
/// let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct NatsBackend {
    name: Arc<str>,
    settings: Settings,
    is_trusted: bool,
    link: Arc<Link>,
}

impl NatsBackend {
    /// Creates a backend for all workers with the prefix `tk`. It connects on the first use.
    pub fn new(name: &str, connect: Connect) -> Self {
        let settings = Settings {
            connect,
            prefix: PREFIX.to_owned(),
            timeout: Duration::from_secs(300),
            accept_timeout: Duration::from_secs(2),
            discovery_timeout: Duration::from_millis(500),
            retry: RetryPolicy::default(),
            body_bucket: None,
            sends_credentials: false,
            only: None,
        };
        Self { name: name.into(), is_trusted: false, link: Arc::new(Link::new(settings.clone())), settings }
    }

    /// Sets the prefix of all subjects; see [`Worker::prefix`](crate::Worker::prefix). Default: `tk`.
    pub fn prefix(self, prefix: impl Into<String>) -> Self {
        let prefix = prefix.into();
        self.with(|settings| settings.prefix = prefix)
    }

    /// Sets the timeout of a call, over all attempts. The timeout of the tool and the limits of the dispatcher apply too.
    /// Default: 5 minutes.
    pub fn timeout(self, limit: Duration) -> Self {
        self.with(|settings| settings.timeout = limit)
    }

    /// Sets the time in which a worker has to accept a call, after which the outcome of the call is unknown. Default: 2 s.
    pub fn accept_timeout(self, limit: Duration) -> Self {
        self.with(|settings| settings.accept_timeout = limit)
    }

    /// Sets the time in which workers have to answer when the backend connects. Default: 500 ms.
    pub fn discovery_timeout(self, limit: Duration) -> Self {
        self.with(|settings| settings.discovery_timeout = limit)
    }

    /// Sets the calls that are sent again. Default: those that certainly have not started.
    pub fn retry(self, policy: RetryPolicy) -> Self {
        self.with(|settings| settings.retry = policy)
    }

    /// Uses the tools of these namespaces only. The definitions of the others are not fetched, which a caller of large fleets
    /// has no memory for. An empty text stands for tools without a namespace.
    pub fn only(self, namespaces: impl IntoIterator<Item: AsRef<str>>) -> Self {
        let token = |name: &str| namespace_token(Some(name).filter(|name| !name.is_empty()));
        let only = namespaces.into_iter().map(|name| token(name.as_ref())).collect();
        self.with(|settings| settings.only = Some(only))
    }

    /// Sets the bucket for arguments and results that do not fit into a message; see [`Buckets`](crate::Buckets). Its name begins
    /// with the default, which is `tk-bodies` for the prefix `tk`. With a bucket for each user, permissions can prevent that
    /// one user reads or deletes the bodies of another. What follows the default, such as `alice` in `tk-bodies-alice`, must be
    /// a token of the [inbox](Connect::inbox_prefix) of the user, such as `_INBOX.alice`: workers reject other buckets.
    pub fn body_bucket(self, bucket: impl Into<String>) -> Self {
        let bucket = bucket.into();
        self.with(|settings| settings.body_bucket = Some(bucket))
    }

    /// Sends those credentials of the caller that a tool requires to its worker. They pass the NATS server, which can read
    /// them. Without this, a tool with requirements fails on its worker, which names the missing ones.
    ///
    /// A call with credentials fails unless all connections use TLS, or stay on one machine: that of this program before
    /// anything is sent, and that of the worker before the tool starts.
    pub fn send_credentials(self) -> Self {
        self.with(|settings| settings.sends_credentials = true)
    }

    /// Trusts the annotations, tags and timeouts of the workers' tools; see [`Backend::is_trusted`].
    pub fn trusted(self) -> Self {
        Self { is_trusted: true, ..self }
    }

    /// Returns the workers whose tools are known.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no connection to the server.
    pub async fn members(&self) -> Result<Vec<Member>, ToolError> {
        Ok(self.link.connected(&self.name).await?.fleet.members())
    }

    /// Changes the settings and uses a new connection, since existing clones may have other settings.
    fn with(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        Self { link: Arc::new(Link::new(self.settings.clone())), ..self }
    }
}

impl Backend for NatsBackend {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> BackendKind {
        BackendKind::Provider
    }

    fn is_trusted(&self) -> bool {
        self.is_trusted
    }

    fn tools(&self) -> BoxFuture<'_, Result<OfferedTools, ToolError>> {
        Box::pin(async {
            let connected = self.link.connected(&self.name).await?;
            Ok(fleet::offered(&self.name, &connected.fleet))
        })
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.link.changed(&self.name))
    }

    fn call<'a>(&'a self, call: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> {
        Box::pin(run(&self.name, &self.link, call))
    }

    fn start(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(async { self.link.connected(&self.name).await.map(drop) })
    }

    fn stop(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(async {
            self.link.disconnect().await;
            Ok(())
        })
    }

    fn health(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(async {
            let connected = self.link.connected(&self.name).await?;
            match connected.is_online() {
                true => Ok(()),
                false => Err(link::offline(&self.name)),
            }
        })
    }

    fn status(&self) -> BackendStatus {
        BackendStatus::new(match self.link.is_online() {
            Some(true) => BackendState::Ready,
            Some(false) => BackendState::BackingOff,
            None => BackendState::Idle,
        })
    }
}

toolkit::debug_fields!(it, NatsBackend { name, connect: it.settings.connect });

/// The maximum number of attempts.
const MAX_ATTEMPTS: u32 = 8;

/// The upper bound of the delay before the second attempt, which doubles with each one.
const DELAY: Duration = Duration::from_millis(10);

/// The bounds of the delay before the answer of a call that another worker runs is looked for again.
const CLAIMED_DELAYS: [Duration; 2] = [Duration::from_millis(20), Duration::from_secs(1)];

/// Calls a tool, in several attempts if the call has not started, or may run again.
async fn run(name: &str, link: &Link, call: BackendCall<'_>) -> Result<BackendResponse, ToolError> {
    let Some((tokens, contract)) = read_target(call.target()) else {
        return Err(ToolError::new(ErrorKind::NoBackend, format!("the workers of `{name}` have no such tool")));
    };
    let connected = link.connected(name).await?;
    let settings = &link.settings;
    let timeout = call.tool().timeout().map_or(settings.timeout, |own| own.min(settings.timeout));
    let deadline = Instant::now() + timeout;
    let no_worker = || {
        let message = format!("no worker of `{}` has this version of the tool", name.escape_debug());
        ToolError::new(ErrorKind::Unavailable, message)
    };
    if connected.fleet.route(tokens, contract).is_none() {
        return Err(no_worker());
    }
    let credentials = credentials(name, settings, &call)?;
    let json = call.arguments().to_json().map_err(ToolError::internal)?;
    let arguments = CallArguments::new(&connected, &json, deadline).await?;
    drop(json);

    let is_claimed = settings.retry == RetryPolicy::Claimed;
    let may_run_again =
        is_claimed || settings.retry == RetryPolicy::Idempotent && call.tool().annotations().may_repeat();
    let mut call_id = random_id();
    // The error of an attempt that may have run. The later ones cannot end the call as one that has not started.
    let mut unknown: Option<ToolError> = None;
    let (mut n_attempts, mut n_waits, mut is_abandoned) = (0, 0, false);
    loop {
        if !connected.restored(deadline).await {
            return Err(unknown.unwrap_or_else(|| offline(name)));
        }
        let Some(digest) = connected.fleet.route(tokens, contract) else {
            return Err(unknown.unwrap_or_else(no_worker));
        };
        n_attempts += 1;
        if !is_claimed && n_attempts > 1 {
            // Each attempt is a call of its own for the worker.
            call_id = random_id();
        }
        let attempt = Attempt {
            name,
            connected: &connected,
            call: &call,
            call_id: &call_id,
            arguments: &arguments,
            credentials: credentials.as_deref(),
            is_claimed,
            deadline,
            accept_timeout: settings.accept_timeout,
        };
        let ended = attempt.run(connected.subjects.call(&digest, tokens)).await;
        let may_repeat = n_attempts < MAX_ATTEMPTS && Instant::now() < deadline;
        let mut delay = DELAY.saturating_mul(1 << n_attempts).mul_f64(fastrand::f64());
        match ended {
            AttemptEnd::Response(response) => return Ok(response),
            AttemptEnd::Failed(error) => return Err(error),
            AttemptEnd::Rejected { kind, .. } if kind == ErrorKind::Overloaded.name() && may_repeat => {}
            AttemptEnd::NoWorker if may_repeat => {}
            AttemptEnd::Unknown(error) if may_repeat && may_run_again => unknown = Some(error),
            // The answer of a claimed call is that it was cancelled.
            AttemptEnd::Cancelled(error) if may_repeat && may_run_again && !is_claimed => unknown = Some(error),
            AttemptEnd::Claimed(worker) if Instant::now() < deadline => {
                let runs = connected.runs(&worker, &call_id, settings.accept_timeout).await;
                if !runs && is_abandoned {
                    return Err(attempt.unknown_of("has ended without an answer"));
                }
                // Its answer may have been stored meanwhile.
                is_abandoned = !runs;
                // Waiting is not an attempt to run the call.
                n_attempts -= 1;
                let [first, longest] = CLAIMED_DELAYS;
                delay = first.saturating_mul(1 << n_waits.min(10)).min(longest);
                n_waits += 1;
            }
            AttemptEnd::Rejected { response, .. } => {
                return unknown.map_or_else(|| Ok(BackendResponse::Mcp(response)), Err);
            }
            AttemptEnd::Unknown(error) | AttemptEnd::Cancelled(error) => return Err(error),
            AttemptEnd::Claimed(_) => return Err(attempt.unknown_of("did not respond in time")),
            AttemptEnd::NoWorker => {
                let message = format!("the workers of `{}` accept no calls at the moment", name.escape_debug());
                return Err(unknown.unwrap_or_else(|| ToolError::new(ErrorKind::Overloaded, message)));
            }
        }
        sleep(delay.min(deadline.saturating_duration_since(Instant::now()))).await;
    }
}

/// Returns the credentials that are sent to the worker.
fn credentials(name: &str, settings: &Settings, call: &BackendCall<'_>) -> Result<Option<String>, ToolError> {
    let required = call.tool().requirements();
    if !settings.sends_credentials || required.is_empty() {
        return Ok(None);
    }
    if !settings.connect.is_confidential() {
        let message = format!("credentials are not sent to the workers of `{}` without TLS", name.escape_debug());
        return Err(ToolError::new(ErrorKind::Unauthorized, message));
    }
    let written = wire::write_credentials(call.context(), required);
    written
        .map(Some)
        .ok_or_else(|| ToolError::new(ErrorKind::TooLarge, "the credentials are too long for the NATS server"))
}
