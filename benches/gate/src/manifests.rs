//! A list of tools as text, which is parsed, checked and written.

use serde_json::{Value, json};
use toolkit::catalog::Naming;
use toolkit::mcp::{Revision, ToolList};
use toolkit::{Catalog, Manifest};

const N_TOOLS: usize = 100;

/// Returns the list in the form of MCP.
pub(crate) fn list() -> String {
    let tools: Vec<Value> = (0..N_TOOLS).map(tool).collect();
    json!({ "tools": tools }).to_string()
}

fn tool(nth: usize) -> Value {
    json!({
        "name": format!("read_{nth}"),
        "description": "Reads a part of a file, and returns its lines with their numbers.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "path": { "type": "string", "description": "The path of the file, relative to the root." },
                "start": { "type": "integer", "minimum": 1, "description": "The first line." },
                "mode": { "enum": ["text", "binary"], "default": "text" },
            },
            "required": ["path"],
            "additionalProperties": false,
        },
    })
}

/// Parses the list as a tree.
pub(crate) fn floor(list: &str) -> Value {
    serde_json::from_str(list).expect("it is JSON")
}

pub(crate) fn manifest(list: &str) -> Manifest {
    Manifest::from_mcp_json(list).expect("it is a list of tools")
}

pub(crate) fn catalog(list: &str) -> Catalog {
    Catalog::new(manifest(list).tools().cloned()).expect("the names differ")
}

pub(crate) fn check(catalog: &Catalog) {
    catalog.check(Naming::default()).expect("the tools are valid");
}

pub(crate) fn written(catalog: &Catalog) -> String {
    ToolList::new(catalog, Revision::default(), Naming::default()).expect("the names are valid").to_json()
}
