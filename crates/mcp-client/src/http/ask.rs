//! Requests and their answers.

use std::sync::Arc;

use serde_json::json;

use super::client::Http;
use super::exchange::{Delivery, Post};
use super::session::Session;
use crate::failure::{Failure, HttpFailure};
use crate::peer::{Asked, Asking, Peer, PeerAnswer};

impl Http {
    /// Sends a request and returns the answer. If the server has lost the session, starts another one and repeats the
    /// request in it.
    pub(super) async fn ask(self: &Arc<Self>, peer: &Arc<Peer>, asking: Asking<'_>) -> PeerAnswer {
        let (request, session) = (asking.request, self.session.lock().clone());
        let answer = self.attempt(peer, asking, &session).await;
        match self.is_lost(peer, request, &session, &answer).await? {
            true => {
                self.recover(peer, &session).await?;
                let session = self.session.lock().clone();
                self.attempt(peer, Asking::of(request), &session).await
            }
            false => answer,
        }
    }

    /// Sends a request in a session.
    pub(super) async fn attempt(&self, peer: &Arc<Peer>, asking: Asking<'_>, session: &Session) -> PeerAnswer {
        let Asking { request, acknowledged, sent } = asking;
        let mut asked = peer.open(request, acknowledged)?;
        let id = asked.id;
        sent(id);
        let message = request.message(id, peer.meta(request));
        let post = Post::of_request(request, id, message, session);
        asked.is_sent = true;
        let answer = self.answered(peer, asked, &post).await;
        // A server may repeat what it was sent, and errors are logged.
        answer.map_err(|failure| failure.without(&post.secrets(&self.headers)))
    }

    async fn answered(&self, peer: &Arc<Peer>, mut asked: Asked<'_>, post: &Post) -> PeerAnswer {
        let answer = tokio::select! {
            biased;
            answer = &mut asked.answer => answer.unwrap_or(Err(Failure::Closed)),
            delivered = self.exchange(peer, post) => match delivered {
                Ok(Delivery::Answered) => asked.answer.try_recv().unwrap_or(Err(Failure::Closed)),
                Ok(Delivery::Accepted(status)) => {
                    // Only a stream of another request can deliver the answer.
                    let mut n_streams = self.n_streams.subscribe();
                    tokio::select! {
                        biased;
                        answer = &mut asked.answer => answer.unwrap_or(Err(Failure::Closed)),
                        _ = async { n_streams.wait_for(|n| *n == 0).await.is_ok() } => match self.legacy {
                            Some(_) => Err(Failure::Closed),
                            None => Err(Failure::Status(HttpFailure::of_status(status))),
                        },
                    }
                }
                Err(failure) => Err(failure),
            },
        };
        asked.is_sent = false;
        answer
    }

    /// Sends a message that has no answer.
    pub(super) async fn send(&self, peer: &Arc<Peer>, message: Vec<u8>) -> Result<(), Failure> {
        let session = self.session.lock().clone();
        self.exchange(peer, &Post::of_message(message, &session)).await.map(|_| ())
    }

    /// Sends the notification that a session has begun, and reads its stream.
    pub(super) async fn begin(self: &Arc<Self>, peer: &Arc<Peer>) -> Result<(), Failure> {
        let initialized = toolkit_mcp::notification("notifications/initialized", &json!({}));
        self.send(peer, initialized).await?;
        self.listen(peer);
        Ok(())
    }
}
