//! Calls of a server's tools.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest, ErrorCode};
use rmcp::service::ServiceError;
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout};
use toolkit::backend::{BackendCall, BackendResponse};
use toolkit::call::ErrorKind;
use toolkit::{Arguments, Context, ToolError};
use toolkit_schema::digits::Digits;
use toolkit_schema::repair::repaired;

use super::caller::{FromCaller, Listener};
use super::link::Link;
use super::list::{name_on_server, refresh, size, timed_out};
use super::questions::{self, MAX_ROUNDS};
use super::remote::{OutputCheck, Remote};
use super::{tasks, verbatim};

/// The least time by which an open question extends the timeout.
const MIN_EXTENSION: Duration = Duration::from_millis(20);

/// Calls a tool by its name on the server.
///
/// Dropping the future notifies the server that the request is canceled.
pub(super) async fn run(link: &Link, call: BackendCall<'_>) -> Result<BackendResponse, ToolError> {
    let Value::Object(arguments) = arguments_of(&call)? else {
        let message = "the arguments of an MCP tool must be a JSON object";
        return Err(ToolError::new(ErrorKind::InvalidArguments, message));
    };
    let remote = link.remote();
    let limits = &remote.limits;
    let _permit = link.permit_in_time().await?;
    let name = name_on_server(call.tool()).into_owned();
    let mut params = CallToolRequestParams::new(name.clone()).with_arguments(arguments);
    let digits = digits_of(&call).below("/params/arguments");
    let mut n_rounds = 0;
    let mut result = loop {
        let listener = Listener::new(call.context(), &remote.name, digits.clone());
        let result = within(remote, call.context(), &listener, called(link, &call, &params, &listener)).await?;
        let Value::Object(result) = result else {
            return Err(remote.invalid_response("with an invalid result"));
        };
        if result.get("resultType").is_none_or(|kind| kind != "input_required") || !remote.may_ask {
            break result;
        }
        n_rounds += 1;
        if n_rounds > MAX_ROUNDS {
            return Err(questions::too_many_rounds(remote));
        }
        let requests = result.get("inputRequests").and_then(Value::as_object);
        let responses = questions::respond(remote, call.context(), requests.unwrap_or(&Map::new())).await?;
        params.input_responses = Some(responses);
        params.request_state = result.get("requestState").and_then(Value::as_str).map(str::to_owned);
    };
    let text = result.remove(verbatim::TEXT);
    let n_bytes = if limits.result_bytes == usize::MAX { 0 } else { size(&result) };
    if n_bytes > limits.result_bytes {
        let message =
            format!("{remote} returned a result of {n_bytes} bytes, more than the limit of {}", limits.result_bytes);
        return Err(ToolError::new(ErrorKind::ResultTooLarge, message));
    }
    if remote.choices.output == OutputCheck::Warn
        && let Some(violation) =
            result.get("structuredContent").and_then(|structured| link.first_violation(&name, structured))
    {
        tracing::warn!(server = &*remote.name, tool = &*name, "a result does not match its output schema: {violation}");
    }
    match result.get("resultType").and_then(Value::as_str) {
        None | Some("complete") => Ok(match text {
            Some(Value::String(text)) => BackendResponse::McpJson(text.into_bytes()),
            _ => BackendResponse::Mcp(result),
        }),
        Some(_) => Err(questions::unsupported_request()),
    }
}

/// Returns the arguments of a call. What this parser rejects is repaired, such as a number that a tool takes as any value.
fn arguments_of(call: &BackendCall<'_>) -> Result<Value, ToolError> {
    call.arguments().to_value().or_else(|error| match call.arguments() {
        Arguments::Json(text) => serde_json::from_str(&repaired(text)).map_err(|_| error),
        _ => Err(error),
    })
}

/// Returns the digits of the arguments that their value does not keep.
fn digits_of(call: &BackendCall<'_>) -> Digits {
    match call.arguments() {
        Arguments::Json(text) => std::str::from_utf8(text).map(Digits::read).unwrap_or_default(),
        _ => Digits::default(),
    }
}

/// Waits for a call, at most for the timeout of a call. The time that the user takes to answer extends it, and so does
/// progress, within the limit of a call that reports progress.
async fn within(
    remote: &Remote,
    context: &Context,
    listener: &Listener,
    call: impl Future<Output = Result<Value, ToolError>>,
) -> Result<Value, ToolError> {
    let limits = &remote.limits;
    let (start, asked_before) = (Instant::now(), context.time_asking());
    let mut call = pin!(call);
    loop {
        let progressed = listener.reported_at().map_or(Duration::ZERO, |at| at.saturating_duration_since(start));
        let limit = limits.call.max(limits.progressing_call.min(progressed.saturating_add(limits.call)));
        let asking = context.time_asking().saturating_sub(asked_before);
        let left = limit.saturating_add(asking).saturating_sub(start.elapsed());
        match timeout(left.max(MIN_EXTENSION), &mut call).await {
            Ok(outcome) => return outcome,
            Err(_) if context.time_asking().saturating_sub(asked_before) > asking => {}
            Err(_)
                if limit < limits.progressing_call
                    && listener.reported_at().is_some_and(|at| at - start > progressed) => {}
            Err(_) => return Err(timed_out(remote, limit)),
        }
    }
}

/// Sends the call, and waits for the end of the task if it becomes one.
async fn called(
    link: &Link,
    call: &BackendCall<'_>,
    params: &CallToolRequestParams,
    listener: &Arc<Listener>,
) -> Result<Value, ToolError> {
    let remote = link.remote();
    let connection = link.connection_for_call().await?;
    let mut running = connection.running_call(call.context());
    connection.request_logs(call.context()).await;
    let caller = FromCaller::of_call(remote, connection.is_legacy(), call.context())?;
    let ask = || {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params.clone()));
        connection.ask(request, caller.clone(), Some(listener))
    };
    let (answer, task) = if connection.accepts_task_requests() && tasks::is_supported_by(call.tool()) {
        if let Some(running) = &running {
            running.requests_task();
        }
        let request = tasks::request_of_call(params, remote.limits.call);
        tasks::create(&connection, request, caller, Arc::clone(listener)).await
    } else {
        let answer = match ask().await {
            // A new connection does not have the tools yet, whose schemas define the headers to send.
            Err(ServiceError::McpError(error)) if error.code == ErrorCode::HEADER_MISMATCH => {
                refresh(remote, &connection).await?;
                ask().await
            }
            answer => answer,
        };
        let created = |response| tasks::created_task(&connection, response, &caller);
        let task = answer.as_ref().ok().and_then(created);
        (answer, task)
    };
    if let Some(task) = task {
        if let Some(running) = &running {
            running.runs_as(task.id());
        }
        return tasks::finish(link, call, connection, running, listener, task).await;
    }
    if let (Some(running), Ok(_) | Err(ServiceError::McpError(_))) = (&mut running, &answer) {
        running.has_response();
    }
    match answer {
        Ok(result) => Ok(result),
        Err(error) => Err(remote.call_failed(&connection, error).await),
    }
}
