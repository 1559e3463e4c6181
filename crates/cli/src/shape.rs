//! A simplified view of a JSON Schema: its properties and their kinds.
//!
//! The kinds cover the schemas that are derived from Rust types. Any other schema is [`Kind::Any`], which accepts JSON. The
//! dispatcher validates the values.

mod describe;
mod kind;

use serde_json::{Map, Value};

pub(crate) use self::describe::{constraints, describe_kind};
pub(crate) use self::kind::{Kind, Property};

/// A schema merged with the schemas that it refers to.
#[derive(Clone, Debug)]
pub(crate) struct Shape<'s> {
    root: &'s Value,
    /// The schema, then the target of its `$ref` or its only branch other than `null`, and so on.
    layers: Vec<&'s Map<String, Value>>,
    nullable: bool,
}

/// The maximum length of a chain of references, which may be cyclic.
const MAX_LAYERS: usize = 16;

impl<'s> Shape<'s> {
    /// Creates the shape of a root schema.
    pub(crate) fn new(schema: &'s Value) -> Self {
        Self::within(schema, schema)
    }

    fn within(root: &'s Value, schema: &'s Value) -> Self {
        let mut shape = Self { root, layers: Vec::new(), nullable: false };
        let mut next = Some(schema);
        while let Some(Value::Object(layer)) = next.take() {
            if shape.layers.len() == MAX_LAYERS {
                break;
            }
            shape.layers.push(layer);
            next = shape.next_layer(layer);
        }
        shape
    }

    /// Returns the target of the reference in `layer`, or its only branch other than `null`.
    fn next_layer(&mut self, layer: &'s Map<String, Value>) -> Option<&'s Value> {
        if let Some(Value::String(reference)) = layer.get("$ref") {
            return toolkit::__private::resolve(self.root, reference);
        }
        for keyword in ["anyOf", "oneOf", "allOf"] {
            let branches = layer.get(keyword).and_then(Value::as_array);
            let mut branches: Vec<&Value> = branches.into_iter().flatten().collect();
            let n_branches = branches.len();
            branches.retain(|branch| branch.get("type").is_none_or(|ty| ty != "null"));
            if let [branch] = branches[..] {
                self.nullable |= n_branches > 1;
                return Some(branch);
            }
        }
        None
    }

    /// Returns the value of `keyword`. A keyword next to a reference takes precedence over its target.
    pub(crate) fn get(&self, keyword: &str) -> Option<&'s Value> {
        self.layers.iter().find_map(|layer| layer.get(keyword))
    }

    /// Returns true if both are the same schema object, as in a recursive type.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self.layers.last(), other.layers.last()) {
            (Some(one), Some(other)) => std::ptr::eq(*one, *other),
            _ => false,
        }
    }

    /// Returns the description, without the descriptions of single enum values.
    pub(crate) fn description(&self) -> Option<&'s str> {
        let text = self.get("description")?.as_str()?;
        let first_value = match self.get("enum") {
            Some(_) if text.starts_with("- `") => Some(0),
            Some(_) => text.find("\n- `"),
            None => None,
        };
        let text = text[..first_value.unwrap_or(text.len())].trim_end();
        (!text.is_empty()).then_some(text)
    }

    /// Returns the description of an enum value: a line of the description such as ``- `fast`: In a hurry.``
    fn description_of(&self, value: &str) -> Option<&'s str> {
        let texts = self.layers.iter().filter_map(|layer| layer.get("description")?.as_str());
        let mut lines = texts.flat_map(str::lines);
        lines.find_map(|line| line.strip_prefix("- `")?.strip_prefix(value)?.strip_prefix("`: "))
    }

    /// Returns true if the value may be `null`.
    pub(crate) fn is_nullable(&self) -> bool {
        let types = self.get("type").and_then(Value::as_array);
        self.nullable || types.is_some_and(|types| types.iter().any(|ty| ty == "null"))
    }

    /// Returns the JSON types other than `null`.
    fn types(&self) -> Vec<&'s str> {
        let named = match self.get("type") {
            Some(Value::String(name)) => vec![name.as_str()],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ if self.get("properties").is_some() => vec!["object"],
            _ => Vec::new(),
        };
        named.into_iter().filter(|name| *name != "null").collect()
    }

    /// Returns the branches of `keywords` other than `null`.
    fn branches(&self, keywords: &[&str]) -> Vec<Self> {
        let deepest = self.layers.last();
        let lists = keywords.iter().filter_map(|keyword| deepest?.get(*keyword)?.as_array());
        let branches = lists.flatten().map(|branch| Self::within(self.root, branch));
        branches.filter(|branch| branch.get("type").is_none_or(|ty| ty != "null")).collect()
    }
}
