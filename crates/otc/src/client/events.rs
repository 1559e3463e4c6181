//! Reading server-sent events (WHATWG HTML, 9.2).

use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde::Deserialize;
use serde_json::value::RawValue;
use toolkit::ToolError;
use toolkit::backend::{BackendCall, BackendResponse};
use toolkit::stream::Chunk;
use toolkit_runtime::{EventReader, EventTooLong};

use super::http::{Endpoint, Loss};
use super::response;
use crate::wire::CallResult;

/// The end of the message for a connection that is lost.
const LOST: &str = "disconnected while it ran the tool";

/// Passes on the progress and chunks of a call until its last event, and returns its result.
pub(super) async fn read(
    endpoint: &Endpoint,
    call: &BackendCall<'_>,
    mut body: Incoming,
) -> Result<BackendResponse, ToolError> {
    let mut events = EventReader::new(endpoint.max_bytes);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| endpoint.lost(Loss::MayHaveEffects, LOST).caused_by(error))?;
        let Ok(bytes) = frame.into_data() else { continue };
        let mut bytes = &bytes[..];
        while let Some(event) = events.next_event(&mut bytes).map_err(|EventTooLong { .. }| {
            endpoint.invalid_response(&format!("with an event of more than {} bytes", endpoint.max_bytes))
        })? {
            let Some(data) = event.data.filter(|data| !data.is_empty()) else { continue };
            if let Some(end) = pass_on(endpoint, call, &data).await? {
                return response::read_result(endpoint, end);
            }
        }
    }
    Err(endpoint.lost(Loss::MayHaveEffects, LOST))
}

/// An event: `{"kind", "toolId", "data"}`.
#[derive(Deserialize)]
struct Event<'a> {
    kind: String,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Reported {
    progress: f64,
    #[serde(default)]
    total: Option<f64>,
    #[serde(default)]
    message: Option<String>,
}

/// Passes an event on. Returns the result of the call if the event is the last one.
async fn pass_on<'d>(
    endpoint: &Endpoint,
    call: &BackendCall<'_>,
    data: &'d [u8],
) -> Result<Option<CallResult<'d>>, ToolError> {
    let invalid_response = |error| endpoint.invalid_response("with an invalid event").caused_by(error);
    let event: Event<'_> = serde_json::from_slice(data).map_err(invalid_response)?;
    let json = event.data.map_or("null", RawValue::get);
    match event.kind.as_str() {
        "progress" => {
            let Reported { progress, total, message } = serde_json::from_str(json).map_err(invalid_response)?;
            call.context().progress(progress, total, &message.unwrap_or_default());
        }
        "chunk" => call.send(Chunk::from_json(json.to_owned()).map_err(invalid_response)?).await?,
        "done" | "error" => return serde_json::from_str(json).map(Some).map_err(invalid_response),
        // Later versions may have more kinds of events.
        _ => {}
    }
    Ok(None)
}
