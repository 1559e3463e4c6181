//! Calls that a model wrote as one call of a tool that OpenAI once had.

use serde_json::Value;

use crate::reply::{CallArguments, Parsed, ToolCall, WrittenCall, find_name};
use toolkit::catalog::ExportedNames;

/// The names of the wrapper, which no request declares.
const NAMES: [&str; 2] = ["parallel", "multi_tool_use.parallel"];

/// Adds a call, or the calls of which it is the wrapper. Returns the call that the reply contains.
pub(super) fn push<'p>(call: WrittenCall<'_>, names: &ExportedNames, parsed: &'p mut Parsed) -> &'p ToolCall {
    let Some(calls) = wrapped(&call, names) else { return parsed.push(call, names) };
    let calls = calls
        .iter()
        .map(|(name, parameters)| WrittenCall::new(None, name, CallArguments::from_value(Some(parameters))));
    parsed.push_batch(call, calls.collect(), names)
}

/// Returns the calls inside a wrapper; `None` if it is not one, or if one of its tools was not exported.
fn wrapped(wrapper: &WrittenCall<'_>, names: &ExportedNames) -> Option<Vec<(String, Value)>> {
    if !NAMES.contains(&wrapper.name) || find_name(names, wrapper.namespace, wrapper.name).is_some() {
        return None;
    }
    let CallArguments::Json(text) = &wrapper.arguments else { return None };
    let mut arguments: Value = serde_json::from_str(text).ok()?;
    let Value::Array(uses) = arguments.get_mut("tool_uses")?.take() else { return None };
    let calls: Vec<(String, Value)> = uses.into_iter().map(read_use).collect::<Option<_>>()?;
    let are_exported = calls.iter().all(|(name, _)| find_name(names, None, name).is_some());
    (are_exported && !calls.is_empty()).then_some(calls)
}

fn read_use(mut tool_use: Value) -> Option<(String, Value)> {
    let name = tool_use["recipient_name"].as_str()?.to_owned();
    Some((name, tool_use["parameters"].take()))
}
