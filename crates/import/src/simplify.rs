//! Simplification of a schema to the keywords that a Rust type can express: types, names and alternatives.
//!
//! Other constraints (ranges, patterns, conditions) are omitted, so the type accepts more than the schema; the dispatcher
//! validates the arguments of each call. Defaults are omitted too, so that the defaults of the server apply.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::name;
use crate::pointer::{child, pointer};

/// Reduces a schema, whose type will be named `root`, to the keywords that `typify` supports well. Returns `None` if the
/// schema is too large, and an error if it is invalid.
pub(crate) fn simplify(schema: &Value, root: &str) -> Result<Option<Object>, String> {
    let mut simplifier = Simplifier {
        whole: schema,
        root,
        names: BTreeMap::new(),
        taken: BTreeSet::from([root.to_owned()]),
        pending: Vec::new(),
        inlining: Vec::new(),
        depth: 0,
        n_visited: 0,
        n_inlined_bytes: 0,
        is_too_large: false,
    };
    let Value::Object(mut simple) = simplifier.schema(schema, "")? else { return Ok(Some(Object::new())) };
    let mut definitions = Object::new();
    while let Some(pointer) = simplifier.pending.pop() {
        let target = schema.pointer(&pointer).unwrap_or(&Value::Null);
        let definition = simplifier.schema(target, &pointer)?;
        definitions.insert(simplifier.names[&pointer].clone(), definition);
    }
    if !definitions.is_empty() {
        simple.insert("definitions".to_owned(), definitions.into());
    }
    Ok((!simplifier.is_too_large).then_some(simple))
}

/// Reduces a schema to its description and its scalar or array type. Any other schema becomes any value.
pub(crate) fn fallback(schema: &Value) -> Value {
    let mut fallback = Object::new();
    fallback.extend(schema.get("description").map(|text| ("description".to_owned(), text.clone())));
    let is_simple = |name: &Value| name.as_str().is_some_and(|name| name != "object");
    fallback.extend(schema.get("type").filter(|name| is_simple(name)).map(|name| ("type".to_owned(), name.clone())));
    fallback.into()
}

pub(crate) struct Simplifier<'s> {
    whole: &'s Value,
    root: &'s str,
    /// The type names of referenced schemas, by their pointers.
    names: BTreeMap<String, String>,
    /// The type names in use.
    taken: BTreeSet<String>,
    /// The pointers of referenced schemas that are not simplified yet.
    pending: Vec<String>,
    /// The pointers of the references that are being inlined.
    inlining: Vec<String>,
    depth: usize,
    /// The number of visited schemas.
    n_visited: usize,
    /// The number of bytes of all inlined schemas, as JSON.
    n_inlined_bytes: usize,
    /// True if a limit was exceeded.
    is_too_large: bool,
}

/// The maximum number of visited schemas, since nested references can grow exponentially.
const MAX_VISITED: usize = 1 << 14;

/// The maximum number of bytes of inlined schemas.
const MAX_INLINED_BYTES: usize = 1 << 20;

/// The maximum depth of nested references.
const MAX_INLINING: usize = 64;

/// The maximum depth of schemas. rustc fails for structs that are nested about sixty levels deep.
const MAX_DEPTH: usize = 24;

