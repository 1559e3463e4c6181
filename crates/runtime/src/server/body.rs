//! Request bodies, and the memory budget of all of them.

use std::collections::HashMap;
use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes};
use http::header;
use http_body::Body;
use http_body_util::BodyExt;
use tokio::sync::Notify;

use super::Limits;
use super::connections::Connection;
use super::request_head::{Rejection, RequestHead};
use crate::mutex::Mutex;
use crate::{BudgetShare, SharedBudget};

/// The maximum number of bytes of a body that are read and dropped because it is too large.
const MAX_DISCARDED: usize = 64 << 20;

/// The maximum time for which the bytes of a body are dropped.
const MAX_DISCARD_TIME: Duration = Duration::from_secs(5);

/// The pause after which the bytes of a body are no longer waited for.
const MAX_DISCARD_PAUSE: Duration = Duration::from_millis(250);

/// A reader of request bodies with a limit of size and time for each body and one memory budget for all of them.
///
/// The budget counts the bytes that have arrived, not those that a client announces. A client (an address, or a single
/// connection of a loopback address) may hold as many bytes as are free, so that there is always room for a small body.
/// When a body has waited for room for a second, the largest unfinished body is rejected.
#[derive(Debug)]
pub(super) struct BodyReader {
    max_bytes: usize,
    timeout: Duration,
    budget: Budget,
}

/// A request body. Its bytes count towards the budget until it is dropped.
///
/// # Examples
///
/// ```
/// # use bytes::Bytes;
/// # use http::Request;
/// # use http_body_util::Full;
/// # use toolkit_runtime::{HostGuard, HttpServer, Limits, RequestHead};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), toolkit_runtime::Rejection> {
/// # let server = HttpServer::new(Limits::default(), HostGuard::local());
/// # let (parts, body) = Request::new(Full::new(Bytes::from_static(br#"{"a": 1}"#))).into_parts();
/// let received = server.read(&RequestHead::new(parts), body).await?;
/// // The budget counts the bytes until `charge` is dropped.
/// let (bytes, charge) = received.into_parts();
/// assert_eq!(bytes.len(), 8);
/// drop(charge);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ReceivedBody {
    bytes: Bytes,
    charge: Charge,
}

/// The share of a request body in the budget. Dropping it returns the bytes.
#[derive(Debug)]
pub struct BodyCharge {
    _charge: Charge,
}

impl BodyReader {
    /// Creates a reader with the size limits and the timeout of `limits`.
    pub(super) fn new(limits: &Limits) -> Self {
        // A client may hold half of the budget, which has to suffice for one body.
        let n_bytes = limits.max_pending_bytes.max(limits.max_body_bytes.saturating_mul(2));
        Self { max_bytes: limits.max_body_bytes, timeout: limits.io_timeout, budget: Budget::new(n_bytes) }
    }

    /// Reads the body of a request. Of a body that is too large, reads and drops what arrives at once, so that the client
    /// can read the response: closing a connection with unread bytes resets it.
    ///
    /// # Errors
    ///
    /// Returns a [`Rejection`] if the body is too large, late, incomplete, or revoked.
    pub(super) async fn read<B>(&self, head: &RequestHead, body: B) -> Result<ReceivedBody, Rejection>
    where
        B: Body<Data: Buf>,
    {
        let mut body = pin!(body);
        let received = self.receive(head, body.as_mut()).await;
        if matches!(received, Err(Rejection::TooLarge(_))) {
            self.discard_arriving(head, body).await;
        }
        received
    }

    /// Reads and drops the rest of the body of a request that was rejected, unless it is too large.
    pub(super) async fn discard<B>(&self, head: &RequestHead, body: Pin<&mut B>)
    where
        B: Body<Data: Buf>,
    {
        if !body.is_end_stream() && announced_length(head).is_none_or(|length| length <= self.max_bytes) {
            self.discard_arriving(head, body).await;
        }
    }

    async fn discard_arriving<B: Body<Data: Buf>>(&self, head: &RequestHead, body: Pin<&mut B>) {
        // A client that expects `100 Continue` has not sent the body.
        if !head.headers().contains_key(header::EXPECT) {
            let _receiving = head.connection().map(Connection::receiving);
            let _ = tokio::time::timeout(self.timeout.min(MAX_DISCARD_TIME), discard(body)).await;
        }
    }

