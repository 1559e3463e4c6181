//! The stdio transport, with one message per line.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::SetOnce;
use tokio::time::timeout;
use toolkit::CancelToken;
use toolkit::dispatch::BoxFuture;
use toolkit_runtime::LineReader;

use super::failure::Failure;
use super::incoming::number;
use super::message_memory::{LARGE, MessageLimit, Received};
use super::peer::{Asking, Peer, PeerAnswer, Transport};
use super::process::{ExitState, Process};
use super::redaction::Redaction;

/// The stdio transport. Dropping it ends the process.
pub(super) struct Stdio {
    input: Arc<ServerInput>,
    /// The number of requests of the server whose responses were not written yet.
    n_unanswered: AtomicUsize,
    exit_state: Arc<ExitState>,
    closing: CancelToken,
    ended: Arc<SetOnce<()>>,
    /// The values of environment variables, which the server may repeat.
    secrets: Redaction,
}

/// The input of the process, or `None` after its end.
type ServerInput = tokio::sync::Mutex<Option<ChildStdin>>;

/// The maximum of `n_unanswered`. Servers send few requests.
const MAX_UNANSWERED: usize = 1_000;
/// The timeout of writing a message. A server that exceeds it has stopped reading.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// The number of invalid lines, such as output of a package manager, after which the connection ends.
const MAX_STRAYS: usize = 10_000;

impl Stdio {
    /// Creates the transport of a process, and the reader of its output.
    pub(super) fn new(
        (process, input, output): (Process, ChildStdin, ChildStdout),
        exit_state: &Arc<ExitState>,
        limit: MessageLimit,
    ) -> (Self, StdoutReader) {
        let stdio = Self {
            input: Arc::new(ServerInput::new(Some(input))),
            n_unanswered: AtomicUsize::new(0),
            exit_state: Arc::clone(exit_state),
            closing: CancelToken::new(),
            ended: Arc::default(),
            secrets: process.secrets.clone(),
        };
        let reader = StdoutReader {
            process,
            output: LineReader::new(output),
            input: Arc::clone(&stdio.input),
            exit_state: Arc::clone(exit_state),
            closing: stdio.closing.clone(),
            ended: Arc::clone(&stdio.ended),
            limit,
        };
        (stdio, reader)
    }

