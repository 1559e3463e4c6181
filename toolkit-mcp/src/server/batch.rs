//! JSON-RPC batches. Servers must accept them in revision 2025-03-26 only.

use std::sync::Arc;

use futures_util::stream::{self, StreamExt};
use serde_json::value::RawValue;
use toolkit::Tool;
use toolkit::dispatch::BoxFuture;

use super::message::Message;
use super::methods::Routed;
use super::peer::Peer;
use super::reply::{Code, RpcError};
use super::served::ServedTools;
use super::state::Server;

/// The maximum number of messages in a batch.
const MAX_MESSAGES: usize = 64;

/// The number of messages of a batch that are processed at the same time.
const CONCURRENCY: usize = 8;

/// The future response to a message of a batch, which is `None` for a notification.
type Pending = BoxFuture<'static, Option<Vec<u8>>>;

/// A batch whose messages were parsed.
pub(super) struct Batch {
    /// The tools that the messages call, as positions in a list of tools.
    called: Vec<(Arc<ServedTools>, usize)>,
    pending: Vec<Pending>,
    max_bytes: usize,
}

/// Returns true if the text starts with `[`.
pub(super) fn is_batch(json: &[u8]) -> bool {
    json.trim_ascii_start().first() == Some(&b'[')
}

impl Batch {
    /// Parses a batch.
    pub(super) fn read(server: &Server, json: &[u8], peer: Peer<'_>) -> Result<Self, RpcError> {
        let messages: Vec<&RawValue> = serde_json::from_slice(json)
            .map_err(|_| RpcError::bad_request(Code::ParseError, "the message is not JSON"))?;
        if messages.is_empty() || messages.len() > MAX_MESSAGES {
            let message = format!("a batch has 1 to {MAX_MESSAGES} messages, got {}", messages.len());
            return Err(RpcError::bad_request(Code::InvalidRequest, message));
        }
        let mut called = Vec::new();
        let pending =
            messages.into_iter().map(|message| pending(server, message.get().as_bytes(), peer, &mut called)).collect();
        Ok(Self { called, pending, max_bytes: server.shared.max_result_bytes })
    }

    /// Returns the tools that the messages call.
    pub(super) fn tools(&self) -> impl Iterator<Item = &Tool> + Clone {
        self.called.iter().map(|(served, nth)| served.tool(&served.entries[*nth]))
    }

    /// Processes all messages and returns the responses in order, or `None` if no message was a request.
    pub(super) async fn answer(self) -> Option<Vec<u8>> {
        let mut answers = stream::iter(self.pending).buffered(CONCURRENCY);
        let mut array = Vec::new();
        while let Some(answer) = answers.next().await {
            let Some(answer) = answer else { continue };
            array.push(if array.is_empty() { b'[' } else { b',' });
            array.extend_from_slice(&answer);
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

fn pending(server: &Server, json: &[u8], peer: Peer<'_>, called: &mut Vec<(Arc<ServedTools>, usize)>) -> Pending {
    match server.route(Message::parse(json), peer) {
        Routed::Reply(bytes) => Box::pin(async { Some(bytes) }),
        Routed::RpcError(id, fault) => {
            let response = fault.to_response(id);
            Box::pin(async { Some(response) })
        }
        Routed::Call(call) => {
            let call = call.into_owned();
            called.push((Arc::clone(&call.served), call.nth));
            Box::pin(async {
                let answer = call.answer().await;
                (!answer.is_cancelled).then_some(answer.bytes)
            })
        }
        Routed::Find(find) => Box::pin(async { Some(find.answer().await) }),
        Routed::Resources(request) => Box::pin(async {
            let answer = request.answer().await;
            (!answer.is_cancelled).then_some(answer.bytes)
        }),
        Routed::Nothing => Box::pin(async { None }),
        // The revision with batches has no tasks.
        Routed::Initialized { .. } | Routed::Listen(_) | Routed::Task(_) | Routed::TaskResult(_) => {
            let id = Message::parse(json).ok().and_then(|message| message.id());
            let fault = RpcError::new(Code::InvalidRequest, "this request cannot be part of a batch");
            let response = fault.to_response(id);
            Box::pin(async { Some(response) })
        }
    }
}
