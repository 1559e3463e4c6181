//! Tools on many machines, over [NATS](https://nats.io).
//!
//! A [`Worker`] serves the tools of a dispatcher, and a [`NatsBackend`] calls the tools of all workers as if they were
//! functions of its own program. Workers come and go without configuration: the server of NATS delivers each call to one of
//! the workers that have the tool.
//!
//! ```no_run
//! use toolkit::{Catalog, Dispatcher, tool};
//! use toolkit_backends::Backends;
//! use toolkit_nats::{Connect, NatsBackend, Worker};
//!
//! /// Adds two integers.
//! #[tool(namespace = "math")]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! /// One program, or a hundred of them.
//! async fn work() -> Result<(), Box<dyn std::error::Error>> {
//!     let worker = Worker::new(Connect::new("nats://localhost")?, Dispatcher::new(Catalog::linked()?)?);
//!     worker.run_until_signal().await?;
//!     Ok(())
//! }
//!
//! /// Another program.
//! async fn call() -> Result<(), Box<dyn std::error::Error>> {
//!     let backends = Backends::new();
//!     backends.register(NatsBackend::new("fleet", Connect::new("nats://localhost")?))?;
//!     let collected = backends.collect(Catalog::new([])?).await;
//!     let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build()?;
//!     assert_eq!(dispatcher.call("math:add", r#"{"a": 1, "b": 2}"#).await?.value(), 3);
//!     Ok(())
//! }
//! ```
//!
//! # Promises
//!
//! A call ends in a result, in an error of a tool that ran, in an error of a call that did not start, or in
//! [`ErrorKind::OutcomeUnknown`](toolkit::call::ErrorKind::OutcomeUnknown). No call is lost silently, and only
//! [`RetryPolicy::Idempotent`] runs a call twice. A result is lost if the worker dies before it has sent it, or stored it for
//! [`RetryPolicy::Claimed`].
//!
//! # Versions
//!
//! The subject of a call contains the digest of the tools of its workers. A call therefore reaches a worker whose tool has
//! exactly the contract that the caller knows, whatever versions of a program run at the same time.
//!
//! # Source
//!
//! | module | part |
//! |---|---|
//! | `subject`, `wire`, `bodies` | the subjects, the messages with the credentials of a caller, and bodies that do not fit into one |
//! | `connect`, `buckets` | the connection, and what the server stores |
//! | `toolset` | the definitions of a worker, with their digest |
//! | `worker` | the side that runs tools |
//! | `backend` | the side that calls them |
#![forbid(unsafe_code)]

mod backend;
mod bodies;
mod buckets;
mod connect;
mod subject;
mod toolset;
mod wire;
mod worker;

pub use self::backend::{Member, NatsBackend, RetryPolicy};
pub use self::buckets::Buckets;
pub use self::connect::{Connect, NatsError};
pub use self::worker::{Worker, WorkerLimits};
