//! Reachability of a location in the values of a schema, and its possible types.

use std::borrow::Cow;

use serde_json::{Map, Value};
use toolkit_schema::pointer::tokens;
use toolkit_schema::types::Types;
use toolkit_schema::walk;

/// The knowledge about a location in a value.
pub(super) enum Reach {
    /// There is never a value.
    Nothing,
    /// Nothing is known.
    Open,
    /// If there is a value, it has one of these types.
    Typed(Types),
}

impl Reach {
    /// Returns the knowledge if either may hold.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Reach::Nothing, known) | (known, Reach::Nothing) => known,
            (Reach::Typed(a), Reach::Typed(b)) => Reach::Typed(a.or(b)),
            _ => Reach::Open,
        }
    }
}

/// Returns what the schema `document` determines about the location `pointer`.
///
/// `is_complete` is true if the schema lists every property that a value can have, as a schema derived from a type
/// does.
pub(super) fn reach(document: &Value, pointer: &str, is_complete: bool) -> Reach {
    let tokens: Vec<String> = tokens(pointer).map(Cow::into_owned).collect();
    Walk { document, is_complete, fuel: 1000 }.reach(document, &tokens)
}

struct Walk<'s> {
    document: &'s Value,
    is_complete: bool,
    /// Limits the walk, because schemas may be recursive.
    fuel: u32,
}

impl<'s> Walk<'s> {
    fn reach(&mut self, schema: &'s Value, tokens: &[String]) -> Reach {
        if self.fuel == 0 {
            return Reach::Open;
        }
        self.fuel -= 1;
        let keywords = match schema {
            Value::Bool(false) => return Reach::Nothing,
            Value::Object(keywords) => keywords,
            _ => return Reach::Open,
        };
        if let Some(reference) = keywords.get("$ref") {
            return match reference.as_str().and_then(|reference| self.target(reference)) {
                Some(target) if is_alone(keywords, "$ref") => self.reach(target, tokens),
                _ => Reach::Open,
            };
        }
        for choice in ["anyOf", "oneOf"] {
            if let Some(branches) = keywords.get(choice) {
                let Some(branches) = branches.as_array().filter(|_| is_alone(keywords, choice)) else {
                    return Reach::Open;
                };
                return branches.iter().fold(Reach::Nothing, |known, branch| known.or(self.reach(branch, tokens)));
            }
        }
        if ["allOf", "if", "dependentSchemas", "dependencies", "$dynamicRef"].iter().any(|k| keywords.contains_key(*k))
        {
            return Reach::Open;
        }
        let types = types_of(schema);
        let Some((token, rest)) = tokens.split_first() else {
            return types.map_or(Reach::Open, Reach::Typed);
        };
        let Some(types) = types else {
            return match property(keywords, token) {
                Some(property) => self.reach(property, rest).or(Reach::Open),
                None => Reach::Open,
            };
        };
        let as_object = if types.meets(Types::OBJECT) { self.property(keywords, token, rest) } else { Reach::Nothing };
        let as_array = if types.meets(Types::ARRAY) { self.item(keywords, token, rest) } else { Reach::Nothing };
        as_object.or(as_array)
    }

    fn property(&mut self, keywords: &'s Map<String, Value>, token: &str, rest: &[String]) -> Reach {
        if let Some(property) = property(keywords, token) {
            return self.reach(property, rest);
        }
        match keywords.get("additionalProperties") {
            _ if keywords.contains_key("patternProperties") => Reach::Open,
            Some(additional) => self.reach(additional, rest),
            None if self.is_complete && keywords.contains_key("properties") => Reach::Nothing,
            None => Reach::Open,
        }
    }

    fn item(&mut self, keywords: &'s Map<String, Value>, token: &str, rest: &[String]) -> Reach {
        let is_index = token == "0" || (!token.starts_with('0') && token.bytes().all(|byte| byte.is_ascii_digit()));
        let Some(idx) = token.parse::<usize>().ok().filter(|_| is_index) else { return Reach::Nothing };
        if keywords.get("maxItems").and_then(Value::as_u64).is_some_and(|max| idx as u64 >= max) {
            return Reach::Nothing;
        }
        let items = keywords.get("items");
        // In draft-07, an array in `items` has the role of the later `prefixItems`, and `additionalItems` applies to
        // the rest.
        let (prefix, after) = match items {
            Some(Value::Array(prefix)) => (Some(prefix), keywords.get("additionalItems")),
            _ => (keywords.get("prefixItems").and_then(Value::as_array), items),
        };
        match prefix.and_then(|prefix| prefix.get(idx)).or(after) {
            Some(item) => self.reach(item, rest),
            None => Reach::Open,
        }
    }

    fn target(&self, reference: &str) -> Option<&'s Value> {
        walk::resolve(self.document, reference)
    }
}

/// Returns the types that a schema allows, if it restricts them.
fn types_of(schema: &Value) -> Option<Types> {
    if let Some(names @ (Value::String(_) | Value::Array(_))) = schema.get("type") {
        return Some(Types::named(names));
    }
    let constant = schema.get("const").map(std::slice::from_ref);
    let values = constant.or_else(|| schema.get("enum").and_then(Value::as_array).map(Vec::as_slice))?;
    let types = values.iter().map(Types::from_value).fold(Types::NONE, Types::or);
    // A constant number counts as any number, like the type `number`.
    Some(if types.meets(Types::NUMBER) { types.or(Types::NUMBER) } else { types })
}

fn property<'s>(keywords: &'s Map<String, Value>, name: &str) -> Option<&'s Value> {
    keywords.get("properties")?.get(name)
}

/// Returns true if `keyword` is the only keyword that constrains a value.
fn is_alone(keywords: &Map<String, Value>, keyword: &str) -> bool {
    keywords.keys().all(|key| {
        key == keyword
            || matches!(
                key.as_str(),
                "$schema"
                    | "$id"
                    | "$defs"
                    | "definitions"
                    | "$comment"
                    | "title"
                    | "description"
                    | "default"
                    | "examples"
                    | "deprecated"
                    | "readOnly"
                    | "writeOnly"
            )
    })
}
