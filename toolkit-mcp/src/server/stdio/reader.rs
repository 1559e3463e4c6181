//! The thread that reads stdin and starts requests.

use std::io::{self, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use tokio::runtime::Handle;
use tokio::sync::mpsc::Sender;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use toolkit::CancelToken;

use super::lines::{Line, MAX_LINE_BYTES, Outgoing, read_line};
use crate::server::ask::Modes;
use crate::server::batch::{Batch, is_batch};
use crate::server::call::{Call, CallEvent, Events};
use crate::server::listen::Listen;
use crate::server::message::Message;
use crate::server::methods::Routed;
use crate::server::peer::Peer;
use crate::server::reply::{Code, RpcError};
use crate::server::state::Server;

/// The approximate memory of a request apart from its bytes.
const REQUEST_BYTES: usize = 4 << 10;

/// The reader of incoming messages.
pub(super) struct Reader {
    pub(super) server: Server,
    pub(super) runtime: Handle,
    pub(super) session: Arc<str>,
    pub(super) messages: Sender<Outgoing>,
    pub(super) pending: Arc<Semaphore>,
    /// Canceled when reading ends, which ends all subscriptions.
    pub(super) end: CancelToken,
    /// True if the client receives notifications of changes without a subscription.
    pub(super) is_notifying: AtomicBool,
    /// True if the revision of the client has batches.
    pub(super) takes_batches: AtomicBool,
    /// The ways in which the client can ask its user, as bits.
    pub(super) modes: AtomicU8,
}

impl Reader {
    pub(super) fn read(self, input: impl Read) -> io::Result<()> {
        let mut input = BufReader::with_capacity(64 << 10, input);
        let mut line = Vec::new();
        loop {
            line.clear();
            match read_line(&mut input, &mut line)? {
                Line::End => return Ok(()),
                Line::TooLong => {
                    let message = format!("the message exceeds the limit of {MAX_LINE_BYTES} bytes");
                    let fault = RpcError::bad_request(Code::InvalidRequest, message);
                    self.send(fault.to_response(None), None);
                }
                Line::Read if line.trim_ascii().is_empty() => {}
                Line::Read => self.take(&line),
            }
            if self.messages.is_closed() {
                return Ok(());
            }
        }
    }

    fn take(&self, line: &[u8]) {
        // Checked before the message takes memory, since shutdown waits until all memory is released.
        if self.server.shared.shutdown.is_cancelled() {
            let id = Message::parse(line).ok().and_then(|message| message.id());
            if let Some(id) = id {
                let fault = RpcError::new(Code::Internal, "the server is shutting down and accepts no new requests");
                self.send(fault.to_response(Some(id)), None);
            }
            return;
        }
        // These need no memory, and calls that wait for a user hold theirs until an answer arrives.
        let message = Message::parse(line);
        if let Ok(Message::Response { .. } | Message::Notification { .. }) = message {
            let modes = Modes::from_bits(self.modes.load(Ordering::Relaxed));
            self.server.route(message, Peer { session: Some(&self.session), modes, ..Peer::default() });
            return;
        }
        let n_bytes = u32::try_from(line.len() + REQUEST_BYTES).unwrap_or(u32::MAX);
        let held = match Arc::clone(&self.pending).try_acquire_many_owned(n_bytes) {
            Ok(held) => held,
            Err(_) => match self.runtime.block_on(Arc::clone(&self.pending).acquire_many_owned(n_bytes)) {
                Ok(held) => held,
                Err(_) => return,
            },
        };
        let held = Arc::new(held);
        let modes = Modes::from_bits(self.modes.load(Ordering::Relaxed));
        let peer = Peer { session: Some(&self.session), modes, end: Some(&self.end), ..Peer::default() };
        if is_batch(line) && self.takes_batches.load(Ordering::Relaxed) {
            match Batch::read(&self.server, line, peer) {
                Ok(batch) => {
                    let messages = self.messages.clone();
                    self.runtime.spawn(async move {
                        if let Some(bytes) = batch.answer().await {
                            let _ = messages.send(Outgoing { bytes, _held: Some(held) }).await;
                        }
                    });
                }
                Err(fault) => self.send(fault.to_response(None), Some(held)),
            }
            return;
        }
        match self.server.route(message, peer) {
            Routed::Reply(bytes) => self.send(bytes, Some(held)),
            Routed::Initialized { bytes, takes_batches, modes } => {
                self.takes_batches.store(takes_batches, Ordering::Relaxed);
                self.modes.store(modes.bits(), Ordering::Relaxed);
                self.send(bytes, Some(Arc::clone(&held)));
                // Before 2026-07-28 clients are notified of changes without a subscription.
                if !self.is_notifying.swap(true, Ordering::Relaxed) {
                    let listen = Listen::to_changes(&self.server, Some(&self.session));
                    self.runtime.spawn(notify(listen, self.messages.clone(), held, self.end.clone()));
                }
            }
            Routed::RpcError(id, fault) => self.send(fault.to_response(id), Some(held)),
            // Each call is a task, so that a slow call does not delay others and can be canceled.
            Routed::Call(call) => {
                let call = call.into_owned();
                self.runtime.spawn(run(call, self.messages.clone(), held));
            }
            Routed::Find(find) => {
                let messages = self.messages.clone();
                self.runtime.spawn(async move {
                    let _ = messages.send(Outgoing { bytes: find.answer().await, _held: Some(held) }).await;
                });
            }
            Routed::Resources(request) => {
                let messages = self.messages.clone();
                self.runtime.spawn(async move {
                    let answer = request.answer().await;
                    if !answer.is_cancelled {
                        let _ = messages.send(Outgoing { bytes: answer.bytes, _held: Some(held) }).await;
                    }
                });
            }
            Routed::Task(request) => {
                let messages = self.messages.clone();
                self.runtime.spawn(async move { respond(request.events(), messages, held).await });
            }
            Routed::TaskResult(result) => {
                self.runtime.spawn(respond(*result, self.messages.clone(), held));
            }
            Routed::Listen(listen) => {
                let end = self.end.clone();
                self.runtime.spawn(notify(listen, self.messages.clone(), held, end));
            }
            Routed::Nothing => {}
        }
    }

    fn send(&self, bytes: Vec<u8>, held: Option<Arc<OwnedSemaphorePermit>>) {
        let _ = self.messages.blocking_send(Outgoing { bytes, _held: held });
    }
}

/// Runs a call to its end.
async fn run(call: Call<'static>, messages: Sender<Outgoing>, held: Arc<OwnedSemaphorePermit>) {
    if call.sends_messages() {
        return respond(call.events(), messages, held).await;
    }
    let answer = call.answer().await;
    if !answer.is_cancelled {
        let _ = messages.send(Outgoing { bytes: answer.bytes, _held: Some(held) }).await;
    }
}

/// Sends the messages and the response of a call.
async fn respond(mut events: impl Events, messages: Sender<Outgoing>, held: Arc<OwnedSemaphorePermit>) {
    let answer = loop {
        match events.next().await {
            CallEvent::Message(bytes) => {
                let _ = messages.send(Outgoing { bytes, _held: None }).await;
            }
            CallEvent::Response(answer) => break answer,
        }
    };
    // A canceled request must not be answered.
    if !answer.is_cancelled {
        let _ = messages.send(Outgoing { bytes: answer.bytes, _held: Some(held) }).await;
    }
}

async fn notify(mut listen: Listen, messages: Sender<Outgoing>, held: Arc<OwnedSemaphorePermit>, end: CancelToken) {
    loop {
        let next = tokio::select! {
            biased;
            next = listen.next() => next,
            () = end.cancelled() => None,
        };
        let Some(bytes) = next else { return };
        if messages.send(Outgoing { bytes, _held: Some(Arc::clone(&held)) }).await.is_err() {
            return;
        }
    }
}
