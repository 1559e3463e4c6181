//! Calls of tools that a backend runs.

use std::pin::pin;

use serde::de::IgnoredAny;
use serde_json::Value;

use super::pipeline::admit;
use super::shared::{Dispatcher, Policy, validate_cancellable};
use super::tree_memory;
use crate::backend::{BackendCall, Normal, Parts, Route, normalize, unreadable, without_tool_id};
use crate::call::{
    Arguments, Change, Coercion, Context, ErrorKind, McpResult, RunResult, ToolError, check_output_tree,
    has_surrogates, validated_arguments,
};
use crate::stream::Queue;
use crate::tool::Tool;
use toolkit_schema::Schema;
use toolkit_schema::plan::Plan;
use toolkit_schema::repair::{in_range, repaired};

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
    let (arguments, changes) = fitting(policy.validate_input, coercion, context, tool, arguments)?;
    let list = tool.output().filter(|schema| policy.validate_output && schema.is_list_of_any_length());
    let parts = parts.map(|queue| Parts { queue, list });
    let running = route.backend.calls.start();
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
        .and_then(|normal| finish(policy, context, tool, route, normal, changes));
    running.end(result.as_ref().err().map(ToolError::kind));
    result.map_err(|error| without_tool_id(error, tool.name()).with_backend(route.target.clone()))
}

/// Returns the arguments in a form that matches the input schema: the original text if it matches unchanged.
fn fitting<'a>(
    validates: bool,
    coercion: Coercion,
    context: &Context,
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
    let memory = tree_memory::of_arguments(&arguments)?;
    let validated = |sent: &Arguments<'_>| {
        memory.build(|| validate_cancellable(context, || validated_arguments(tool, sent, coercion)))
    };
    let (sent, outcome) = match validated(&arguments) {
        Err(error) if error.kind() == ErrorKind::MalformedJson => {
            // Other programs accept more than this parser.
            let Arguments::Json(text) = &arguments else { return Err(error) };
            let sent = repaired(text).into();
            match validated(&sent) {
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
    context: &Context,
    tool: &Tool,
    route: &Route,
    normal: Normal,
    changes: Vec<Change>,
) -> Result<RunResult, ToolError> {
    let schema = tool.output().filter(|_| policy.validate_output);
    let check_tree =
        |schema: &Schema, value: &Value| validate_cancellable(context, || check_output_tree(schema, value));
    let check = |value: &Value| schema.map_or(Ok(()), |schema| check_tree(schema, value));
    let result = |mcp| RunResult::from_backend(tool.id().to_string(), route.target.clone(), mcp, changes);
    match normal {
        Normal::Nothing => check(&Value::Null).map(|()| result(None)),
        Normal::Value(value) => {
            check(&value)?;
            Ok(result(None).with_json(serde_json::to_vec(&value).map_err(ToolError::internal)?))
        }
        Normal::Json(json) => {
            // A text without a tree takes no memory beside its own.
            if !matches(schema, &json) {
                let memory = tree_memory::of_result(&json)?;
                memory.build(|| check(&toolkit_schema::json::parse(&json).map_err(unreadable)?))?;
            }
            Ok(result(None).with_json(json))
        }
        Normal::Mcp(mcp) => match schema {
            Some(schema) => checked(schema, mcp, check_tree).map(|mcp| result(Some(mcp))),
            None => Ok(result(Some(mcp))),
        },
    }
}

/// Returns true if a JSON text certainly matches a schema, or is JSON without duplicate keys if there is none.
fn matches(schema: Option<&Schema>, json: &[u8]) -> bool {
    let plan = schema.map_or_else(|| Some(Plan::anything()), Schema::plan);
    plan.is_some_and(|plan| plan.decode::<IgnoredAny>(json).is_ok()) && !has_surrogates(json)
}

/// Validates the result of an MCP server against the output schema.
fn checked(
    schema: &Schema,
    mcp: McpResult,
    check_tree: impl Fn(&Schema, &Value) -> Result<(), ToolError> + Sync,
) -> Result<McpResult, ToolError> {
    let json = mcp.exact_structured().unwrap_or(b"null");
    if matches(Some(schema), json) {
        return Ok(mcp);
    }
    let replacement = tree_memory::of_result(json)?.build(|| {
        if let Ok(value) = toolkit_schema::json::parse(json) {
            return check_tree(schema, &value).map(|()| None);
        }
        // Numbers of any size are compared as the largest floats. Of several keys, the last counts.
        let in_range = in_range(&String::from_utf8_lossy(json));
        let value: Value = serde_json::from_str(&in_range).map_err(|error| unreadable(error.to_string()))?;
        check_tree(schema, &value)?;
        // Programs that read the first of several keys would see another value than the validated one.
        Ok((!mcp.has_unbounded_numbers).then(|| value.to_string()))
    })?;
    Ok(match replacement {
        Some(text) => mcp.with_field("structuredContent", &text),
        None => mcp,
    })
}
