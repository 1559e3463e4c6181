//! Subscriptions to changes, since revision 2026-07-28.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::failure::Failure;
use super::outgoing::Request;
use super::peer::{Asking, Peer, PeerAnswer};

/// A subscription. Dropping it ends it.
pub(super) struct Subscription {
    /// The part of the filter that the server honors.
    pub(super) honored: Value,
    asking: JoinHandle<PeerAnswer>,
}

impl Subscription {
    /// Subscribes to what a filter names, and waits for the acknowledgement.
    pub(super) async fn start(peer: &Arc<Peer>, filter: &Value) -> Result<Self, Failure> {
        let request = Request::new("subscriptions/listen").with("notifications", filter);
        let (sender, acknowledged) = oneshot::channel();
        let peer = Arc::clone(peer);
        let asking = tokio::spawn(async move {
            let asking = Asking { acknowledged: Some(sender), ..Asking::of(&request) };
            peer.ask_with(asking).await
        });
        let mut subscription = Self { honored: Value::Null, asking };
        match acknowledged.await {
            Ok(params) => {
                let mut params: Value = params.parse().unwrap_or_default();
                subscription.honored = params["notifications"].take();
                Ok(subscription)
            }
            // The request has ended without an acknowledgement.
            Err(_) => match (&mut subscription.asking).await {
                Ok(Err(failure)) => Err(failure),
                Ok(Ok(_)) | Err(_) => Err(Failure::Closed),
            },
        }
    }

    /// Waits for the end. The peer handles the notifications.
    pub(super) async fn ended(&mut self) {
        let _ = (&mut self.asking).await;
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.asking.abort();
    }
}