    /// Writes a message.
    async fn write(&self, mut message: Vec<u8>) -> Result<(), Failure> {
        message.push(b'\n');
        let mut input = self.input.lock().await;
        let open = input.as_mut().ok_or(Failure::Closed)?;
        let written = timeout(WRITE_TIMEOUT, async {
            open.write_all(&message).await?;
            open.flush().await
        });
        match written.await {
            Ok(Ok(())) => Ok(()),
            // The exit status of the process is a better error than this one.
            Ok(Err(error)) => {
                *input = None;
                self.exit_state.wait().await;
                Err(Failure::Pipe(error))
            }
            // A part of the message may have been written, so the stream is no longer usable.
            Err(_) => {
                self.exit_state.record("it has stopped reading its input".to_owned());
                *input = None;
                self.closing.cancel();
                Err(Failure::Pipe(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl Transport for Stdio {
    fn ask<'t>(&'t self, peer: &'t Arc<Peer>, asking: Asking<'t>) -> BoxFuture<'t, PeerAnswer> {
        Box::pin(async move {
            let Asking { request, acknowledged, sent } = asking;
            let mut asked = peer.open(request, acknowledged)?;
            sent(asked.id);
            asked.is_sent = true;
            self.write(request.message(asked.id, peer.meta(request))).await?;
            asked.answered().await.map_err(|failure| failure.without(&self.secrets))
        })
    }

    fn send<'t>(&'t self, _: &'t Arc<Peer>, message: Vec<u8>) -> BoxFuture<'t, Result<(), Failure>> {
        Box::pin(self.write(message))
    }

    fn begin<'t>(&'t self, peer: &'t Arc<Peer>) -> BoxFuture<'t, Result<(), Failure>> {
        Box::pin(async move { peer.notify("notifications/initialized", &json!({})).await })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.closing.cancel();
            self.ended.wait().await;
        })
    }

    fn admits_request(&self) -> bool {
        if self.n_unanswered.fetch_add(1, Ordering::Relaxed) < MAX_UNANSWERED {
            return true;
        }
        self.exit_state.record("it sends requests without reading the responses".to_owned());
        self.closing.cancel();
        false
    }

    fn has_responded(&self) {
        self.n_unanswered.fetch_sub(1, Ordering::Relaxed);
    }

    fn is_http(&self) -> bool {
        false
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        self.closing.cancel();
    }
}

/// The reader of a process's output.
pub(super) struct StdoutReader {
    process: Process,
    output: LineReader<ChildStdout>,
    input: Arc<ServerInput>,
    exit_state: Arc<ExitState>,
    closing: CancelToken,
    ended: Arc<SetOnce<()>>,
    limit: MessageLimit,
}

impl StdoutReader {
    /// Reads until the output or the connection ends, and then ends the process.
    pub(super) fn start(mut self, peer: &Arc<Peer>) {
        let (peer, changes) = (Arc::downgrade(peer), peer.changes.clone());
        tokio::spawn(async move {
            let closing = self.closing.clone();
            let has_ended = tokio::select! {
                has_ended = self.run(&peer) => has_ended,
                () = closing.cancelled() => false,
            };
            if has_ended {
                self.process.record_end().await;
            }
            // The end of its input asks the process to exit. A message that is being written fails when the process ends.
            if let Ok(mut input) = self.input.try_lock() {
                *input = None;
            }
            if let Some(peer) = peer.upgrade() {
                peer.close();
            }
            changes.send_modify(|n| *n += 1);
            self.process.end().await;
            let _ = self.ended.set(());
        });
    }

    /// Passes on each line. Returns true at the end of the output.
    async fn run(&mut self, peer: &Weak<Peer>) -> bool {
        loop {
            let Received { bytes: mut line, memory } = match self.line().await {
                Ok(Some(line)) => line,
                Ok(None) => return true,
                Err(error) => {
                    self.exit_state.record(format!("its output cannot be read: {error}"));
                    return false;
                }
            };
            if line.len() > self.limit.max_bytes && !line.ends_with(b"\n") {
                line.truncate(HEAD);
                drop(memory);
                if !self.skip(line, peer).await {
                    return true;
                }
                continue;
            }
            line.truncate(line.trim_ascii_end().len());
            if line.is_empty() {
                continue;
            }
            let Some(peer) = peer.upgrade() else { return false };
            if peer.receive(Received::new(line, memory), None).await && self.exit_state.count_stray() > MAX_STRAYS {
                self.exit_state.record("it does not speak MCP".to_owned());
                return false;
            }
            drop(peer);
            // A server that sends without pause must not starve other tasks.
            tokio::task::consume_budget().await;
        }
    }

    /// Reads a line with its end, or the front of one that is too long, or returns `None` at the end of the output.
    async fn line(&mut self) -> io::Result<Option<Received>> {
        // A line of the maximum size has its end as well.
        let max_bytes = self.limit.max_bytes.saturating_add(1);
        let Some(front) = self.output.next(LARGE.min(max_bytes)).await? else { return Ok(None) };
        let (mut line, mut memory) = (front.to_vec(), None);
        while line.len() >= LARGE && line.len() < max_bytes && !line.ends_with(b"\n") {
            if memory.is_none() {
                memory = Some(self.limit.memory(max_bytes).await);
            }
            match self.output.next(PART.min(max_bytes - line.len())).await? {
                Some(part) => line.extend_from_slice(part),
                None => break,
            }
        }
        Ok(Some(Received { bytes: line, memory }))
    }

    /// Skips the rest of a line that is too long, and ends the request that it answers: the other ones go on. Returns false at
    /// the end of the output.
    async fn skip(&mut self, head: Vec<u8>, peer: &Weak<Peer>) -> bool {
        let mut tail = Vec::new();
        let mut goes_on = true;
        loop {
            match self.output.next(PART).await {
                Ok(Some(part)) => {
                    tail.extend_from_slice(&part[part.len().saturating_sub(HEAD)..]);
                    tail.drain(..tail.len().saturating_sub(HEAD));
                    if part.ends_with(b"\n") {
                        break;
                    }
                }
                _ => {
                    goes_on = false;
                    break;
                }
            }
        }
        let Some(peer) = peer.upgrade() else { return false };
        let id = id_at_start(&head).or_else(|| id_at_end(&tail)).or_else(|| peer.only_open());
        match id {
            Some(id) => drop(peer.answer(id, Err(Failure::TooLarge(self.limit.max_bytes)))),
            None => tracing::warn!("a message of a server with more than {} bytes is dropped", self.limit.max_bytes),
        }
        goes_on
    }
}

/// The length of the start and the end of a line that is too long in which the id of the request is looked for.
const HEAD: usize = 512;

/// The length of the parts in which such a line is skipped.
const PART: usize = 64 << 10;

/// Returns the id that precedes the result of a message.
fn id_at_start(head: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(head);
    let before = text.split("\"result\"").next()?;
    id_after(before, before.rfind("\"id\"")?)
}

/// Returns the id that follows the result of a message.
fn id_at_end(tail: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(tail);
    let text = text.trim_end();
    let at = text.rfind("\"id\"")?;
    // Nothing nested follows it.
    text[at..].trim_end_matches('}').find(['}', ']', '{']).is_none().then(|| id_after(text, at))?
}

fn id_after(text: &str, at: usize) -> Option<u64> {
    let value = text[at + "\"id\"".len()..].trim_start().strip_prefix(':')?.trim_start();
    let end = value.find([',', '}']).unwrap_or(value.len());
    number(value[..end].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_long_line_is_before_or_after_the_result() {
        assert_eq!(id_at_start(br#"{"jsonrpc":"2.0","id":7,"result":{"id":8,"#), Some(7));
        assert_eq!(id_at_start(br#"{"jsonrpc":"2.0", "id" : "7", "result":{"#), Some(7));
        assert_eq!(id_at_start(br#"{"jsonrpc":"2.0","result":{"id":8,"#), None);
        assert_eq!(id_at_end(br#"aaa"}]},"id":9,"jsonrpc":"2.0"}"#), Some(9));
        assert_eq!(id_at_end(br#"{"id":9}]}}"#), None);
    }
}
