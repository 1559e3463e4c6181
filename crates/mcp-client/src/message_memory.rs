//! The memory of large messages of servers.

use std::sync::{Arc, LazyLock};

use toolkit_runtime::{BudgetShare, SharedBudget};

/// The size in bytes from which on a message counts.
pub(super) const LARGE: usize = 256 << 10;

/// The bytes of the large messages of all servers that are being read, or whose calls have not taken them.
const MAX_BYTES: u64 = 32 << 20;

/// The budget of the process, of which each server has a share.
static BUDGET: LazyLock<SharedBudget<Arc<str>>> = LazyLock::new(|| SharedBudget::new(MAX_BYTES));

/// The share of a message in the budget. Dropping it returns the bytes.
pub(super) type MessageMemory = BudgetShare<Arc<str>>;

/// The limit of the messages of a server.
#[derive(Clone)]
pub(super) struct MessageLimit {
    pub(super) server: Arc<str>,
    pub(super) max_bytes: usize,
}

/// The bytes of a message, with their memory if they are many.
pub(super) struct Received {
    pub(super) bytes: Vec<u8>,
    pub(super) memory: Option<MessageMemory>,
}

impl MessageLimit {
    /// Waits for the memory of a message of up to `n_bytes` bytes. It is taken as a whole, since two messages that grow could
    /// wait for each other.
    pub(super) async fn memory(&self, n_bytes: usize) -> MessageMemory {
        let mut memory = BUDGET.share([Arc::clone(&self.server)]);
        memory.grow_when_free((n_bytes as u64).min(MAX_BYTES)).await;
        memory
    }
}

impl Received {
    /// Returns the bytes, and the memory that they do not need.
    pub(super) fn new(bytes: Vec<u8>, mut memory: Option<MessageMemory>) -> Self {
        if let Some(memory) = &mut memory {
            memory.shrink(memory.n_units().saturating_sub(bytes.len() as u64));
        }
        Self { bytes, memory }
    }
}

impl From<Vec<u8>> for Received {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes, memory: None }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn the_large_messages_of_one_server_leave_memory_to_those_of_others() {
        let limit = |server: &str| MessageLimit { server: server.into(), max_bytes: 8 << 20 };
        let take = |server: &str| limit(server).memory(8 << 20).now_or_never();
        let mut held: Vec<_> = std::iter::from_fn(|| take("one")).collect();
        assert_eq!(held.len(), 2);
        assert!(take("two").is_some());
        // The rest of the memory of a message is free once its length is known.
        let short = held.pop().map(|memory| Received::new(vec![0; 1 << 20], Some(memory)));
        held.extend(take("one"));
        assert_eq!(
            (held.len(), short.and_then(|short| short.memory).map(|memory| memory.n_units())),
            (2, Some(1 << 20))
        );
    }
}
