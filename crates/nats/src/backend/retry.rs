//! Calls that are sent again.

/// The calls that a [`NatsBackend`](super::NatsBackend) sends again.
///
/// `NotStarted` and `Claimed` never run a call twice. `Idempotent` may. None of them loses a call silently.
///
/// # Examples
///
/// ```
/// use toolkit_nats::RetryPolicy;
///
/// assert_eq!(RetryPolicy::default(), RetryPolicy::NotStarted);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RetryPolicy {
    /// Calls that certainly have not started. No call runs twice.
    #[default]
    NotStarted,
    /// Also calls whose outcome is unknown, if the tool has the hint `idempotent` or `read_only` and the host trusts the
    /// backend. Such a call may run twice.
    Idempotent,
    /// Calls that no worker has claimed. Before it runs a call, a worker claims its id in a bucket of the NATS server, and
    /// stores the answer there. A call whose worker is lost before the claim runs on another worker, and the answer of a call
    /// whose reply is lost is found. No call runs twice. It takes two more round trips to the server, and the bucket
    /// `tk-calls` of [`Buckets`](crate::Buckets).
    Claimed,
}
