//! The reader of messages, which starts requests.

use std::io::{self, BufReader, Read};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::task::{Context, Waker};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use toolkit::CancelToken;
use toolkit_mcp::{Code, Message, RpcError};
use toolkit_runtime::ToolPolls;

use super::framing::{Line, MAX_LINE_BYTES, read_line};
use super::output::{HeldMemory, PipeOutput};
use crate::ask::Modes;
use crate::listen::Listen;
use crate::methods::{Batch, Routed, is_batch, route};
use crate::peer::{Peer, caller_name};
use crate::reply::Reply;
use crate::state::ServerState;

/// The approximate memory of a request apart from its bytes.
const REQUEST_BYTES: usize = 4 << 10;

/// The capacity in bytes that is kept for the next line.
const MAX_CAPACITY: usize = 64 << 10;

/// The number of calls that start together.
const MAX_BATCH: usize = 64;

/// Calls that send their responses.
pub(super) type PendingCalls = Vec<Pin<Box<dyn Future<Output = ()> + Send>>>;

/// The reader of incoming messages.
pub(super) struct LineReader {
    pub(super) input: BufReader<Box<dyn Read + Send>>,
    pub(super) line: Vec<u8>,
    pub(super) shared: Arc<ServerState>,
    pub(super) runtime: Handle,
    pub(super) session: Arc<str>,
    pub(super) output: Arc<PipeOutput>,
    pub(super) pending: Arc<Semaphore>,
    /// The calls that were read and start together, once nothing more can be read without waiting.
    pub(super) calls: PendingCalls,
    /// Receives the calls that this thread does not wait for.
    pub(super) answering: UnboundedSender<PendingCalls>,
    /// Canceled when reading ends, which ends all subscriptions.
    pub(super) end: CancelToken,
    /// True if the client receives notifications of changes without a subscription.
    pub(super) is_notifying: AtomicBool,
    /// True if the revision of the client has batches.
    pub(super) takes_batches: AtomicBool,
    /// The ways in which the client can ask its user, as bits.
    pub(super) modes: AtomicU8,
}

impl LineReader {
    /// Reads messages until nothing more can be read without waiting. The output is held from then on. Returns false at the end
    /// of the input.
    pub(super) fn read(&mut self) -> io::Result<bool> {
        let mut line = std::mem::take(&mut self.line);
        let mut is_waiting = true;
        loop {
            line.clear();
            let read = read_line(&mut self.input, &mut line)?;
            if let Line::End = read {
                return Ok(false);
            }
            if std::mem::take(&mut is_waiting) {
                self.output.hold();
            }
            match read {
                Line::Read if line.trim_ascii().is_empty() => {}
                Line::Read => self.take(&line),
                _ => {
                    let message = format!("the message exceeds the limit of {MAX_LINE_BYTES} bytes");
                    let fault = RpcError::bad_request(Code::InvalidRequest, message);
                    self.send(&fault.to_response(None), None);
                }
            }
            if line.capacity() > MAX_CAPACITY {
                line = Vec::new();
            }
            if self.calls.len() >= MAX_BATCH || !self.input.buffer().contains(&b'\n') {
                self.line = line;
                return Ok(!self.output.is_closed());
            }
        }
    }

    /// Starts the calls that were read, and collects the polls of their tools.
    pub(super) fn start_calls(&mut self) -> (PendingCalls, ToolPolls) {
        let mut calls = std::mem::take(&mut self.calls);
        let polls = ToolPolls::collect(|| poll(&mut calls));
        (calls, polls)
    }

    /// Starts the calls that were read without this thread, which is about to wait.
    fn hand_over_calls(&mut self) {
        if !self.calls.is_empty() {
            let _ = self.answering.send(std::mem::take(&mut self.calls));
        }
        self.output.release();
    }

