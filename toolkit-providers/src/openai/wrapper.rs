//! Calls that a model wrote as one call of a tool that OpenAI once had.

use serde_json::Value;
use toolkit::catalog::ExportedNames;

use crate::reply::{CallArguments, Parsed, WrittenCall, find_name};

/// The names of the wrapper, which no request declares.
const NAMES: [&str; 2] = ["parallel", "multi_tool_use.parallel"];

/// Adds the calls inside `wrapper`. Returns false if it is not one, or if one of its tools was not exported.
pub(super) fn push_wrapped(wrapper: &WrittenCall<'_>, names: &ExportedNames, parsed: &mut Parsed) -> bool {
    if !NAMES.contains(&wrapper.name) || find_name(names, wrapper.namespace, wrapper.name).is_some() {
        return false;
    }
    let CallArguments::Json(text) = &wrapper.arguments else { return false };
    let Ok(mut arguments) = serde_json::from_str::<Value>(text) else { return false };
    let Some(Value::Array(uses)) = arguments.get_mut("tool_uses").map(Value::take) else { return false };
    let calls: Option<Vec<(String, Value)>> = uses.into_iter().map(read_use).collect();
    let Some(calls) = calls.filter(|calls| !calls.is_empty()) else { return false };
    if calls.iter().any(|(name, _)| find_name(names, None, name).is_none()) {
        return false;
    }
    let calls = calls
        .iter()
        .map(|(name, parameters)| WrittenCall::new(None, name, CallArguments::from_value(Some(parameters))));
    parsed.push_batch(wrapper.clone(), calls.collect(), names);
    true
}

fn read_use(mut tool_use: Value) -> Option<(String, Value)> {
    let name = tool_use["recipient_name"].as_str()?.to_owned();
    Some((name, tool_use["parameters"].take()))
}
