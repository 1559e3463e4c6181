//! The protocol over a pipe: one message a line.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use toolkit::CancelToken;

use super::Server;
use super::call::{Call, CallEvent};
use super::http::told_to_end;
use super::listen::Listen;
use super::message::Message;
use super::methods::{Peer, Routed};
use super::reply::{Code, Fault};

/// The longest line that is read.
const MAX_LINE_BYTES: usize = 20 << 20;

/// How many bytes of requests are in memory at once, over all that run. Who sends more waits.
const MAX_PENDING_BYTES: usize = 64 << 20;

/// What a request takes beside its bytes, roughly.
const REQUEST_BYTES: usize = 4 << 10;

/// How many messages wait to be written.
const MAX_UNWRITTEN: usize = 64;

/// How long calls may go on when nothing can be asked any more.
const GRACE: Duration = Duration::from_secs(30);

impl Server {
    /// Serves the process's stdin and stdout until stdin ends, or the process is told to end by SIGTERM or Ctrl-C; calls
    /// that run are then finished and answered, for half a minute at most.
    ///
    /// Nothing else may print to stdout. The standard library's pipes block, so each end has a thread of its own; that
    /// of stdin ends with the process.
    ///
    /// # Errors
    ///
    /// stdin cannot be read, or stdout cannot be written.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub async fn stdio(&self) -> io::Result<()> {
        self.stdio_with(io::stdout()).await
    }

    /// As [`Server::stdio`], with another way to where stdout led, for a host that keeps what tools print from it.
    ///
    /// # Errors
    ///
    /// stdin cannot be read, or `output` cannot be written.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub async fn stdio_with(&self, output: impl Write + Send + 'static) -> io::Result<()> {
        let mut serving = std::pin::pin!(self.pipes(io::stdin(), output));
        tokio::select! {
            outcome = &mut serving => return outcome,
            () = told_to_end() => self.shut_down(),
        }
        serving.await
    }

    /// Serves two pipes until the first ends, or until [`Server::shut_down`]; see [`Server::stdio`].
    ///
    /// # Errors
    ///
    /// `input` cannot be read, or `output` cannot be written.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub async fn pipes(
        &self,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> io::Result<()> {
        static N_PIPES: AtomicU64 = AtomicU64::new(0);
        let session: Arc<str> = format!("pipe {}", N_PIPES.fetch_add(1, Ordering::Relaxed)).into();
        let (messages, unwritten) = mpsc::channel(MAX_UNWRITTEN);
        let (written, all_written) = oneshot::channel();
        std::thread::Builder::new().name("mcp stdout".to_owned()).spawn(move || {
            let _ = written.send(write(unwritten, output));
        })?;
        let reader = Reader {
            server: self.clone(),
            runtime: Handle::current(),
            session: Arc::clone(&session),
            messages,
            pending: Arc::new(Semaphore::new(MAX_PENDING_BYTES)),
            end: CancelToken::new(),
            is_telling: AtomicBool::new(false),
        };
        let end = reader.end.clone();
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
        end.cancel();
        // All is answered when nothing is pending any more.
        let all = u32::try_from(MAX_PENDING_BYTES).unwrap_or(u32::MAX);
        let is_answered = tokio::time::timeout(GRACE, pending.acquire_many(all)).await.is_ok();
        if !is_answered {
            self.shared.running.cancel_all_of(&session);
        }
        outcome
    }
}

/// Reads messages, and starts what they ask for.
struct Reader {
    server: Server,
    runtime: Handle,
    session: Arc<str>,
    messages: Sender<Outgoing>,
    pending: Arc<Semaphore>,
    /// Says that there will be no more requests, and nobody need be told of changes.
    end: CancelToken,
    is_telling: AtomicBool,
}

/// A message to be written, and the memory that its request holds until then.
struct Outgoing {
    bytes: Vec<u8>,
    _held: Option<Arc<OwnedSemaphorePermit>>,
}

