//! Reading server-sent events (WHATWG HTML, 9.2).

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde::Deserialize;
use serde_json::value::RawValue;
use toolkit::ToolError;
use toolkit::backend::{BackendCall, BackendResponse};
use toolkit::stream::Chunk;

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
    let mut lines = Lines { line: Vec::new(), data: Vec::new(), max_bytes: endpoint.max_bytes };
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| endpoint.lost(Loss::MayHaveEffects, LOST).caused_by(error))?;
        let Ok(mut bytes) = frame.into_data() else { continue };
        while let Some(data) = lines.next_event(&mut bytes).map_err(|TooLong| {
            endpoint.invalid_response(&format!("with an event of more than {} bytes", endpoint.max_bytes))
        })? {
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

/// A parser that splits bytes into lines, and lines into events.
struct Lines {
    /// The incomplete last line.
    line: Vec<u8>,
    /// The data of the incomplete last event.
    data: Vec<u8>,
    max_bytes: usize,
}

struct TooLong;

impl Lines {
    /// Reads bytes up to the end of the next event with data, and returns that data.
    fn next_event(&mut self, bytes: &mut Bytes) -> Result<Option<Vec<u8>>, TooLong> {
        while !bytes.is_empty() {
            let end = bytes.iter().position(|&byte| byte == b'\n');
            self.line.extend_from_slice(&bytes.split_to(end.unwrap_or(bytes.len())));
            if self.line.len() + self.data.len() > self.max_bytes {
                return Err(TooLong);
            }
            if end.is_none() {
                return Ok(None);
            }
            let _ = bytes.split_to(1);
            let mut line = std::mem::take(&mut self.line);
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            if line.is_empty() && !self.data.is_empty() {
                return Ok(Some(std::mem::take(&mut self.data)));
            }
            if let Some(data) = line.strip_prefix(b"data:") {
                if !self.data.is_empty() {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
            }
        }
        Ok(None)
    }
}
