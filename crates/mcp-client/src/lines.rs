//! The stdio transport, with one message per line.

use std::collections::HashSet;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ClientNotification, CustomResult, JsonRpcMessage, RequestId, ServerResult};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::watch;
use toolkit_runtime::LineReader;

use super::bounded_list;
use super::caller::written;
use super::process::{ExitState, Process};
use super::screen::{Screen, Verdict};
use super::verbatim::{self, is_verbatim};

/// The stdio transport, with one message per line.
///
/// It differs from the transport of `rmcp` in its handling of invalid lines. A line that is too long ends the
/// connection, since it may be the response to a request. Other invalid lines are repaired, or else skipped and counted
/// for error messages. Results of tools are passed on unchanged, since types may lack some of their fields.
pub(super) struct Lines {
    process: Process,
    output: LineReader<ChildStdout>,
    input: Arc<tokio::sync::Mutex<Option<ChildStdin>>>,
    screen: Screen,
    /// The requests whose results are passed on unchanged.
    verbatim: Mutex<HashSet<RequestId>>,
    /// The number of requests of the server whose responses were not written yet.
    n_unanswered: Arc<AtomicUsize>,
    exit_state: Arc<ExitState>,
    /// Incremented when the server is gone, which removes its tools.
    changes: watch::Sender<u64>,
    max_bytes: usize,
}

/// The maximum of `n_unanswered`. Servers send only `ping` requests.
const MAX_UNANSWERED: usize = 1_000;
/// The timeout of writing a message. A server that exceeds it has stopped reading.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// The number of invalid lines, such as output of a package manager, after which the connection ends.
const MAX_STRAYS: usize = 10_000;

impl Lines {
    pub(super) fn new(
        (process, input, output): (Process, ChildStdin, ChildStdout),
        exit_state: Arc<ExitState>,
        screen: Screen,
        changes: watch::Sender<u64>,
        max_bytes: usize,
    ) -> Self {
        Self {
            screen,
            process,
            output: LineReader::new(output),
            input: Arc::new(tokio::sync::Mutex::new(Some(input))),
            verbatim: Mutex::default(),
            n_unanswered: Arc::default(),
            exit_state,
            changes,
            max_bytes,
        }
    }

    /// Returns the next message, or `None` at the end.
    async fn next(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let line = match self.output.next(self.max_bytes.saturating_add(1)).await {
                Ok(Some(line)) => line,
                Ok(None) => {
                    self.process.record_end().await;
                    return None;
                }
                Err(error) => {
                    self.exit_state.record(format!("its output cannot be read: {error}"));
                    return None;
                }
            };
            if line.len() > self.max_bytes {
                self.exit_state.record(format!("it sent a message larger than {} bytes", self.max_bytes));
                return None;
            }
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            let shortened = bounded_list::shortened(line, self.screen.max_tools);
            let line = shortened.as_ref().map_or(line, String::as_bytes);
            let repaired;
            let (line, verdict) = match self.screen.received(line, None) {
                Verdict::Stray => {
                    repaired = verbatim::repaired_message(line).unwrap_or_default();
                    (repaired.as_bytes(), self.screen.received(repaired.as_bytes(), None))
                }
                verdict => (line, verdict),
            };
            let message = match verdict {
                Verdict::Done => {
                    // A server that sends without pause must not starve other tasks.
                    tokio::task::consume_budget().await;
                    continue;
                }
                Verdict::Result(id, result) if locked(&self.verbatim).remove(&id) => {
                    Some(match verbatim::result(result.get()) {
                        Ok(result) => JsonRpcMessage::response(ServerResult::CustomResult(CustomResult(result)), id),
                        Err(error) => JsonRpcMessage::error(verbatim::unreadable(&error), Some(id)),
                    })
                }
                Verdict::Result(..) | Verdict::Pass => verbatim::message(line).and_then(serde_json::from_value).ok(),
                Verdict::Stray => None,
            };
            if let Some(message) = message {
                let asks = matches!(message, JsonRpcMessage::Request(_));
                if asks && self.n_unanswered.fetch_add(1, Ordering::Relaxed) >= MAX_UNANSWERED {
                    self.exit_state.record("it sends requests without reading the responses".to_owned());
                    return None;
                }
                return Some(message);
            }
            if self.exit_state.count_stray() > MAX_STRAYS {
                self.exit_state.record("it does not speak MCP".to_owned());
                return None;
            }
        }
    }
}

impl Lines {
    /// Tracks the requests whose results are passed on unchanged, until they are canceled.
    fn note(&self, message: &TxJsonRpcMessage<RoleClient>) {
        match message {
            JsonRpcMessage::Request(sent) if is_verbatim(&sent.request) => {
                locked(&self.verbatim).insert(sent.id.clone());
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
        let (input, exit_state) = (Arc::clone(&self.input), Arc::clone(&self.exit_state));
        let n_unanswered = Arc::clone(&self.n_unanswered);
        async move {
            let mut line = written(&message)?;
            line.push(b'\n');
            let mut input = input.lock().await;
            let open = input.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            let written = tokio::time::timeout(WRITE_TIMEOUT, async {
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
                // The exit status of the process is a better error than this one.
                Ok(Err(error)) => {
                    *input = None;
                    exit_state.wait().await;
                    Err(error)
                }
                // A part of the message may have been written, so the stream is no longer usable.
                Err(_) => {
                    exit_state.record("it has stopped reading its input".to_owned());
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
