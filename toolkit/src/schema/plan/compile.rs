//! From a schema to the nodes of a plan.

mod keyword;
mod reference;
mod rules;
mod union;

use std::cell::Cell;
use std::collections::HashMap;

use serde_json::{Map, Value};

use super::node::{ANY, Kinds, NEVER, Node, NodeId};

/// The nodes of a schema and the one to start from, or `None` where something needs the whole value.
pub(super) fn compile(schema: &Value) -> Option<(Box<[Node]>, NodeId)> {
    let mut compiler = Compiler {
        root: schema,
        nodes: Vec::new(),
        unions: HashMap::new(),
        done: HashMap::new(),
        depth: 0,
        looks: Cell::new(0),
    };
    compiler.place(Node::plain(Kinds::ALL), ANY)?;
    compiler.place(Node::plain(Kinds::NONE), NEVER)?;
    if let Some(dialect) = schema.get("$schema") {
        let dialect = dialect.as_str()?.trim_end_matches('#');
        (dialect == "https://json-schema.org/draft/2020-12/schema").then_some(())?;
    }
    let root = compiler.node(schema)?;
    compiler.settle_unions()?;
    Some((compiler.nodes.into(), root))
}

/// Compiles each schema once, however often it is referred to.
struct Compiler<'s> {
    root: &'s Value,
    nodes: Vec<Node>,
    /// Nodes that others stand in for, by the kind of the value.
    unions: HashMap<NodeId, Union>,
    /// By the address of the schema, so that a recursive schema finds the node that is still being made.
    done: HashMap<*const Value, NodeId>,
    /// How many schemas the one in hand is nested in, references included.
    depth: usize,
    /// How often a branch was looked into.
    looks: Cell<usize>,
}

/// The node that decides about a value, by its kind: the branches of a union share none.
type Union = [NodeId; 8];

/// The schemas of strangers are compiled too, and must not cost the stack.
const MAX_DEPTH: usize = 128;

impl<'s> Compiler<'s> {
    /// The node for a schema.
    fn node(&mut self, schema: &'s Value) -> Option<NodeId> {
        let schema = self.follow(schema)?;
        match schema {
            Value::Bool(true) => Some(ANY),
            Value::Bool(false) => Some(NEVER),
            Value::Object(keywords) => {
                if let Some(id) = self.done.get(&std::ptr::from_ref(schema)) {
                    return Some(*id);
                }
                let id = self.add(Node::plain(Kinds::NONE))?;
                self.done.insert(schema, id);
                self.depth += 1;
                (self.depth <= MAX_DEPTH).then_some(())?;
                self.compile(id, keywords)?;
                self.depth -= 1;
                Some(id)
            }
            _ => None,
        }
    }

    fn compile(&mut self, id: NodeId, keywords: &'s Map<String, Value>) -> Option<()> {
        match self.only_keyword(keywords)? {
            Some((keyword @ ("anyOf" | "oneOf"), Value::Array(branches))) => {
                let union = self.union(branches, keyword == "oneOf")?;
                self.unions.insert(id, union);
            }
            _ => self.nodes[id as usize] = self.rules(keywords)?,
        }
        Some(())
    }

    fn add(&mut self, node: Node) -> Option<NodeId> {
        let id = NodeId::try_from(self.nodes.len()).ok()?;
        self.nodes.push(node);
        Some(id)
    }

    fn place(&mut self, node: Node, id: NodeId) -> Option<()> {
        (self.add(node)? == id).then_some(())
    }
}
