//! Calls of tools that a backend runs.

use std::pin::pin;

use serde::de::IgnoredAny;

use super::pipeline::admit;
use super::shared::{Dispatcher, Policy};
use crate::backend::{BackendCall, Normal, Parts, Route, normalize, without_tool_id};
use crate::call::{
    Arguments, Change, Coercion, Context, ErrorKind, RunResult, ToolError, check_output_tree, validated_arguments,
};
use crate::stream::Queue;
use crate::tool::Tool;
use toolkit_schema::repair::repaired;

/// Runs all stages of a call after its backend was selected.
pub(super) async fn run_on_backend(
    dispatcher: &Dispatcher,
    context: &Context,
    tool: &Tool,
    route: &Route,
    arguments: Arguments<'_>,
    parts: Option<&Queue>,
) -> Result<RunResult, ToolError> {
    let admission = admit(dispatcher, context, tool, Some(&arguments))?;
    let policy = &dispatcher.shared.policy;
    let coercion = dispatcher.coercion_of(Some(route.backend.backend()));
    let (arguments, changes) = fitting(policy.validate_input, coercion, tool, arguments)?;
    let list = tool.output().filter(|schema| policy.validate_output && schema.is_list_of_any_length());
    let parts = parts.map(|queue| Parts { queue, list });
    let running = route.backend.counters().start();
    // Pinned here, so that the combinators around it move a pointer instead of the future.
    let work = pin!(async {
        let permitted = admission.acquire().await?;
        let start = |context| {
            let call = BackendCall { tool, target: &route.target, arguments, context, parts };
            match route.is_prompt {
                true => route.backend.backend().prompt(call),
                false => route.backend.backend().call(call),
            }
        };
        permitted.poll(|host| start(host.context())).await
    });
    let answer = admission.bounded(work).await;
    let result = answer
        .and_then(|answer| normalize(tool, answer))
        .and_then(|normal| finish(policy, tool, route, normal, changes));
    running.end(result.as_ref().err().map(ToolError::kind));
    result.map_err(|error| without_tool_id(error, tool.name()).with_backend(route.target.clone()))
}

/// Returns true if a JSON text contains escaped surrogates, which may be unpaired. They are skipped where the schema
/// accepts any text.
fn has_surrogates(text: &[u8]) -> bool {
    text.windows(3).any(|escape| matches!(escape, [b'\\', b'u', b'd' | b'D']))
}

/// Returns the arguments in a form that matches the input schema: the original text if it matches unchanged.
fn fitting<'a>(
    validates: bool,
    coercion: Coercion,
    tool: &Tool,
    arguments: Arguments<'a>,
) -> Result<(Arguments<'a>, Vec<Change>), ToolError> {
    if !validates {
        // A backend may send the arguments over a wire, so they must be valid JSON.
        return Ok((arguments.to_value()?.into(), Vec::new()));
    }
    if let (Arguments::Json(text), Some(plan)) = (&arguments, tool.input().plan())
        && plan.decode::<IgnoredAny>(text).is_ok()
        && !has_surrogates(text)
    {
        return Ok((arguments, Vec::new()));
    }
    let (sent, outcome) = match validated_arguments(tool, &arguments, coercion) {
        Err(error) if error.kind() == ErrorKind::MalformedJson => {
            // Other programs accept more than this parser.
            let Arguments::Json(text) = &arguments else { return Err(error) };
            let sent = repaired(text).into();
            match validated_arguments(tool, &sent, coercion) {
                Err(again) if again.kind() == ErrorKind::MalformedJson => return Err(error),
                outcome => (sent, outcome),
            }
        }
        outcome => (arguments, outcome),
    };
    let (tree, changes) = outcome?;
    let fitting = match sent {
        // The numbers keep their digits.
        Arguments::Json(_) if changes.is_empty() => sent,
        _ if tree.is_rounded() => tree.to_text().into(),
        _ => tree.value.into(),
    };
    Ok((fitting, changes))
}

/// Validates an answer against the output schema.
fn finish(
    policy: &Policy,
    tool: &Tool,
    route: &Route,
    normal: Normal,
    changes: Vec<Change>,
) -> Result<RunResult, ToolError> {
    let Normal { structured, content, mcp } = normal;
    if let (true, Some(schema)) = (policy.validate_output, tool.output()) {
        let value = structured.as_ref().map_or(&serde_json::Value::Null, |structured| &structured.value);
        check_output_tree(schema, value)?;
    }
    let result = RunResult::from_backend(tool.id().to_string(), route.target.clone(), mcp, changes);
    let result = match structured {
        Some(structured) => result.with_json(structured.json),
        None => result,
    };
    Ok(result.with_content(content))
}
