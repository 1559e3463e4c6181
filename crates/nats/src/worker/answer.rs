//! The last replies of calls.

use std::io;

use async_nats::HeaderMap;
use bytes::Bytes;
use toolkit::call::ErrorKind;
use toolkit::mcp::{Revision, write_error, write_result};
use toolkit::{Dispatcher, RunResult, ToolError};

use crate::bodies::Bodies;
use crate::wire;

/// The last reply to a call, before it has a number.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CallAnswer {
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// The value of `Tk-Ran`.
#[derive(Clone, Copy)]
pub(super) enum Ran {
    No,
    Yes,
}

impl CallAnswer {
    /// Creates the last reply for an outcome. A body that does not fit into a message is stored in the bucket, if the caller reads
    /// from one.
    pub(super) async fn new(
        dispatcher: &Dispatcher,
        bodies: &Bodies,
        name: &str,
        outcome: Result<RunResult, ToolError>,
        bucket: Option<&str>,
    ) -> Self {
        let result = match outcome {
            Ok(result) => result,
            Err(error) => {
                let ran = if error.kind().may_have_started() { Ran::Yes } else { Ran::No };
                return Self::error(bodies, &error, ran);
            }
        };
        let has_content = !result.own_content().is_empty() || result.json().is_none();
        let tool = dispatcher.catalog().resolve(name);
        let mut headers = HeaderMap::new();
        let body: Bytes = match tool {
            Ok(tool) if has_content => {
                headers.insert(wire::EVENT, "result");
                write_result(tool, &result, Revision::V2026_07_28).into()
            }
            _ => result.into_json().into(),
        };
        let limit = bodies.inline_limit();
        if body.len() <= limit {
            return Self { headers, body };
        }
        let too_large = |why: &str| {
            let message =
                format!("the result has {} bytes, more than the limit of {limit} of the NATS server{why}", body.len());
            Self::error(bodies, &ToolError::new(ErrorKind::ResultTooLarge, message), Ran::Yes)
        };
        if body.len() > wire::MAX_BODY {
            let message = format!("the result has {} bytes, more than the limit of {}", body.len(), wire::MAX_BODY);
            return Self::error(bodies, &ToolError::new(ErrorKind::ResultTooLarge, message), Ran::Yes);
        }
        let Some(bucket) = bucket else { return too_large("") };
        match bodies.store(bucket, &body).await {
            Ok(stored) => {
                headers.insert(wire::BODY, stored.reference.to_string());
                Self { headers, body: Bytes::new() }
            }
            Err(error) => {
                tracing::warn!(%error, bucket, "a result was not stored");
                match error.kind() {
                    io::ErrorKind::StorageFull => too_large(&format!(", and {}", crate::bodies::full(bucket))),
                    _ => too_large(&format!(", and was not stored in the bucket `{bucket}`")),
                }
            }
        }
    }

    /// Creates the last reply for an error.
    pub(super) fn error(bodies: &Bodies, error: &ToolError, ran: Ran) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(wire::EVENT, "error");
        headers.insert(wire::ERROR, error.kind().name());
        headers.insert(
            wire::RAN,
            match ran {
                Ran::No => "no",
                Ran::Yes => "yes",
            },
        );
        // The headers that clients of NATS services read.
        let line: String = error.message().chars().map(|c| if c.is_control() { ' ' } else { c }).take(200).collect();
        headers.insert("Nats-Service-Error", line);
        headers.insert("Nats-Service-Error-Code", status(error.kind()));
        let mut body = write_error(error, Revision::V2026_07_28);
        if body.len() > bodies.inline_limit() {
            let short = ToolError::new(error.kind(), "the message of the error is too large for the NATS server");
            body = write_error(&short, Revision::V2026_07_28);
        }
        Self { headers, body: body.into() }
    }

    /// Creates the last reply for a call that a worker has claimed before.
    pub(super) fn claimed(worker: &str) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(wire::EVENT, "claimed");
        Self { headers, body: worker.to_owned().into() }
    }

    /// Returns false if the answer is that the tool certainly has not started.
    pub(super) fn has_run(&self) -> bool {
        wire::header(Some(&self.headers), wire::RAN) != Some("no")
    }
}

/// Returns the status code of HTTP for an error.
fn status(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::InvalidArguments | ErrorKind::MalformedJson | ErrorKind::TooLarge => "400",
        ErrorKind::UnknownTool | ErrorKind::NoBackend => "404",
        ErrorKind::TimedOut => "408",
        ErrorKind::Overloaded => "429",
        _ => "500",
    }
}
