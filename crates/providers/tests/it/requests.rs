//! Requests, as the official packages send them; what to send again; and histories within a number of tokens.

mod answers;
mod conversations;
mod recorded;
mod retries;
mod trimmed;
mod usage;

use serde_json::{Value, json};
use toolkit::{Catalog, Tool};

/// Returns a catalog with the tool `math_add`.
fn catalog() -> Catalog {
    let integer = json!({ "type": "integer" });
    let input = json!({ "type": "object", "properties": { "a": integer, "b": integer }, "required": ["a", "b"],
        "additionalProperties": false });
    let tool = Tool::builder("add").namespace("math").description("Adds two integers.").input(input);
    Catalog::new([tool.build().unwrap()]).unwrap()
}

/// Returns a value with sorted keys.
fn sorted(value: &Value) -> Value {
    let mut value = value.clone();
    value.sort_all_objects();
    value
}
