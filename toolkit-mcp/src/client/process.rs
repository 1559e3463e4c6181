//! The process of a server: how it is started, what it says beside the protocol, and how it ends.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncRead;
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::SetOnce;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::line_reader::LineReader;
use super::program::Program;

/// The process of a server. Dropping it kills it, and what it started.
pub(super) struct Process {
    child: Child,
    /// Ends when nobody holds its standard error any more.
    log: Option<JoinHandle<()>>,
    fate: Arc<Fate>,
}

/// How long it may take to end by itself, and then again when it is asked to.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a process that has closed its output may take to be gone, so that it can be told how it ended.
const LAST_BREATH: Duration = Duration::from_millis(500);
/// How long a line of its standard error may be; a longer one is logged as several.
const MAX_LOG_LINE: usize = 4096;
/// How many lines of it are kept for an error.
const N_LAST_LINES: usize = 5;

impl Process {
    /// Starts it. What it writes to its standard error is logged under the name of the server.
    pub(super) fn start(
        program: &Program,
        server: &Arc<str>,
        fate: &Arc<Fate>,
    ) -> io::Result<(Self, ChildStdin, ChildStdout)> {
        let mut command = program.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        // What a terminal sends to this program, such as an interrupt, is not for its servers.
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        let gone = || io::Error::other("its standard streams are not there");
        let stdin = child.stdin.take().ok_or_else(gone)?;
        let stdout = child.stdout.take().ok_or_else(gone)?;
        let stderr = child.stderr.take();
        let log = stderr.map(|stderr| tokio::spawn(log(stderr, Arc::clone(server), Arc::clone(fate))));
        Ok((Self { child, log, fate: Arc::clone(fate) }, stdin, stdout))
    }

    /// Says how it ended, once it has closed its output and what it said before was read.
    pub(super) async fn last_words(&mut self) {
        let end = match timeout(LAST_BREATH, self.child.wait()).await {
            Ok(Ok(status)) => format!("it ended ({status})"),
            _ => "it closed its output".to_owned(),
        };
        if let Some(log) = &mut self.log
            && timeout(LAST_BREATH, log).await.is_ok()
        {
            self.log = None;
        }
        self.fate.seal(end);
    }

    /// Waits for its end once its input is closed; then asks for it, then kills it.
    pub(super) async fn end(&mut self) {
        if timeout(PATIENCE, self.child.wait()).await.is_ok() {
            return;
        }
        self.signal(Signal::End);
        if timeout(PATIENCE, self.child.wait()).await.is_ok() {
            return;
        }
        self.signal(Signal::Kill);
        let _ = self.child.kill().await;
    }

    /// Reaches what it started as well, as long as it is there itself: the number of its group is then nobody else's.
    #[cfg(unix)]
    fn signal(&self, signal: Signal) {
        use rustix::process::{Pid, Signal as Unix, kill_process_group};

        let group = self.child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        if let Some(group) = group {
            let _ = kill_process_group(group, if signal == Signal::End { Unix::TERM } else { Unix::KILL });
        }
    }

    #[cfg(not(unix))]
    fn signal(&self, _: Signal) {}
}

#[derive(Clone, Copy, PartialEq)]
enum Signal {
    End,
    Kill,
}

impl Drop for Process {
    fn drop(&mut self) {
        match self.child.try_wait() {
            Ok(Some(status)) => self.fate.seal(format!("it ended ({status})")),
            _ => self.signal(Signal::Kill),
        }
    }
}

/// What became of a process, for those who waited for its answer.
#[derive(Default)]
pub(super) struct Fate {
    end: SetOnce<String>,
    n_strays: AtomicUsize,
    last_lines: Mutex<VecDeque<String>>,
}

impl Fate {
    /// Says why the connection ended; the first reason counts.
    pub(super) fn seal(&self, reason: String) {
        let _ = self.end.set(reason);
    }

    /// Why the connection ended.
    pub(super) fn end(&self) -> Option<&str> {
        self.end.get().map(String::as_str)
    }

    /// Why the connection ended, once that is known; it is not known at once when a message could not be sent.
    pub(super) async fn known(&self) -> Option<&str> {
        timeout(3 * LAST_BREATH, self.end.wait()).await.ok().map(String::as_str)
    }

    /// Counts a line that is no message of the protocol; how many there were.
    pub(super) fn stray(&self) -> usize {
        self.n_strays.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn heard(&self, line: &str) {
        let mut lines = self.last_lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == N_LAST_LINES {
            lines.pop_front();
        }
        lines.push_back(line.to_owned());
    }
}

/// All that is known, for the host.
impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.end().unwrap_or("nothing is known of its end"))?;
        match self.n_strays.load(Ordering::Relaxed) {
            0 => {}
            1 => write!(f, "; it wrote a line that is no message of the protocol")?,
            n => write!(f, "; it wrote {n} lines that are no messages of the protocol")?,
        }
        let lines = self.last_lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}

async fn log(stderr: impl AsyncRead + Unpin, server: Arc<str>, fate: Arc<Fate>) {
    let mut lines = LineReader::new(stderr, MAX_LOG_LINE);
    while let Ok(Some(line)) = lines.next().await {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end();
        if !line.is_empty() {
            tracing::info!(target: "toolkit_mcp::stderr", server = &*server, "{}", line.escape_debug());
            fate.heard(line);
        }
    }
}
