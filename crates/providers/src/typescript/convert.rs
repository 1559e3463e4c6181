//! Conversion of schemas to types, with objects and arrays.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::literals::literal;
use super::notes;
use super::notes::{declared_types, structured_types, type_of};
use super::ty::{Comment, Detail, Node, Property, Type, remove_cycles};
use crate::loss::{Effect, Loss, Side};
use crate::lower::{Normalized, are_disjoint, normalize_references, sent_instead};
use toolkit_schema::alias::RemovedAlias;
use toolkit_schema::pointer::last_token;
use toolkit_schema::types::Types;
use toolkit_schema::view::listed;
use toolkit_schema::{child, order, walk};

/// The maximum depth of a type. Schemas written by people are well below it.
const MAX_DEPTH: usize = 48;

/// The reference to a whole schema.
const ROOT: &str = "#";

/// A converted schema.
pub(super) struct Converted {
    pub(super) node: Node,
    /// The definitions that the type names, by reference, with the name that the schema gives them.
    pub(super) definitions: BTreeMap<String, (String, Node)>,
    pub(super) losses: Vec<Loss>,
}

/// Converts a schema whose values are of the given types.
pub(super) fn convert(schema: &Value, types: Types, side: Side, detail: Detail) -> Converted {
    let Normalized { mut normal, aliases } = normalize_references(schema, side);
    order::sort(&mut normal.schema);
    let mut converter = Converter {
        document: &normal.schema,
        is_opaque: normal.is_opaque,
        side,
        detail,
        pending: Vec::new(),
        places: BTreeMap::new(),
        losses: Vec::new(),
    };
    for RemovedAlias { pointer, name } in &aliases {
        converter.report(pointer, "properties", Effect::MetadataOnly, &sent_instead(name.as_deref()));
    }
    for (at, keyword) in &normal.anchors {
        converter.report(at, keyword, Effect::MetadataOnly, "is removed; references point to definitions");
    }
    if types != Types::ALL && normal.schema.get("type").is_none() {
        converter.report("", "type", Effect::Narrowed, "is missing; only objects are declared");
    }
    let mut node = converter.schema(&normal.schema, types, "", 0);
    let mut definitions = BTreeMap::new();
    if converter.places.contains_key(ROOT) {
        converter.pending.retain(|(reference, _)| *reference != ROOT);
        definitions.insert(ROOT.to_owned(), (name(ROOT), node));
        node = Type::Name(ROOT.to_owned()).into();
    }
    while let Some((reference, target)) = converter.pending.pop() {
        let at = converter.places[reference].clone();
        let node = converter.schema(target, Types::ALL, &at, 0);
        definitions.insert(reference.to_owned(), (name(reference), node));
    }
    let mut losses = converter.losses;
    for reference in remove_cycles(&mut definitions) {
        let at = converter.places.get(reference.as_str()).map_or("", String::as_str);
        losses.push(Loss::new(side, at, "$ref", Effect::Widened, "refers to itself; any value is accepted"));
    }
    Converted { node, definitions, losses }
}

/// Returns the last segment of a reference.
fn name(reference: &str) -> String {
    let pointer = walk::pointer(reference).unwrap_or_default();
    last_token(&pointer).unwrap_or("root".into()).into_owned()
}

pub(super) struct Converter<'s> {
    document: &'s Value,
    /// A nested `$id` changes the base of references, so that they cannot be resolved by their pointers.
    is_opaque: bool,
    pub(super) side: Side,
    detail: Detail,
    /// The definitions that remain to be converted.
    pending: Vec<(&'s str, &'s Value)>,
    /// The position of the first use of each definition.
    places: BTreeMap<&'s str, String>,
    losses: Vec<Loss>,
}

impl<'s> Converter<'s> {
    pub(super) fn report(&mut self, at: &str, keyword: &str, effect: Effect, reason: &str) {
        self.losses.push(Loss::new(self.side, at, keyword, effect, reason));
    }

    /// Converts a schema whose values are of the given types.
    pub(super) fn schema(&mut self, schema: &'s Value, within: Types, at: &str, depth: usize) -> Node {
        match schema {
            Value::Bool(false) => Type::Never.into(),
            Value::Object(_) if depth > MAX_DEPTH => {
                self.report(at, "type", Effect::Widened, "is nested too deep; any value is accepted");
                Type::Unknown.into()
            }
            Value::Object(keywords) => self.keywords(keywords, within, at, depth),
            _ => plain(within),
        }
    }

