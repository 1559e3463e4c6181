//! Writes to stderr that do not wait for its reader, for commands that serve.
//!
//! A pipe holds 64 KiB, and many hosts of servers never read it. Whatever writes to a full one waits, so that a log would
//! stop the server.
//!
//! With `--log-format json`, each line is one object (`object`).

#[cfg(feature = "serve")]
mod object;

use std::ffi::OsString;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use clap::ArgMatches;

#[cfg(feature = "serve")]
pub(crate) use self::object::is_json;
use crate::style::{Label, WARNING, printable, without_os_codes};

/// The maximum size of the text that waits for the reader of stderr, in bytes. More is dropped.
const MAX_BYTES: usize = 1 << 20;

/// The time that the end of the process waits for the reader of stderr.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// The number of lines that were dropped.
pub(crate) static N_DROPPED: AtomicU64 = AtomicU64::new(0);

static QUEUE: Queue = Queue { state: Mutex::new(QueueState::new()), changed: Condvar::new() };

/// The form of the lines on stderr.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

impl LogFormat {
    /// Returns the value of `--log-format`.
    pub(crate) fn of(matches: &ArgMatches) -> Self {
        let format = matches.try_get_one::<String>("log-format").ok().flatten();
        if format.is_some_and(|format| format == "json") { Self::Json } else { Self::Text }
    }

    /// Returns the value of `--log-format` in a command line that clap has rejected.
    pub(crate) fn of_rejected(words: &[OsString]) -> Self {
        let is_json = |pair: &[OsString]| pair[0] == "--log-format" && pair[1] == "json";
        let is_wanted = words.iter().any(|word| word == "--log-format=json") || words.windows(2).any(is_json);
        if is_wanted { Self::Json } else { Self::Text }
    }
}

/// Starts the thread that writes to stderr. On Unix, everything that this process and its children write to a pipe or a
/// socket passes through it, also output of tools and messages of panics; elsewhere, only a [`Log`] and messages do. With
/// `--log-format json`, so does what they write to a file or a terminal.
pub(crate) fn start(format: LogFormat) -> io::Result<()> {
    let is_json = format == LogFormat::Json;
    #[cfg(feature = "serve")]
    if is_json {
        object::start(|line| QUEUE.push(line));
    }
    #[cfg(unix)]
    let redirected = redirect::start(is_json)?;
    #[cfg(not(unix))]
    let redirected: Option<io::Stderr> = None;
    thread::Builder::new().name("stderr".to_owned()).spawn(move || match redirected {
        Some(stderr) => QUEUE.write_to(stderr),
        None => QUEUE.write_to(io::stderr()),
    })?;
    if cfg!(panic = "abort") {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            report(panic);
            flush();
        }));
    }
    Ok(())
}

/// Returns true if each line is a JSON object, as of the log of `serve`.
#[cfg(not(feature = "serve"))]
pub(crate) fn is_json() -> bool {
    false
}

/// Writes a message after its label, or as an object.
pub(crate) fn say(label: Label, message: &str) {
    let message = &without_os_codes(message);
    if is_json() {
        return QUEUE.push(&line(label, message));
    }
    // Errors while writing to stderr cannot be reported.
    let _ = writeln!(anstream::stderr(), "{label} {}", printable(message));
}

/// A writer for a log. It never waits.
#[cfg(feature = "serve")]
pub(crate) struct Log;

#[cfg(feature = "serve")]
impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A whole event, which `tracing_subscriber` writes at once.
        QUEUE.push(without_os_codes(&String::from_utf8_lossy(bytes)).as_bytes());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A guard that waits up to a second until stderr has been written.
pub(crate) struct FlushOnDrop;

impl Drop for FlushOnDrop {
    fn drop(&mut self) {
        flush();
    }
}

fn flush() {
    #[cfg(unix)]
    let pipe = redirect::end();
    let (state, waited) = QUEUE
        .changed
        .wait_timeout_while(QUEUE.lock(), FLUSH_TIMEOUT, |state| !state.is_written())
        .unwrap_or_else(PoisonError::into_inner);
    drop(state);
    #[cfg(unix)]
    if let Some(pipe) = pipe.filter(|_| !waited.timed_out()) {
        pipe.restore();
    }
    #[cfg(not(unix))]
    let _ = waited;
}

/// The text between its writers and the thread that writes it.
struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

struct QueueState {
    text: Vec<u8>,
    /// The number of lines that were dropped after `text`.
    n_dropped: u64,
    is_writing: bool,
    /// True while a redirected stderr may have text from before the end of the process.
    is_ending: bool,
}

impl QueueState {
    const fn new() -> Self {
        Self { text: Vec::new(), n_dropped: 0, is_writing: false, is_ending: false }
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.n_dropped == 0
    }

    fn is_written(&self) -> bool {
        self.is_empty() && !self.is_writing && !self.is_ending
    }
}

impl Queue {
    /// Adds text, or drops and counts it if too much waits.
    fn push(&self, text: &[u8]) {
        let mut state = self.lock();
        if state.n_dropped > 0 || state.text.len() + text.len() > MAX_BYTES {
            let n_lines = count_lines(text);
            state.n_dropped += n_lines;
            N_DROPPED.fetch_add(n_lines, Ordering::Relaxed);
        } else {
            state.text.extend_from_slice(text);
        }
        self.changed.notify_all();
    }

