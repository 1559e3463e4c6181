//! The subscription of calls, and messages about running calls.

use std::sync::Arc;
use std::time::Duration;

use async_nats::{Client, Message, Subscriber};
use futures_util::{FutureExt, StreamExt};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::connect::NatsError;
use crate::wire::{CANCEL, ENDED, HERE, MORE_CREDIT, RUNNING, STATE};
use crate::worker::shared::WorkerState;

/// The calls that are sent to this worker.
pub(super) struct Incoming {
    /// The subscription, while this worker is a member of the group.
    active: Option<Subscriber>,
    /// The subscription that this worker has left, until its last message has arrived.
    leaving: Option<Leaving>,
    /// The names of the markers that came back from the server.
    markers: watch::Receiver<u64>,
    n_left: u64,
}

/// What arrives on the subscription.
pub(super) enum Arrival {
    Call(Message),
    /// This worker has left the group, and its last message has arrived.
    Left,
    /// The connection is closed.
    Closed,
}

struct Leaving {
    subscriber: Subscriber,
    marker: u64,
    client: Client,
    /// The subject on which only this worker sends markers.
    subject: String,
}

/// The time after which a marker is sent again: a connection that was lost may have lost it.
const RESEND: Duration = Duration::from_secs(1);

impl Leaving {
    async fn send_marker(&self) -> Result<(), NatsError> {
        let sent = self.client.publish(self.subject.clone(), format!("{MARKER}{}", self.marker).into()).await;
        sent.map_err(NatsError::closed)
    }
}

/// The queue group of workers.
const GROUP: &str = "q";

/// The prefix of a marker, which a worker sends to itself.
pub(super) const MARKER: &str = "left ";

impl Incoming {
    /// Joins the group.
    pub(super) async fn join(shared: &Arc<WorkerState>, markers: watch::Receiver<u64>) -> Result<Self, NatsError> {
        let mut incoming = Self { active: None, leaving: None, markers, n_left: 0 };
        incoming.rejoin(shared).await?;
        Ok(incoming)
    }

    pub(super) fn is_member(&self) -> bool {
        self.active.is_some()
    }

    /// Returns true if this worker has left the group, and its last message has arrived.
    pub(super) fn has_left(&self) -> bool {
        self.active.is_none() && self.leaving.is_none()
    }

    /// Joins the group again, after this worker has left it.
    pub(super) async fn rejoin(&mut self, shared: &WorkerState) -> Result<(), NatsError> {
        let subject = shared.subjects.calls(&shared.digest);
        let subscriber = shared.client.queue_subscribe(subject, GROUP.to_owned()).await;
        self.active = Some(subscriber.map_err(NatsError::closed)?);
        Ok(())
    }

    /// Leaves the group. Messages that the server has sent before it knows are received nevertheless.
    ///
    /// The methods `drain` and `unsubscribe` of the client drop such messages: they forget the subscription before the
    /// server has confirmed its end. This one asks the server to end the subscription after a number of messages, which has
    /// more digits than the server reads and therefore ends it at once, while the client goes on receiving. The end is
    /// known by a marker, which the server sends after all earlier messages.
    pub(super) async fn leave(&mut self, shared: &WorkerState) -> Result<(), NatsError> {
        let Some(mut subscriber) = self.active.take() else { return Ok(()) };
        subscriber.unsubscribe_after(u64::MAX).await.map_err(NatsError::closed)?;
        self.n_left += 1;
        let marker = self.n_left;
        let leaving = Leaving {
            subscriber,
            marker,
            client: shared.client.clone(),
            subject: shared.subjects.control(&shared.instance, &shared.marker_token),
        };
        leaving.send_marker().await?;
        self.leaving = Some(leaving);
        Ok(())
    }

    /// Waits for the next call, while this worker has not [left](Self::has_left).
    pub(super) async fn next(&mut self) -> Arrival {
        if let Some(active) = &mut self.active {
            return active.next().await.map_or(Arrival::Closed, Arrival::Call);
        }
        let Some(leaving) = &mut self.leaving else {
            return std::future::pending().await;
        };
        let marker = leaving.marker;
        loop {
            tokio::select! {
                biased;
                Some(message) = leaving.subscriber.next() => return Arrival::Call(message),
                () = async { drop(self.markers.wait_for(|seen| *seen >= marker).await) } => break,
                () = tokio::time::sleep(RESEND) => {
                    // Fails if the connection is closed, which the host learns from its own requests.
                    let _ = leaving.send_marker().await;
                }
            }
        }
        // What arrived before the marker is in the queue of the subscription.
        if let Some(Some(message)) = leaving.subscriber.next().now_or_never() {
            return Arrival::Call(message);
        }
        self.leaving = None;
        Arrival::Left
    }
}

/// Receives messages about the calls of this worker. Returns the last marker that this worker has sent to itself.
pub(super) async fn serve(
    shared: &Arc<WorkerState>,
    services: &mut JoinSet<()>,
) -> Result<watch::Receiver<u64>, NatsError> {
    let subject = shared.subjects.controls(&shared.instance);
    let mut messages = shared.client.subscribe(subject).await.map_err(NatsError::closed)?;
    let (marker, markers) = watch::channel(0);
    let shared = Arc::clone(shared);
    services.spawn(async move {
        while let Some(message) = messages.next().await {
            let id = message.subject.rsplit('.').next().unwrap_or_default();
            let running = shared.running.get(id);
            // The server reports that the events of the call have no receiver.
            if message.status.is_some() {
                running.iter().for_each(|call| call.caller_is_gone());
                continue;
            }
            let Ok(text) = std::str::from_utf8(&message.payload) else { continue };
            match (running, text) {
                (Some(call), CANCEL) => call.cancel(),
                (Some(call), HERE) => call.caller_is_here(),
                (running, STATE) => {
                    let reply = message.reply.filter(|reply| shared.subjects.is_reply(reply));
                    let Some(reply) = reply else { continue };
                    let state = if running.is_some() { RUNNING } else { ENDED };
                    let _ = shared.client.publish(reply, state.into()).await;
                }
                (Some(call), text) => {
                    if let Some(n_chunks) = text.strip_prefix(MORE_CREDIT).and_then(|n| n.parse().ok()) {
                        call.add_credit(n_chunks);
                    }
                }
                (None, text) => {
                    let n = text.strip_prefix(MARKER).filter(|_| id == shared.marker_token);
                    if let Some(n) = n.and_then(|n| n.parse().ok()) {
                        let _ = marker.send(n);
                    }
                }
            }
        }
    });
    Ok(markers)
}