    fn keywords(&mut self, keywords: &'s Map<String, Value>, within: Types, at: &str, depth: usize) -> Node {
        let excludes_all = |excluded: &Value| *excluded == true || excluded.as_object().is_some_and(Map::is_empty);
        if keywords.get("not").is_some_and(excludes_all) {
            return Type::Never.into();
        }
        let types = accepted_types(keywords, within);
        if types != within.and(declared_types(keywords)) && listed(keywords).is_none() {
            self.report(at, "type", Effect::Narrowed, "is missing; values of other types are not declared");
        }
        self.report_keywords(keywords, at);
        let mut parts = Vec::new();
        let mut needs_base = listed(keywords).is_some() || types.meets(structured_types(keywords));
        if let Some(Value::String(reference)) = keywords.get("$ref") {
            let (node, is_within) = self.reference(reference, types, at);
            needs_base |= !is_within;
            parts.push(node);
        }
        if let Some(Value::Array(all)) = keywords.get("allOf") {
            let at = child(at, "allOf");
            parts.extend(self.list(all, types, &at, depth));
        }
        for keyword in ["anyOf", "oneOf"] {
            let Some(Value::Array(branches)) = keywords.get(keyword) else {
                continue;
            };
            if keyword == "oneOf" && !are_disjoint(branches) {
                self.report(at, keyword, Effect::Widened, "also accepts values that match several branches");
            }
            let nodes = self.list(branches, types, &child(at, keyword), depth);
            parts.push(Node::union(nodes));
        }
        if needs_base || parts.is_empty() {
            parts.insert(0, self.base(keywords, types, at, depth));
        }
        let node = Node::intersection(parts);
        match self.detail {
            Detail::Full => node.described(notes::comment(keywords, types)),
            Detail::Compact | Detail::Signatures => node,
        }
    }

    fn list(&mut self, schemas: &'s [Value], within: Types, at: &str, depth: usize) -> Vec<Node> {
        let schemas = schemas.iter().enumerate();
        schemas.map(|(idx, schema)| self.schema(schema, within, &child(at, &idx.to_string()), depth + 1)).collect()
    }

    /// Reports the keywords that have no part in the type.
    fn report_keywords(&mut self, keywords: &Map<String, Value>, at: &str) {
        let is_integer = |name: &Value| name == "integer";
        if let Some(ty) = keywords.get("type")
            && (is_integer(ty) || ty.as_array().is_some_and(|names| names.iter().any(is_integer)))
        {
            self.report(at, "type", Effect::Widened, "accepts all numbers, not only integers");
        }
        let losses = keywords.keys().filter_map(|keyword| notes::loss(keyword, self.side, at, self.detail));
        self.losses.extend(losses);
    }

    /// Returns the named type of a reference, and true if all of its values are of the given types.
    fn reference(&mut self, reference: &'s str, within: Types, at: &str) -> (Node, bool) {
        let target = if self.is_opaque { None } else { walk::resolve(self.document, reference) };
        let Some(target) = target else {
            self.report(at, "$ref", Effect::Widened, "cannot be resolved; any value is accepted");
            return (Type::Unknown.into(), false);
        };
        if !self.places.contains_key(reference) {
            self.places.insert(reference, at.to_owned());
            self.pending.push((reference, target));
        }
        let is_within = match target {
            Value::Object(keywords) => accepted_types(keywords, Types::ALL).is_within(within),
            _ => within == Types::ALL,
        };
        (Type::Name(reference.to_owned()).into(), is_within)
    }

    /// Returns the type that `type`, `enum`, `const` and the keywords of objects and arrays declare.
    fn base(&mut self, keywords: &'s Map<String, Value>, types: Types, at: &str, depth: usize) -> Node {
        if let Some(values) = listed(keywords) {
            let values: Vec<&Value> = values.into_iter().filter(|value| type_of(value).is_within(types)).collect();
            if values.iter().any(|value| has_object(value)) {
                let keyword = if keywords.contains_key("const") { "const" } else { "enum" };
                self.report(at, keyword, Effect::Widened, "also accepts objects with other properties");
            }
            return Node::union(values.into_iter().map(|value| literal(value).into()));
        }
        if types == Types::ALL {
            return Type::Unknown.into();
        }
        let mut nodes = primitives(types);
        if Types::ARRAY.is_within(types) {
            nodes.push(self.array(keywords, at, depth));
        }
        if Types::OBJECT.is_within(types) {
            nodes.push(self.object(keywords, at, depth));
        }
        Node::union(nodes)
    }
}

/// Returns the types of values that a schema accepts. Without `type`, keywords of objects and arrays imply it.
fn accepted_types(keywords: &Map<String, Value>, within: Types) -> Types {
    let within = within.and(declared_types(keywords));
    if let Some(values) = listed(keywords) {
        return within.and(values.into_iter().map(type_of).fold(Types::NONE, Types::or));
    }
    let implied = within.and(structured_types(keywords));
    if keywords.contains_key("type") || implied.is_empty() { within } else { implied }
}

fn has_object(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_object),
        value => value.is_object(),
    }
}

fn primitives(types: Types) -> Vec<Node> {
    let all =
        [(Types::STRING, "string"), (Types::NUMBER, "number"), (Types::BOOLEAN, "boolean"), (Types::NULL, "null")];
    let names = all.into_iter().filter(|(kind, _)| kind.is_within(types));
    names.map(|(_, name)| Type::Primitive(name).into()).collect()
}