    fn take(&mut self, line: &[u8]) {
        // Checked before the message takes memory, since shutdown waits until all memory is released.
        if self.shared.shutdown.is_cancelled() {
            return self.reject(line);
        }
        // These need no memory, and calls that wait for a user hold theirs until an answer arrives.
        let message = Message::parse(line);
        if let Ok(Message::Response { .. } | Message::Notification { .. }) = message {
            let modes = Modes::from_bits(self.modes.load(Ordering::Relaxed));
            route(&self.shared, message, Peer { session: Some(&self.session), modes, ..Peer::default() });
            return;
        }
        let n_bytes = u32::try_from(line.len() + REQUEST_BYTES).unwrap_or(u32::MAX);
        let held = match Arc::clone(&self.pending).try_acquire_many_owned(n_bytes) {
            Ok(held) => held,
            Err(_) => match self.wait_for_memory(n_bytes) {
                Some(held) => held,
                None => return self.reject(line),
            },
        };
        let held = HeldMemory::Whole(held);
        let modes = Modes::from_bits(self.modes.load(Ordering::Relaxed));
        let (session, end) = (Some(&*self.session), Some(&self.end));
        let peer = Peer { session, modes, end, ..Peer::default() };
        let routed = match is_batch(line) && self.takes_batches.load(Ordering::Relaxed) {
            true => Batch::route(&self.shared, line, peer),
            false => route(&self.shared, message, peer),
        };
        match routed {
            Routed::Reply(reply) => self.send(&reply.bytes, Some(held)),
            Routed::Initialized { bytes, takes_batches, modes } => {
                self.takes_batches.store(takes_batches, Ordering::Relaxed);
                self.modes.store(modes.bits(), Ordering::Relaxed);
                let held = held.shared();
                self.send(&bytes, Some(HeldMemory::Shared(Arc::clone(&held))));
                // Before 2026-07-28 clients are notified of changes without a subscription.
                if !self.is_notifying.swap(true, Ordering::Relaxed) {
                    let listen =
                        Listen::to_changes(&self.shared, Some(&self.session), caller_name(None, None, &self.session));
                    self.runtime.spawn(notify(
                        listen,
                        Arc::clone(&self.output),
                        HeldMemory::Shared(held),
                        self.end.clone(),
                    ));
                }
            }
            Routed::Listen(listen) => {
                self.runtime.spawn(notify(*listen, Arc::clone(&self.output), held, self.end.clone()));
            }
            call @ Routed::Call(_) => self.calls.push(Box::pin(respond(call, Arc::clone(&self.output), held))),
            other => drop(self.runtime.spawn(respond(other, Arc::clone(&self.output), held))),
        }
    }

    /// Waits for the memory of a request. Returns `None` if the server shuts down, which itself waits for all memory.
    fn wait_for_memory(&mut self, n_bytes: u32) -> Option<OwnedSemaphorePermit> {
        self.hand_over_calls();
        let released = Arc::clone(&self.pending).acquire_many_owned(n_bytes);
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                () = self.shared.shutdown.cancelled() => None,
                held = released => held.ok(),
            }
        })
    }

    /// Rejects a request, since the server is shutting down.
    fn reject(&mut self, line: &[u8]) {
        if let Some(id) = Message::parse(line).ok().and_then(|message| message.id()) {
            let fault = RpcError::new(Code::Internal, "the server is shutting down and accepts no new requests");
            self.send(&fault.to_response(Some(id)), None);
        }
    }

    fn send(&mut self, bytes: &[u8], held: Option<HeldMemory>) {
        if self.output.is_full() {
            // A call that is read before the message must not wait for room.
            self.hand_over_calls();
        }
        let _ = self.runtime.block_on(self.output.send(bytes, held));
    }
}

/// Polls calls once, and removes those that have sent their responses.
pub(super) fn poll(calls: &mut PendingCalls) {
    // All others are polled again.
    let mut context = Context::from_waker(Waker::noop());
    calls.retain_mut(|call| call.as_mut().poll(&mut context).is_pending());
}

/// Answers the calls of a client that no thread waits for. They are one task, so that the tools that end while it is woken do
/// not wake it again.
pub(super) async fn answer(mut answering: UnboundedReceiver<PendingCalls>) {
    let mut running = FuturesUnordered::new();
    loop {
        tokio::select! {
            Some(()) = running.next() => {}
            calls = answering.recv() => {
                let Some(calls) = calls else { break };
                running.extend(calls);
            }
        }
    }
    while running.next().await.is_some() {}
}

/// Answers a request.
async fn respond(routed: Routed, output: Arc<PipeOutput>, held: HeldMemory) {
    let reply = routed.answer(Arc::clone(&output)).await;
    if let Some(response) = reply.and_then(Reply::into_answer) {
        let _ = output.send(&response, Some(held)).await;
    }
}

async fn notify(mut listen: Listen, output: Arc<PipeOutput>, held: HeldMemory, end: CancelToken) {
    let held = held.shared();
    loop {
        let next = tokio::select! {
            biased;
            next = listen.next() => next,
            () = end.cancelled() => None,
        };
        let Some(bytes) = next else { return };
        if output.send(&bytes, Some(HeldMemory::Shared(Arc::clone(&held)))).await.is_err() {
            return;
        }
    }
}
