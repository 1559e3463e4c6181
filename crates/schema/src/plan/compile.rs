//! Compilation of a schema to the nodes of a plan: keywords, references, the rules of each type, unions, and the
//! reason if there is no plan.

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::node::{Array, Kinds, Node, Text};
use super::number::Number;
use super::object::{Branch, Object, Tag};
use super::pattern::Pattern;
use super::property::{ANY, NEVER, NodeId, Properties, Property};
use crate::number::integer;
use crate::pointer::child;
use crate::walk;

/// Compiles a schema to nodes and the id of its root, or returns the keyword that prevents a plan.
pub(super) fn compile(schema: &Value) -> Result<(Box<[Node]>, NodeId), PlanObstacle> {
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
    nodes: Vec<Node>,
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
        self.place(Node::plain(Kinds::ALL), ANY)?;
        self.place(Node::plain(Kinds::NONE), NEVER)?;
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
                let union = self.union(branches, keyword == "oneOf");
                self.unions.insert(id, self.or_record_obstacle(keywords, keyword, union)?);
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

// Reports of how a schema is validated.

/// The way in which values are validated against a schema.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckPath {
    /// By a plan, during deserialization and serialization. Values that the plan refuses are validated as a tree.
    Plan,
    /// Always as a tree of the whole value.
    Tree(PlanObstacle),
}

impl fmt::Display for CheckPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckPath::Plan => f.write_str("while reading"),
            CheckPath::Tree(reason) => write!(f, "as a tree, because of {reason}"),
        }
    }
}

/// The first part of a schema that a plan does not support.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlanObstacle {
    /// The location in the schema, as a JSON Pointer.
    pub pointer: String,
    /// The keyword. Empty if the schema is too large or too deep.
    pub keyword: String,
}

impl fmt::Display for PlanObstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&*self.keyword, &*self.pointer) {
            ("", _) => f.write_str("its size"),
            (keyword, "") => write!(f, "`{keyword}`"),
            (keyword, pointer) => write!(f, "`{keyword}` at {pointer}"),
        }
    }
}

/// Returns the pointer to a schema, identified by its keywords.
pub(crate) fn pointer_to(root: &Value, keywords: &Map<String, Value>) -> Option<String> {
    let mut left = vec![(root, String::new())];
    while let Some((value, pointer)) = left.pop() {
        match value {
            Value::Object(object) if std::ptr::eq(object, keywords) => return Some(pointer),
            Value::Object(object) => left.extend(object.iter().map(|(key, value)| (value, child(&pointer, key)))),
            Value::Array(items) => {
                left.extend(items.iter().enumerate().map(|(idx, item)| (item, child(&pointer, &idx.to_string()))));
            }
            _ => {}
        }
    }
    None
}

// The role of each keyword in a plan.

/// The role of a keyword in a plan.
#[derive(PartialEq, Eq)]
enum Role {
    /// Does not affect validity.
    Annotation,
    /// Can be checked while the value is read or written.
    Checked,
    /// Needs the whole value, or changes the meaning of other keywords.
    Unsupported,
}

/// Returns the role of a keyword. Unknown keywords are annotations, as the standard requires.
fn role(keyword: &str) -> Role {
    match keyword {
        "$comment" | "$defs" | "definitions" | "title" | "description" | "default" | "examples" | "format"
        | "deprecated" | "readOnly" | "writeOnly" | "contentEncoding" | "contentMediaType" | "contentSchema" => {
            Role::Annotation
        }
        "$ref"
        | "allOf"
        | "anyOf"
        | "oneOf"
        | "type"
        | "enum"
        | "const"
        | "minimum"
        | "maximum"
        | "exclusiveMinimum"
        | "exclusiveMaximum"
        | "multipleOf"
        | "minLength"
        | "maxLength"
        | "pattern"
        | "properties"
        | "required"
        | "additionalProperties"
        | "minProperties"
        | "maxProperties"
        | "items"
        | "prefixItems"
        | "minItems"
        | "maxItems"
        | "uniqueItems" => Role::Checked,
        "id"
        | "not"
        | "if"
        | "then"
        | "else"
        | "dependentRequired"
        | "dependentSchemas"
        | "dependencies"
        | "patternProperties"
        | "propertyNames"
        | "unevaluatedProperties"
        | "unevaluatedItems"
        | "additionalItems"
        | "contains"
        | "minContains"
        | "maxContains" => Role::Unsupported,
        other if other.starts_with('$') => Role::Unsupported,
        _ => Role::Annotation,
    }
}

