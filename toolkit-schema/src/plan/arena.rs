//! The compiled form of a schema.

use std::fmt;

use super::id::NodeId;
use super::node::Node;

/// A schema compiled to a form that is checked while serde walks a value.
pub struct Plan {
    nodes: Box<[Node]>,
    root: NodeId,
}

impl Plan {
    pub(super) fn new(nodes: Box<[Node]>, root: NodeId) -> Self {
        Self { nodes, root }
    }

    #[inline]
    pub(super) fn root(&self) -> &Node {
        self.node(self.root)
    }

    #[inline]
    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan").field("nodes", &self.nodes.len()).finish_non_exhaustive()
    }
}
