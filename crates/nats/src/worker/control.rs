//! Messages about running calls.

use std::sync::Arc;

use futures_util::StreamExt;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::incoming::MARKER;
use super::shared::Shared;
use crate::error::NatsError;
use crate::wire::{CANCEL, ENDED, HERE, MORE_CREDIT, RUNNING, STATE};

/// Receives messages about the calls of this worker. Returns the last marker that this worker has sent to itself.
pub(super) async fn serve(shared: &Arc<Shared>, services: &mut JoinSet<()>) -> Result<watch::Receiver<u64>, NatsError> {
    let subject = shared.subjects.controls(&shared.instance);
    let mut messages = shared.client.subscribe(subject).await.map_err(NatsError::closed)?;
    let (marker, markers) = watch::channel(0);
    let shared = Arc::clone(shared);
    services.spawn(async move {
        while let Some(message) = messages.next().await {
            let call = message.subject.rsplit('.').next().unwrap_or_default();
            // The server reports that the events of the call have no receiver.
            if message.status.is_some() {
                shared.running.caller_is_gone(call);
                continue;
            }
            let Ok(text) = std::str::from_utf8(&message.payload) else { continue };
            if text == CANCEL {
                shared.running.cancel(call);
            } else if text == HERE {
                shared.running.caller_is_here(call);
            } else if text == STATE {
                let reply = message.reply.filter(|reply| shared.subjects.is_reply(reply));
                let Some(reply) = reply else { continue };
                let state = if shared.running.contains(call) { RUNNING } else { ENDED };
                let _ = shared.client.publish(reply, state.into()).await;
            } else if let Some(n_chunks) = text.strip_prefix(MORE_CREDIT).and_then(|n| n.parse().ok()) {
                shared.running.add_credit(call, n_chunks);
            } else if call == shared.marker_token
                && let Some(n) = text.strip_prefix(MARKER).and_then(|n| n.parse().ok())
            {
                let _ = marker.send(n);
            }
        }
    });
    Ok(markers)
}