    fn write_to(&self, mut stderr: impl Write) {
        loop {
            let state = self.changed.wait_while(self.lock(), |state| state.is_empty());
            let mut state = state.unwrap_or_else(PoisonError::into_inner);
            let mut text = std::mem::take(&mut state.text);
            let n_dropped = std::mem::take(&mut state.n_dropped);
            state.is_writing = true;
            drop(state);
            if n_dropped > 0 {
                if !is_json() && !text.ends_with(b"\n") {
                    text.push(b'\n');
                }
                text.extend(line(WARNING, &format!("{n_dropped} lines were dropped, since stderr was not read")));
            }
            if write_all(&mut stderr, &text).and_then(|()| stderr.flush()).is_err() {
                N_DROPPED.fetch_add(count_lines(&text), Ordering::Relaxed);
            }
            self.lock().is_writing = false;
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a line with a message.
fn line(label: Label, message: &str) -> Vec<u8> {
    #[cfg(feature = "serve")]
    if is_json() {
        return object::of(label.level(), object::PROGRAM, message);
    }
    format!("{} {message}\n", label.text()).into_bytes()
}

/// Writes all of a text, also to a stderr that the parent process has made non-blocking.
fn write_all(stderr: &mut impl Write, mut text: &[u8]) -> io::Result<()> {
    while !text.is_empty() {
        match stderr.write(text) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => text = &text[n..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(Duration::from_millis(10)),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Returns the number of lines, in which text without an end of line counts as one.
fn count_lines(text: &[u8]) -> u64 {
    text.iter().filter(|&&byte| byte == b'\n').count().max(1) as u64
}

/// The redirection of stderr to a pipe that this process reads.
#[cfg(unix)]
mod redirect {
    use std::fs::File;
    use std::io::{self, PipeReader, PipeWriter, Read, Write};
    use std::os::fd::AsFd;
    use std::os::unix::fs::FileTypeExt;
    use std::sync::{Mutex, PoisonError};
    use std::thread;

    use super::QUEUE;
    #[cfg(feature = "serve")]
    use super::object::{Lines, is_json};

    /// The byte that marks the end of the text, which has no such character.
    const END: u8 = 0;

    static PIPE: Mutex<Option<Pipe>> = Mutex::new(None);

    /// A redirected stderr.
    pub(super) struct Pipe {
        writer: PipeWriter,
        original: File,
    }

    impl Pipe {
        /// Ends the redirection.
        pub(super) fn restore(self) {
            let _ = rustix::stdio::dup2_stderr(self.original);
        }
    }

    /// Redirects stderr if it is a pipe or a socket, or in any case, and returns the original one. Files do not fill up, and a
    /// terminal has a reader.
    pub(super) fn start(is_always: bool) -> io::Result<Option<File>> {
        let original = File::from(io::stderr().as_fd().try_clone_to_owned()?);
        let kind = original.metadata()?.file_type();
        if !is_always && !kind.is_fifo() && !kind.is_socket() {
            return Ok(None);
        }
        let (reader, writer) = io::pipe()?;
        thread::Builder::new().name("stderr pipe".to_owned()).spawn(move || read(reader))?;
        rustix::stdio::dup2_stderr(&writer)?;
        let pipe = Pipe { writer, original: original.try_clone()? };
        *PIPE.lock().unwrap_or_else(PoisonError::into_inner) = Some(pipe);
        Ok(Some(original))
    }

    /// Marks the end of the text, and returns the pipe if there is one. It has been read when the queue is written.
    pub(super) fn end() -> Option<Pipe> {
        let mut pipe = PIPE.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        QUEUE.lock().is_ending = true;
        pipe.writer.write_all(&[END]).ok()?;
        Some(pipe)
    }

    /// Passes on the text, without ever waiting for the reader of the original stderr.
    fn read(mut reader: PipeReader) {
        let mut buffer = [0; 16 << 10];
        let mut text = Text::default();
        loop {
            let n = match reader.read(&mut buffer) {
                Ok(n @ 1..) => n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                _ => return,
            };
            let mut read = &buffer[..n];
            if QUEUE.lock().is_ending
                && let Some(end) = read.iter().position(|&byte| byte == END)
            {
                text.push(&read[..end]);
                text.end();
                QUEUE.lock().is_ending = false;
                read = &read[end + 1..];
            }
            text.push(read);
        }
    }

    /// The text that is passed on: as it is, or each line as an object.
    #[derive(Default)]
    struct Text {
        #[cfg(feature = "serve")]
        lines: Lines,
    }

    impl Text {
        fn push(&mut self, text: &[u8]) {
            #[cfg(feature = "serve")]
            if is_json() {
                return self.lines.push(text, |line| QUEUE.push(line));
            }
            if !text.is_empty() {
                QUEUE.push(text);
            }
        }

        /// Passes on a line without an end.
        fn end(&mut self) {
            #[cfg(feature = "serve")]
            self.lines.end(|line| QUEUE.push(line));
        }
    }
}
