//! Declarations of TypeScript: their types, names, texts and cost. `tests/providers/run` compiles them.

mod bounds;
mod names;
mod texts;
mod tokens;
mod types;

use serde_json::Value;
use toolkit::catalog::ExportedName;
use toolkit::{Catalog, Tool};
use toolkit_providers::typescript::{Declarations, Detail, declarations, describe};

/// Declares a single tool.
fn declared(tool: Tool, detail: Detail) -> Declarations {
    declarations(&Catalog::new([tool]).unwrap(), detail)
}

/// Returns the type of the result of a tool with this output schema, and the losses.
fn ty(schema: Value) -> (String, Vec<String>) {
    let tool = Tool::builder("t").output(schema).build().unwrap();
    let name = ExportedName::new("t", tool.id().clone());
    let declared = describe([(&name, &tool)], Detail::Compact);
    let text = declared.text.split_once("Promise<").unwrap().1.split_once(">\n}").unwrap().0.to_owned();
    let losses = declared.losses.into_iter().flat_map(|(_, losses)| losses);
    let losses = losses.filter(|loss| loss.side != toolkit_providers::Side::Record);
    (text, losses.map(|loss| loss.to_string()).collect())
}
