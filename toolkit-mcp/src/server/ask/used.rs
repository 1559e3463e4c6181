//! States that were used and must not be used again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use toolkit::dispatch::BoxFuture;

/// The record of the states that were used to continue a call.
///
/// A client that repeats a call with the answers of its user could do so twice. For a tool that is neither read-only nor
/// idempotent, the server therefore accepts each state once. By default it remembers them in memory. Servers that share
/// their keys ([`ServerBuilder::state_keys`](crate::server::ServerBuilder::state_keys)) should share this record too, for
/// example in a database: otherwise each of them accepts a state once.
///
/// # Examples
///
/// ```
/// use std::time::SystemTime;
/// use toolkit::dispatch::BoxFuture;
/// use toolkit_mcp::server::UsedStates;
///
/// struct Database;
///
/// impl Database {
///     async fn insert_if_absent(&self, id: u128, until: SystemTime) -> bool {
///         true
///     }
/// }
///
/// impl UsedStates for Database {
///     fn use_once(&self, id: u128, expires: SystemTime) -> BoxFuture<'_, bool> {
///         Box::pin(self.insert_if_absent(id, expires))
///     }
/// }
/// ```
pub trait UsedStates: Send + Sync + 'static {
    /// Records the use of a state. Returns false if it was used before, or cannot be recorded. The record may forget it
    /// once it has expired.
    fn use_once(&self, id: u128, expires: SystemTime) -> BoxFuture<'_, bool>;
}

/// The maximum number of states that are remembered.
const MAX_USED: usize = 100_000;

/// A record in memory.
#[derive(Debug, Default)]
pub(in crate::server) struct UsedInMemory(Mutex<HashMap<u128, SystemTime>>);

impl UsedStates for UsedInMemory {
    fn use_once(&self, id: u128, expires: SystemTime) -> BoxFuture<'_, bool> {
        let mut used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if used.len() >= MAX_USED {
            let now = SystemTime::now();
            used.retain(|_, expires| *expires > now);
        }
        let is_new = used.len() < MAX_USED && used.insert(id, expires).is_none();
        Box::pin(std::future::ready(is_new))
    }
}
