//! The stdio transport, with one message per line.
//!
//! | module | contains |
//! | --- | --- |
//! | `turns` | the threads that read in turns, and run the tools of the calls that they have read |
//! | `reader` | reads messages and starts requests |
//! | `output` | the messages that wait, and the threads that write them |
//! | `framing`, `exclusive` | lines, and the pipes of the process |

mod exclusive;
mod framing;
mod output;
mod reader;
mod turns;

use std::io::{self, BufReader, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc, oneshot};
use toolkit::CancelToken;
use toolkit_runtime::{SessionTimer, ShutdownSignals, Side, Transport};

use self::exclusive::take;
use self::output::PipeOutput;
use self::reader::LineReader;
use self::turns::Turns;
use super::state::ServerState;

/// The total size of pending requests, in bytes. Reading pauses beyond it.
const MAX_PENDING_BYTES: usize = 64 << 20;

/// Serves the stdin and stdout of the process until stdin ends, or the process receives a signal.
pub(super) async fn serve_process(shared: &Arc<ServerState>) -> io::Result<()> {
    let (input, output) = take()?;
    let mut signals = ShutdownSignals::listen();
    let mut serving = std::pin::pin!(serve(shared, input, output));
    tokio::select! {
        outcome = &mut serving => return outcome,
        () = signals.next() => shared.shut_down(),
    }
    tokio::select! {
        outcome = serving => outcome,
        () = signals.next() => Ok(()),
    }
}

/// Serves two pipes until `input` ends or the server shuts down.
pub(super) async fn serve(
    shared: &Arc<ServerState>,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> io::Result<()> {
    static N_PIPES: AtomicU64 = AtomicU64::new(0);
    let session: Arc<str> = format!("pipe {}", N_PIPES.fetch_add(1, Ordering::Relaxed)).into();
    let _measured = SessionTimer::start(Side::Server, Transport::Pipe, None);
    let output = PipeOutput::new(output);
    let (written, all_written) = oneshot::channel();
    let writing = Arc::clone(&output);
    std::thread::Builder::new().name("mcp stdout".to_owned()).spawn(move || {
        let _ = written.send(writing.run());
    })?;
    let (runtime, end) = (Handle::current(), CancelToken::new());
    // Bounded by the memory of pending requests.
    let (answering, calls) = mpsc::unbounded_channel();
    runtime.spawn(reader::answer(calls));
    let input: Box<dyn Read + Send> = Box::new(input);
    let reader = LineReader {
        input: BufReader::with_capacity(64 << 10, input),
        line: Vec::new(),
        shared: Arc::clone(shared),
        session: Arc::clone(&session),
        output: Arc::clone(&output),
        pending: Arc::new(Semaphore::new(MAX_PENDING_BYTES)),
        runtime,
        calls: Vec::new(),
        answering,
        end: end.clone(),
        is_notifying: AtomicBool::new(false),
        takes_batches: AtomicBool::new(false),
        modes: AtomicU8::new(0),
    };
    let ending = Ending { end, shared: Arc::clone(shared), session, output };
    let pending = Arc::clone(&reader.pending);
    let (ended, read) = oneshot::channel();
    Turns::start(reader, ended)?;
    let outcome = tokio::select! {
        outcome = read => outcome.unwrap_or(Ok(())),
        () = shared.shutdown.cancelled() => Ok(()),
        outcome = all_written => return outcome.unwrap_or(Ok(())),
    };
    ending.end.cancel();
    // All requests are answered when the whole semaphore is free.
    let all = u32::try_from(MAX_PENDING_BYTES).unwrap_or(u32::MAX);
    let drained = async {
        let _ = pending.acquire_many(all).await;
        shared.tasks.settled().await;
    };
    let _ = tokio::time::timeout(shared.shutdown_timeout, drained).await;
    outcome
}

/// A guard that cancels the calls of a client whose responses are no longer written.
struct Ending {
    end: CancelToken,
    shared: Arc<ServerState>,
    session: Arc<str>,
    output: Arc<PipeOutput>,
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.end.cancel();
        self.shared.running.cancel_all_of(&self.session);
        self.shared.resources.subscriptions.end(&self.session);
        self.shared.log_levels.end(&self.session);
        self.output.close();
    }
}
