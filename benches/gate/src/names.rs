//! Names that no tool has, in a large catalog.

use toolkit::{Catalog, Tool, ToolError};

const N_TOOLS: usize = 10_000;

/// A name with two letters in the wrong order.
pub(crate) const TYPO: &str = "files:raed_file_5000";

/// A catalog with names that share most of their letters.
pub(crate) fn catalog() -> Catalog {
    let tool = |nth: usize| {
        let verb = ["read", "write", "list", "find", "delete", "update", "create", "merge"][nth % 8];
        Tool::builder(format!("{verb}_file_{nth}")).namespace("files").build()
    };
    let tools = (0..N_TOOLS).map(tool).collect::<Result<Vec<_>, _>>().expect("the tools are valid");
    Catalog::new(tools).expect("the names differ")
}

/// Resolves the name; the error suggests the nearest one.
pub(crate) fn unknown(catalog: &Catalog, name: &str) -> ToolError {
    catalog.resolve(name).expect_err("no tool has this name")
}

/// Compares the name with the id of each tool once.
pub(crate) fn floor(catalog: &Catalog, name: &str) -> usize {
    catalog.iter().filter(|tool| tool.id().name() == name).count()
}
