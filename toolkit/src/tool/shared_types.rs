//! Schemas of types that several tools have.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use super::Tool;
use toolkit_schema::Schema;

/// A type that determines a schema, and the address of the schema if it is built.
pub(crate) type SharedType = (TypeId, usize);

/// Returns what determines the schemas of the arguments and of the result, as far as types do: each type, and the
/// address of the schema if it is built.
pub(crate) fn shared_types(tool: &Tool) -> [Option<SharedType>; 2] {
    let Some(entry) = tool.entry else { return [None; 2] };
    let [arguments, result] = entry.types;
    let input = (arguments, tool.input.get().map_or(0, |schema| Arc::as_ptr(schema).addr()));
    let output = (result, tool.output.get().and_then(Option::as_ref).map_or(0, |schema| Arc::as_ptr(schema).addr()));
    [entry.may_share_input().then_some(input), Some(output)]
}

/// Builds the schemas, or takes those that another tool with the same types has built.
pub(crate) fn build_schemas(tool: &Tool, built: &mut HashMap<SharedType, Option<Arc<Schema>>>) {
    let Some(entry) = tool.entry else { return };
    let [arguments, result] = shared_types(tool);
    match arguments.and_then(|ty| built.get(&ty)?.clone()) {
        Some(schema) => {
            entry.decide_struct();
            tool.input.get_or_init(|| schema);
        }
        None => {
            let schema = Arc::clone(tool.shared_input());
            built.extend(arguments.filter(|_| entry.may_share_input()).map(|ty| (ty, Some(schema))));
        }
    }
    if let Some(result) = result {
        let schema = tool.output.get_or_init(|| match built.get(&result) {
            Some(schema) => schema.clone(),
            None => (entry.output)().map(|value| Arc::new(Schema::generated(value))),
        });
        built.entry(result).or_insert_with(|| schema.clone());
    }
}

/// Returns the input schema for one use. That of a function that nothing has needed yet is not kept, so that a list of
/// many tools needs the memory of one tree.
pub(crate) fn input_once(tool: &Tool) -> Value {
    match (tool.input.get(), tool.entry) {
        (None, Some(entry)) => entry.input_schema(),
        _ => tool.input().as_value().clone(),
    }
}

/// Does the same as [`input_once`] for the output schema.
pub(crate) fn output_once(tool: &Tool) -> Option<Value> {
    match (tool.output.get(), tool.entry) {
        (None, Some(entry)) => (entry.output)(),
        _ => tool.output().map(|schema| schema.as_value().clone()),
    }
}