impl Simplifier<'_> {
    fn schema(&mut self, schema: &Value, place: &str) -> Result<Value, String> {
        self.nested(schema, place, false)
    }

    /// Simplifies a schema. `is_part` is true for a subschema in place, such as in `allOf`.
    fn nested(&mut self, schema: &Value, place: &str, is_part: bool) -> Result<Value, String> {
        self.n_visited += 1;
        self.is_too_large |= self.n_visited > MAX_VISITED;
        if self.is_too_large || self.depth == MAX_DEPTH {
            return Ok(json!({}));
        }
        self.depth += 1;
        let simple = self.keywords(schema, place, is_part);
        self.depth -= 1;
        simple
    }

    fn keywords(&mut self, schema: &Value, place: &str, is_part: bool) -> Result<Value, String> {
        let schema = match schema {
            Value::Object(schema) => schema,
            Value::Bool(_) => return Ok(json!({})),
            _ => return Err(format!("{} is not a schema", shown(place))),
        };
        let mut simple = Object::new();
        if let Some(description) = schema.get("description").filter(|text| text.is_string()) {
            simple.insert("description".to_owned(), description.clone());
        }
        if let Some(reference) = schema.get("$ref") {
            simple.extend(self.reference(reference, place)?);
            return Ok(simple.into());
        }
        simple.extend(types(schema, place)?.map(|types| ("type".to_owned(), types)));
        simple.extend(texts(schema).map(|texts| ("enum".to_owned(), texts)));
        if schema.get("minimum").and_then(Value::as_f64).is_some_and(|least| least >= 0.0) {
            simple.insert("minimum".to_owned(), json!(0));
        }
        self.object(schema, &mut simple, place)?;
        if let Some(items @ (Value::Object(_) | Value::Bool(_))) = schema.get("items") {
            simple.insert("items".to_owned(), self.schema(items, &format!("{place}/items"))?);
        }
        self.merge(schema, &mut simple, place, is_part)?;
        self.branches(schema, &mut simple, place, is_part)?;
        // Alternatives of an object with properties only constrain which properties go together.
        if !["properties", "$ref", "oneOf"].iter().any(|word| simple.contains_key(*word)) {
            self.choices(schema, &mut simple, place)?;
        }
        stand_alone(&mut simple);
        Ok(simple.into())
    }

    fn object(&mut self, schema: &Object, simple: &mut Object, place: &str) -> Result<(), String> {
        let mut properties = Object::new();
        match schema.get("properties") {
            Some(Value::Object(given)) => {
                for (name, property) in given {
                    let at = child(&format!("{place}/properties"), name);
                    properties.insert(name.clone(), self.schema(property, &at)?);
                }
            }
            Some(_) => return Err(format!("{} is not an object", shown(&format!("{place}/properties")))),
            None => {}
        }
        let additional = schema.get("additionalProperties");
        let is_object = schema.contains_key("properties") || additional.is_some();
        if is_object && !simple.contains_key("type") {
            simple.insert("type".to_owned(), json!("object"));
        }
        let required = required(schema, place)?;
        // In an alternative, `required` alone constrains which properties go together. At the root, it declares properties.
        if properties.is_empty() && (required.is_empty() || !place.is_empty()) {
            let closed = additional.filter(|additional| **additional == json!(false));
            simple.extend(closed.map(|closed| ("additionalProperties".to_owned(), closed.clone())));
        } else {
            for name in required.iter().filter_map(Value::as_str) {
                properties.entry(name).or_insert_with(|| json!({}));
            }
            simple.insert("required".to_owned(), required.into());
            simple.insert("properties".to_owned(), properties.into());
        }
        // Additional properties become a map if they have a type.
        if let Some(additional) = additional.filter(|given| given.is_object() && **given != json!({})) {
            let additional = self.schema(additional, &format!("{place}/additionalProperties"))?;
            if additional != json!({}) || !simple.contains_key("properties") {
                simple.insert("additionalProperties".to_owned(), additional);
            }
        }
        Ok(())
    }

    /// Simplifies `oneOf` and `anyOf`.
    fn choices(&mut self, schema: &Object, simple: &mut Object, place: &str) -> Result<(), String> {
        for keyword in ["oneOf", "anyOf"] {
            let mut kept: Vec<Value> = Vec::new();
            let mut seen = BTreeSet::new();
            for (at, choice) in list(schema, keyword, place)? {
                let choice = self.schema(choice, &at)?;
                if seen.insert(choice.to_string()) {
                    kept.push(choice);
                }
            }
            if kept.is_empty() || kept.iter().any(is_unconstrained) {
                continue;
            }
            if let [Value::Object(only)] = &*kept {
                add(simple, only.clone());
            } else {
                // A Rust value is one of the alternatives; `typify` would convert `anyOf` to a struct of all.
                simple.insert("oneOf".to_owned(), kept.into());
            }
            return Ok(());
        }
        Ok(())
    }

    /// Merges `allOf`: the union of the properties, and the first value of any other keyword.
    fn merge(&mut self, schema: &Object, simple: &mut Object, place: &str, is_part: bool) -> Result<(), String> {
        let parts = list(schema, "allOf", place)?;
        // A single reference is kept if the schema has no other keywords and is not merged into another one.
        let is_alone =
            !is_part && parts.len() == 1 && simple.keys().all(|name| name == "description" || name == "type");
        for (at, part) in parts {
            let part = if is_alone { self.schema(part, &at)? } else { self.inlined(part, &at)? };
            let Value::Object(part) = part else { continue };
            for (name, value) in part {
                match (simple.get_mut(&name), value) {
                    (Some(Value::Object(have)), Value::Object(more)) => {
                        add(have, more);
                    }
                    (Some(Value::Array(have)), Value::Array(more)) if name == "required" => {
                        have.extend(more);
                        distinct(have);
                    }
                    (Some(_), _) => {}
                    (None, value) => drop(simple.insert(name, value)),
                }
            }
        }
        Ok(())
    }

    /// Simplifies a part with its reference inlined. A recursive reference becomes any value.
    pub(crate) fn inlined(&mut self, schema: &Value, place: &str) -> Result<Value, String> {
        let pointer = schema.get("$ref").and_then(Value::as_str).and_then(pointer);
        match pointer.and_then(|pointer| Some((self.whole.pointer(&pointer)?, pointer))) {
            None => self.nested(schema, place, true),
            Some((_, pointer)) if self.inlining.contains(&pointer) => Ok(json!({})),
            Some(_) if self.is_too_large || self.inlining.len() == MAX_INLINING => {
                self.is_too_large = true;
                Ok(json!({}))
            }
            Some((target, pointer)) => {
                self.n_inlined_bytes += target.to_string().len();
                self.is_too_large |= self.n_inlined_bytes > MAX_INLINED_BYTES;
                self.inlining.push(pointer.clone());
                let simple = self.inlined(target, &pointer);
                self.inlining.pop();
                simple
            }
        }
    }

    fn reference(&mut self, reference: &Value, place: &str) -> Result<Option<(String, Value)>, String> {
        // A reference to an anchor or to another document becomes any value.
        let Some(pointer) = reference.as_str().and_then(pointer) else { return Ok(None) };
        if pointer.is_empty() {
            return Ok(Some(("$ref".to_owned(), json!("#"))));
        }
        if self.whole.pointer(&pointer).is_none() {
            return Err(format!("{} refers to `#{pointer}`, which does not exist", shown(place)));
        }
        if !self.names.contains_key(&pointer) {
            let last = pointer.rsplit('/').next().unwrap_or_default();
            let base = format!("{}{}", self.root, name::type_name(last));
            let numbered = (2..).map(|n| format!("{base}{n}"));
            let name = std::iter::once(base.clone()).chain(numbered).find(|name| !self.taken.contains(name));
            let name = name.unwrap_or(base);
            self.taken.insert(name.clone());
            self.names.insert(pointer.clone(), name);
            self.pending.push(pointer.clone());
        }
        Ok(Some(("$ref".to_owned(), json!(format!("#/definitions/{}", self.names[&pointer])))))
    }
}

