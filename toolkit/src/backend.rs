//! Execution of tools that are not functions of this program: handlers, other processes, servers.
//!
//! A [`Backend`] lists its tools and runs them. A dispatcher that is built from these tools and a table of their
//! [`Routes`] runs them like functions: it validates arguments and results, applies its limits, and passes each tool only
//! the credentials that it requires.
//!
//! The crate `toolkit-backends` has a registry of several backends, which collects their tools into one catalog and one
//! table, and a backend whose tools are closures.
//!
//! | item | purpose |
//! |---|---|
//! | [`Backend`], [`OfferedTools`] | what a backend implements, and its tools |
//! | [`BackendCall`], [`BackendResponse`] | a call that a backend receives, and its result |
//! | [`BackendStatus`], [`BackendState`], [`BackendCalls`] | what operators learn about a backend |
//! | [`Routes`] | the backends of each tool, as dispatchers call them |
//!
//! `normalize` reads answers and errors, and `status` has also what a `RoutedBackend` keeps: counters and a notification.

mod interface;
mod normalize;
mod routes;
mod status;

pub(crate) use self::interface::Parts;
pub use self::interface::{Backend, BackendCall, BackendResponse, OfferedTools};
pub(crate) use self::normalize::{Normal, normalize, without_tool_id};
pub(crate) use self::routes::{Route, Selector};
pub use self::routes::{RoutedBackend, Routes};
#[doc(hidden)]
pub use self::status::Changes;
pub use self::status::{BackendCalls, BackendState, BackendStatus};
