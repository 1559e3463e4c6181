//! Calls of a server's tools.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout};
use toolkit::backend::{BackendCall, BackendResponse};
use toolkit::call::ErrorKind;
use toolkit::{Arguments, Context, ToolError};
use toolkit_mcp::Code;
use toolkit_schema::repair::repaired;
use toolkit_schema::tree::Tree;

use super::call_params::CallParams;
use super::caller::{FromCaller, Listener};
use super::failure::Failure;
use super::link::Link;
use super::list::{name_on_server, refresh};
use super::questions::{self, MAX_ROUNDS};
use super::raw::Raw;
use super::remote::{OutputCheck, Remote, timed_out};
use super::tasks;

/// The size in bytes up to which a result is read to log that it does not match its output schema.
const MAX_CHECKED: usize = 1 << 20;

/// The least time by which an open question extends the timeout.
const MIN_EXTENSION: Duration = Duration::from_millis(20);

/// Calls a tool by its name on the server.
///
/// Dropping the future notifies the server that the request is canceled.
pub(super) async fn run(link: &Link, call: BackendCall<'_>) -> Result<BackendResponse, ToolError> {
    let remote = &link.remote;
    let limits = &remote.limits;
    let mut arguments = arguments_of(&call)?;
    let _permit = link.permit_in_time().await?;
    let name = name_on_server(call.tool()).into_owned();
    if let Some(fixed) = remote.choices.tools.fixed_arguments(&name) {
        arguments = with_fixed(&arguments, fixed)?;
    }
    let mut params = CallParams { name, arguments, responses: None, state: None };
    let mut n_rounds = 0;
    let (result, kind) = loop {
        let listener = Listener::new(call.context(), &remote.name);
        let result = within(remote, call.context(), &listener, called(link, &call, &params, &listener)).await?;
        if !result.is_object() {
            return Err(remote.invalid_response("with an invalid result"));
        }
        let kind = result.text_field("resultType");
        if kind.as_deref() != Some("input_required") || !remote.may_ask {
            break (result, kind);
        }
        n_rounds += 1;
        if n_rounds > MAX_ROUNDS {
            return Err(questions::too_many_rounds(remote));
        }
        let requests = result.field("inputRequests").and_then(|requests| requests.parse().ok()).unwrap_or_default();
        params.responses = Some(questions::respond(remote, call.context(), &requests).await?);
        params.state = result.text_field("requestState");
    };
    let n_bytes = result.get().len();
    if n_bytes > limits.result_bytes {
        let message =
            format!("{remote} returned a result of {n_bytes} bytes, more than the limit of {}", limits.result_bytes);
        return Err(ToolError::new(ErrorKind::ResultTooLarge, message));
    }
    if remote.choices.output == OutputCheck::Warn
        && let Some(structured) = result.field("structuredContent").filter(|text| text.get().len() <= MAX_CHECKED)
        && let Ok(structured) = structured.parse()
        && let Some(violation) = link.first_violation(&params.name, &structured)
    {
        let tool = &*params.name;
        tracing::warn!(server = &*remote.name, tool, "a result does not match its output schema: {violation}");
    }
    match kind.as_deref() {
        None | Some("complete") => Ok(BackendResponse::Mcp(result.into_bytes())),
        Some(_) => Err(questions::unsupported_request()),
    }
}

/// Returns the text of the arguments of a call, as the caller has sent it. What parsers reject is repaired.
fn arguments_of(call: &BackendCall<'_>) -> Result<Box<RawValue>, ToolError> {
    let text = match call.arguments() {
        Arguments::Json(text) => match std::str::from_utf8(text) {
            Ok(text) => text.trim().to_owned(),
            Err(_) => repaired(text),
        },
        other => other.to_value()?.to_string(),
    };
    let arguments = RawValue::from_string(text).map_err(ToolError::internal)?;
    match arguments.get().starts_with('{') {
        true => Ok(arguments),
        false => Err(ToolError::new(ErrorKind::InvalidArguments, "the arguments of an MCP tool must be a JSON object")),
    }
}

/// Returns the arguments with those that the host has fixed, which take precedence.
fn with_fixed(arguments: &RawValue, fixed: &Map<String, Value>) -> Result<Box<RawValue>, ToolError> {
    // A tree keeps the digits of the other arguments.
    let mut whole = Tree::parse(arguments.get().as_bytes())
        .map_err(|reason| ToolError::new(ErrorKind::MalformedJson, reason.to_string()))?;
    whole.value.as_object_mut().into_iter().for_each(|sent| sent.extend(fixed.clone()));
    let text = String::from_utf8(whole.to_text()).map_err(ToolError::internal)?;
    RawValue::from_string(text).map_err(ToolError::internal)
}

/// Waits for a call, at most for the timeout of a call. The time that the user takes to answer extends it, and so does
/// progress, within the limit of a call that reports progress.
async fn within(
    remote: &Remote,
    context: &Context,
    listener: &Listener,
    call: impl Future<Output = Result<Raw, ToolError>>,
) -> Result<Raw, ToolError> {
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
    params: &CallParams,
    listener: &Arc<Listener>,
) -> Result<Raw, ToolError> {
    let remote = &link.remote;
    let connection = link.connection_for_call().await?;
    let mut running = connection.running_call(call.context());
    connection.request_logs(call.context()).await;
    let caller = FromCaller::of_call(remote, connection.is_legacy(), call.context())?;
    let ask = || {
        let mut request = params.request().from(caller.clone()).listened(listener);
        if connection.has_param_headers() {
            let headers = connection.param_headers(&params.name);
            request.param_headers = headers.iter().filter_map(|header| header.of(&params.arguments)).collect();
        }
        connection.ask(request)
    };
    let (answer, task) = if connection.info.accepts_task_requests() && tasks::is_supported_by(call.tool()) {
        if let Some(running) = &running {
            running.requests_task();
        }
        let request = tasks::request_of_call(params, remote.limits.call).from(caller.clone()).listened(listener);
        tasks::create(&connection, request, caller).await
    } else {
        let answer = match ask().await {
            // A new connection does not have the tools yet, whose schemas define the headers to send.
            Err(Failure::Rpc(error)) if error.has_code(Code::HeaderMismatch) => {
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
            running.runs_as(&task.id);
        }
        return tasks::finish(link, call, connection, running, listener, task).await;
    }
    if let (Some(running), Ok(_) | Err(Failure::Rpc(_))) = (&mut running, &answer) {
        running.has_response();
    }
    match answer {
        Ok(result) => Ok(result),
        Err(failure) => Err(remote.call_failed(&connection, failure).await),
    }
}
