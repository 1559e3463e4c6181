//! What a Rust type can say of a schema, and nothing else: the types, the names, the choices.
//!
//! What is left out (ranges, patterns, conditions) only makes the type accept more; the dispatcher checks the rest when
//! the tool is called. Defaults are left out too, so that a server's default stays the server's.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::name;

type Object = Map<String, Value>;

const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// The schema in the words that `typify` reads well, its type to be named `root`, or what is wrong with it.
pub(crate) fn simplify(schema: &Value, root: &str) -> Result<Object, String> {
    let mut simplifier =
        Simplifier { whole: schema, root, names: BTreeMap::new(), open: Vec::new(), inlined: 0, depth: 0 };
    let Value::Object(mut simple) = simplifier.schema(schema, "")? else { return Ok(Object::new()) };
    let mut definitions = Object::new();
    while let Some(pointer) = simplifier.open.pop() {
        let target = schema.pointer(&pointer).unwrap_or(&Value::Null);
        let definition = simplifier.schema(target, &pointer)?;
        definitions.insert(simplifier.names[&pointer].clone(), definition);
    }
    if !definitions.is_empty() {
        simple.insert("definitions".to_owned(), definitions.into());
    }
    Ok(simple)
}

/// The same with less to it: a scalar or a list is what it was, and all else is any value.
pub(crate) fn plain(schema: &Value) -> Value {
    let mut plain = Object::new();
    plain.extend(schema.get("description").map(|text| ("description".to_owned(), text.clone())));
    let is_plain = |name: &Value| name.as_str().is_some_and(|name| name != "object");
    plain.extend(schema.get("type").filter(|name| is_plain(name)).map(|name| ("type".to_owned(), name.clone())));
    plain.into()
}

struct Simplifier<'s> {
    whole: &'s Value,
    root: &'s str,
    /// What is referred to, by its pointer, and the name that it gets.
    names: BTreeMap<String, String>,
    /// The pointers whose schemas are still to be read.
    open: Vec<String>,
    /// How many references were replaced by what they refer to.
    inlined: usize,
    depth: usize,
}

/// A schema that is made of parts of itself would never come to an end.
const MAX_INLINED: usize = 8;

/// How deep schemas are read: rustc gives up on structs in structs at a depth of about sixty.
const MAX_DEPTH: usize = 24;

impl Simplifier<'_> {
    fn schema(&mut self, schema: &Value, place: &str) -> Result<Value, String> {
        if self.depth == MAX_DEPTH {
            return Ok(json!({}));
        }
        self.depth += 1;
        let simple = self.words(schema, place);
        self.depth -= 1;
        simple
    }

    fn words(&mut self, schema: &Value, place: &str) -> Result<Value, String> {
        let schema = match schema {
            Value::Object(schema) => schema,
            Value::Bool(_) => return Ok(json!({})),
            _ => return Err(format!("{} is no schema", shown(place))),
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
        self.merge(schema, &mut simple, place)?;
        // Choices between properties that are there already say which of them go together.
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
                // In the order of their names, whatever order the maps of this build keep.
                for (name, property) in BTreeMap::from_iter(given) {
                    let at = format!("{place}/properties/{}", name.replace('~', "~0").replace('/', "~1"));
                    properties.insert(name.clone(), self.schema(property, &at)?);
                }
            }
            Some(_) => return Err(format!("{} is no object", shown(&format!("{place}/properties")))),
            None => {}
        }
        let additional = schema.get("additionalProperties");
        let is_object = schema.contains_key("properties") || additional.is_some();
        if is_object && !simple.contains_key("type") {
            simple.insert("type".to_owned(), json!("object"));
        }
        let required = required(schema, place)?;
        // In a choice, what is only required says which properties go together; at the root it is all there is.
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
        // Properties that nobody named, next to those that have a name, are for those who have a type for them.
        if let Some(additional) = additional.filter(|given| given.is_object() && **given != json!({})) {
            let additional = self.schema(additional, &format!("{place}/additionalProperties"))?;
            if additional != json!({}) || !simple.contains_key("properties") {
                simple.insert("additionalProperties".to_owned(), additional);
            }
        }
        Ok(())
    }

    /// One of several schemas.
    fn choices(&mut self, schema: &Object, simple: &mut Object, place: &str) -> Result<(), String> {
        for keyword in ["oneOf", "anyOf"] {
            let mut kept: Vec<Value> = Vec::new();
            for (at, choice) in list(schema, keyword, place)? {
                let choice = self.schema(choice, &at)?;
                if !kept.contains(&choice) {
                    kept.push(choice);
                }
            }
            if kept.is_empty() || kept.iter().any(says_nothing) {
                continue;
            }
            if let [Value::Object(only)] = &*kept {
                add(simple, only.clone());
            } else {
                // Of any choice a value of Rust is one; of `anyOf`, `typify` would make a struct of all.
                simple.insert("oneOf".to_owned(), kept.into());
            }
            return Ok(());
        }
        Ok(())
    }

    /// All of several schemas: their properties together, and of all else the first that is said.
    fn merge(&mut self, schema: &Object, simple: &mut Object, place: &str) -> Result<(), String> {
        let parts = list(schema, "allOf", place)?;
        // A lone reference stays one, unless it would be the second word.
        let is_alone = parts.len() == 1 && simple.keys().all(|name| name == "description" || name == "type");
        for (at, part) in parts {
            let part = if is_alone { self.schema(part, &at)? } else { self.inlined(part, &at)? };
            let Value::Object(part) = part else { continue };
            for (name, value) in part {
                match (simple.get_mut(&name), value) {
                    (Some(Value::Object(have)), Value::Object(more)) => {
                        add(have, more);
                    }
                    (Some(Value::Array(have)), Value::Array(more)) if name == "required" => {
                        have.extend(more.into_iter().filter(|name| !have.contains(name)).collect::<Vec<_>>());
                    }
                    (Some(_), _) => {}
                    (None, value) => drop(simple.insert(name, value)),
                }
            }
        }
        Ok(())
    }

    /// A schema with what it refers to in the place of the reference, as often as there is room for that.
    fn inlined(&mut self, schema: &Value, place: &str) -> Result<Value, String> {
        let target = schema.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
        let target = target.and_then(|pointer| Some((self.whole.pointer(pointer)?, pointer)));
        match target {
            None => self.schema(schema, place),
            Some(_) if self.inlined >= MAX_INLINED => Ok(json!({})),
            Some((target, pointer)) => {
                self.inlined += 1;
                self.inlined(target, pointer)
            }
        }
    }

    fn reference(&mut self, reference: &Value, place: &str) -> Result<Option<(String, Value)>, String> {
        let pointer = match reference.as_str().and_then(|reference| reference.strip_prefix('#')) {
            Some(pointer) if pointer.is_empty() || pointer.starts_with('/') => pointer,
            // An anchor, or another document: any value.
            _ => return Ok(None),
        };
        if pointer.is_empty() {
            return Ok(Some(("$ref".to_owned(), json!("#"))));
        }
        if self.whole.pointer(pointer).is_none() {
            return Err(format!("{} refers to `#{pointer}`, where there is nothing", shown(place)));
        }
        if !self.names.contains_key(pointer) {
            let last = pointer.rsplit('/').next().unwrap_or_default();
            let base = format!("{}{}", self.root, name::of_type(last));
            let taken = |name: &String| self.names.values().any(|other| other == name) || name == self.root;
            let numbered = (2..).map(|n| format!("{base}{n}"));
            let name = std::iter::once(base.clone()).chain(numbered).find(|name| !taken(name));
            self.names.insert(pointer.to_owned(), name.unwrap_or(base));
            self.open.push(pointer.to_owned());
        }
        Ok(Some(("$ref".to_owned(), json!(format!("#/definitions/{}", self.names[pointer])))))
    }
}

