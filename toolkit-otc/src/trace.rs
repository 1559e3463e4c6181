//! What follows a call through programs.

/// A name for a call that is the same in every program that it touches. One in the [`Context`](toolkit::Context) of a
/// call is sent along, and a server puts the one it was sent into the context of the tool.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TraceId(pub String);
