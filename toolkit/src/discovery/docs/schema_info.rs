//! A schema in short.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use toolkit_schema::walk::{self, type_of};

/// A schema of arguments in short: what must be given, what is assumed, and of which types it is.
///
/// Arguments are named by their path: `options.depth` is a property of the object `options`, and `names[].first` one of
/// the objects in the list `names`. References are followed; what is repeated within itself is shown down to
/// [`SchemaInfo::MAX_DEPTH`] levels.
///
/// ```
/// # use serde_json::json;
/// # use toolkit::discovery::SchemaInfo;
/// let info = SchemaInfo::of(&json!({
///     "properties": { "to": { "$ref": "#/$defs/Person" } },
///     "required": ["to"],
///     "$defs": { "Person": { "type": "object", "properties": { "age": { "type": "integer", "default": 1 } } } },
/// }));
/// let info = info.unwrap();
/// assert_eq!(info.required, ["to"]);
/// assert_eq!(info.types["to.age"], ["integer"]);
/// assert_eq!(info.defaults["to.age"], 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SchemaInfo {
    /// What must be given, wherever what it belongs to is given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<String>,
    /// What is assumed where nothing is given.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub defaults: BTreeMap<String, Value>,
    /// The types that each may be of.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub types: BTreeMap<String, Vec<String>>,
}

/// More schemas than this are not looked into.
const MAX_SCHEMAS: usize = 512;
/// More references in a row than this lead in a circle.
const MAX_REFERENCES: usize = 16;

impl SchemaInfo {
    /// How deep it looks into objects and lists.
    pub const MAX_DEPTH: usize = 5;

    /// What a schema says; `None` where it says none of this.
    #[must_use]
    pub fn of(schema: &Value) -> Option<Self> {
        let mut reader = Reader { root: schema, info: Self::default(), room: MAX_SCHEMAS };
        reader.read_object(schema, "", 0);
        Some(reader.info).filter(|info| *info != Self::default())
    }
}

struct Reader<'s> {
    root: &'s Value,
    info: SchemaInfo,
    room: usize,
}

impl<'s> Reader<'s> {
    /// Reads the properties of an object, and those of the schemas that it is composed of.
    fn read_object(&mut self, schema: &'s Value, path: &str, depth: usize) {
        if depth > SchemaInfo::MAX_DEPTH || self.room == 0 {
            return;
        }
        self.room -= 1;
        let schema = self.target(schema);
        let of_path = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        for name in list(schema, "required").filter_map(Value::as_str) {
            let name = of_path(name);
            if !self.info.required.contains(&name) {
                self.info.required.push(name);
            }
        }
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            self.read_property(property, &of_path(name), depth);
        }
        for part in list(schema, "allOf") {
            self.read_object(part, path, depth + 1);
        }
    }

    fn read_property(&mut self, schema: &'s Value, path: &str, depth: usize) {
        if let Some(default) = schema.get("default").or_else(|| self.target(schema).get("default")) {
            self.info.defaults.insert(path.to_owned(), default.clone());
        }
        let mut types = Vec::new();
        self.add_types(schema, &mut types, 0);
        if !types.is_empty() {
            let known = self.info.types.entry(path.to_owned()).or_default();
            types.into_iter().for_each(|name| {
                if !known.contains(&name) {
                    known.push(name);
                }
            });
        }
        let schema = self.target(schema);
        self.read_object(schema, path, depth + 1);
        // An optional object is a choice between it and `null`.
        for choice in list(schema, "anyOf").chain(list(schema, "oneOf")) {
            self.read_object(choice, path, depth + 1);
        }
        if let Some(items) = schema.get("items").filter(|items| items.is_object()) {
            self.read_object(items, &format!("{path}[]"), depth + 1);
        }
    }

    fn add_types(&mut self, schema: &'s Value, types: &mut Vec<String>, depth: usize) {
        if depth > SchemaInfo::MAX_DEPTH || self.room == 0 {
            return;
        }
        self.room -= 1;
        let schema = self.target(schema);
        let mut add = |name: &str| {
            if types.iter().all(|known| known != name) {
                types.push(name.to_owned());
            }
        };
        match schema.get("type") {
            Some(Value::String(name)) => add(name),
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).for_each(add),
            _ => list(schema, "enum").chain(schema.get("const")).map(type_of).for_each(add),
        }
        for part in ["anyOf", "oneOf", "allOf"].into_iter().flat_map(|keyword| list(schema, keyword)) {
            self.add_types(part, types, depth + 1);
        }
    }

    /// Where the references of a schema lead.
    fn target(&self, mut schema: &'s Value) -> &'s Value {
        for _ in 0..MAX_REFERENCES {
            let reference = schema.get("$ref").and_then(Value::as_str);
            match reference.and_then(|reference| walk::resolve(self.root, reference)) {
                Some(target) => schema = target,
                None => break,
            }
        }
        schema
    }
}

fn list<'s>(schema: &'s Value, keyword: &str) -> impl Iterator<Item = &'s Value> {
    schema.get(keyword).and_then(Value::as_array).into_iter().flatten()
}
