//! Chains and calls that continue after all of their processes have crashed.
//!
//! A [`Worker`] runs the steps of [chains](toolkit_backends::chain::Chain), and a [`Client`] in any process starts runs, waits
//! for them and decides about their steps. What a run has done is recorded in a SQLite file, for processes on one machine, or
//! with the feature `postgres` in a database by [DBOS](https://docs.dbos.dev), a library; there is no other server. Another
//! worker continues a run whose worker has died.
//!
//! ```no_run,standalone_crate
//! use toolkit::{Catalog, Dispatcher, tool};
//! use toolkit_backends::chain::{Chain, Step};
//! use toolkit_durable::{Client, Connect, RunId, Worker};
//!
//! /// Adds two integers.
//! #[tool(namespace = "math", read_only)]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! /// One program, or a hundred of them.
//! async fn work() -> Result<(), Box<dyn std::error::Error>> {
//!     let connect = Connect::new("runs.db")?;
//!     Worker::new(connect, Dispatcher::new(Catalog::linked()?)?).run_until_signal().await?;
//!     Ok(())
//! }
//!
//! /// Another program.
//! async fn start() -> Result<(), Box<dyn std::error::Error>> {
//!     let chain = Chain::new()
//!         .then(Step::new("math:add").named("sum").arg("a", 1).arg("b", 2))
//!         .then(Step::new("math:add").arg("a", 10).take("b", "sum", ""));
//!     let client = Client::connect(&Connect::new("runs.db")?).await?;
//!     let run = client.start(&chain, RunId::new("sum-1")?).await?;
//!     assert_eq!(run.wait().await?.result().unwrap().value(), 13);
//!     Ok(())
//! }
//! ```
//!
//! # Promises
//!
//! The **result** of a step is recorded exactly once, and what follows sees only that. The **effect** of a tool can happen
//! and the process die before the result is recorded; no engine can know. A tool that is read-only or idempotent then runs
//! again: its effect happens at least once, always with the same [key](toolkit::call::StepId::key). Any other tool is
//! guarded: its effect happens at most once, and the step waits for a [`Decision`].
//!
//! The outcome of a run is that of [`Chain::run`](toolkit_backends::chain::Chain::run), which is the same implementation.
//!
//! # Versions
//!
//! A run is continued only by workers whose tools have the same definitions as those of the worker that has started it.
//!
//! # Source
//!
//! | module | part |
//! |---|---|
//! | `worker`, `client`, `backend` | runs the steps; starts runs and decides about them; makes single calls durable |
//! | `record` | what is recorded, and the places of its entries |
//! | `store` | the interface of the places that record runs |
//! | `file`, `postgres` | a SQLite file, with tables of this crate; Postgres, with the engine and the tables of DBOS |
//! | `connect`, `error` | chooses between them; errors with the ids of runs |
#![forbid(unsafe_code)]

mod backend;
mod client;
mod connect;
mod error;
mod file;
#[cfg(feature = "postgres")]
mod postgres;
mod record;
mod store;
mod worker;

pub use self::backend::DurableBackend;
pub use self::client::{Client, Run, RunFilter, RunState, RunStatus, RunSummary, StepState, StepStatus};
pub use self::connect::Connect;
pub use self::error::{DurableError, RunId};
pub use self::record::{Decision, Pause};
pub use self::store::QueueStatus;
pub use self::worker::{Monitor, Worker, WorkerStatus};
