//! The stdio transport, with one message per line.

mod output;
mod reader;

use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use tokio::runtime::Handle;
use tokio::sync::{Semaphore, oneshot};
use toolkit::CancelToken;
use toolkit_http::{ShutdownSignals, ToolBatch};

use self::output::Output;
use self::reader::Reader;
use super::call::Attendant;
use super::state::Server;

/// The total size of pending requests, in bytes. Reading pauses beyond it.
const MAX_PENDING_BYTES: usize = 64 << 20;

impl Server {
    /// Serves the process's stdin and stdout until stdin ends, or the process receives SIGTERM or Ctrl-C. Running calls
    /// may then finish within [`ServerBuilder::shutdown_timeout`](super::ServerBuilder::shutdown_timeout). A second
    /// signal returns at once.
    ///
    /// On Unix, the protocol gets exclusive use of both pipes: from then on, tools and their child processes read from
    /// `/dev/null` and write to stderr instead. Otherwise a tool that reads stdin would consume messages, and a tool
    /// that prints would corrupt them.
    ///
    /// The pipes of the standard library block, so each has a thread of its own. The thread of stdin ends with the
    /// process.
    ///
    /// # Errors
    ///
    /// Returns an error if stdin cannot be read or stdout cannot be written.
    ///
    /// # Panics
    ///
    /// Panics outside of a tokio runtime.
    ///
    /// # Examples
    ///
    /// ```no_run,standalone_crate
    /// use toolkit::{Catalog, Dispatcher};
    /// use toolkit_mcp::server::Server;
    ///
    /// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = Server::new(Dispatcher::new(Catalog::linked()?)?)?;
    /// server.stdio().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn stdio(&self) -> io::Result<()> {
        let (input, output) = take()?;
        let mut signals = ShutdownSignals::listen();
        let mut serving = std::pin::pin!(self.pipes(input, output));
        tokio::select! {
            outcome = &mut serving => return outcome,
            () = signals.next() => self.shut_down(),
        }
        tokio::select! {
            outcome = serving => outcome,
            () = signals.next() => Ok(()),
        }
    }

    /// Serves two pipes until `input` ends or [`Server::shut_down`] is called; see [`Server::stdio`].
    ///
    /// # Errors
    ///
    /// Returns an error if `input` cannot be read or `output` cannot be written.
    ///
    /// # Panics
    ///
    /// Panics outside of a tokio runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// # use toolkit::{Catalog, Dispatcher};
    /// # use toolkit_mcp::server::Server;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = Server::new(Dispatcher::new(Catalog::new([])?)?)?;
    /// let (responses, output) = std::io::pipe()?;
    /// let input = r#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#.as_bytes();
    /// server.pipes(input, output).await?;
    /// assert_eq!(std::io::read_to_string(responses)?.trim_end(), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn pipes(
        &self,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> io::Result<()> {
        static N_PIPES: AtomicU64 = AtomicU64::new(0);
        let session: Arc<str> = format!("pipe {}", N_PIPES.fetch_add(1, Ordering::Relaxed)).into();
        let pipe = output;
        let output = Output::new();
        let (written, all_written) = oneshot::channel();
        let writing = Arc::clone(&output);
        std::thread::Builder::new().name("mcp stdout".to_owned()).spawn(move || {
            let _ = written.send(writing.run(pipe));
        })?;
        let (runtime, end) = (Handle::current(), CancelToken::new());
        let mut reader = Reader {
            server: self.clone(),
            session: Arc::clone(&session),
            output: Arc::clone(&output),
            pending: Arc::new(Semaphore::new(MAX_PENDING_BYTES)),
            batch: ToolBatch::new(self.shared.pool.clone(), runtime.clone()),
            started: Vec::new(),
            attendant: Attendant::start(&runtime, end.clone()),
            runtime,
            end: end.clone(),
            is_notifying: AtomicBool::new(false),
            takes_batches: AtomicBool::new(false),
            modes: AtomicU8::new(0),
        };
        let ending = Ending { end, server: self.clone(), session, output };
        let pending = Arc::clone(&reader.pending);
        let (ended, read) = oneshot::channel();
        std::thread::Builder::new().name("mcp stdin".to_owned()).spawn(move || {
            let _ = ended.send(reader.read(input));
        })?;
        let outcome = tokio::select! {
            outcome = read => outcome.unwrap_or(Ok(())),
            () = self.shared.shutdown.cancelled() => Ok(()),
            outcome = all_written => return outcome.unwrap_or(Ok(())),
        };
        ending.end.cancel();
        // All requests are answered when the whole semaphore is free.
        let all = u32::try_from(MAX_PENDING_BYTES).unwrap_or(u32::MAX);
        let drained = async {
            let _ = pending.acquire_many(all).await;
            self.shared.tasks.settled().await;
        };
        let _ = tokio::time::timeout(self.shared.shutdown_timeout, drained).await;
        outcome
    }
}

/// A guard that cancels the calls of a client whose responses are no longer written.
struct Ending {
    end: CancelToken,
    server: Server,
    session: Arc<str>,
    output: Arc<Output>,
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.end.cancel();
        self.server.shared.running.cancel_all_of(&self.session);
        self.server.shared.resources.subscriptions.end(&self.session);
        self.server.shared.log_levels.end(&self.session);
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
