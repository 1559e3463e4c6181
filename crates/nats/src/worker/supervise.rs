//! Signs of life, timeouts and cancellation of running calls.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use toolkit::ToolError;
use toolkit::call::ErrorKind;

use super::reply::Reply;
use super::running_call::{Call, Ended};
use super::shared::Shared;
use crate::wire::ACCEPT_AFTER;

/// The time that a canceled tool has to return.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);

/// The time of the first beat, so that the call of a caller that is gone is cancelled soon.
const FIRST_BEAT: Duration = Duration::from_millis(50);

/// The interval in which calls are looked at, if none of them is new.
const INTERVAL: Duration = Duration::from_millis(25);

/// The number of looks without calls after which the supervision waits for one. A wait for each short call would cost more
/// than the looks.
const MAX_IDLE: u32 = 200;

/// Supervises all calls. One task does this for all of them, so that a short call needs no timer.
pub(super) async fn supervise(shared: Arc<Shared>) {
    let mut ending = JoinSet::new();
    let mut n_idle = 0;
    loop {
        let calls = shared.running.all();
        n_idle = if calls.is_empty() { n_idle + 1 } else { 0 };
        if n_idle > MAX_IDLE {
            shared.running.added.notified().await;
            n_idle = 0;
        }
        let has_old = !calls.is_empty() && !calls.iter().any(|call| call.is_new());
        tokio::time::sleep(if has_old { INTERVAL } else { ACCEPT_AFTER }).await;
        let now = Instant::now();
        for call in shared.running.all() {
            look_at(&shared, &call, now, &mut ending).await;
        }
        while ending.try_join_next().is_some() {}
    }
}

async fn look_at(shared: &Arc<Shared>, call: &Arc<Call>, now: Instant, ending: &mut JoinSet<()>) {
    let beat = shared.limits.beat;
    let sign = call.alive(now, |is_first| now + if is_first { beat.min(FIRST_BEAT) } else { beat });
    if let Some((event, to)) = sign {
        Reply::to(shared, Some(to)).alive(event, &shared.subjects.control(&shared.instance, &call.id)).await;
    }
    let is_late = now >= call.deadline;
    let is_abandoned = call.cancelled().is_some_and(|at| now.saturating_duration_since(at) >= CANCEL_TIMEOUT);
    if !is_late && !is_abandoned {
        return;
    }
    let Some(Ended { to, task, claim }) = call.end() else { return };
    drop(task);
    let error = match is_late {
        true => {
            let limit = call.deadline.saturating_duration_since(call.started);
            ToolError::new(ErrorKind::TimedOut, format!("the call took longer than {limit:?}"))
        }
        false => ToolError::cancelled(),
    };
    shared.stats.record(call.started.elapsed(), Some(error.kind()));
    let Some(claim) = claim else {
        shared.running.remove(call);
        return Reply::to(shared, to).gave_up(&error, None).await;
    };
    // The server may take long to store the answer, and other calls must not wait.
    call.cancel.cancel();
    let (shared, call) = (Arc::clone(shared), Arc::clone(call));
    ending.spawn(async move {
        Reply::to(&shared, to).gave_up(&error, Some(&claim)).await;
        shared.running.remove(&call);
    });
}
