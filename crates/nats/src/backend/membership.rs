//! Follows workers that join and leave.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::fleet::{Announcement, Fleet};
use crate::error::NatsError;
use crate::subject::SERVICE;

/// The mean interval of requests to all workers, which vary by a fifth.
const PING: Duration = Duration::from_secs(15);

/// The time without an answer after which a worker is gone.
const SILENT: Duration = Duration::from_secs(40);

/// The time without an answer of another worker after which all have answered.
const QUIET: Duration = Duration::from_millis(100);

/// Asks for all workers, waits for their answers for at most `limit`, and follows their changes from then on.
pub(super) async fn follow(
    fleet: &Arc<Fleet>,
    inbox: String,
    limit: Duration,
    services: &mut JoinSet<()>,
) -> Result<(), NatsError> {
    let client = fleet.client().clone();
    let mut events = client.subscribe(fleet.subjects().events()).await.map_err(NatsError::closed)?;
    let mut answers = client.subscribe(inbox.clone()).await.map_err(NatsError::closed)?;
    let ask = move || {
        let (client, inbox) = (client.clone(), inbox.clone());
        async move { client.publish_with_reply(format!("$SRV.INFO.{SERVICE}"), inbox, Bytes::new()).await }
    };
    ask().await.map_err(NatsError::closed)?;
    let known = async {
        let mut next = answers.next().await;
        // A status means that there are no workers.
        while let Some(answer) = next.filter(|answer| answer.status.is_none()) {
            if let Some(digest) = joined(fleet, &answer.payload) {
                // Goes on after the time limit.
                let fleet = Arc::clone(fleet);
                let _ = tokio::spawn(async move { fleet.learn(&digest).await }).await;
            }
            // The answers of the others follow soon, unless a worker is slow.
            next = timeout(QUIET, answers.next()).await.unwrap_or_default();
        }
    };
    let _ = timeout(limit, known).await;

    let following = Arc::clone(fleet);
    let leave = fleet.subjects().leave();
    services.spawn(async move {
        while let Some(event) = events.next().await {
            match *event.subject == leave {
                true => {
                    if let Ok(announced) = serde_json::from_slice(&event.payload) {
                        following.left(&announced);
                    }
                }
                false => read(&following, &event.payload),
            }
        }
    });
    let following = Arc::clone(fleet);
    services.spawn(async move {
        while let Some(answer) = answers.next().await {
            if answer.status.is_none() {
                read(&following, &answer.payload);
            }
        }
    });
    let following = Arc::clone(fleet);
    services.spawn(async move {
        loop {
            sleep(PING.mul_f64(0.8 + 0.4 * fastrand::f64())).await;
            following.remove_silent(SILENT);
            if ask().await.is_err() {
                return;
            }
        }
    });
    Ok(())
}

/// Records a worker, and fetches its definitions beside the next messages.
fn read(fleet: &Arc<Fleet>, payload: &[u8]) {
    if let Some(digest) = joined(fleet, payload) {
        let fleet = Arc::clone(fleet);
        tokio::spawn(async move { fleet.learn(&digest).await });
    }
}

/// Records a worker. Returns its digest if its definitions are not known.
fn joined(fleet: &Fleet, payload: &[u8]) -> Option<String> {
    fleet.joined(serde_json::from_slice::<Announcement>(payload).ok()?)
}
