//! The stdio transport, with one message per line.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use toolkit::CancelToken;
use toolkit_runtime::LineReader;

use super::failure::Failure;
use super::incoming::number;
use super::peer::{Peer, Transport};
use super::process::{ExitState, Process};

/// The stdio transport. Dropping it ends the process.
pub(super) struct Stdio {
    input: tokio::sync::Mutex<Option<ChildStdin>>,
    /// The number of requests of the server whose responses were not written yet.
    n_unanswered: AtomicUsize,
    exit_state: Arc<ExitState>,
    closing: CancelToken,
    reading: Mutex<Option<JoinHandle<()>>>,
}

/// The maximum of `n_unanswered`. Servers send few requests.
const MAX_UNANSWERED: usize = 1_000;
/// The timeout of writing a message. A server that exceeds it has stopped reading.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// The number of invalid lines, such as output of a package manager, after which the connection ends.
const MAX_STRAYS: usize = 10_000;

impl Stdio {
    pub(super) fn new(input: ChildStdin, exit_state: &Arc<ExitState>) -> Self {
        Self {
            input: tokio::sync::Mutex::new(Some(input)),
            n_unanswered: AtomicUsize::new(0),
            exit_state: Arc::clone(exit_state),
            closing: CancelToken::new(),
            reading: Mutex::default(),
        }
    }

    /// Reads the output of the process until one of them ends.
    pub(super) fn read(&self, peer: &Arc<Peer>, process: Process, output: ChildStdout, max_bytes: usize) {
        let reader = Reader {
            peer: Arc::downgrade(peer),
            output: LineReader::new(output),
            exit_state: Arc::clone(&self.exit_state),
            max_bytes,
        };
        let (closing, changes) = (self.closing.clone(), peer.changes.clone());
        let reading = tokio::spawn(async move {
            let (mut reader, mut process) = (reader, process);
            let has_ended = tokio::select! {
                has_ended = reader.run() => has_ended,
                () = closing.cancelled() => false,
            };
            if has_ended {
                process.record_end().await;
            }
            // The process gets its chance to exit by itself: the other end of its input is dropped.
            if let Some(peer) = reader.peer.upgrade() {
                if let Transport::Stdio(stdio) = peer.transport()
                    && let Ok(mut input) = stdio.input.try_lock()
                {
                    *input = None;
                }
                peer.close();
            }
            changes.send_modify(|n| *n += 1);
            process.end().await;
        });
        *self.reading.lock().unwrap_or_else(PoisonError::into_inner) = Some(reading);
    }

    /// Writes a message.
    pub(super) async fn write(&self, mut message: Vec<u8>) -> Result<(), Failure> {
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

    /// Counts a request of the server. Returns false if it reads no responses.
    pub(super) fn admits_request(&self) -> bool {
        if self.n_unanswered.fetch_add(1, Ordering::Relaxed) < MAX_UNANSWERED {
            return true;
        }
        self.exit_state.record("it sends requests without reading the responses".to_owned());
        self.closing.cancel();
        false
    }

    /// Records that a response was written.
    pub(super) fn has_answered(&self) {
        self.n_unanswered.fetch_sub(1, Ordering::Relaxed);
    }

    /// Ends the process, and waits until it has ended.
    pub(super) async fn close(&self) {
        self.closing.cancel();
        let reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(reading) = reading {
            let _ = reading.await;
        }
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        self.closing.cancel();
    }
}

/// The reader of a process's output.
struct Reader {
    peer: Weak<Peer>,
    output: LineReader<ChildStdout>,
    exit_state: Arc<ExitState>,
    max_bytes: usize,
}

impl Reader {
    /// Passes on each line. Returns true at the end of the output.
    async fn run(&mut self) -> bool {
        loop {
            let line = match self.output.next(self.max_bytes.saturating_add(1)).await {
                Ok(Some(line)) => line,
                Ok(None) => return true,
                Err(error) => {
                    self.exit_state.record(format!("its output cannot be read: {error}"));
                    return false;
                }
            };
            if line.len() > self.max_bytes {
                let start = line[..line.len().min(HEAD)].to_vec();
                if !self.skip(start).await {
                    return true;
                }
                continue;
            }
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            let line = line.to_vec();
            let Some(peer) = self.peer.upgrade() else { return false };
            if peer.receive(line, None).await && self.exit_state.count_stray() > MAX_STRAYS {
                self.exit_state.record("it does not speak MCP".to_owned());
                return false;
            }
            drop(peer);
            // A server that sends without pause must not starve other tasks.
            tokio::task::consume_budget().await;
        }
    }

    /// Skips the rest of a line that is too long, and ends the request that it answers: the other ones go on. Returns false at
    /// the end of the output.
    async fn skip(&mut self, head: Vec<u8>) -> bool {
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
        let Some(peer) = self.peer.upgrade() else { return false };
        let id = id_at_start(&head).or_else(|| id_at_end(&tail)).or_else(|| peer.only_open());
        match id {
            Some(id) => drop(peer.answer(id, Err(Failure::TooLarge(self.max_bytes)))),
            None => tracing::warn!("a message of a server with more than {} bytes is dropped", self.max_bytes),
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
