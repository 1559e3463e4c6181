//! Workers, which serve tools.
//!
//! | module | part |
//! |---|---|
//! | `incoming` | the subscription of calls, which the worker leaves while it is full and at its end, and messages that cancel a call or give it credit |
//! | `call`, `reply`, `answer` | reads a call, runs it within its time, sends its events, the last of which is an answer |
//! | `claims` | calls that run once among all workers, each with a record in a bucket |
//! | `running` | the calls that run |
//! | `discovery` | answers to requests about the worker |
//! | `worker_limits` | the limits of a worker, with their defaults |
//! | `shared` | the connection and the statistics of the worker |

mod answer;
mod call;
mod claims;
mod discovery;
mod incoming;
mod reply;
mod running;
mod shared;
mod worker_limits;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::task::JoinSet;
use toolkit::Dispatcher;
use toolkit_runtime::ShutdownSignals;

use self::incoming::{Arrival, Incoming};
use self::reply::Reply;
use self::shared::WorkerState;
pub use self::worker_limits::WorkerLimits;
use crate::connect::{Connect, NatsError};
use crate::subject::PREFIX;

/// A process that serves the tools of a dispatcher over NATS.
///
/// Any number of workers with the same tools share their calls. `nats micro list` of the `nats` command line shows the
/// workers, and any client of NATS can call a tool:
///
/// ```text
/// nats request tk.call.DIGEST.math.add._ '{"a": 1, "b": 2}'
/// ```
///
/// # Load
///
/// A worker that runs [`WorkerLimits::max_calls`] calls leaves the group until some have ended. Calls that arrive
/// nevertheless are rejected before they start, and callers send them again.
///
/// # Shutdown
///
/// At SIGTERM a worker announces that it leaves, accepts the calls that were already sent to it, and ends when they have, at
/// the latest after [`WorkerLimits::shutdown_timeout`]. It cancels the calls that still run then, whose outcome is unknown to
/// their callers.
///
/// # Permissions
///
/// A worker with the prefix `tk` publishes to `_INBOX.>` (or the prefixes that callers use), `tk.event.*` and `tk.ctl.>`, and
/// subscribes to `tk.call.>`, `tk.tools.>`, `tk.ctl.>` and `$SRV.>`. With [`Buckets`](crate::Buckets) it also subscribes to its
/// own inbox, and publishes to the subjects of JetStream in `deploy/nats.conf`.
///
/// # Examples
///
/// ```no_run
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit_nats::{Connect, Worker};
///
/// #[tokio::main]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let dispatcher = Dispatcher::new(Catalog::linked()?)?;
///     Worker::new(Connect::new("nats://localhost")?, dispatcher).run_until_signal().await?;
///     Ok(())
/// }
/// ```
#[must_use]
pub struct Worker {
    connect: Connect,
    dispatcher: Dispatcher,
    prefix: String,
    limits: WorkerLimits,
}

/// The number of calls that end, as a part of the maximum, before a worker joins the group again.
const REJOIN_AFTER: usize = 10;

impl Worker {
    /// Creates a worker for all tools of a dispatcher.
    pub fn new(connect: Connect, dispatcher: Dispatcher) -> Self {
        Self { connect, dispatcher, prefix: PREFIX.to_owned(), limits: WorkerLimits::default() }
    }

    /// Sets the prefix of all subjects, for example to separate environments. Workers and callers with different prefixes do
    /// not meet. Default: `tk`.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: WorkerLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Serves the tools until SIGTERM or Ctrl-C.
    ///
    /// # Errors
    ///
    /// As for [`Worker::run`].
    pub async fn run_until_signal(self) -> Result<(), NatsError> {
        let mut signals = ShutdownSignals::listen();
        self.run(signals.next()).await
    }

    /// Serves the tools until `shutdown` completes, and then ends as described [above](Self#shutdown). If the connection to
    /// the server is lost, the worker reconnects, and running calls go on.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no connection at first, the definition of a tool is larger than a message may be, or the
    /// connection was closed.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), NatsError> {
        let max_calls = self.limits.max_calls.max(1);
        let rejoin_at = max_calls - max_calls.div_ceil(REJOIN_AFTER);
        let shared = Arc::new(WorkerState::connect(self.connect, self.dispatcher, &self.prefix, self.limits).await?);
        let mut services = JoinSet::new();
        let controls = incoming::serve(&shared, &mut services).await?;
        discovery::serve(&shared, &mut services).await?;
        services.spawn(call::supervise(Arc::clone(&shared)));
        let mut incoming = Incoming::join(&shared, controls).await?;
        discovery::announce(&shared, shared.subjects.join()).await?;
        tracing::info!(instance = shared.instance, digest = shared.digest, "serving tools over NATS");

        let mut shutdown = pin!(shutdown);
        let result = loop {
            tokio::select! {
                () = &mut shutdown => break Ok(()),
                () = shared.running.ended(), if !incoming.is_member() => {}
                arrival = incoming.next() => match arrival {
                    Arrival::Call(message) if shared.running.len() >= max_calls => {
                        Reply::to(&shared, message.reply).overloaded(max_calls).await;
                    }
                    Arrival::Call(message) => {
                        call::start(&shared, message).await;
                        if shared.running.len() >= max_calls {
                            incoming.leave(&shared).await?;
                        }
                    }
                    Arrival::Left => {}
                    Arrival::Closed => break Err(NatsError::closed("the subscription of calls has ended")),
                },
            }
            if incoming.has_left() && shared.running.len() <= rejoin_at {
                incoming.rejoin(&shared).await?;
            }
        };
        shared.is_leaving.store(true, Ordering::Release);
        let grace = shared.limits.shutdown_timeout;
        let finish = async {
            discovery::announce(&shared, shared.subjects.leave()).await?;
            incoming.leave(&shared).await?;
            // What was sent to this worker before it left.
            while !incoming.has_left() {
                match tokio::time::timeout(SERVER_TIMEOUT, incoming.next()).await {
                    Ok(Arrival::Call(message)) if shared.running.len() >= max_calls => {
                        Reply::to(&shared, message.reply).overloaded(max_calls).await;
                    }
                    Ok(Arrival::Call(message)) => call::start(&shared, message).await,
                    Ok(Arrival::Left | Arrival::Closed) | Err(_) => break,
                }
            }
            while shared.running.len() > 0 {
                shared.running.ended().await;
            }
            Ok::<_, NatsError>(())
        };
        if !matches!(tokio::time::timeout(grace, finish).await, Ok(Ok(()))) {
            shared.running.all().iter().for_each(|call| call.cancel());
            // The supervision replies to them.
            let _ = tokio::time::timeout(SERVER_TIMEOUT, async {
                while !shared.running.all().is_empty() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            })
            .await;
        }
        let _ = tokio::time::timeout(SERVER_TIMEOUT, shared.round_trip()).await;
        result
    }
}

/// The time that the server has to answer a worker that ends.
const SERVER_TIMEOUT: Duration = Duration::from_secs(5);

toolkit::debug_fields!(Worker { connect, prefix, limits });