/// Returns true if a keyword does not affect validity.
pub(crate) fn is_annotation(keyword: &str) -> bool {
    role(keyword) == Role::Annotation
}

impl<'s> Compiler<'s> {
    /// Returns the keywords that assert something, or `None` if one of them is not supported.
    fn asserting(&self, keywords: &'s Map<String, Value>) -> Option<Vec<(&'s str, &'s Value)>> {
        let mut asserting = Vec::new();
        for (keyword, value) in keywords {
            // `$schema` is allowed at the root, where it has been checked.
            if keyword == "$schema" && self.root.as_object().is_some_and(|root| std::ptr::eq(root, keywords)) {
                continue;
            }
            // Draft-07 does not define this keyword.
            let differs = keyword == "prefixItems";
            match role(keyword) {
                _ if differs && self.is_draft_07 => return self.or_record_obstacle(keywords, keyword, None),
                Role::Annotation => {}
                Role::Checked => asserting.push((keyword.as_str(), value)),
                Role::Unsupported => return self.or_record_obstacle(keywords, keyword, None),
            }
        }
        Some(asserting)
    }

    /// Returns the only keyword that asserts something, or `Some(None)` unless there is exactly one.
    fn only_keyword(&self, keywords: &'s Map<String, Value>) -> Option<Option<(&'s str, &'s Value)>> {
        let asserting = self.asserting(keywords)?;
        Some(match *asserting.as_slice() {
            [only] => Some(only),
            _ => None,
        })
    }
}

// Resolution of references, and the kinds of values that a schema accepts.

/// The maximum number of consecutive references. More are a cycle, or are treated as one.
const HOPS: usize = 32;

/// The maximum number of branches visited for one plan, since nested unions can double at every step.
const VISIT_BUDGET: usize = 10_000;

impl<'s> Compiler<'s> {
    /// Follows a `$ref` and an `allOf` with one element, if they are the only keyword of their schema.
    fn follow(&self, mut schema: &'s Value) -> Option<&'s Value> {
        for _ in 0..HOPS {
            let Value::Object(keywords) = schema else {
                return Some(schema);
            };
            schema = match self.only_keyword(keywords)? {
                Some(("$ref", to)) => {
                    let target = to.as_str().and_then(|to| self.target(to));
                    self.or_record_obstacle(keywords, "$ref", target)?
                }
                Some(("allOf", Value::Array(all))) if all.len() == 1 => &all[0],
                _ => return Some(schema),
            };
        }
        None
    }

    /// Resolves a reference to the root or to a definition of the root. A longer path might pass through a value that
    /// is not a schema, or that changes the base URI.
    fn target(&self, reference: &str) -> Option<&'s Value> {
        let pointer = walk::pointer(reference)?;
        if pointer.is_empty() {
            return Some(self.root);
        }
        let name = pointer.strip_prefix("/$defs/").or_else(|| pointer.strip_prefix("/definitions/"))?;
        if name.contains('/') {
            return None;
        }
        self.root.pointer(&pointer)
    }

    /// Returns the kinds of values that a schema may accept: possibly too many, but never too few (except for
    /// [`Kinds::FLOAT`]).
    fn kinds(&self, schema: &'s Value, hops: usize) -> Option<Kinds> {
        let hops = hops.checked_sub(1)?;
        self.visits.set(self.visits.get() + 1);
        (self.visits.get() <= VISIT_BUDGET).then_some(())?;
        let keywords = match self.follow(schema)? {
            Value::Bool(true) => return Some(Kinds::ALL),
            Value::Bool(false) => return Some(Kinds::NONE),
            Value::Object(keywords) => keywords,
            _ => return None,
        };
        if let Some(("anyOf" | "oneOf", Value::Array(branches))) = self.only_keyword(keywords)? {
            return branches.iter().try_fold(Kinds::NONE, |all, branch| Some(all.or(self.kinds(branch, hops)?)));
        }
        declared_kinds(keywords)
    }

