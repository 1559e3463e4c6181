//! The part of a call that runs on a thread for tools: the tool, and its result as a response.

use std::pin::pin;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::mpsc::Sender;
use toolkit::call::ErrorKind;
use toolkit::call::ask::{Mode, UnsupportedMode};
use toolkit::dispatch::BlockingThreads;
use toolkit::mcp::{Revision, write_error, write_result};
use toolkit::stream::Event;
use toolkit::{Context, RunResult, Tool, ToolError};
use toolkit_mcp::{Code, RpcError, json_bytes, meta_fields, response, with_meta};
use toolkit_runtime::{CallPermit, run_tool};
use tracing::Instrument;

use super::messages::CallEvent;
use super::shorten::shorten;
use super::{Asks, Call, invalid_state};
use crate::ask::{RoundOutcome, Rounds};
use crate::proxy_uri::backend_name;
use crate::reply::Reply;
use crate::request::{MissingCapability, Request};

/// Calls the tool, and writes the response.
pub(super) async fn call_tool(call: Arc<Call>, permit: CallPermit) -> Reply {
    let reply = match &call.asks {
        // Boxed, like the other rare futures here, to keep that of most calls small.
        Asks::Rounds(rounds) => Box::pin(run_round(&call, rounds, permit)).await,
        _ => invoke(&call, permit).await,
    };
    // A client that reads slowly must not keep the permit.
    if let Some(slot) = &call.permit {
        slot.clear();
    }
    reply
}

async fn run_round(call: &Arc<Call>, rounds: &Rounds, permit: CallPermit) -> Reply {
    let caller = call.context.get::<Request>().and_then(Request::caller);
    if !rounds.may_run(&call.shared.sealing, call.tool(), caller).await {
        return rejected(call, &invalid_state());
    }
    match rounds.run(invoke(call, permit)).await {
        RoundOutcome::Completed(reply) => reply,
        RoundOutcome::Asked => asked(call, rounds),
    }
}

async fn invoke(call: &Arc<Call>, permit: CallPermit) -> Reply {
    let context = call.context.clone().with(blocking_threads(call, permit));
    let mut work = pin!(async {
        match &call.chunks {
            Some(chunks) => Box::pin(run_in_chunks(call, &context, chunks)).await,
            None => call.served.prepared(call.entry()).call_with(&context, call.arguments.borrowed()).await,
        }
    });
    // An unrecorded span is not worth the wrapping.
    let outcome = match call.span.is_disabled() {
        true => work.as_mut().await,
        false => work.as_mut().instrument(call.span.clone()).await,
    };
    match with_proxied_uris(call, outcome) {
        Ok(result) => succeeded(call, result),
        Err(error) => failed(call, error),
    }
}

/// Runs the tool of a call and sends the parts of its result. A slow client slows the tool down.
async fn run_in_chunks(
    call: &Arc<Call>,
    context: &Context,
    chunks: &Sender<CallEvent>,
) -> Result<RunResult, ToolError> {
    let mut events = call.served.dispatcher.stream_with(context, &call.entry().id, call.arguments.borrowed());
    while let Some(event) = events.next().await {
        match event.event {
            // Without a receiver, the call is about to be dropped.
            Event::Chunk(chunk) => drop(chunks.send(CallEvent::Chunk(chunk)).await),
            Event::Done(result) => return Ok(result),
            Event::Error(error) => return Err(error),
            // The listener of the context receives progress.
            _ => {}
        }
    }
    Err(ToolError::cancelled())
}

/// Returns an executor for `blocking` tools. It holds the permit, since a blocking tool occupies a thread until it
/// returns, even after its call was cancelled. The slot of a call that may ask holds the permit instead.
fn blocking_threads(call: &Call, permit: CallPermit) -> BlockingThreads {
    let permit = match &call.permit {
        None => Ok(permit),
        Some(slot) => {
            slot.store(permit);
            Err(slot.clone())
        }
    };
    let tool = call.entry().id.clone();
    BlockingThreads::new(move |work| {
        let _ = &permit;
        run_tool(&tool, work);
    })
}

/// Ends the call with its questions. The client repeats it with the answers.
fn asked(call: &Call, rounds: &Rounds) -> Reply {
    let caller = call.context.get::<Request>().and_then(Request::caller);
    match rounds.input_required(&call.shared.sealing, call.tool(), &call.arguments, caller) {
        Ok(result) => reply_with(call, &json_bytes(&result)),
        Err(error) => failed(call, error),
    }
}