    async fn receive<B>(&self, head: &RequestHead, body: Pin<&mut B>) -> Result<ReceivedBody, Rejection>
    where
        B: Body<Data: Buf>,
    {
        let announced = announced_length(head);
        if announced.is_some_and(|length| length > self.max_bytes) {
            return Err(Rejection::TooLarge(self.max_bytes));
        }
        // Without an address, each connection is a client of its own.
        let charge = self.budget.charge(head.connection().and_then(Connection::limited_network));
        let mut read = pin!(self.collect(body, announced, charge));
        // Most bodies arrive with their head and need no timer.
        if let Poll::Ready(received) = poll_fn(|cx| Poll::Ready(read.as_mut().poll(cx))).await {
            return received;
        }
        let _receiving = head.connection().map(Connection::receiving);
        tokio::time::timeout(self.timeout, read).await.map_err(|_| Rejection::TimedOut(self.timeout))?
    }

    async fn collect<B>(
        &self,
        mut body: Pin<&mut B>,
        announced: Option<usize>,
        mut charge: Charge,
    ) -> Result<ReceivedBody, Rejection>
    where
        B: Body<Data: Buf>,
    {
        let mut first = Bytes::new();
        let mut whole: Vec<u8> = Vec::new();
        loop {
            let frame = tokio::select! {
                biased;
                frame = body.frame() => frame,
                () = charge.revoked() => return Err(Rejection::Memory),
            };
            let Some(frame) = frame else { break };
            let Ok(mut data) = frame.map_err(|_| Rejection::Incomplete)?.into_data() else { continue };
            let n_more = data.remaining();
            let n_bytes = first.len() + whole.len() + n_more;
            if n_bytes > self.max_bytes {
                return Err(Rejection::TooLarge(self.max_bytes));
            }
            let revoked = charge.revoked();
            tokio::select! {
                biased;
                () = charge.grow(n_more) => {}
                () = revoked => return Err(Rejection::Memory),
            }
            if first.is_empty() && whole.is_empty() {
                first = data.copy_to_bytes(n_more);
                continue;
            }
            if whole.is_empty() {
                whole = std::mem::take(&mut first).into();
            }
            // Allocates at most twice what has arrived, since the announced length may be false.
            let n_wanted = announced.unwrap_or(usize::MAX).min(2 * n_bytes).max(n_bytes);
            if whole.capacity() < n_bytes {
                whole.reserve_exact(n_wanted - whole.len());
            }
            while data.has_remaining() {
                let chunk = data.chunk();
                whole.extend_from_slice(chunk);
                let n_chunk = chunk.len();
                data.advance(n_chunk);
            }
        }
        charge.finish();
        let bytes = if whole.is_empty() { first } else { whole.into() };
        Ok(ReceivedBody { bytes, charge })
    }
}

