//! Recent calls: a layer that records them, and a stream of them.

mod events;
mod layer;
mod record;

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::broadcast;
use toolkit_mcp_server::Caller;

use self::record::Record;

/// The number of calls that are kept.
const MAX_CALLS: usize = 200;

/// The number of changes that a slow reader may fall behind.
const MAX_BEHIND: usize = 256;

/// A layer that records the latest 200 calls of a dispatcher, for [`Explorer::recent_calls`](crate::Explorer::recent_calls).
/// Clones share the calls.
///
/// A record has the tool, the caller, start and duration, the sizes of arguments and result, the outcome, and up to 4 KiB of
/// the arguments. Properties that the input schema marks as secret (`writeOnly`) are replaced by `"…"`; invalid arguments of
/// a tool with such properties are omitted. Results are not recorded.
///
/// Add it as the first layer, so that calls that other layers reject are recorded too.
///
/// # Examples
///
/// ```standalone_crate
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit_explorer::RecentCalls;
///
/// let calls = RecentCalls::new().without_arguments();
/// let dispatcher = Dispatcher::builder(Catalog::linked()?).layer(calls.clone()).build()?;
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone)]
pub struct RecentCalls {
    shared: Arc<Shared>,
}

struct Shared {
    calls: Mutex<VecDeque<Arc<Record>>>,
    changes: broadcast::Sender<Arc<Record>>,
    next_id: AtomicU64,
    omits_arguments: AtomicBool,
}

impl RecentCalls {
    /// Creates a layer without calls.
    #[must_use]
    pub fn new() -> Self {
        let shared = Shared {
            calls: Mutex::default(),
            changes: broadcast::Sender::new(MAX_BEHIND),
            next_id: AtomicU64::new(1),
            omits_arguments: AtomicBool::new(false),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Omits all arguments, for tools whose schemas do not mark their secrets. It applies to all clones.
    #[must_use]
    pub fn without_arguments(self) -> Self {
        self.shared.omits_arguments.store(true, Ordering::Relaxed);
        self
    }

    /// Adds a call, or replaces the record of one that was running.
    fn put(&self, record: Record) {
        let record = Arc::new(record);
        let mut calls = self.shared.calls.lock().unwrap_or_else(PoisonError::into_inner);
        match calls.iter_mut().rev().find(|call| call.id == record.id) {
            Some(call) => *call = Arc::clone(&record),
            None if record.is_running() => {
                calls.push_back(Arc::clone(&record));
                if calls.len() > MAX_CALLS {
                    calls.pop_front();
                }
            }
            // More than the kept calls have started since.
            None => {}
        }
        // Under the lock, so that a new reader misses no change. Without readers, nothing is sent.
        let _ = self.shared.changes.send(record);
    }
}

/// The calls that a caller may see.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Viewer {
    /// All calls.
    Operator,
    /// The calls of one authenticated caller, or those of callers without a subject.
    Caller(Option<(String, String)>),
}

impl Viewer {
    pub(crate) fn new(caller: Option<&Caller>) -> Self {
        Viewer::Caller(caller.and_then(record::identity))
    }

    fn sees(&self, record: &Record) -> bool {
        match self {
            Viewer::Operator => true,
            Viewer::Caller(identity) => *identity == record.identity,
        }
    }
}

impl Default for RecentCalls {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for RecentCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n_calls = self.shared.calls.lock().unwrap_or_else(PoisonError::into_inner).len();
        f.debug_struct("RecentCalls").field("n_calls", &n_calls).finish_non_exhaustive()
    }
}
