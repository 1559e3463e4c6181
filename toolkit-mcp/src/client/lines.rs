//! Messages as lines of JSON, over the standard streams of a process.

use std::collections::HashSet;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ClientNotification, ClientRequest, CustomResult, JsonRpcMessage, RequestId, ServerResult};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::watch;

use super::line_reader::LineReader;
use super::process::{Fate, Process};
use super::screen::{Screen, Verdict};

/// Messages as lines of JSON, over the standard streams of a process.
///
/// It differs from the transport of `rmcp` in what it does with what is no message. A line that is too long ends the
/// connection, since somebody may wait for it; other lines are passed over and counted, for the error of who waits in
/// vain. And results of tools are given as they came, without a detour through types that may lack a field.
pub(super) struct Lines {
    process: Process,
    output: LineReader<ChildStdout>,
    input: Arc<tokio::sync::Mutex<Option<ChildStdin>>>,
    screen: Screen,
    /// Requests whose results are given as they came.
    verbatim: Mutex<HashSet<RequestId>>,
    /// How many of the server's questions wait for an answer to be written.
    n_unanswered: Arc<AtomicUsize>,
    fate: Arc<Fate>,
    /// Grows when the server is gone, and its tools with it.
    changes: watch::Sender<u64>,
    max_bytes: usize,
}

/// How many questions a server may have at a time; what it asks is whether this program is still there.
const MAX_UNANSWERED: usize = 1_000;
/// How long a server may take to read what it is sent; if it takes longer, it has stopped reading.
const WRITING: Duration = Duration::from_secs(30);
/// How many lines may be no messages, such as the greeting of a package manager.
const MAX_STRAYS: usize = 10_000;

impl Lines {
    pub(super) fn new(
        (process, input, output): (Process, ChildStdin, ChildStdout),
        fate: Arc<Fate>,
        changes: watch::Sender<u64>,
        max_bytes: usize,
    ) -> Self {
        Self {
            screen: Screen::new(changes.clone()),
            process,
            output: LineReader::new(output, max_bytes.saturating_add(1)),
            input: Arc::new(tokio::sync::Mutex::new(Some(input))),
            verbatim: Mutex::default(),
            n_unanswered: Arc::default(),
            fate,
            changes,
            max_bytes,
        }
    }

    /// The next message; `None` where no more can come.
    async fn next(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let line = match self.output.next().await {
                Ok(Some(line)) => line,
                Ok(None) => {
                    self.process.last_words().await;
                    return None;
                }
                Err(error) => {
                    self.fate.seal(format!("its output cannot be read: {error}"));
                    return None;
                }
            };
            if line.len() > self.max_bytes {
                self.fate.seal(format!("it sent a message of more than {} bytes", self.max_bytes));
                return None;
            }
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            let message = match self.screen.received(line) {
                Verdict::Done => {
                    // A server that sends without end must not keep others from their turn.
                    tokio::task::consume_budget().await;
                    continue;
                }
                Verdict::Result(id, result) if locked(&self.verbatim).remove(&id) => {
                    // A result that is nested too deeply is none.
                    let result: Value = serde_json::from_str(result.get()).unwrap_or_default();
                    Some(JsonRpcMessage::response(ServerResult::CustomResult(CustomResult(result)), id))
                }
                Verdict::Result(..) | Verdict::Pass => serde_json::from_slice(line).ok(),
                Verdict::Stray => None,
            };
            if let Some(message) = message {
                let asks = matches!(message, JsonRpcMessage::Request(_));
                if asks && self.n_unanswered.fetch_add(1, Ordering::Relaxed) >= MAX_UNANSWERED {
                    self.fate.seal("it asks without reading the answers".to_owned());
                    return None;
                }
                return Some(message);
            }
            if self.fate.stray() > MAX_STRAYS {
                self.fate.seal("it does not speak the protocol".to_owned());
                return None;
            }
        }
    }
}

impl Lines {
    /// Remembers whose result is given as it came, as long as somebody waits for it.
    fn note(&self, message: &TxJsonRpcMessage<RoleClient>) {
        match message {
            JsonRpcMessage::Request(sent) => {
                if matches!(sent.request, ClientRequest::ListToolsRequest(_) | ClientRequest::CallToolRequest(_)) {
                    locked(&self.verbatim).insert(sent.id.clone());
                }
            }
            JsonRpcMessage::Notification(sent) => {
                if let ClientNotification::CancelledNotification(cancelled) = &sent.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    locked(&self.verbatim).remove(id);
                }
            }
            _ => {}
        }
    }
}

impl Transport<RoleClient> for Lines {
    type Error = io::Error;

    fn send(&mut self, message: TxJsonRpcMessage<RoleClient>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.screen.sent(&message);
        self.note(&message);
        let (input, fate) = (Arc::clone(&self.input), Arc::clone(&self.fate));
        let n_unanswered = Arc::clone(&self.n_unanswered);
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut input = input.lock().await;
            let open = input.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            let written = tokio::time::timeout(WRITING, async {
                open.write_all(&line).await?;
                open.flush().await
            });
            match written.await {
                Ok(Ok(())) => {
                    if matches!(message, JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)) {
                        n_unanswered.fetch_sub(1, Ordering::Relaxed);
                    }
                    Ok(())
                }
                // It is about to be gone; how it ended says more than this does.
                Ok(Err(error)) => {
                    *input = None;
                    fate.known().await;
                    Err(error)
                }
                // Half of a message may have been written, so there cannot be another.
                Err(_) => {
                    fate.seal("it has stopped reading what it is sent".to_owned());
                    *input = None;
                    Err(io::ErrorKind::TimedOut.into())
                }
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = self.next().await;
        if message.is_none() {
            self.changes.send_modify(|n| *n += 1);
        }
        message
    }

    async fn close(&mut self) -> io::Result<()> {
        if let Ok(mut input) = self.input.try_lock() {
            *input = None;
        }
        self.process.end().await;
        Ok(())
    }
}

fn locked(ids: &Mutex<HashSet<RequestId>>) -> MutexGuard<'_, HashSet<RequestId>> {
    ids.lock().unwrap_or_else(PoisonError::into_inner)
}