/// Returns the length of a body that its client has announced, in bytes.
fn announced_length(head: &RequestHead) -> Option<usize> {
    head.headers().get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Reads what arrives of a body without keeping it.
async fn discard<B: Body<Data: Buf>>(mut body: Pin<&mut B>) {
    let mut left = MAX_DISCARDED;
    while let Ok(Some(Ok(frame))) = tokio::time::timeout(MAX_DISCARD_PAUSE, body.frame()).await {
        match left.checked_sub(frame.data_ref().map_or(0, Buf::remaining)) {
            Some(rest) => left = rest,
            None => return,
        }
    }
}

impl ReceivedBody {
    /// Returns the bytes.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Separates the bytes from their charge. Keep the charge as long as anything that was parsed from the bytes.
    pub fn into_parts(self) -> (Bytes, BodyCharge) {
        (self.bytes, BodyCharge { _charge: self.charge })
    }
}

/// The time that a body waits for room before an unfinished body is revoked.
const YIELD_AFTER: Duration = Duration::from_secs(1);

/// Counts the bytes of bodies that have arrived and are still in use.
///
/// A client may hold as many bytes as are free, so that there is always room for a small body. When a body has waited
/// for room for [`YIELD_AFTER`], the largest unfinished body is revoked.
#[derive(Clone, Debug)]
struct Budget(Arc<BudgetShared>);

#[derive(Debug)]
struct BudgetShared {
    bytes: SharedBudget<IpAddr>,
    state: Mutex<BudgetState>,
}

#[derive(Debug, Default)]
struct BudgetState {
    unfinished: HashMap<u64, Unfinished>,
    next_id: u64,
}

#[derive(Debug)]
struct Unfinished {
    n_bytes: u64,
    since: Instant,
    revoked: Arc<Notify>,
}

/// The share of one body in the budget. Dropping it returns the bytes.
#[derive(Debug)]
struct Charge {
    budget: Budget,
    /// Owned by the network of the client, where an address identifies a client.
    bytes: BudgetShare<IpAddr>,
    /// The key in [`BudgetState::unfinished`], for a body that can be revoked.
    id: Option<u64>,
    revoked: Option<Arc<Notify>>,
}

/// The size above which an unfinished body can be revoked. Smaller bodies are not worth an entry.
const SMALL: u64 = 32 << 10;

impl Budget {
    fn new(n_bytes: usize) -> Self {
        let bytes = SharedBudget::new(n_bytes as u64);
        Self(Arc::new(BudgetShared { bytes, state: Mutex::default() }))
    }

    /// Creates an empty charge for a client: a network, or this body alone if it is `None`.
    fn charge(&self, client: Option<IpAddr>) -> Charge {
        let bytes = self.0.bytes.share(client);
        Charge { budget: self.clone(), bytes, id: None, revoked: None }
    }

    /// Revokes the largest unfinished body that is older than [`YIELD_AFTER`].
    fn revoke_largest(&self) {
        let state = self.0.state.lock();
        let candidates = state.unfinished.values().filter(|body| body.since.elapsed() >= YIELD_AFTER);
        if let Some(largest) = candidates.max_by_key(|body| body.n_bytes) {
            largest.revoked.notify_one();
        }
    }
}

impl Charge {
    /// Waits for room, then charges `n_more` bytes.
    async fn grow(&mut self, n_more: usize) {
        if self.try_grow(n_more) {
            return;
        }
        // Not from the last release, since small bodies that come and go release all the time.
        let mut yields_at = tokio::time::Instant::now() + YIELD_AFTER;
        loop {
            let budget = self.budget.clone();
            let returned = budget.0.bytes.returned();
            if self.try_grow(n_more) {
                return;
            }
            if tokio::time::timeout_at(yields_at, returned).await.is_err() {
                self.budget.revoke_largest();
                yields_at += YIELD_AFTER;
            }
        }
    }

    fn try_grow(&mut self, n_more: usize) -> bool {
        if self.bytes.grow(n_more as u64).is_err() {
            return false;
        }
        let n_bytes = self.bytes.n_units();
        if n_bytes > SMALL {
            let mut state = self.budget.0.state.lock();
            match self.id {
                Some(id) => {
                    if let Some(body) = state.unfinished.get_mut(&id) {
                        body.n_bytes = n_bytes;
                    }
                }
                None => {
                    let (id, revoked) = (state.next_id, Arc::new(Notify::new()));
                    state.next_id += 1;
                    let body = Unfinished { n_bytes, since: Instant::now(), revoked: Arc::clone(&revoked) };
                    state.unfinished.insert(id, body);
                    (self.id, self.revoked) = (Some(id), Some(revoked));
                }
            }
        }
        true
    }

    /// Marks the body as complete, so that it cannot be revoked. The bytes stay charged until it is dropped.
    fn finish(&mut self) {
        if let Some(id) = self.id.take() {
            self.budget.0.state.lock().unfinished.remove(&id);
        }
    }

    /// Waits until the charge is revoked, which never happens to a small body.
    fn revoked(&self) -> impl Future<Output = ()> + use<> {
        let revoked = self.revoked.clone();
        async move {
            match revoked {
                Some(revoked) => revoked.notified().await,
                None => std::future::pending().await,
            }
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.finish();
    }
}
