//! Reports of how a schema is validated.

use std::fmt;

use serde_json::{Map, Value};

use crate::pointer::child;

/// The way in which values are validated against a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckPath {
    /// By a plan, during deserialization and serialization. Values that the plan refuses are validated as a tree.
    Plan,
    /// Always as a tree of the whole value.
    Tree(PlanObstacle),
}

impl fmt::Display for CheckPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckPath::Plan => f.write_str("while reading"),
            CheckPath::Tree(reason) => write!(f, "as a tree, because of {reason}"),
        }
    }
}

/// The first part of a schema that a plan does not support.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlanObstacle {
    /// The location in the schema, as a JSON Pointer.
    pub pointer: String,
    /// The keyword. Empty if the schema is too large or too deep.
    pub keyword: String,
}

impl fmt::Display for PlanObstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&*self.keyword, &*self.pointer) {
            ("", _) => f.write_str("its size"),
            (keyword, "") => write!(f, "`{keyword}`"),
            (keyword, pointer) => write!(f, "`{keyword}` at {pointer}"),
        }
    }
}

/// Returns the pointer to a schema, identified by its keywords.
pub(crate) fn pointer_to(root: &Value, keywords: &Map<String, Value>) -> Option<String> {
    let mut left = vec![(root, String::new())];
    while let Some((value, pointer)) = left.pop() {
        match value {
            Value::Object(object) if std::ptr::eq(object, keywords) => return Some(pointer),
            Value::Object(object) => left.extend(object.iter().map(|(key, value)| (value, child(&pointer, key)))),
            Value::Array(items) => {
                left.extend(items.iter().enumerate().map(|(idx, item)| (item, child(&pointer, &idx.to_string()))));
            }
            _ => {}
        }
    }
    None
}
