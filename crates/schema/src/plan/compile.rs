//! Compilation of a schema to the nodes of a plan: keywords, references, the rules of each type, unions, and the
//! reason if there is no plan.

mod kinds;
mod report;
mod role;
mod rules;
mod union;

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;

use serde_json::{Map, Value};

pub(crate) use self::report::pointer_to;
pub use self::report::{CheckPath, PlanObstacle};
pub(crate) use self::role::is_annotation;
use super::node::{Kinds, PlanNode};
use super::property::{ANY, NEVER, NodeId};

/// Compiles a schema to nodes and the id of its root, or returns the keyword that prevents a plan.
pub(super) fn compile(schema: &Value) -> Result<(Box<[PlanNode]>, NodeId), PlanObstacle> {
    let mut compiler = Compiler {
        root: schema,
        is_draft_07: false,
        nodes: Vec::new(),
        unions: HashMap::new(),
        done: HashMap::new(),
        depth: 0,
        visits: Cell::new(0),
        n_patterns: 0,
        obstacle: OnceCell::new(),
    };
    match compiler.document() {
        Some(root) => Ok((compiler.nodes.into(), root)),
        None => Err(compiler.obstacle()),
    }
}

/// Compiles each schema once, regardless of the number of references to it.
struct Compiler<'s> {
    root: &'s Value,
    /// True for draft-07, false for 2020-12. Most keywords that a plan supports have the same meaning in both.
    is_draft_07: bool,
    nodes: Vec<PlanNode>,
    /// The nodes that decide for a union, by the kind of the value.
    unions: HashMap<NodeId, Union>,
    /// The nodes by the address of the schema, so that a recursive schema finds the node that is being compiled.
    done: HashMap<*const Value, NodeId>,
    /// The nesting depth of the current schema, including references.
    depth: usize,
    /// The number of branches visited so far.
    visits: Cell<usize>,
    /// The number of patterns compiled so far.
    n_patterns: usize,
    /// The first keyword found to prevent a plan, which is the innermost.
    obstacle: OnceCell<(&'s Map<String, Value>, &'s str)>,
}

/// The nodes that decide for a value, by its kind. No two branches of a union share a kind.
type Union = [NodeId; 8];

/// The maximum depth of compilation. Untrusted schemas are compiled too, and must not overflow the stack.
const MAX_DEPTH: usize = 128;

impl<'s> Compiler<'s> {
    fn document(&mut self) -> Option<NodeId> {
        self.place(PlanNode::plain(Kinds::ALL), ANY)?;
        self.place(PlanNode::plain(Kinds::NONE), NEVER)?;
        if let Some(keywords) = self.root.as_object()
            && let Some(dialect) = keywords.get("$schema")
        {
            let dialect = dialect.as_str().unwrap_or_default().trim_end_matches('#');
            self.is_draft_07 = dialect == "http://json-schema.org/draft-07/schema";
            let is_known = self.is_draft_07 || dialect == "https://json-schema.org/draft/2020-12/schema";
            self.or_record_obstacle(keywords, "$schema", is_known.then_some(()))?;
        }
        let root = self.node(self.root)?;
        self.settle_unions()?;
        Some(root)
    }

    /// Records the keyword that prevents a plan, unless one inside it is already recorded.
    fn or_record_obstacle<T>(&self, keywords: &'s Map<String, Value>, keyword: &'s str, plan: Option<T>) -> Option<T> {
        if plan.is_none() {
            self.obstacle.get_or_init(|| (keywords, keyword));
        }
        plan
    }

    fn obstacle(&self) -> PlanObstacle {
        let Some((keywords, keyword)) = self.obstacle.get() else {
            return PlanObstacle { pointer: String::new(), keyword: String::new() };
        };
        let pointer = pointer_to(self.root, keywords).unwrap_or_default();
        PlanObstacle { pointer, keyword: (*keyword).to_owned() }
    }

    /// Returns the node of a schema, which is compiled if it is new.
    fn node(&mut self, schema: &'s Value) -> Option<NodeId> {
        let schema = self.follow(schema)?;
        match schema {
            Value::Bool(true) => Some(ANY),
            Value::Bool(false) => Some(NEVER),
            Value::Object(keywords) => {
                if let Some(id) = self.done.get(&std::ptr::from_ref(schema)) {
                    return Some(*id);
                }
                let id = self.add(PlanNode::plain(Kinds::NONE))?;
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
                let union = self.union(branches, keyword == "oneOf");
                self.unions.insert(id, self.or_record_obstacle(keywords, keyword, union)?);
            }
            _ => self.nodes[id as usize] = self.rules(keywords)?,
        }
        Some(())
    }

    fn add(&mut self, node: PlanNode) -> Option<NodeId> {
        let id = NodeId::try_from(self.nodes.len()).ok()?;
        self.nodes.push(node);
        Some(id)
    }

    fn place(&mut self, node: PlanNode, id: NodeId) -> Option<()> {
        (self.add(node)? == id).then_some(())
    }
}
