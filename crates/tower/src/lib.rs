//! [`tower`] layers for [`toolkit`]: approval, retries, rate and concurrency limits, and tracing.
//!
//! Each type implements [`tower::Layer`]. Add it with
//! [`DispatcherBuilder::layer`](toolkit::dispatch::DispatcherBuilder::layer), or combine it with other layers in a
//! [`ServiceBuilder`](tower::ServiceBuilder). The layer that is added first is the outermost:
//!
//! ```standalone_crate
//! use std::time::Duration;
//!
//! use toolkit::{Catalog, Dispatcher, tool};
//! use toolkit_tower::{Approval, ConcurrencyPerTool, Decision, Rate, RateLimit, Retry, Traced};
//!
//! /// Deletes a branch.
//! #[tool(destructive, idempotent)]
//! fn delete_branch(name: String) -> String {
//!     format!("{name} is gone")
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
//! let minute = Duration::from_secs(60);
//! let dispatcher = Dispatcher::builder(Catalog::linked()?)
//!     .layer(Traced::new())
//!     .layer(RateLimit::overall(Rate::new(600, minute)))
//!     .layer(Approval::new(async |request| match request.arguments()["name"].as_str() {
//!         Some("main") => Decision::Deny("main is protected".into()),
//!         _ => Decision::Approve,
//!     }))
//!     .layer(Retry::new())
//!     .layer(RateLimit::per_tool(Rate::new(60, minute)))
//!     .layer(ConcurrencyPerTool::new(8))
//!     .build()?;
//!
//! let error = dispatcher.call("delete_branch", r#"{"name": "main"}"#).await.unwrap_err();
//! assert_eq!(error.to_string(), "delete_branch: the call was not approved: main is protected");
//! assert!(dispatcher.call("delete_branch", r#"{"name": "old"}"#).await.is_ok());
//! # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Order
//!
//! The recommended order, from the outermost layer to the innermost:
//!
//! | layer | reason |
//! |---|---|
//! | [`Traced`] | one span covers the call, including rejections and all attempts |
//! | [`RateLimit::overall`] | a flood of calls is rejected before a person is asked for approval |
//! | [`Approval`] | approval is requested once per call and not per attempt, and no permit is held meanwhile |
//! | [`Retry`] | the layers below run for each attempt |
//! | [`RateLimit::per_tool`] | the limit counts attempts, like the servers behind the tool; `Retry` waits for its `retry_after` |
//! | [`ConcurrencyPerTool`] | a permit is held while the tool runs, and not between two attempts |
//! | [`FromTower`] with a timeout | the timeout applies to one attempt; further out, it includes approval and retries |
//!
//! # Limits of the dispatcher and of tower
//!
//! | limit | use | reason |
//! |---|---|---|
//! | duration of a tool | [`DispatcherBuilder::timeout`], `timeout` of a tool | the timeout of the tool takes precedence, and a `blocking` tool is notified |
//! | duration of a call with all attempts | [`FromTower`] with [`tower::timeout::TimeoutLayer`] | it includes the layers inside it |
//! | number of running tools | [`DispatcherBuilder::concurrency`] | it includes abandoned `blocking` tools until they end, and calls of a [`Handle`](toolkit::Handle) |
//! | number of calls in progress, rejecting further calls | [`FromTower`] with `load_shed` and `concurrency_limit` | the limit of the dispatcher makes calls wait |
//! | number of calls of each tool | [`ConcurrencyPerTool`] | neither the dispatcher nor tower has it |
//!
//! Layers apply to calls with JSON arguments. A [`Handle`](toolkit::Handle), which calls with Rust types, bypasses them.
//!
//! [`DispatcherBuilder::timeout`]: toolkit::dispatch::DispatcherBuilder::timeout
//! [`DispatcherBuilder::concurrency`]: toolkit::dispatch::DispatcherBuilder::concurrency
//!
//! # Source
//!
//! | module | part |
//! |---|---|
//! | `approval`, `retry`, `traced` | one layer each |
//! | `limits` | rate limits and concurrency limits |
//! | `from_tower` | layers of tower with errors of their own |
//! | `middleware` | the implementation that the layers share |
#![forbid(unsafe_code)]

mod approval;
mod from_tower;
mod limits;
mod middleware;
mod retry;
mod traced;

pub use self::approval::{Approval, ApprovalRequest, Decision, may_be_destructive};
pub use self::from_tower::FromTower;
pub use self::limits::{ConcurrencyPerTool, Rate, RateLimit};
pub use self::retry::Retry;
pub use self::traced::{ToolCallId, Traced};
