//! What a Rust type can say of a schema, and nothing else: the types, the names, the choices.
//!
//! What is left out (ranges, patterns, conditions) only makes the type accept more; the dispatcher checks the rest when
//! the tool is called. Defaults are left out too, so that a server's default stays the server's.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::name;
use crate::pointer::pointer;
use crate::words::{Object, add, distinct, list, required, says_nothing, shown, stand_alone, texts, types};

/// The schema in the words that `typify` reads well, its type to be named `root`, or what is wrong with it; `None` if it
/// is too much to read.
pub(crate) fn simplify(schema: &Value, root: &str) -> Result<Option<Object>, String> {
    let mut simplifier = Simplifier {
        whole: schema,
        root,
        names: BTreeMap::new(),
        taken: BTreeSet::from([root.to_owned()]),
        open: Vec::new(),
        inside: Vec::new(),
        depth: 0,
        read: 0,
        copied: 0,
        gave_up: false,
    };
    let Value::Object(mut simple) = simplifier.schema(schema, "")? else { return Ok(Some(Object::new())) };
    let mut definitions = Object::new();
    while let Some(pointer) = simplifier.open.pop() {
        let target = schema.pointer(&pointer).unwrap_or(&Value::Null);
        let definition = simplifier.schema(target, &pointer)?;
        definitions.insert(simplifier.names[&pointer].clone(), definition);
    }
    if !definitions.is_empty() {
        simple.insert("definitions".to_owned(), definitions.into());
    }
    Ok((!simplifier.gave_up).then_some(simple))
}

/// The same with less to it: a scalar or a list is what it was, and all else is any value.
pub(crate) fn plain(schema: &Value) -> Value {
    let mut plain = Object::new();
    plain.extend(schema.get("description").map(|text| ("description".to_owned(), text.clone())));
    let is_plain = |name: &Value| name.as_str().is_some_and(|name| name != "object");
    plain.extend(schema.get("type").filter(|name| is_plain(name)).map(|name| ("type".to_owned(), name.clone())));
    plain.into()
}

pub(crate) struct Simplifier<'s> {
    whole: &'s Value,
    root: &'s str,
    /// What is referred to, by its pointer, and the name that it gets.
    names: BTreeMap<String, String>,
    /// The names of types that are given away.
    taken: BTreeSet<String>,
    /// The pointers whose schemas are still to be read.
    open: Vec<String>,
    /// The pointers of the references that are being replaced by what they refer to.
    inside: Vec<String>,
    depth: usize,
    /// How many schemas were read.
    read: usize,
    /// How long, as JSON, all that stands in the place of references is.
    copied: usize,
    /// Whether there was more than is read.
    gave_up: bool,
}

/// How many schemas are read of one: parts that refer to parts can be far more than what is written.
const MAX_READ: usize = 1 << 14;

/// How many bytes of JSON may stand in the place of references.
const MAX_COPIED: usize = 1 << 20;

/// How many references may stand within each other.
const MAX_INSIDE: usize = 64;

/// How deep schemas are read: rustc gives up on structs in structs at a depth of about sixty.
const MAX_DEPTH: usize = 24;

impl Simplifier<'_> {
    fn schema(&mut self, schema: &Value, place: &str) -> Result<Value, String> {
        self.deeper(schema, place, false)
    }

    /// A schema, or a part of one whose properties may stand in another part.
    fn deeper(&mut self, schema: &Value, place: &str, is_part: bool) -> Result<Value, String> {
        self.read += 1;
        self.gave_up |= self.read > MAX_READ;
        if self.gave_up || self.depth == MAX_DEPTH {
            return Ok(json!({}));
        }
        self.depth += 1;
        let simple = self.words(schema, place, is_part);
        self.depth -= 1;
        simple
    }

    fn words(&mut self, schema: &Value, place: &str, is_part: bool) -> Result<Value, String> {
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
        self.merge(schema, &mut simple, place, is_part)?;
        self.branches(schema, &mut simple, place, is_part)?;
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
            let mut seen = BTreeSet::new();
            for (at, choice) in list(schema, keyword, place)? {
                let choice = self.schema(choice, &at)?;
                if seen.insert(choice.to_string()) {
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
    fn merge(&mut self, schema: &Object, simple: &mut Object, place: &str, is_part: bool) -> Result<(), String> {
        let parts = list(schema, "allOf", place)?;
        // A lone reference stays one, unless it would be the second word, here or where this is a part.
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

    /// A part of a schema, with what it refers to in the place of the reference, but not once more within itself.
    pub(crate) fn inlined(&mut self, schema: &Value, place: &str) -> Result<Value, String> {
        let pointer = schema.get("$ref").and_then(Value::as_str).and_then(pointer);
        match pointer.and_then(|pointer| Some((self.whole.pointer(&pointer)?, pointer))) {
            None => self.deeper(schema, place, true),
            Some((_, pointer)) if self.inside.contains(&pointer) => Ok(json!({})),
            Some(_) if self.gave_up || self.inside.len() == MAX_INSIDE => {
                self.gave_up = true;
                Ok(json!({}))
            }
            Some((target, pointer)) => {
                self.copied += target.to_string().len();
                self.gave_up |= self.copied > MAX_COPIED;
                self.inside.push(pointer.clone());
                let simple = self.inlined(target, &pointer);
                self.inside.pop();
                simple
            }
        }
    }

    fn reference(&mut self, reference: &Value, place: &str) -> Result<Option<(String, Value)>, String> {
        // An anchor, or another document: any value.
        let Some(pointer) = reference.as_str().and_then(pointer) else { return Ok(None) };
        if pointer.is_empty() {
            return Ok(Some(("$ref".to_owned(), json!("#"))));
        }
        if self.whole.pointer(&pointer).is_none() {
            return Err(format!("{} refers to `#{pointer}`, where there is nothing", shown(place)));
        }
        if !self.names.contains_key(&pointer) {
            let last = pointer.rsplit('/').next().unwrap_or_default();
            let base = format!("{}{}", self.root, name::of_type(last));
            let numbered = (2..).map(|n| format!("{base}{n}"));
            let name = std::iter::once(base.clone()).chain(numbered).find(|name| !self.taken.contains(name));
            let name = name.unwrap_or(base);
            self.taken.insert(name.clone());
            self.names.insert(pointer.clone(), name);
            self.open.push(pointer.clone());
        }
        Ok(Some(("$ref".to_owned(), json!(format!("#/definitions/{}", self.names[&pointer])))))
    }
}
