//! Runs in a Postgres database, by [DBOS](https://docs.dbos.dev).
//!
//! | module | part |
//! |---|---|
//! | `engine` | the engine of a worker |
//! | `execution` | a run as a workflow of the engine, and each step with its entries |
//! | `lease` | shows that the worker lives, and recovers the runs of dead ones |
//! | `runs` | the runs, for clients |
//! | `session` | the connection and the locks |

mod engine;
mod execution;
mod lease;
mod runs;
mod session;

pub(crate) use self::engine::Engine;
pub(crate) use self::runs::Runs;
pub(crate) use self::session::{Address, is_url};
