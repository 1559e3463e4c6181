//! JSON-RPC batches. Servers must accept them in revision 2025-03-26 only.

use std::sync::Arc;

use futures_util::stream::{self, StreamExt};
use serde_json::value::RawValue;
use toolkit::dispatch::BoxFuture;
use toolkit_mcp::{Code, Message, RpcError};
#[cfg(feature = "http")]
use toolkit_runtime::BodyCharge;

use super::{Routed, route};
use crate::access::Denied;
use crate::peer::Peer;
use crate::reply::{NoMessages, Reply};
use crate::state::ServerState;

/// The maximum number of messages in a batch.
const MAX_MESSAGES: usize = 64;

/// The number of messages of a batch that are processed at the same time.
const CONCURRENCY: usize = 8;

/// A batch whose messages were parsed.
pub(crate) struct Batch {
    /// The future response to each message, which is `None` for a notification.
    pending: Vec<BoxFuture<'static, Option<Reply>>>,
    max_bytes: usize,
    /// The share of the batch in the memory budget of request bodies.
    #[cfg(feature = "http")]
    charge: Option<BodyCharge>,
}

/// Returns true if the text starts with `[`.
pub(crate) fn is_batch(json: &[u8]) -> bool {
    json.trim_ascii_start().first() == Some(&b'[')
}

impl Batch {
    /// Parses a batch. None of its messages is processed if the token of the caller does not grant all of them.
    pub(crate) fn route(shared: &Arc<ServerState>, json: &[u8], peer: Peer<'_>) -> Routed {
        let invalid =
            |code, message: &str| Routed::Reply(Reply::rejection(None, &RpcError::bad_request(code, message)));
        let Ok(messages) = serde_json::from_slice::<Vec<&RawValue>>(json) else {
            return invalid(Code::ParseError, "the message is not JSON");
        };
        if messages.is_empty() || messages.len() > MAX_MESSAGES {
            let message = format!("a batch has 1 to {MAX_MESSAGES} messages, got {}", messages.len());
            return invalid(Code::InvalidRequest, &message);
        }
        let peer = Peer { is_in_batch: true, ..peer };
        let mut batch = Self {
            pending: Vec::with_capacity(messages.len()),
            max_bytes: shared.max_result_bytes,
            #[cfg(feature = "http")]
            charge: None,
        };
        let mut denied = Vec::new();
        for message in messages {
            match route_one(shared, message.get().as_bytes(), peer) {
                Routed::Denied(Denied::Tools(tools)) => denied.extend(tools),
                Routed::Denied(other) => return Routed::Denied(other),
                routed => batch.pending.push(Box::pin(routed.answer(NoMessages))),
            }
        }
        if denied.is_empty() { Routed::Batch(batch) } else { Routed::Denied(Denied::Tools(denied)) }
    }

    #[cfg(feature = "http")]
    pub(super) fn hold(&mut self, charge: BodyCharge) {
        self.charge = Some(charge);
    }

    /// Processes all messages and returns the responses in order, or `None` if no message was a request.
    pub(crate) async fn answer(self) -> Option<Vec<u8>> {
        let mut replies = stream::iter(self.pending).buffered(CONCURRENCY);
        let mut array = Vec::new();
        while let Some(reply) = replies.next().await {
            let Some(response) = reply.and_then(Reply::into_answer) else { continue };
            array.push(if array.is_empty() { b'[' } else { b',' });
            array.extend_from_slice(&response);
            if array.len() > self.max_bytes.saturating_mul(2) {
                let message = format!("the responses of the batch exceed the limit of {} bytes", self.max_bytes);
                return Some(RpcError::new(Code::Internal, message).to_response(None));
            }
        }
        if array.is_empty() {
            return None;
        }
        array.push(b']');
        Some(array)
    }
}

fn route_one(shared: &Arc<ServerState>, json: &[u8], peer: Peer<'_>) -> Routed {
    match route(shared, Message::parse(json), peer) {
        // The revision with batches has no tasks.
        Routed::Initialized { .. } | Routed::Listen(_) | Routed::Task(_) | Routed::TaskResult(_) => {
            let id = Message::parse(json).ok().and_then(|message| message.id());
            let fault = RpcError::new(Code::InvalidRequest, "this request cannot be part of a batch");
            Routed::Reply(Reply::rejection(id, &fault))
        }
        routed => routed,
    }
}
