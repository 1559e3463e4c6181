//! Fifth lesson, continued: `Structured<T>`, with data for programs and a text for the model.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use toolkit::{Content, Structured, tool};

/// One difference between two documents.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Change {
    /// A value that only the second document contains.
    Added {
        /// The location, as a JSON Pointer.
        pointer: String,
        /// The value in the second document.
        value: Value,
    },
    /// A value that only the first document contains.
    Removed {
        /// The location, as a JSON Pointer.
        pointer: String,
        /// The value in the first document.
        value: Value,
    },
    /// A location with different values.
    Changed {
        /// The location, as a JSON Pointer.
        pointer: String,
        /// The value in the first document.
        old: Value,
        /// The value in the second document.
        new: Value,
    },
}

/// Differences between two documents.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JsonDifference {
    /// True if the documents are equal.
    pub equal: bool,
    /// The differences, in the order of their locations; arrays are compared item by item.
    pub changes: Vec<Change>,
    /// True if further differences were omitted because of their number.
    pub truncated: bool,
}

/// Compares two JSON documents by location; the order of keys has no meaning.
#[tool(namespace = "json", version = "1.0.0", category = "data", read_only, idempotent, open_world = false)]
pub fn diff_json(
    /// The first document.
    old: Value,
    /// The second document.
    new: Value,
) -> Structured<JsonDifference> {
    let mut found = Found::default();
    compare(&old, &new, &mut String::new(), &mut found);
    let Found { changes, truncated, .. } = found;
    let mut shown = String::new();
    for change in &changes {
        shown.push_str(&match change {
            Change::Added { pointer, value } => format!("+ {pointer} {value}\n"),
            Change::Removed { pointer, value } => format!("- {pointer} {value}\n"),
            Change::Changed { pointer, old, new } => format!("~ {pointer} {old} -> {new}\n"),
        });
    }
    let equal = changes.is_empty() && !truncated;
    if equal {
        shown.push_str("The documents are the same.");
    } else if truncated {
        shown.push_str("(and more; compare parts of the documents)");
    }
    let difference = JsonDifference { equal, changes, truncated };
    Structured::new(difference, [Content::text(shown)])
}

/// The differences that were found so far.
#[derive(Default)]
struct Found {
    changes: Vec<Change>,
    truncated: bool,
    told_bytes: usize,
}

impl Found {
    /// A long key is part of the pointer of each of its thousand descendants, so the pointers have to be bounded.
    fn push(&mut self, pointer: &str, change: impl FnOnce(String) -> Change) {
        self.truncated |= self.told_bytes + pointer.len() > 1_000_000 || self.changes.len() == 10_000;
        if !self.truncated {
            self.told_bytes += pointer.len();
            self.changes.push(change(pointer.to_owned()));
        }
    }
}

/// Recursion is safe here: the parser rejects documents deeper than 128 levels.
fn compare(old: &Value, new: &Value, pointer: &mut String, found: &mut Found) {
    if found.truncated {
        return;
    }
    let length = pointer.len();
    let mut step = |pointer: &mut String, key: &str, old: Option<&Value>, new: Option<&Value>| {
        pointer.push('/');
        pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
        match (old, new) {
            (Some(old), Some(new)) => compare(old, new, pointer, found),
            (None, Some(value)) => found.push(pointer, |pointer| Change::Added { pointer, value: value.clone() }),
            (Some(value), None) => found.push(pointer, |pointer| Change::Removed { pointer, value: value.clone() }),
            (None, None) => {}
        }
        pointer.truncate(length);
    };
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            for (key, value) in old {
                step(pointer, key, Some(value), new.get(key));
            }
            for (key, value) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
                step(pointer, key, None, Some(value));
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            for idx in 0..old.len().max(new.len()) {
                step(pointer, &idx.to_string(), old.get(idx), new.get(idx));
            }
        }
        _ if old == new => {}
        _ => found.push(pointer, |pointer| Change::Changed { pointer, old: old.clone(), new: new.clone() }),
    }
}
