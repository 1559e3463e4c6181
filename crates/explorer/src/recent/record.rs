//! The record of a call.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use toolkit::Arguments;
use toolkit::dispatch::Call;
use toolkit_mcp_server::{Caller, Request};

/// The size of recorded arguments, in bytes.
const MAX_ARGUMENTS: usize = 4 << 10;

/// The length of a trace context, which is a claim of the client.
const MAX_TRACE: usize = 64;

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    pub(super) id: u64,
    /// The id of the tool.
    tool: String,
    caller: Option<String>,
    #[serde(skip)]
    pub(super) identity: Option<(String, String)>,
    /// Milliseconds since 1970.
    started_at: u64,
    /// Microseconds; `None` while the call runs.
    duration: Option<u64>,
    /// `ok`, the kind of an error, or `None` while the call runs.
    outcome: Option<&'static str>,
    bytes_in: usize,
    bytes_out: Option<usize>,
    /// JSON text, which may be truncated.
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<String>,
    /// The `traceparent` of the client, by which it recognizes its own call.
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<String>,
}

impl Record {
    pub(super) fn new(id: u64, call: &Call, omits_arguments: bool) -> Self {
        let request = call.context().get::<Request>();
        let caller = request.and_then(Request::caller);
        let trace = request.and_then(Request::traceparent).filter(|trace| trace.len() <= MAX_TRACE);
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            id,
            tool: call.tool().id().to_string(),
            caller: caller.and_then(Caller::subject).map(str::to_owned),
            identity: caller.and_then(identity),
            started_at: since_epoch.as_millis().try_into().unwrap_or(u64::MAX),
            duration: None,
            outcome: None,
            bytes_in: text(call.arguments()).map_or(0, <[u8]>::len),
            bytes_out: None,
            arguments: if omits_arguments { None } else { arguments(call) },
            trace: trace.map(str::to_owned),
        }
    }

    pub(super) fn is_running(&self) -> bool {
        self.outcome.is_none()
    }

    pub(super) fn ended(self, outcome: &'static str, duration: Duration, bytes_out: usize) -> Self {
        let duration = duration.as_micros().try_into().unwrap_or(u64::MAX);
        Self { duration: Some(duration), outcome: Some(outcome), bytes_out: Some(bytes_out), ..self }
    }
}

/// Returns what identifies a caller among those of all issuers.
pub(super) fn identity(caller: &Caller) -> Option<(String, String)> {
    Some((caller.issuer().unwrap_or_default().to_owned(), caller.subject()?.to_owned()))
}

fn text<'a>(arguments: &'a Arguments<'_>) -> Option<&'a [u8]> {
    match arguments {
        Arguments::Json(json) => Some(json),
        _ => None,
    }
}

/// Returns the arguments without secrets.
fn arguments(call: &Call) -> Option<String> {
    let input = call.tool().input();
    let mut shown = match (input.holds_secret(), text(call.arguments())) {
        (false, Some(json)) => String::from_utf8_lossy(&json[..json.len().min(MAX_ARGUMENTS + 4)]).into_owned(),
        (false, None) => call.arguments().to_value().ok()?.to_string(),
        // Secrets can be located in valid arguments only.
        (true, _) => input.masked(&call.checked_arguments().ok()?).to_string(),
    };
    if shown.len() > MAX_ARGUMENTS {
        shown.truncate(shown.floor_char_boundary(MAX_ARGUMENTS));
        shown.push('…');
    }
    Some(shown)
}