    fn kinds_of_branch(&self, schema: &'s Value) -> Option<Kinds> {
        self.kinds(schema, HOPS)
    }
}

/// Returns the kinds of values that `type`, `enum` and `const` allow.
fn declared_kinds(keywords: &Map<String, Value>) -> Option<Kinds> {
    let types = match keywords.get("type") {
        None => Kinds::ALL,
        Some(Value::String(name)) => Kinds::from_type(name)?,
        Some(Value::Array(names)) => {
            names.iter().try_fold(Kinds::NONE, |all, name| Some(all.or(Kinds::from_type(name.as_str()?)?)))?
        }
        Some(_) => return None,
    };
    let values = match allowed_values(keywords)? {
        None => Kinds::ALL,
        Some(values) => values.iter().try_fold(Kinds::NONE, |all, value| Some(all.or(kind_of(value)?)))?,
    };
    Some(types.and(values))
}

/// Returns the values of `enum` or `const`, or `Some(None)` without either.
fn allowed_values(keywords: &Map<String, Value>) -> Option<Option<&[Value]>> {
    match (keywords.get("enum"), keywords.get("const")) {
        (None, None) => Some(None),
        (Some(Value::Array(values)), None) => Some(Some(values)),
        (None, Some(value)) => Some(Some(std::slice::from_ref(value))),
        _ => None,
    }
}

/// Returns the kind of a value that can be compared during reading, or `None` for floats, arrays and objects.
fn kind_of(value: &Value) -> Option<Kinds> {
    match value {
        Value::Null => Some(Kinds::NULL),
        Value::Bool(true) => Some(Kinds::TRUE),
        Value::Bool(false) => Some(Kinds::FALSE),
        Value::Number(number) => integer(number).map(|_| Kinds::INTEGER),
        Value::String(_) => Some(Kinds::STRING),
        Value::Array(_) | Value::Object(_) => None,
    }
}

// The rules of a schema that is not a union, by the type of the value.

/// The maximum number of patterns of a plan, and the memory limit of each in bytes. An evaluator limits those of a schema
/// together.
const MAX_PATTERNS: usize = 128;
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// The largest divisor that is supported.
const MAX_DIVISOR: i128 = 1 << 53;

impl<'s> Compiler<'s> {
    fn rules(&mut self, keywords: &'s Map<String, Value>) -> Option<Node> {
        let listing = ["enum", "const"].into_iter().find(|keyword| keywords.contains_key(*keyword));
        let kinds = self.or_record_obstacle(keywords, listing.unwrap_or("type"), declared_kinds(keywords))?;
        let mut node = Node::plain(kinds);
        let (mut number, mut string) = (None, None);
        for (keyword, value) in self.asserting(keywords)? {
            let rule = self.rule(keywords, keyword, value, &mut node, &mut number, &mut string);
            self.or_record_obstacle(keywords, keyword, rule)?;
        }
        if let Some(values) = allowed_values(keywords)? {
            let integers = values.iter().filter_map(Value::as_number).filter_map(integer).collect();
            number.get_or_insert_with(Number::unbounded).one_of = Some(integers);
            string.get_or_insert_with(Text::unbounded).one_of = Some(strings(values));
        }
        node.number = number.map(Arc::new);
        node.string = string.map(Arc::new);
        Some(node)
    }