fn succeeded(call: &Call, run: RunResult) -> Reply {
    if !run.changes().is_empty() {
        call.entry().metrics.record_coercion();
    }
    // Checked before the result is written, which contains the data twice. That of another server may contain it twice, too.
    let n_bytes = match run.mcp_json() {
        Some(json) => json.len() / 2,
        None => run.json().map_or(0, <[u8]>::len),
    };
    if n_bytes > call.shared.max_result_bytes {
        return failed(call, too_large(call, n_bytes));
    }
    let result = write_result(call.tool(), &run, call.revision);
    // The written result has a copy of the data.
    drop(run);
    // Halved, since the result has the data and its text.
    if result.len() / 2 > call.shared.max_result_bytes {
        return failed(call, too_large(call, result.len()));
    }
    match call.entry().max_result.and_then(|max| shorten(&result, max)) {
        Some(shorter) => reply_with(call, &shorter),
        None => reply_with(call, &result),
    }
}

/// Replaces the URIs in the content of a backend with those under which the proxy serves its resources.
fn with_proxied_uris(call: &Call, outcome: Result<RunResult, ToolError>) -> Result<RunResult, ToolError> {
    let Some(proxied) = call.shared.proxied() else { return outcome };
    match outcome {
        Ok(result) => {
            let backend = result.backend();
            let Some(name) = backend_name(&backend) else { return Ok(result) };
            let origin = proxied.origin(name);
            Ok(result.map_uris(|uri| origin.encode(uri)))
        }
        Err(error) => {
            let backend = error.backend().cloned();
            let Some(name) = backend.as_ref().and_then(backend_name) else { return Err(error) };
            let origin = proxied.origin(name);
            Err(error.map_uris(|uri| origin.encode(uri)))
        }
    }
}

fn too_large(call: &Call, n_bytes: usize) -> ToolError {
    let (id, max) = (&call.entry().id, call.shared.max_result_bytes);
    let message = format!("{id}: the result has {n_bytes} bytes, more than the limit of {max} (`max_result_bytes`)");
    ToolError::new(ErrorKind::ResultTooLarge, message)
}

pub(super) fn failed(call: &Call, error: ToolError) -> Reply {
    if let Some(required) = missing_capability(call, &error) {
        let fault = RpcError::bad_request(Code::MissingClientCapability, error.to_string());
        let fault = fault.with_data(json!({ "requiredCapabilities": required }));
        return Reply { failure: Some(error.kind()), ..rejected(call, &fault) };
    }
    Reply { failure: Some(error.kind()), ..reply_with(call, &write_error(&error, call.revision)) }
}

fn rejected(call: &Call, fault: &RpcError) -> Reply {
    let reply = Reply::rejection(Some(&call.id), fault);
    // Clients before revision 2026-07-28 do not read the body of a response with an error status.
    let is_bad_request = reply.is_bad_request && call.revision != Revision::V2025_11_25;
    Reply { failure: Some(ErrorKind::InvalidArguments), is_bad_request, is_cancelled: is_cancelled(call), ..reply }
}

/// Returns the `ClientCapabilities` that the tool requires and the client has not declared.
fn missing_capability(call: &Call, error: &ToolError) -> Option<Value> {
    let source = std::error::Error::source(error)?;
    if let Some(missing) = source.downcast_ref::<MissingCapability>() {
        return Some(missing.required());
    }
    let mode = match source.downcast_ref::<UnsupportedMode>()?.mode() {
        Mode::Url => "url",
        _ => "form",
    };
    // Earlier revisions have no code for it, and the model reads the error.
    (call.revision != Revision::V2025_11_25).then(|| json!({ "elicitation": { mode: {} } }))
}

fn reply_with(call: &Call, result: &[u8]) -> Reply {
    let meta = call.shared.meta_fields(call.revision);
    let bytes = match call.is_found {
        true => response(&call.id, meta, &with_called_tool(result, &call.entry().name, call.tool())),
        false => response(&call.id, meta, result),
    };
    Reply { is_cancelled: is_cancelled(call), ..Reply::new(bytes) }
}

/// The key in `_meta` of a result of `call_tool` for the called tool, whose hints the client has not listed.
const CALLED_KEY: &str = "rs.toolkit/calledTool";

/// Returns the result of a tool that `call_tool` has called, with the name and the hints of the tool in `_meta`.
fn with_called_tool(result: &[u8], name: &str, tool: &Tool) -> Vec<u8> {
    let called = json!({ "_meta": { CALLED_KEY: { "name": name, "annotations": tool.annotations() } } });
    with_meta(&meta_fields(&called), result)
}

/// Returns true if the client has cancelled the call.
fn is_cancelled(call: &Call) -> bool {
    call.is_cancellable && call.cancel.is_cancelled()
}