/// The internal keyword with the properties of branches, until they are merged into an object with properties.
pub(crate) const BRANCHES: &str = "branches";

pub(crate) type Object = Map<String, Value>;

const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// Returns the schemas in the list of a keyword with their pointers.
pub(crate) fn list<'s>(schema: &'s Object, keyword: &str, place: &str) -> Result<Vec<(String, &'s Value)>, String> {
    match schema.get(keyword) {
        None => Ok(Vec::new()),
        Some(Value::Array(list)) if !list.is_empty() => {
            Ok(list.iter().enumerate().map(|(idx, part)| (format!("{place}/{keyword}/{idx}"), part)).collect())
        }
        Some(_) => Err(format!("{} must be an array of schemas", shown(&format!("{place}/{keyword}")))),
    }
}

/// Adds missing fields.
pub(crate) fn add(to: &mut Object, fields: Object) {
    for (name, value) in fields {
        to.entry(name).or_insert(value);
    }
}

/// Removes the keywords next to a reference or `oneOf` except the description. `typify` would merge them, and would not
/// terminate for recursive schemas.
fn stand_alone(simple: &mut Object) {
    let word = ["properties", "$ref", "oneOf"].into_iter().find(|word| simple.contains_key(*word));
    match word {
        Some("properties") => simple.retain(|name, _| name != "$ref" && name != "oneOf"),
        Some(word) => simple.retain(|name, _| name == "description" || name == word || name == BRANCHES),
        None => {}
    }
}

/// Returns true if a schema accepts any value.
fn is_unconstrained(schema: &Value) -> bool {
    schema.as_object().is_none_or(|schema| schema.keys().all(|name| name == "description"))
}

pub(crate) fn types(schema: &Object, place: &str) -> Result<Option<Value>, String> {
    let Some(given) = schema.get("type") else { return Ok(None) };
    let names = given.as_array().cloned().unwrap_or_else(|| vec![given.clone()]);
    let is_type = |name: &Value| name.as_str().is_some_and(|name| TYPES.contains(&name));
    match names.iter().find(|name| !is_type(name)) {
        Some(wrong) => Err(format!("{} has the unknown type {wrong}", shown(place))),
        None if names.is_empty() => Err(format!("{} has an empty list of types", shown(place))),
        None => Ok(Some(given.clone())),
    }
}

/// Returns the values of `const` or `enum` if they are strings, or strings and `null`.
fn texts(schema: &Object) -> Option<Value> {
    let only = schema.get("const").map(|only| vec![only.clone()]);
    let mut texts = only.or_else(|| schema.get("enum")?.as_array().cloned())?;
    distinct(&mut texts);
    let is_text = texts.iter().all(|text| text.is_string() || text.is_null()) && texts.iter().any(Value::is_string);
    is_text.then(|| texts.into())
}

/// Removes duplicates.
fn distinct(values: &mut Vec<Value>) {
    let mut seen = BTreeSet::new();
    values.retain(|value| seen.insert(value.to_string()));
}

pub(crate) fn required(schema: &Object, place: &str) -> Result<Vec<Value>, String> {
    match schema.get("required") {
        None => Ok(Vec::new()),
        Some(Value::Array(names)) if names.iter().all(Value::is_string) => Ok(names.clone()),
        Some(_) => Err(format!("{} must be an array of strings", shown(&format!("{place}/required")))),
    }
}

pub(crate) fn shown(place: &str) -> String {
    if place.is_empty() { "the root".to_owned() } else { format!("`{}`", place.escape_debug()) }
}