/// The schemas under a keyword, and where they are.
fn list<'s>(schema: &'s Object, keyword: &str, place: &str) -> Result<Vec<(String, &'s Value)>, String> {
    match schema.get(keyword) {
        None => Ok(Vec::new()),
        Some(Value::Array(list)) if !list.is_empty() => {
            Ok(list.iter().enumerate().map(|(idx, part)| (format!("{place}/{keyword}/{idx}"), part)).collect())
        }
        Some(_) => Err(format!("{} is no list of schemas", shown(&format!("{place}/{keyword}")))),
    }
}

/// Adds what is not there yet.
fn add(to: &mut Object, fields: Object) {
    for (name, value) in fields {
        to.entry(name).or_insert(value);
    }
}

/// Leaves a reference or a choice nothing but its description: next to other words `typify` would merge them, and with
/// what is recursive it would never end.
fn stand_alone(simple: &mut Object) {
    let word = ["properties", "$ref", "oneOf"].into_iter().find(|word| simple.contains_key(*word));
    match word {
        Some("properties") => simple.retain(|name, _| name != "$ref" && name != "oneOf"),
        Some(word) => simple.retain(|name, _| name == "description" || name == word),
        None => {}
    }
}

fn says_nothing(schema: &Value) -> bool {
    schema.as_object().is_none_or(|schema| schema.keys().all(|name| name == "description"))
}

fn types(schema: &Object, place: &str) -> Result<Option<Value>, String> {
    let Some(given) = schema.get("type") else { return Ok(None) };
    let names = given.as_array().cloned().unwrap_or_else(|| vec![given.clone()]);
    let is_type = |name: &Value| name.as_str().is_some_and(|name| TYPES.contains(&name));
    match names.iter().find(|name| !is_type(name)) {
        Some(wrong) => Err(format!("{} has the type {wrong}, which is none", shown(place))),
        None if names.is_empty() => Err(format!("{} has no type in its list", shown(place))),
        None => Ok(Some(given.clone())),
    }
}

/// The texts that are the only ones, where it is texts that are listed.
fn texts(schema: &Object) -> Option<Value> {
    let only = schema.get("const").map(|only| vec![only.clone()]);
    let mut texts = only.or_else(|| schema.get("enum")?.as_array().cloned())?;
    let mut seen = Vec::new();
    texts.retain(|text| {
        !seen.contains(text) && {
            seen.push(text.clone());
            true
        }
    });
    let is_text = texts.iter().all(|text| text.is_string() || text.is_null()) && texts.iter().any(Value::is_string);
    is_text.then(|| texts.into())
}

fn required(schema: &Object, place: &str) -> Result<Vec<Value>, String> {
    match schema.get("required") {
        None => Ok(Vec::new()),
        Some(Value::Array(names)) if names.iter().all(Value::is_string) => Ok(names.clone()),
        Some(_) => Err(format!("{} is no list of names", shown(&format!("{place}/required")))),
    }
}

fn shown(place: &str) -> String {
    if place.is_empty() { "its root".to_owned() } else { format!("`{}`", place.escape_debug()) }
}
