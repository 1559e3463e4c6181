//! The indexes by which the nodes of a plan refer to each other, since a schema may be recursive.

/// The index of a node.
pub(super) type NodeId = u32;

/// The node of the schema `true`.
pub(super) const ANY: NodeId = 0;
/// The node of the schema `false`.
pub(super) const NEVER: NodeId = 1;