    /// Adds the rule of one keyword.
    fn rule(
        &mut self,
        keywords: &'s Map<String, Value>,
        keyword: &str,
        value: &Value,
        node: &mut Node,
        number: &mut Option<Number>,
        string: &mut Option<Text>,
    ) -> Option<()> {
        match keyword {
            "type" | "enum" | "const" => {}
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                number.get_or_insert_with(Number::unbounded).bound(keyword, value)?;
            }
            "multipleOf" => {
                let divisor = integer(value.as_number()?).filter(|of| (1..=MAX_DIVISOR).contains(of))?;
                number.get_or_insert_with(Number::unbounded).multiple_of = Some(divisor);
            }
            "minLength" => string.get_or_insert_with(Text::unbounded).least = size(value)?,
            "maxLength" => string.get_or_insert_with(Text::unbounded).most = size(value)?,
            "pattern" => string.get_or_insert_with(Text::unbounded).pattern = Some(self.pattern(value.as_str()?)?),
            "properties" | "required" | "additionalProperties" | "minProperties" | "maxProperties" => {
                if node.object.is_none() {
                    node.object = Some(Arc::new(self.object(keywords)?));
                }
            }
            "items" | "prefixItems" | "minItems" | "maxItems" | "uniqueItems" => {
                if node.array.is_none() {
                    node.array = Some(Arc::new(self.array(keywords)?));
                }
            }
            // Other keywords would have to be merged with those beside them.
            _ => return None,
        }
        Some(())
    }

    fn pattern(&mut self, text: &str) -> Option<Pattern> {
        self.n_patterns += 1;
        (self.n_patterns <= MAX_PATTERNS).then_some(())?;
        Pattern::compile(text, MAX_PATTERN_BYTES).ok()
    }

    fn object(&mut self, keywords: &'s Map<String, Value>) -> Option<Object> {
        let rest = match keywords.get("additionalProperties") {
            None => ANY,
            Some(schema) => self.node(schema)?,
        };
        let mut properties = Vec::new();
        if let Some(schemas) = keywords.get("properties") {
            for (name, schema) in schemas.as_object()? {
                properties.push(self.property(name, schema)?);
            }
        }
        let mut required = 0;
        if let Some(names) = keywords.get("required") {
            for name in names.as_array()? {
                let name = name.as_str()?;
                let place = properties.iter().position(|p| p.name() == name);
                let place = place.unwrap_or(properties.len());
                if place == properties.len() {
                    properties.push(Property::new(name, rest)?);
                }
                required |= 1_u64.checked_shl(u32::try_from(place).ok()?)?;
            }
        }
        Some(Object {
            properties: Properties::new(properties)?,
            required,
            rest,
            least: keywords.get("minProperties").map_or(Some(0), size)?,
            most: keywords.get("maxProperties").map_or(Some(usize::MAX), size)?,
            tag: None,
        })
    }

    fn property(&mut self, name: &str, schema: &'s Value) -> Option<Property> {
        Property::new(name, self.node(schema)?)
    }

    fn array(&mut self, keywords: &'s Map<String, Value>) -> Option<Array> {
        let items = match keywords.get("items") {
            None => ANY,
            Some(schema) => self.node(schema)?,
        };
        let mut prefix: Vec<NodeId> = Vec::new();
        if let Some(schemas) = keywords.get("prefixItems") {
            for schema in schemas.as_array()? {
                prefix.push(self.node(schema)?);
            }
        }
        Some(Array {
            prefix: prefix.into(),
            items,
            least: keywords.get("minItems").map_or(Some(0), size)?,
            most: keywords.get("maxItems").map_or(Some(usize::MAX), size)?,
            unique: keywords.get("uniqueItems").is_some_and(|unique| *unique == true),
        })
    }
}

/// Returns the strings among the values.
fn strings(values: &[Value]) -> Box<[Box<str>]> {
    let strings = values.iter().filter_map(Value::as_str);
    strings.map(Box::from).collect()
}

fn size(value: &Value) -> Option<usize> {
    value.as_u64()?.try_into().ok()
}

// Unions (`anyOf` and `oneOf`) whose branch is determined before the value is read.
//
// The branch is selected by the type of the value. Branches for the same type are merged if they list strings, if each
// describes objects with a distinct single key (an externally tagged enum), or if a required property has a distinct
// constant in each (an internally or adjacently tagged enum). In all of these cases a value matches at most one
// branch, so `oneOf` is equivalent to `anyOf`.

