//! The report for a model about a program that has run.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use toolkit::ToolError;
use toolkit::backend::BackendResponse;

use crate::execution::Execution;
use crate::failure::Failure;

/// The key in `_meta` for the calls of the program, which the model does not read.
const CALLS_KEY: &str = "rs.toolkit/calls";

/// The maximum number of calls in an error.
const N_SHOWN: usize = 20;

/// Returns the value and the printed text, or an error with the place in the program.
pub(super) fn report(execution: Execution) -> Result<BackendResponse, ToolError> {
    let printed = printed(&execution);
    if let Err(failure) = &execution.outcome {
        let error = ToolError::failed(explanation(failure, &printed, &execution));
        return Err(error.with_content(execution.content));
    }
    let mut structured = Map::new();
    structured.insert("value".to_owned(), execution.value());
    if !printed.is_empty() {
        structured.insert("printed".to_owned(), printed.into());
    }
    let structured = Value::Object(structured);
    let text = json!({ "type": "text", "text": structured.to_string() });
    let shown = execution.content.iter().filter_map(|block| serde_json::to_value(block).ok());
    let content: Vec<Value> = std::iter::once(text).chain(shown).collect();
    let mut result = Map::new();
    result.insert("_meta".to_owned(), json!({ CALLS_KEY: calls(&execution) }));
    result.insert("content".to_owned(), content.into());
    result.insert("structuredContent".to_owned(), structured);
    Ok(BackendResponse::Mcp(result))
}

fn printed(execution: &Execution) -> String {
    let mut text: String = execution.printed.iter().map(|printed| format!("{}\n", printed.text)).collect();
    text.pop();
    text
}

/// Returns the failure with the line of the program, and what happened before it: the model must not repeat calls that
/// took effect.
fn explanation(failure: &Failure, printed: &str, execution: &Execution) -> String {
    let mut text = format!("the program failed: {failure}");
    if let Some(source) = &failure.source {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n  {source}");
    }
    if !execution.calls.is_empty() {
        text.push_str("\ncalls that have run:");
        for call in execution.calls.iter().take(N_SHOWN) {
            let state = if call.result.is_ok() { "ok" } else { "failed" };
            let _ = write!(text, "\n- {} ({state})", call.tool);
        }
        if let Some(more) = execution.calls.len().checked_sub(N_SHOWN + 1) {
            let _ = write!(text, "\n- and {} more", more + 1);
        }
    }
    if !printed.is_empty() {
        let _ = write!(text, "\nprinted:\n{printed}");
    }
    text
}

/// Returns the calls without arguments and results, which may be large or secret.
fn calls(execution: &Execution) -> Vec<Value> {
    let calls = execution.calls.iter().map(|call| {
        json!({
            "tool": call.tool,
            "line": call.line,
            "isError": call.result.is_err(),
            "durationMs": crate::record::milliseconds(call.duration),
        })
    });
    calls.collect()
}
