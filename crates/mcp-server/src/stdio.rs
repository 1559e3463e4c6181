//! The stdio transport, with one message per line.
//!
//! | module | contains |
//! | --- | --- |
//! | `turns` | the threads that read in turns, and run the tools of the calls that they have read |
//! | `reader` | reads messages and starts requests |
//! | `output` | the messages that wait, and the threads that write them |

mod output;
mod reader;
mod turns;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc, oneshot};
use toolkit::CancelToken;
use toolkit_runtime::{SessionTimer, ShutdownSignals, Side, Transport};

use self::output::Output;
use self::reader::Reader;
use self::turns::Turns;
use super::state::Shared;

/// The total size of pending requests, in bytes. Reading pauses beyond it.
const MAX_PENDING_BYTES: usize = 64 << 20;

/// Serves the stdin and stdout of the process until stdin ends, or the process receives a signal.
pub(super) async fn serve_process(shared: &Arc<Shared>) -> io::Result<()> {
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
    shared: &Arc<Shared>,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> io::Result<()> {
    static N_PIPES: AtomicU64 = AtomicU64::new(0);
    let session: Arc<str> = format!("pipe {}", N_PIPES.fetch_add(1, Ordering::Relaxed)).into();
    let _measured = SessionTimer::start(Side::Server, Transport::Pipe, None);
    let output = Output::new(output);
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
    let reader = Reader {
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
    shared: Arc<Shared>,
    session: Arc<str>,
    output: Arc<Output>,
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

// Framing: one message per line.

/// The maximum length of a line, in bytes.
const MAX_LINE_BYTES: usize = 20 << 20;

/// The outcome of reading a line.
enum Line {
    Read,
    TooLong,
    End,
}

/// Reads a line without its line ending. Skips a line that is too long.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Line> {
    let n_read = input.by_ref().take(MAX_LINE_BYTES as u64 + 1).read_until(b'\n', line)?;
    if n_read == 0 {
        return Ok(Line::End);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        return Ok(Line::Read);
    }
    if n_read <= MAX_LINE_BYTES {
        // The last line may lack a line ending.
        return Ok(Line::Read);
    }
    line.clear();
    line.shrink_to(64 << 10);
    input.skip_until(b'\n')?;
    Ok(Line::TooLong)
}

// Exclusive use of the stdin and stdout of the process.

/// Returns the stdin and stdout of the process, and redirects both for the rest of the process: stdin to `/dev/null`,
/// and stdout to stderr.
#[cfg(unix)]
fn take() -> io::Result<(impl Read + Send, impl Write + Send)> {
    use std::fs::File;
    use std::os::fd::AsFd;

    let input = io::stdin().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok((File::from(input), File::from(output)))
}

#[cfg(not(unix))]
fn take() -> io::Result<(impl Read + Send, impl Write + Send)> {
    Ok((io::stdin(), io::stdout()))
}
