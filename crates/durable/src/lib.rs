//! Chains and calls that continue after all of their processes have crashed.
//!
//! A [`Worker`] runs the steps of [chains](toolkit_backends::chain::Chain), and a [`Client`] in any process starts runs, waits
//! for them and decides about their steps. What a run has done is recorded in a SQLite file, for processes on one machine, or
//! with the feature `postgres` in a Postgres database, by the same statements; there is no other server. Another worker continues
//! a run whose worker has died.
//!
//! ```no_run
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
//! A run is bound to the contracts of the tools of its chain: a worker of another release continues it if these tools accept and
//! return the same, whatever else has changed. [`Run::bind`] binds a run to other tools. New runs are taken by the release that was
//! started last, or, if none of its workers lives, by another one.
//!
//! # Source
//!
//! | module | part |
//! |---|---|
//! | `worker`, `client`, `backend` | runs the steps; starts runs and decides about them; makes single calls durable |
//! | `runs` | the runs, as clients read and change them |
//! | `record` | what is recorded, and the places of its entries |
//! | `contract` | the contracts of tools, to which a run is bound |
//! | `tables`, `sql` | the tables, and statements in the SQL that both stores share |
//! | `store` | the interface of the stores |
//! | `file`, `postgres` | a SQLite file; a Postgres database |
//! | `connect`, `error` | chooses between them; errors with the ids of runs |
#![forbid(unsafe_code)]

mod backend;
mod client;
mod connect;
mod contract;
mod error;
mod file;
#[cfg(feature = "postgres")]
mod postgres;
mod record;
mod runs;
mod sql;
mod store;
mod tables;
mod worker;

pub use self::backend::DurableBackend;
pub use self::client::{Client, Run, RunFilter, RunState, RunStatus, RunSummary, StepState, StepStatus};
pub use self::connect::Connect;
pub use self::error::{DurableError, RunId};
pub use self::record::{Decision, Pause};
pub use self::store::QueueStatus;
pub use self::worker::{Monitor, Worker, WorkerStatus, run_child};
