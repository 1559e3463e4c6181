//! The part of a call that runs on a thread of the tool pool.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolkit::call::ErrorKind;
use toolkit::dispatch::BlockingThreads;
use toolkit::mcp::{write_error, write_result};
use toolkit::{RunResult, ToolError};
use toolkit_http::CallPermit;
use tracing::Instrument;

use super::{Call, CallResponse};
use crate::server::reply::{Code, RpcError, response};
use crate::server::request::MissingCapability;

/// The outcome of a call, and the kind of its error.
pub(super) struct Ended {
    pub(super) response: CallResponse,
    pub(super) failure: Option<ErrorKind>,
}

/// Returns an executor for `blocking` tools. It holds the permit, since a blocking tool occupies a thread until it
/// returns, even after its call was cancelled.
fn blocking_threads(call: Arc<Call<'static>>, permit: CallPermit) -> BlockingThreads {
    BlockingThreads::new(move |work| {
        let _ = &permit;
        call.shared.pool.run(&call.entry().id, work);
    })
}

/// Runs a call.
pub(super) async fn run(call: Arc<Call<'static>>, permit: CallPermit) -> Ended {
    let context = call.context.clone().with(blocking_threads(Arc::clone(&call), permit));
    let work = async {
        let tool = call.served.prepared(call.entry());
        tool.call_with(&context, call.arguments.borrowed()).await
    };
    // An unrecorded span is not worth the wrapping.
    let outcome = match call.span.is_disabled() {
        true => work.await,
        false => work.instrument(call.span.clone()).await,
    };
    match outcome {
        Ok(result) => call.succeeded(result),
        Err(error) => call.failed(error),
    }
}

impl Call<'_> {
    /// Returns the timeout of the tool.
    pub(super) fn own_timeout(&self) -> Option<Duration> {
        self.served.prepared(self.entry()).timeout()
    }

    fn succeeded(&self, run: RunResult) -> Ended {
        // Checked before the result is written, which contains the data twice.
        let n_bytes = run.json().map_or(0, |json| json.len());
        if n_bytes > self.shared.max_result_bytes {
            return self.failed(self.too_large(n_bytes));
        }
        let result = write_result(self.served.tool(self.entry()), &run, self.revision);
        // The written result has a copy of the data.
        drop(run);
        // Halved, since the result has the data and its text.
        if result.len() / 2 > self.shared.max_result_bytes {
            return self.failed(self.too_large(result.len()));
        }
        Ended { response: self.to_response(&result), failure: None }
    }

    fn too_large(&self, n_bytes: usize) -> ToolError {
        let (id, max) = (&self.entry().id, self.shared.max_result_bytes);
        let message =
            format!("{id}: the result has {n_bytes} bytes, more than the limit of {max} (`max_result_bytes`)");
        ToolError::new(ErrorKind::ResultTooLarge, message)
    }

    pub(super) fn failed(&self, error: ToolError) -> Ended {
        let failure = Some(error.kind());
        if let Some(missing) = missing_capability(&error) {
            let fault = RpcError::bad_request(Code::MissingClientCapability, error.to_string());
            let fault = fault.with_data(json!({ "requiredCapabilities": missing.required() }));
            let bytes = fault.to_response(Some(&self.id));
            return Ended {
                response: CallResponse { bytes, is_bad_request: true, is_cancelled: self.is_cancelled() },
                failure,
            };
        }
        Ended { response: self.to_response(&write_error(&error, self.revision)), failure }
    }

    fn to_response(&self, result: &[u8]) -> CallResponse {
        let bytes = response(&self.id, self.shared.meta_fields(self.revision), result);
        CallResponse { bytes, is_bad_request: false, is_cancelled: self.is_cancelled() }
    }

    /// Returns true if the client has cancelled the call.
    fn is_cancelled(&self) -> bool {
        self.registered.is_some() && self.cancel.is_cancelled()
    }
}

fn missing_capability(error: &ToolError) -> Option<&MissingCapability> {
    std::error::Error::source(error)?.downcast_ref()
}
