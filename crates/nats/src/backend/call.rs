//! Calls of the workers' tools.

use std::time::Duration;

use tokio::time::{Instant, sleep};
use toolkit::ToolError;
use toolkit::backend::{BackendCall, BackendResponse};
use toolkit::call::ErrorKind;

use super::attempt::{Arguments, Attempt, Ended};
use super::fleet::read_target;
use super::link::{Link, RetryPolicy, Settings, offline};
use crate::wire::{self, random_id};

/// The maximum number of attempts.
const MAX_ATTEMPTS: u32 = 8;

/// The upper bound of the delay before the second attempt, which doubles with each one.
const DELAY: Duration = Duration::from_millis(10);

/// The bounds of the delay before the answer of a call that another worker runs is looked for again.
const CLAIMED_DELAYS: [Duration; 2] = [Duration::from_millis(20), Duration::from_secs(1)];

/// Calls a tool, in several attempts if the call has not started, or may run again.
pub(super) async fn run(name: &str, link: &Link, call: BackendCall<'_>) -> Result<BackendResponse, ToolError> {
    let Some((tokens, contract)) = read_target(call.target()) else {
        return Err(ToolError::new(ErrorKind::NoBackend, format!("the workers of `{name}` have no such tool")));
    };
    let connected = link.connected(name).await?;
    let settings = &link.settings;
    let timeout = call.tool().timeout().map_or(settings.timeout, |own| own.min(settings.timeout));
    let deadline = Instant::now() + timeout;
    let no_worker = || {
        let message = format!("no worker of `{}` has this version of the tool", name.escape_debug());
        ToolError::new(ErrorKind::Unavailable, message)
    };
    if connected.fleet.route(tokens, contract).is_none() {
        return Err(no_worker());
    }
    let credentials = credentials(name, settings, &call)?;
    let json = call.arguments().to_json().map_err(ToolError::internal)?;
    let arguments = Arguments::new(&connected, &json, deadline).await?;
    drop(json);

    let is_claimed = settings.retry == RetryPolicy::Claimed;
    let may_run_again =
        is_claimed || settings.retry == RetryPolicy::Idempotent && call.tool().annotations().may_repeat();
    let mut call_id = random_id();
    // The error of an attempt that may have run. The later ones cannot end the call as one that has not started.
    let mut unknown: Option<ToolError> = None;
    let (mut n_attempts, mut n_waits, mut is_abandoned) = (0, 0, false);
    loop {
        if !connected.restored(deadline).await {
            return Err(unknown.unwrap_or_else(|| offline(name)));
        }
        let Some(digest) = connected.fleet.route(tokens, contract) else {
            return Err(unknown.unwrap_or_else(no_worker));
        };
        n_attempts += 1;
        if !is_claimed && n_attempts > 1 {
            // Each attempt is a call of its own for the worker.
            call_id = random_id();
        }
        let attempt = Attempt {
            name,
            connected: &connected,
            call: &call,
            call_id: &call_id,
            arguments: &arguments,
            credentials: credentials.as_deref(),
            is_claimed,
            deadline,
            accept_timeout: settings.accept_timeout,
        };
        let ended = attempt.run(connected.subjects.call(&digest, tokens)).await;
        let may_repeat = n_attempts < MAX_ATTEMPTS && Instant::now() < deadline;
        let mut delay = DELAY.saturating_mul(1 << n_attempts).mul_f64(fastrand::f64());
        match ended {
            Ended::Response(response) => return Ok(response),
            Ended::Failed(error) => return Err(error),
            Ended::Rejected { kind, .. } if kind == ErrorKind::Overloaded.name() && may_repeat => {}
            Ended::NoWorker if may_repeat => {}
            Ended::Unknown(error) if may_repeat && may_run_again => unknown = Some(error),
            // The answer of a claimed call is that it was cancelled.
            Ended::Cancelled(error) if may_repeat && may_run_again && !is_claimed => unknown = Some(error),
            Ended::Claimed(worker) if Instant::now() < deadline => {
                let runs = connected.runs(&worker, &call_id, settings.accept_timeout).await;
                if !runs && is_abandoned {
                    return Err(attempt.unknown_of("has ended without an answer"));
                }
                // Its answer may have been stored meanwhile.
                is_abandoned = !runs;
                // Waiting is not an attempt to run the call.
                n_attempts -= 1;
                let [first, longest] = CLAIMED_DELAYS;
                delay = first.saturating_mul(1 << n_waits.min(10)).min(longest);
                n_waits += 1;
            }
            Ended::Rejected { response, .. } => {
                return unknown.map_or_else(|| Ok(BackendResponse::Mcp(response)), Err);
            }
            Ended::Unknown(error) | Ended::Cancelled(error) => return Err(error),
            Ended::Claimed(_) => return Err(attempt.unknown_of("did not respond in time")),
            Ended::NoWorker => {
                let message = format!("the workers of `{}` accept no calls at the moment", name.escape_debug());
                return Err(unknown.unwrap_or_else(|| ToolError::new(ErrorKind::Overloaded, message)));
            }
        }
        sleep(delay.min(deadline.saturating_duration_since(Instant::now()))).await;
    }
}

/// Returns the credentials that are sent to the worker.
fn credentials(name: &str, settings: &Settings, call: &BackendCall<'_>) -> Result<Option<String>, ToolError> {
    let required = call.tool().requirements();
    if !settings.sends_credentials || required.is_empty() {
        return Ok(None);
    }
    if !settings.connect.is_confidential() {
        let message = format!("credentials are not sent to the workers of `{}` without TLS", name.escape_debug());
        return Err(ToolError::new(ErrorKind::Unauthorized, message));
    }
    let written = wire::write_credentials(call.context(), required);
    written
        .map(Some)
        .ok_or_else(|| ToolError::new(ErrorKind::TooLarge, "the credentials are too long for the NATS server"))
}
