//! Search: the index and its changes, ranking, pages, and documentation.

mod cases_index;
mod cases_rest;
mod cases_search;
mod changes;
mod docs;
mod explain;
mod hostile;
mod index;
mod pages;
mod saved;
mod search;
mod semantic;
mod unanswered;

use serde_json::{Value, json};
use toolkit::Tool;
use toolkit_search::{Hit, Index};

/// Creates a tool with an id and a description.
fn tool(id: &str, description: &str) -> Tool {
    let (namespace, name) = match id.split_once(':') {
        Some((namespace, name)) => (Some(namespace), name),
        None => (None, id),
    };
    let record = json!({
        "name": name,
        "namespace": namespace,
        "description": description,
        "inputSchema": { "type": "object" },
    });
    Tool::from_json(record).unwrap()
}

/// Creates an index of tools with ids and descriptions.
fn index(tools: &[(&str, &str)]) -> Index {
    let tools: Vec<Tool> = tools.iter().map(|(id, description)| tool(id, description)).collect();
    Index::from_tools(&tools)
}

fn ids(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|hit| &*hit.summary.id).collect()
}

fn cases(text: &str, table: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(text).unwrap();
    document[table].as_array().unwrap().clone()
}