impl Reader {
    fn read(self, input: impl Read) -> io::Result<()> {
        let mut input = BufReader::with_capacity(64 << 10, input);
        let mut line = Vec::new();
        loop {
            line.clear();
            match read_line(&mut input, &mut line)? {
                Line::End => return Ok(()),
                Line::TooLong => {
                    let message = format!("the message has more than {MAX_LINE_BYTES} bytes");
                    let fault = Fault::of_envelope(Code::InvalidRequest, message);
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
        let n_bytes = u32::try_from(line.len() + REQUEST_BYTES).unwrap_or(u32::MAX);
        let held = match Arc::clone(&self.pending).try_acquire_many_owned(n_bytes) {
            Ok(held) => held,
            Err(_) => match self.runtime.block_on(Arc::clone(&self.pending).acquire_many_owned(n_bytes)) {
                Ok(held) => held,
                Err(_) => return,
            },
        };
        let held = Arc::new(held);
        if self.server.shared.shutdown.is_cancelled() {
            let id = Message::parse(line).ok().and_then(|message| message.id());
            if let Some(id) = id {
                let fault = Fault::new(Code::Internal, "the server is ending, and begins nothing new");
                self.send(fault.to_response(Some(id)), Some(held));
            }
            return;
        }
        let peer = Peer { session: Some(&self.session), ..Peer::default() };
        match self.server.route(Message::parse(line), peer) {
            Routed::Reply(bytes) => self.send(bytes, Some(held)),
            Routed::Initialized(bytes) => {
                self.send(bytes, Some(Arc::clone(&held)));
                // Before 2026-07-28 a client is told of changes without asking.
                if !self.is_telling.swap(true, Ordering::Relaxed) {
                    let listen = Listen::to_changes(&self.server);
                    self.runtime.spawn(tell(listen, self.messages.clone(), held, self.end.clone()));
                }
            }
            Routed::Fault(id, fault) => self.send(fault.to_response(id), Some(held)),
            // Each call is a task, so that one that takes its time holds up no other, and can be cancelled.
            Routed::Call(call) => {
                let call = call.into_owned();
                self.runtime.spawn(run(call, self.messages.clone(), held));
            }
            Routed::Listen(listen) => {
                let end = self.end.clone();
                self.runtime.spawn(tell(listen, self.messages.clone(), held, end));
            }
            Routed::Nothing => {}
        }
    }

    fn send(&self, bytes: Vec<u8>, held: Option<Arc<OwnedSemaphorePermit>>) {
        let _ = self.messages.blocking_send(Outgoing { bytes, _held: held });
    }
}

async fn run(call: Call<'static>, messages: Sender<Outgoing>, held: Arc<OwnedSemaphorePermit>) {
    let answer = if call.progress_token.is_some() {
        let mut events = call.events();
        loop {
            match events.next().await {
                CallEvent::Progress(bytes) => {
                    let _ = messages.send(Outgoing { bytes, _held: None }).await;
                }
                CallEvent::Answer(answer) => break answer,
            }
        }
    } else {
        call.answer().await
    };
    // Nobody waits for the answer of a call that was cancelled.
    if !answer.is_cancelled {
        let _ = messages.send(Outgoing { bytes: answer.bytes, _held: Some(held) }).await;
    }
}

async fn tell(mut listen: Listen, messages: Sender<Outgoing>, held: Arc<OwnedSemaphorePermit>, end: CancelToken) {
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

/// Writes messages, as many at once as there are.
fn write(mut messages: Receiver<Outgoing>, mut output: impl Write) -> io::Result<()> {
    let mut lines = Vec::new();
    let mut written = Vec::new();
    while let Some(first) = messages.blocking_recv() {
        let mut next = Some(first);
        while let Some(message) = next {
            lines.extend_from_slice(&message.bytes);
            lines.push(b'\n');
            written.push(message);
            next = if lines.len() < 64 << 10 { messages.try_recv().ok() } else { None };
        }
        output.write_all(&lines)?;
        output.flush()?;
        written.clear();
        lines.clear();
        lines.shrink_to(1 << 20);
    }
    Ok(())
}

enum Line {
    Read,
    TooLong,
    End,
}

/// Reads a line without its end. Of one that is too long nothing is kept.
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
        // The last line need not end.
        return Ok(Line::Read);
    }
    line.clear();
    line.shrink_to(64 << 10);
    input.skip_until(b'\n')?;
    Ok(Line::TooLong)
}
