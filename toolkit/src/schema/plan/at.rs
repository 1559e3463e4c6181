//! A place in the plan: what the schema says about the value that comes next.

use super::array::Items;
use super::node::{Kinds, Node, NodeId};
use super::object::Members;
use super::{Plan, Refused};

/// The node for the value that comes next, with the plan it is part of.
#[derive(Clone, Copy)]
pub(super) struct At<'p> {
    plan: &'p Plan,
    node: &'p Node,
}

impl<'p> At<'p> {
    #[inline]
    pub(super) fn new(plan: &'p Plan, id: NodeId) -> Self {
        At { plan, node: &plan.nodes[id as usize] }
    }

    /// The rules for a value of this kind, if there may be one.
    #[inline]
    pub(super) fn allow(self, kind: Kinds) -> Result<&'p Node, Refused> {
        let mut node = self.node;
        while let Some(by_kind) = &node.by_kind {
            node = At::new(self.plan, by_kind[kind.index()]).node;
        }
        ok(node.kinds.meets(kind)).map(|()| node)
    }

    #[inline]
    pub(super) fn null(self) -> Result<(), Refused> {
        self.allow(Kinds::NULL).map(|_| ())
    }

    #[inline]
    pub(super) fn boolean(self, value: bool) -> Result<(), Refused> {
        let kind = if value { Kinds::TRUE } else { Kinds::FALSE };
        self.allow(kind).map(|_| ())
    }

    #[inline]
    pub(super) fn unsigned(self, value: u64) -> Result<(), Refused> {
        match &self.allow(Kinds::INTEGER)?.number {
            None => Ok(()),
            Some(rule) => ok(rule.admits_unsigned(value)),
        }
    }

    /// An integer below nought.
    #[inline]
    pub(super) fn negative(self, value: i64) -> Result<(), Refused> {
        match &self.allow(Kinds::INTEGER)?.number {
            None => Ok(()),
            Some(rule) => ok(rule.admits_negative(value)),
        }
    }

    /// A finite number that `serde_json` reads as a float.
    #[inline]
    pub(super) fn float(self, value: f64) -> Result<(), Refused> {
        match &self.allow(Kinds::FLOAT)?.number {
            None => Ok(()),
            Some(rule) => ok(rule.admits_float(value)),
        }
    }

    #[inline]
    pub(super) fn string(self, value: &str) -> Result<(), Refused> {
        match &self.allow(Kinds::STRING)?.string {
            None => Ok(()),
            Some(rule) => ok(rule.admits(value)),
        }
    }

    #[inline]
    pub(super) fn array(self) -> Result<Items<'p>, Refused> {
        let node = self.allow(Kinds::ARRAY)?;
        Ok(Items::new(self.plan, node.array.as_deref()))
    }

    #[inline]
    pub(super) fn object(self) -> Result<Members<'p>, Refused> {
        let node = self.allow(Kinds::OBJECT)?;
        Ok(Members::new(self.plan, node.object.as_deref()))
    }
}

#[inline]
pub(super) fn ok(holds: bool) -> Result<(), Refused> {
    if holds { Ok(()) } else { Err(Refused) }
}
