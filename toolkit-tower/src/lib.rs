//! Layers for the calls of [`toolkit`]: approval, retry, limits and traces.
//!
//! Each is a [layer of tower](tower::Layer) for
//! [`DispatcherBuilder::layer`](toolkit::dispatch::DispatcherBuilder::layer), and can stand in a
//! [`ServiceBuilder`](tower::ServiceBuilder) beside others. What was added first sees a call first:
//!
//! ```
//! use std::time::Duration;
//!
//! use toolkit::{Catalog, Dispatcher, tool};
//! use toolkit_tower::{Answer, Approval, ConcurrencyPerTool, Rate, RateLimit, Retry, Traced};
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
//!     .layer(Approval::by(async |question| match question.arguments()["name"].as_str() {
//!         Some("main") => Answer::No("nobody deletes main".into()),
//!         _ => Answer::Yes,
//!     }))
//!     .layer(Retry::new())
//!     .layer(RateLimit::per_tool(Rate::new(60, minute)))
//!     .layer(ConcurrencyPerTool::new(8))
//!     .build()?;
//!
//! let error = dispatcher.call("delete_branch", r#"{"name": "main"}"#).await.unwrap_err();
//! assert_eq!(error.to_string(), "delete_branch: the call was not approved: nobody deletes main");
//! assert!(dispatcher.call("delete_branch", r#"{"name": "old"}"#).await.is_ok());
//! # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # In which order
//!
//! | from the outside in | because |
//! |---|---|
//! | [`Traced`] | one span has the whole of a call, refusals and attempts included |
//! | [`RateLimit::overall`] | a flood ends here, and nobody is asked about it |
//! | [`Approval`] | a person is asked once, however often the call is made, and keeps no place while thinking |
//! | [`Retry`] | what is further in is done for each attempt |
//! | [`RateLimit::per_tool`] | what the tool's own servers count is attempts; its `retry_after` is waited for |
//! | [`ConcurrencyPerTool`] | a place is held while the tool runs, and not while it waits to be tried again |
//! | [`FromTower`] with a time limit | it then bounds one attempt; further out it bounds the call, and a person's answer |
//!
//! # The dispatcher's own limits, or tower's
//!
//! | for | use | because |
//! |---|---|---|
//! | how long a tool may run | [`DispatcherBuilder::timeout`], `timeout` of a tool | an author's limit comes first, and a tool on a thread of its own is told |
//! | how long a call may take, attempts and all | [`FromTower`] around [`tower::timeout::TimeoutLayer`] | it bounds whatever is inside of it |
//! | how many tools run | [`DispatcherBuilder::concurrency`] | it counts tools on threads of their own to their end, when nobody waits for them any more, and calls of a [`Handle`](toolkit::Handle) |
//! | how many calls are under way, the rest being refused | [`FromTower`] around `load_shed` and `concurrency_limit` | the dispatcher's own limit makes calls wait |
//! | how many calls of one tool run | [`ConcurrencyPerTool`] | neither has it |
//!
//! A layer sees the calls of JSON. A [`Handle`](toolkit::Handle), a call with Rust types, passes by all of them.
//!
//! [`DispatcherBuilder::timeout`]: toolkit::dispatch::DispatcherBuilder::timeout
//! [`DispatcherBuilder::concurrency`]: toolkit::dispatch::DispatcherBuilder::concurrency
#![forbid(unsafe_code)]

mod approval;
mod concurrency;
mod from_tower;
mod middleware;
mod per_tool;
mod rate_limit;
mod retry;
mod traced;
mod waiting;

pub use self::approval::{Answer, Approval, Question, may_destroy};
pub use self::concurrency::ConcurrencyPerTool;
pub use self::from_tower::FromTower;
pub use self::rate_limit::{Rate, RateLimit};
pub use self::retry::Retry;
pub use self::traced::{CallId, Traced};
