//! Workers, as a caller knows them.

/// A worker, as a [`NatsBackend`](super::NatsBackend) knows it.
///
/// # Examples
///
/// ```no_run
/// # async fn list(fleet: toolkit_nats::NatsBackend) -> Result<(), toolkit::ToolError> {
/// for member in fleet.members().await? {
///     println!("{} has {} tools", member.instance, member.n_tools);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Member {
    /// The random id of the worker.
    pub instance: String,
    /// The digest of its tools. Workers with the same digest are interchangeable.
    pub digest: String,
    /// The number of its tools.
    pub n_tools: usize,
}
