//! The parts of a result as messages, for clients that want them.
//!
//! The protocol has no message for them. A client that sends `"rs.toolkit/chunks": true` in `_meta` of its call, with a progress token,
//! receives each part as JSON in `_meta` of a progress notification, under the key [`CHUNK`]. The response contains the whole
//! result as always.

use std::sync::Arc;

use tokio::sync::mpsc::Sender;
use toolkit::stream::Event;
use toolkit::{Context, RunResult, ToolError};

use super::message::CallMessage;
use super::request::Call;

/// The key in `_meta` of a progress notification.
pub(super) const CHUNK: &str = "rs.toolkit/chunk";

/// The way in which a client receives the parts of a result.
#[derive(Debug)]
pub(in crate::server) struct ChunkSettings {
    is_wanted: bool,
    /// `None` if the client receives the whole result only.
    receiver: Option<Sender<CallMessage>>,
}

impl ChunkSettings {
    pub(in crate::server) fn new(is_wanted: bool) -> Self {
        Self { is_wanted, receiver: None }
    }

    /// Sends the parts as messages, if the client wants them.
    pub(super) fn send_to(&mut self, messages: &Sender<CallMessage>) {
        self.receiver = self.is_wanted.then(|| messages.clone());
    }

    pub(super) fn receiver(&self) -> Option<&Sender<CallMessage>> {
        self.receiver.as_ref()
    }
}

/// Runs the tool of a call and sends the parts of its result. A slow client slows the tool down.
pub(super) async fn run(
    call: &Arc<Call<'static>>,
    context: &Context,
    chunks: &Sender<CallMessage>,
) -> Result<RunResult, ToolError> {
    let mut events = call.served.dispatcher.stream_with(context, &call.entry().id, call.arguments.borrowed());
    while let Some(event) = events.next().await {
        match event.event {
            // Without a receiver, the call is about to be dropped.
            Event::Chunk(chunk) => drop(chunks.send(CallMessage::Chunk(chunk)).await),
            Event::Done(result) => return Ok(result),
            Event::Error(error) => return Err(error),
            // The listener of the context receives progress.
            _ => {}
        }
    }
    Err(ToolError::cancelled())
}