impl<'s> Compiler<'s> {
    fn union(&mut self, branches: &'s [Value], exactly_one: bool) -> Option<Union> {
        let mut decider = [NEVER; 8];
        let mut all = Kinds::NONE;
        let mut of_strings = Vec::new();
        let mut of_objects = Vec::new();
        for branch in branches {
            let kinds = self.kinds_of_branch(branch)?;
            let branch = self.follow(branch)?;
            if kinds == Kinds::STRING {
                of_strings.push(branch);
            } else if kinds == Kinds::OBJECT {
                of_objects.push(branch);
            } else {
                let node = self.node(branch)?;
                claim(&mut decider, &mut all, kinds, node)?;
            }
        }
        if !of_strings.is_empty() {
            let node = self.either_string(&of_strings, exactly_one)?;
            claim(&mut decider, &mut all, Kinds::STRING, node)?;
        }
        if !of_objects.is_empty() {
            let node = self.either_object(&of_objects)?;
            claim(&mut decider, &mut all, Kinds::OBJECT, node)?;
        }
        Some(decider)
    }

    /// Gives each union the rules of its branches, so that a single node decides about a value.
    fn settle_unions(&mut self) -> Option<()> {
        for (id, union) in &self.unions {
            let mut settled = Node::plain(Kinds::NONE);
            for kind in Kinds::ALL.each() {
                let decider = self.nodes.get(self.decider(union, kind)? as usize)?;
                if decider.kinds.meets(kind) {
                    settled.kinds = settled.kinds.or(kind);
                    match kind {
                        Kinds::INTEGER | Kinds::FLOAT => settled.number.clone_from(&decider.number),
                        Kinds::STRING => settled.string.clone_from(&decider.string),
                        Kinds::ARRAY => settled.array.clone_from(&decider.array),
                        Kinds::OBJECT => settled.object.clone_from(&decider.object),
                        _ => {}
                    }
                }
            }
            // Floats and integers must be decided by the same branch, since a node has one rule for numbers.
            let number = [Kinds::INTEGER, Kinds::FLOAT].map(|kind| self.decider(union, kind));
            (number[0] == number[1] || number.contains(&Some(NEVER))).then_some(())?;
            self.nodes[*id as usize] = settled;
        }
        Some(())
    }

    /// Returns the node that decides for a kind of value, through nested unions.
    fn decider(&self, union: &Union, kind: Kinds) -> Option<NodeId> {
        let mut id = union[kind.index()];
        for _ in 0..=self.unions.len() {
            match self.unions.get(&id) {
                Some(inner) => id = inner[kind.index()],
                None => return Some(id),
            }
        }
        None
    }

