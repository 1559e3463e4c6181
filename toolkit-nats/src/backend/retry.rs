//! Calls that are sent again.

/// The calls that a [`NatsBackend`](super::NatsBackend) sends again.
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
}
