//! The compiled form of a schema.

use std::fmt;

use super::error::PlanError;
use super::id::NodeId;
use super::node::Node;
use super::object::{Branch, Member, Members, Tag};

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

    /// Returns the state of walking an object by the branch of its tag that `is_selected` accepts. The tag itself has
    /// been entered.
    pub(super) fn choose(&self, tag: &Tag, is_selected: impl Fn(&Branch) -> bool) -> Result<Members<'_>, PlanError> {
        let branch = tag.branches.iter().find(|branch| is_selected(branch)).ok_or(PlanError)?;
        let mut members = self.node(branch.node).object()?;
        // The value is the constant that the property requires, and the property has no other rules.
        match members.enter(tag.name.as_bytes())? {
            Member::Known(_) => Ok(members),
            Member::Other(_) | Member::Tag(_) => Err(PlanError),
        }
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan").field("nodes", &self.nodes.len()).finish_non_exhaustive()
    }
}
