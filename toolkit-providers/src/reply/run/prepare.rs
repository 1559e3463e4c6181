//! The checks of a call before a dispatcher runs it.

use serde_json::{Map, Value};
use toolkit::call::ErrorKind;
use toolkit::dispatch::Prepared;
use toolkit::{Arguments, Coercion, Dispatcher, Tool, ToolError};

use super::options::RunOptions;
use crate::lower::restore;
use crate::reply::{CallArguments, Reply, ToolCall};

/// Returns the tool and the arguments of a call.
///
/// # Errors
///
/// Returns the reason why the call does not run.
pub(super) fn prepare<'a>(
    reply: &'a Reply,
    index: usize,
    dispatcher: &'a Dispatcher,
    options: &RunOptions,
) -> Result<(Prepared<'a>, Arguments<'a>), ToolError> {
    let call = &reply.calls()[index];
    if let Some(why) = reply.stop_reason().why_no_call_runs() {
        return Err(ToolError::new(ErrorKind::Cancelled, why));
    }
    if index >= options.max_calls {
        let message = format!("only {} calls of one reply run; repeat the others in the next reply", options.max_calls);
        return Err(ToolError::new(ErrorKind::Overloaded, message));
    }
    if let Some(reason) = options.denied.get(&call.id) {
        return Err(ToolError::new(ErrorKind::Denied, format!("the call was not approved: {reason}")));
    }
    let prepared = call.tool.as_ref().and_then(|id| dispatcher.prepared_id(id));
    let prepared = prepared.ok_or_else(|| reply.names.unknown(&call.name))?;
    Ok((prepared, arguments(call, prepared.tool(), dispatcher.coercion())?))
}

fn arguments<'a>(call: &'a ToolCall, tool: &Tool, coercion: Coercion) -> Result<Arguments<'a>, ToolError> {
    if let CallArguments::Text(text) = &call.arguments {
        return named_text(tool, text);
    }
    let arguments = call.arguments.to_arguments();
    // The dispatcher does the same itself, unless it is configured not to.
    if call.is_strict && coercion == Coercion::Off {
        let sent = arguments.to_json().ok().and_then(|json| serde_json::from_slice(&json).ok());
        return Ok(sent.map_or(arguments, |sent| Arguments::from(restore(tool.input(), sent))));
    }
    Ok(arguments)
}

/// Passes the text of a custom tool as the only parameter of the tool.
fn named_text(tool: &Tool, text: &str) -> Result<Arguments<'static>, ToolError> {
    let properties = tool.input().as_value()["properties"].as_object();
    let only = properties.filter(|properties| properties.len() == 1).and_then(|properties| properties.iter().next());
    match only {
        Some((name, schema)) if schema["type"] == "string" => {
            let arguments = Map::from_iter([(name.clone(), Value::from(text))]);
            Ok(Arguments::from(Value::Object(arguments)))
        }
        _ => Err(ToolError::new(ErrorKind::InvalidArguments, "the tool takes a JSON object, not text")),
    }
}
