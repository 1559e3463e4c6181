//! The memory budget of responses that clients have not read yet.

use std::net::IpAddr;
use std::time::Duration;

use crate::{BudgetExceeded, BudgetShare, SharedBudget};

/// The time that a response waits for memory.
const WAIT: Duration = Duration::from_secs(2);

/// The maximum ratio of the memory of a client to the free memory.
const SHARE: u64 = 3;

/// Counts the bytes of large responses until they are sent. Each client has a share.
#[derive(Debug)]
pub(super) struct ResponseBudget {
    bytes: SharedBudget<IpAddr>,
    /// The bytes of responses that wait for room. They are in memory too.
    waiting: SharedBudget<IpAddr>,
}

/// The share of one response in the budget. Dropping it returns the bytes.
pub(super) type ResponsePermit = BudgetShare<IpAddr>;

impl ResponseBudget {
    pub(super) fn new(max_bytes: usize) -> Self {
        let max_bytes = max_bytes as u64;
        Self { bytes: SharedBudget::with_ratio(max_bytes, SHARE), waiting: SharedBudget::new(max_bytes / 2) }
    }

    /// Acquires memory for a response to a client: a network, or this response alone if it is `None`. While there is too little,
    /// `evict` closes a connection that is not read, first one of this network, and one of any only if all memory is used up.
    pub(super) async fn acquire(
        &self,
        n_bytes: usize,
        client: Option<IpAddr>,
        evict: impl Fn(Option<IpAddr>) -> bool,
    ) -> Option<ResponsePermit> {
        if let Ok(permit) = take(&self.bytes, n_bytes, client) {
            return Some(permit);
        }
        let _waiting = take(&self.waiting, n_bytes, client).ok()?;
        let acquired = async {
            loop {
                let returned = self.bytes.returned();
                let BudgetExceeded { max, .. } = match take(&self.bytes, n_bytes, client) {
                    Ok(permit) => return permit,
                    Err(exceeded) => exceeded,
                };
                let has_room = self.bytes.n_held() + n_bytes as u64 <= max;
                let has_evicted_own = client.is_some() && evict(client);
                if !has_evicted_own && !has_room {
                    evict(None);
                }
                // Looks again after a while, since more clients may have stopped reading.
                let _ = tokio::time::timeout(WAIT / 20, returned).await;
            }
        };
        tokio::time::timeout(WAIT, acquired).await.ok()
    }
}

/// Takes memory without waiting. Admits a single response of any size.
fn take(
    budget: &SharedBudget<IpAddr>,
    n_bytes: usize,
    client: Option<IpAddr>,
) -> Result<ResponsePermit, BudgetExceeded> {
    let mut share = budget.share(client);
    if let Err(exceeded) = share.grow(n_bytes as u64) {
        if budget.n_held() > 0 {
            return Err(exceeded);
        }
        share.grow_beyond(n_bytes as u64);
    }
    Ok(share)
}
