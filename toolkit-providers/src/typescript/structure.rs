//! Conversion of objects and arrays.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use toolkit_schema::child;

use super::convert::Converter;
use super::kinds::Kinds;
use super::ty::{Comment, Node, Property, Type};
use crate::loss::Effect;

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
        let required = keywords.get("required").and_then(Value::as_array).into_iter().flatten();
        let mut required: BTreeSet<&str> = required.filter_map(Value::as_str).collect();
        if required.iter().any(|name| INHERITED.contains(name)) {
            self.report(at, "required", Effect::Widened, "has a name that every object of JavaScript inherits");
        }
        let mut properties = Vec::new();
        if let Some(Value::Object(declared)) = keywords.get("properties") {
            let at = child(at, "properties");
            for (name, schema) in declared {
                let node = self.schema(schema, Kinds::ALL, &child(&at, name), depth + 1);
                properties.push(Property { name: name.clone(), is_optional: !required.remove(name.as_str()), node });
            }
        }
        let undeclared = required.into_iter();
        properties.extend(undeclared.map(|name| Property {
            name: name.to_owned(),
            is_optional: false,
            node: Type::Unknown.into(),
        }));
        properties.sort_by(|a, b| (a.is_optional, &a.name).cmp(&(b.is_optional, &b.name)));
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
            nodes.extend(patterns.map(|(name, schema)| self.schema(schema, Kinds::ALL, &child(&at, name), depth + 1)));
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
                nodes.push(self.schema(schema, Kinds::ALL, &child(at, "additionalProperties"), depth + 1));
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
                Some(schema) => self.schema(schema, Kinds::ALL, &child(at, "items"), depth + 1),
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
            .map(|(idx, schema)| self.schema(schema, Kinds::ALL, &child(&at_places, &idx.to_string()), depth + 1))
            .collect();
        let rest = match items {
            Some(Value::Bool(false)) => None,
            Some(schema) => Some(self.schema(schema, Kinds::ALL, &child(at, "items"), depth + 1)),
            None => Some(Type::Unknown.into()),
        };
        let rest = rest.filter(|rest| rest.ty != Type::Never).map(Box::new);
        let least = keywords.get("minItems").and_then(Value::as_u64).and_then(|least| usize::try_from(least).ok());
        let n_required = least.unwrap_or(0).min(places.len());
        Node { ty: Type::Tuple { items: places, n_required, rest }, comment: Comment::default() }
    }
}
