//! Calls of the workers' tools.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, sleep};
use toolkit::backend::{BackendCall, BackendResponse};
use toolkit::call::ErrorKind;
use toolkit::{Tool, ToolError};

use super::attempt::{Attempt, Ended};
use super::link::{Link, offline};
use super::retry::RetryPolicy;
use super::tools::read_target;
use crate::wire::{HEADER_RESERVE, random_id};

/// The maximum number of attempts.
const MAX_ATTEMPTS: u32 = 8;

/// The upper bound of the delay before the second attempt, which doubles with each one.
const DELAY: Duration = Duration::from_millis(10);

/// Calls a tool, in several attempts if the call has not started.
pub(super) async fn run(name: &str, link: &Link, call: BackendCall<'_>) -> Result<BackendResponse, ToolError> {
    let Some((tokens, contract)) = read_target(call.target()) else {
        return Err(ToolError::new(ErrorKind::NoBackend, format!("the workers of `{name}` have no such tool")));
    };
    let connected = link.connected(name).await?;
    let arguments = call.arguments().to_json().map_err(ToolError::internal)?;
    let limit = connected.client.max_payload().saturating_sub(HEADER_RESERVE);
    if arguments.len() > limit {
        let n_bytes = arguments.len();
        let message = format!("the arguments have {n_bytes} bytes, more than the limit of {limit} of the NATS server");
        return Err(ToolError::new(ErrorKind::TooLarge, message));
    }
    let arguments = Bytes::copy_from_slice(&arguments);
    let settings = &link.settings;
    let timeout = call.tool().timeout().map_or(settings.timeout, |own| own.min(settings.timeout));
    let deadline = Instant::now() + timeout;
    let mut n_attempts = 0;
    loop {
        if !connected.restored(deadline).await {
            return Err(offline(name));
        }
        let Some(digest) = connected.fleet.route(tokens, contract) else {
            let message = format!("no worker of `{}` has this version of the tool", name.escape_debug());
            return Err(ToolError::new(ErrorKind::Unavailable, message));
        };
        n_attempts += 1;
        // Each attempt is a call of its own for the worker.
        let call_id = random_id();
        let accept_timeout = settings.accept_timeout;
        let attempt = Attempt { name, connected: &connected, call: &call, call_id: &call_id, deadline, accept_timeout };
        let ended = attempt.run(connected.subjects.call(&digest, tokens), arguments.clone()).await;
        let may_repeat = n_attempts < MAX_ATTEMPTS && Instant::now() < deadline;
        match ended {
            Ended::Response(response) => return Ok(response),
            Ended::Failed(error) => return Err(error),
            Ended::Rejected { kind, .. } if kind == ErrorKind::Overloaded.name() && may_repeat => {}
            Ended::NoWorker if may_repeat => {}
            Ended::Unknown(_)
                if may_repeat && settings.retry == RetryPolicy::Idempotent && is_idempotent(call.tool()) => {}
            Ended::Rejected { response, .. } => return Ok(BackendResponse::Mcp(response)),
            Ended::Unknown(error) => return Err(error),
            Ended::NoWorker => {
                let message = format!("the workers of `{}` accept no calls at the moment", name.escape_debug());
                return Err(ToolError::new(ErrorKind::Overloaded, message));
            }
        }
        let delay = DELAY.saturating_mul(1 << n_attempts).mul_f64(fastrand::f64());
        sleep(delay.min(deadline.saturating_duration_since(Instant::now()))).await;
    }
}

fn is_idempotent(tool: &Tool) -> bool {
    let hints = tool.annotations();
    hints.read_only == Some(true) || hints.idempotent == Some(true)
}
