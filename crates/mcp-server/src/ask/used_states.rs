//! States that were used and must not be used again.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use toolkit::dispatch::BoxFuture;
use toolkit_runtime::Mutex;

/// The record of the states that were used to continue a call.
///
/// A client that repeats a call with the answers of its user could do so twice. For a tool that is neither read-only nor
/// idempotent, the server therefore accepts each state once. By default it remembers them in memory. Servers that share
/// their keys ([`ServerBuilder::state_keys`](crate::ServerBuilder::state_keys)) should share this record too, for
/// example in a database: otherwise each of them accepts a state once.
///
/// The memory is bounded, for each caller and in total. A state beyond that is rejected.
///
/// # Examples
///
/// ```
/// use std::time::SystemTime;
/// use toolkit::dispatch::BoxFuture;
/// use toolkit_mcp_server::UsedStates;
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

/// The maximum number of states of one caller that are remembered, so that it does not take the room of the others.
const MAX_OF_CALLER: usize = 10_000;

/// The maximum number of states of callers without a subject.
const MAX_ANONYMOUS: usize = 50_000;

/// A record in memory.
#[derive(Debug, Default)]
pub(crate) struct UsedInMemory(Mutex<Used>);

#[derive(Debug, Default)]
struct Used {
    states: HashMap<u128, UsedState>,
    /// The number of states of each caller.
    of_caller: HashMap<Option<Arc<str>>, usize>,
}

#[derive(Debug)]
struct UsedState {
    pub(super) expires: SystemTime,
    pub(super) caller: Option<Arc<str>>,
}

impl UsedInMemory {
    /// Records the use of a state by a caller; see [`UsedStates::use_once`].
    pub(super) fn use_once(&self, id: u128, expires: SystemTime, caller: Option<&str>) -> bool {
        let mut used = self.0.lock();
        if !used.has_room(caller) {
            used.forget_expired();
        }
        if !used.has_room(caller) || used.states.contains_key(&id) {
            return false;
        }
        let caller = caller.map(Arc::from);
        *used.of_caller.entry(caller.clone()).or_default() += 1;
        used.states.insert(id, UsedState { expires, caller });
        true
    }
}

impl Used {
    fn has_room(&self, caller: Option<&str>) -> bool {
        let max = if caller.is_some() { MAX_OF_CALLER } else { MAX_ANONYMOUS };
        let n_of_caller = self.of_caller.get(&caller.map(Arc::from)).copied().unwrap_or(0);
        self.states.len() < MAX_USED && n_of_caller < max
    }

    fn forget_expired(&mut self) {
        let now = SystemTime::now();
        self.states.retain(|_, state| state.expires > now);
        self.of_caller.clear();
        for state in self.states.values() {
            *self.of_caller.entry(state.caller.clone()).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::{MAX_OF_CALLER, UsedInMemory};

    #[test]
    fn a_caller_does_not_take_the_room_of_others() {
        let used = UsedInMemory::default();
        let expires = SystemTime::now() + Duration::from_secs(600);
        for id in 0..MAX_OF_CALLER as u128 {
            assert!(used.use_once(id, expires, Some("alice")));
        }
        assert!(!used.use_once(1 << 64, expires, Some("alice")));
        assert!(used.use_once(1 << 64, expires, Some("bob")));
        assert!(used.use_once(1 << 65, expires, None));
        assert!(!used.use_once(1, expires, Some("bob")), "it was used before");
    }

    #[test]
    fn expired_states_make_room() {
        let used = UsedInMemory::default();
        let expired = SystemTime::now() - Duration::from_secs(1);
        for id in 0..MAX_OF_CALLER as u128 {
            assert!(used.use_once(id, expired, Some("alice")));
        }
        assert!(used.use_once(1 << 64, SystemTime::now() + Duration::from_secs(600), Some("alice")));
    }
}