/// Returns the type of all values of some types.
fn plain(types: Types) -> Node {
    if types == Types::ALL {
        return Type::Unknown.into();
    }
    let mut nodes = primitives(types);
    let unknown = || Box::new(Type::Unknown.into());
    if Types::ARRAY.is_within(types) {
        nodes.push(Type::Array(unknown()).into());
    }
    if Types::OBJECT.is_within(types) {
        nodes.push(Type::Object { properties: Vec::new(), rest: Some(unknown()) }.into());
    }
    Node::union(nodes)
}

/// The properties that every object inherits, so that their absence is not an error.
const INHERITED: [&str; 8] = [
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
];

impl<'s> Converter<'s> {
    /// Converts the keywords of objects.
    pub(super) fn object(&mut self, keywords: &'s Map<String, Value>, at: &str, depth: usize) -> Node {
        let mut required: BTreeSet<&str> = walk::required(keywords).collect();
        if required.iter().any(|name| INHERITED.contains(name)) {
            self.report(at, "required", Effect::Widened, "has a name that every object of JavaScript inherits");
        }
        let mut properties = Vec::new();
        if let Some(Value::Object(declared)) = keywords.get("properties") {
            let at = child(at, "properties");
            for (name, schema) in declared {
                let node = self.schema(schema, Types::ALL, &child(&at, name), depth + 1);
                properties.push(Property { name: name.clone(), is_optional: !required.remove(name.as_str()), node });
            }
        }
        let undeclared = required.into_iter();
        properties.extend(undeclared.map(|name| Property {
            name: name.to_owned(),
            is_optional: false,
            node: Type::Unknown.into(),
        }));
        let rest = self.rest(keywords, &properties, at, depth);
        Type::Object { properties, rest: rest.map(Box::new) }.into()
    }

    /// Returns the index signature of an object.
    fn rest(
        &mut self,
        keywords: &'s Map<String, Value>,
        declared: &[Property],
        at: &str,
        depth: usize,
    ) -> Option<Node> {
        let mut nodes = Vec::new();
        if let Some(Value::Object(patterns)) =
            keywords.get("patternProperties").filter(|all| **all != Value::Object(Map::new()))
        {
            self.report(at, "patternProperties", Effect::Widened, "applies to names that do not match");
            let at = child(at, "patternProperties");
            let patterns = patterns.iter();
            nodes.extend(patterns.map(|(name, schema)| self.schema(schema, Types::ALL, &child(&at, name), depth + 1)));
        }
        match keywords.get("additionalProperties") {
            Some(Value::Bool(false)) if nodes.is_empty() && declared.is_empty() => return Some(Type::Never.into()),
            Some(Value::Bool(false)) => {
                let reason = "is enforced in object literals only";
                self.report(at, "additionalProperties", Effect::Widened, reason);
                if nodes.is_empty() {
                    return None;
                }
            }
            Some(schema @ Value::Object(_)) => {
                nodes.push(self.schema(schema, Types::ALL, &child(at, "additionalProperties"), depth + 1));
            }
            None if nodes.is_empty() && !declared.is_empty() => return None,
            _ => return Some(Type::Unknown.into()),
        }
        let node = Node::union(nodes);
        // An index signature must accept all properties, of which optional ones may be `undefined`.
        if declared.iter().all(|property| !property.is_optional && property.node.ty == node.ty) {
            return Some(node);
        }
        self.report(
            at,
            "additionalProperties",
            Effect::Widened,
            "accepts any value, since the type has other properties",
        );
        Some(Node { ty: Type::Unknown, comment: node.comment })
    }

    /// Converts the keywords of arrays.
    pub(super) fn array(&mut self, keywords: &'s Map<String, Value>, at: &str, depth: usize) -> Node {
        let items = keywords.get("items");
        let Some(Value::Array(places)) = keywords.get("prefixItems") else {
            let item = match items {
                Some(schema) => self.schema(schema, Types::ALL, &child(at, "items"), depth + 1),
                None => Type::Unknown.into(),
            };
            return match item.ty {
                Type::Never => Type::Tuple { items: Vec::new(), n_required: 0, rest: None }.into(),
                _ => Type::Array(Box::new(item)).into(),
            };
        };
        let at_places = child(at, "prefixItems");
        let places = places.iter().enumerate();
        let places: Vec<Node> = places
            .map(|(idx, schema)| self.schema(schema, Types::ALL, &child(&at_places, &idx.to_string()), depth + 1))
            .collect();
        let rest = match items {
            Some(Value::Bool(false)) => None,
            Some(schema) => Some(self.schema(schema, Types::ALL, &child(at, "items"), depth + 1)),
            None => Some(Type::Unknown.into()),
        };
        let rest = rest.filter(|rest| rest.ty != Type::Never).map(Box::new);
        let least = keywords.get("minItems").and_then(Value::as_u64).and_then(|least| usize::try_from(least).ok());
        let n_required = least.unwrap_or(0).min(places.len());
        Node { ty: Type::Tuple { items: places, n_required, rest }, comment: Comment::default() }
    }
}
