//! A JSON Schema as a person sees it: which properties there are, and of what kind.
//!
//! Only the forms that derived schemas have are told apart; whatever else a schema may say is [`Kind::Any`], which
//! takes JSON. Nothing is refused here: that is the dispatcher's affair.

mod composition;
mod kind;
mod words;

use serde_json::{Map, Value};

pub(crate) use self::kind::{Kind, Property};
pub(crate) use self::words::{constraints, kind_in_words};

/// A schema and what it refers to, read as one.
#[derive(Clone, Debug)]
pub(crate) struct Shape<'s> {
    root: &'s Value,
    /// The schema itself, then the target of its `$ref`, or its only branch beside `null`, and so on.
    layers: Vec<&'s Map<String, Value>>,
    nullable: bool,
}

/// No derived schema stacks more references than this without going in circles.
const MAX_LAYERS: usize = 16;

impl<'s> Shape<'s> {
    /// The shape of a whole schema.
    pub(crate) fn of(schema: &'s Value) -> Self {
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
            next = shape.beneath(layer);
        }
        shape
    }

    /// What `layer` refers to, or the only branch that it has beside `null`.
    fn beneath(&mut self, layer: &'s Map<String, Value>) -> Option<&'s Value> {
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

    /// What the schema says under `keyword`; what stands beside a reference wins over its target.
    pub(crate) fn get(&self, keyword: &str) -> Option<&'s Value> {
        self.layers.iter().find_map(|layer| layer.get(keyword))
    }

    /// Whether both are the same place of the same document, as they are one level down a recursive type.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (self.layers.last(), other.layers.last()) {
            (Some(one), Some(other)) => std::ptr::eq(*one, *other),
            _ => false,
        }
    }

    /// What the author says about it; what is said about single values of a list goes with those.
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

    /// What the author says about one value of a list: a line of the list's description, as in ``- `fast`: In a hurry.``
    fn description_of(&self, value: &str) -> Option<&'s str> {
        let texts = self.layers.iter().filter_map(|layer| layer.get("description")?.as_str());
        let mut lines = texts.flat_map(str::lines);
        lines.find_map(|line| line.strip_prefix("- `")?.strip_prefix(value)?.strip_prefix("`: "))
    }

    /// Whether it may be `null`.
    pub(crate) fn is_nullable(&self) -> bool {
        let types = self.get("type").and_then(Value::as_array);
        self.nullable || types.is_some_and(|types| types.iter().any(|ty| ty == "null"))
    }

    /// The JSON types that it names, `null` aside.
    fn types(&self) -> Vec<&'s str> {
        let named = match self.get("type") {
            Some(Value::String(name)) => vec![name.as_str()],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ if self.get("properties").is_some() => vec!["object"],
            _ => Vec::new(),
        };
        named.into_iter().filter(|name| *name != "null").collect()
    }

    /// The branches under any of `keywords`, `null` aside.
    fn branches(&self, keywords: &[&str]) -> Vec<Self> {
        let deepest = self.layers.last();
        let lists = keywords.iter().filter_map(|keyword| deepest?.get(*keyword)?.as_array());
        let branches = lists.flatten().map(|branch| Self::within(self.root, branch));
        branches.filter(|branch| branch.get("type").is_none_or(|ty| ty != "null")).collect()
    }
}
