//! Summaries of schemas.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use toolkit_schema::walk::{self, type_of};

/// A summary of an input schema: required arguments, defaults and types.
///
/// Arguments are named by their path: `options.depth` is a property of the object `options`, and `names[].first` one of
/// the objects in the list `names`. References are followed; recursive schemas are expanded to
/// [`SchemaInfo::MAX_DEPTH`] levels.
///
/// ```
/// # use serde_json::json;
/// # use toolkit_search::SchemaInfo;
/// let info = SchemaInfo::from_schema(&json!({
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
    /// The required arguments. Nested ones are only required if their parent is present.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<String>,
    /// The defaults of optional arguments.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub defaults: BTreeMap<String, Value>,
    /// The types of each argument.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub types: BTreeMap<String, Vec<String>>,
}

/// The maximum number of schemas to read.
const MAX_SCHEMAS: usize = 512;
/// The maximum number of consecutive references; more are a cycle.
const MAX_REFERENCES: usize = 16;

impl SchemaInfo {
    /// The maximum depth of objects and lists.
    pub const MAX_DEPTH: usize = 5;

    /// Summarizes a schema; `None` if the summary would be empty.
    #[must_use]
    pub fn from_schema(schema: &Value) -> Option<Self> {
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
    /// Reads the properties of an object, including those of the parts of an `allOf`.
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
        // The schema of an optional object is a choice between the object and `null`.
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

    /// Returns the target of the references of a schema.
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
