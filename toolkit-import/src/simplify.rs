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
    let mut simplifier = Simplifier { whole: schema, root, names: BTreeMap::new(), open: Vec::new() };
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
}

impl Simplifier<'_> {
    fn schema(&mut self, schema: &Value, place: &str) -> Result<Value, String> {
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
        // Choices between properties that are there already say which of them go together.
        if !simple.contains_key("properties") {
            self.choices(schema, &mut simple, place)?;
        }
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
        if properties.is_empty() {
            let closed = additional.filter(|additional| **additional == json!(false));
            simple.extend(closed.map(|closed| ("additionalProperties".to_owned(), closed.clone())));
        } else {
            let required = required(schema, place)?;
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

    fn choices(&mut self, schema: &Object, simple: &mut Object, place: &str) -> Result<(), String> {
        for keyword in ["anyOf", "oneOf", "allOf"] {
            let Some(choices) = schema.get(keyword) else { continue };
            let Some(choices) = choices.as_array().filter(|choices| !choices.is_empty()) else {
                return Err(format!("{} is no list of schemas", shown(&format!("{place}/{keyword}"))));
            };
            let mut kept: Vec<Value> = Vec::new();
            for (idx, choice) in choices.iter().enumerate() {
                let choice = self.schema(choice, &format!("{place}/{keyword}/{idx}"))?;
                if !kept.contains(&choice) {
                    kept.push(choice);
                }
            }
            let says_nothing = |choice: &Value| {
                choice.as_object().is_none_or(|choice| choice.keys().all(|name| name == "description"))
            };
            if keyword == "allOf" {
                kept.retain(|choice| !says_nothing(choice));
            }
            if kept.iter().any(says_nothing) {
                continue;
            }
            match <[Value; 1]>::try_from(kept) {
                Ok([Value::Object(only)]) => only.into_iter().for_each(|(name, value)| {
                    simple.entry(name).or_insert(value);
                }),
                Ok(_) => {}
                Err(kept) if kept.is_empty() => {}
                // Of any choice a value of Rust is one; of `anyOf`, `typify` would make a struct of all.
                Err(kept) => {
                    let keyword = if keyword == "anyOf" { "oneOf" } else { keyword };
                    simple.entry(keyword).or_insert_with(|| kept.into());
                }
            }
        }
        Ok(())
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