    fn either_string(&mut self, branches: &[&'s Value], exactly_one: bool) -> Option<NodeId> {
        if let [only] = branches {
            return self.node(only);
        }
        let mut all: Vec<Box<str>> = Vec::new();
        for branch in branches {
            for value in self.listed_strings(branch)? {
                // A duplicate within one branch would be harmless, but does not occur in practice.
                if exactly_one && all.contains(&value) {
                    return None;
                }
                all.push(value);
            }
        }
        let mut node = Node::plain(Kinds::STRING);
        node.string = Some(Arc::new(Text { one_of: Some(all.into()), ..Text::unbounded() }));
        self.add(node)
    }

    /// Returns the strings of a schema that only lists strings.
    fn listed_strings(&self, schema: &'s Value) -> Option<Box<[Box<str>]>> {
        let keywords = schema.as_object()?;
        let listing = |(keyword, _): &(&str, _)| matches!(*keyword, "type" | "enum" | "const");
        let only_lists = self.asserting(keywords)?.iter().all(listing);
        let is_string = self.kinds_of_branch(schema)? == Kinds::STRING;
        (only_lists && is_string).then_some(())?;
        Some(strings(allowed_values(keywords)??))
    }

    fn either_object(&mut self, branches: &[&'s Value]) -> Option<NodeId> {
        if let [only] = branches {
            return self.node(only);
        }
        let keywords: Option<Vec<_>> = branches.iter().map(|b| b.as_object()).collect();
        let keywords = keywords?;
        let object = match self.one_key_each(&keywords) {
            Some(properties) => self.externally_tagged(&properties)?,
            None => self.tagged(branches, &keywords)?,
        };
        let mut node = Node::plain(Kinds::OBJECT);
        node.object = Some(Arc::new(object));
        self.add(node)
    }

    /// Returns the property of each branch, if each has exactly one, requires it, and all names differ.
    fn one_key_each(&self, branches: &[&'s Map<String, Value>]) -> Option<Vec<(&'s str, &'s Value)>> {
        let mut properties: Vec<(&str, &Value)> = Vec::new();
        for keywords in branches {
            let known = |(keyword, _): &(&str, _)| {
                matches!(*keyword, "type" | "properties" | "required" | "additionalProperties")
            };
            let only_known = self.asserting(keywords)?.iter().all(known);
            let closed = keywords.get("additionalProperties") == Some(&Value::Bool(false));
            let mut own = keywords.get("properties")?.as_object()?.iter();
            let (name, schema) = own.next()?;
            let required = keywords.get("required")?.as_array()?;
            let fits = only_known
                && closed
                && own.next().is_none()
                && matches!(required.as_slice(), [only] if only == name)
                && properties.iter().all(|(other, _)| other != name);
            fits.then_some(())?;
            properties.push((name, schema));
        }
        Some(properties)
    }

    fn externally_tagged(&mut self, own: &[(&'s str, &'s Value)]) -> Option<Object> {
        let mut properties: Vec<Property> = Vec::new();
        for (name, schema) in own {
            properties.push(self.property(name, schema)?);
        }
        Some(Object {
            properties: Properties::new(properties)?,
            required: 0,
            rest: NEVER,
            least: 1,
            most: 1,
            tag: None,
        })
    }

    fn tagged(&mut self, branches: &[&'s Value], keywords: &[&'s Map<String, Value>]) -> Option<Object> {
        let candidates = keywords.first()?.get("properties")?.as_object()?;
        let tag = candidates.keys().find_map(|name| Some((name, self.tag_values(name, keywords)?)));
        let (name, values) = tag?;
        let mut chosen = Vec::new();
        for (branch, values) in branches.iter().zip(values) {
            let node = self.node(branch)?;
            for value in values {
                chosen.push(Branch { json: serde_json::to_vec(&*value).ok()?.into(), value, node });
            }
        }
        Some(Object {
            properties: Properties::new(Vec::new())?,
            required: 0,
            rest: NEVER,
            least: 0,
            most: usize::MAX,
            tag: Some(Tag { name: name.as_str().into(), branches: chosen.into() }),
        })
    }

    /// Returns the constants of a property in each branch, if it is required in each and the constants are distinct.
    fn tag_values(&self, name: &str, branches: &[&'s Map<String, Value>]) -> Option<Vec<Box<[Box<str>]>>> {
        let mut all: Vec<Box<[Box<str>]>> = Vec::new();
        for keywords in branches {
            let nested = ["anyOf", "oneOf", "allOf", "$ref"];
            let plain = !nested.iter().any(|keyword| keywords.contains_key(*keyword));
            let required = keywords.get("required")?.as_array()?;
            (plain && required.iter().any(|other| other == name)).then_some(())?;
            let schema = self.follow(keywords.get("properties")?.get(name)?)?;
            let values = self.listed_strings(schema)?;
            let fresh = values.iter().all(|value| !all.iter().any(|o| o.contains(value)));
            fresh.then_some(())?;
            all.push(values);
        }
        Some(all)
    }
}

/// Assigns a node to some kinds of values, unless one of them already has a node.
fn claim(decider: &mut [NodeId; 8], all: &mut Kinds, kinds: Kinds, node: NodeId) -> Option<()> {
    (!all.meets(kinds)).then_some(())?;
    *all = all.or(kinds);
    for kind in kinds.each() {
        decider[kind.index()] = node;
    }
    Some(())
}
