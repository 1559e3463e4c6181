//! The child process of a server: its command line and environment variables, its start, log output and end.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{fmt, io};

use tokio::io::AsyncRead;
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::SetOnce;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use toolkit_runtime::{LineReader, Mutex};

use super::redaction::Redaction;

/// The child process of a server. Dropping it kills the process and its children.
pub(super) struct Process {
    child: Child,
    /// The task that logs stderr. It ends when all processes have closed stderr.
    log: Option<JoinHandle<()>>,
    exit_state: Arc<ExitState>,
    pub(super) secrets: Redaction,
}

/// The time that the process has to exit after its stdin is closed, and again after SIGTERM.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);
/// The time that a process which has closed its output has to exit, so that its status can be reported. A killed process
/// may be slow to exit on a busy machine.
const STATUS_TIMEOUT: Duration = Duration::from_secs(2);
/// The time that stderr has to be closed after that. Other processes may hold it open.
const LOG_TIMEOUT: Duration = Duration::from_millis(500);
/// The length in bytes after which a line of stderr is split.
const MAX_LOG_LINE: usize = 4096;
/// The time for which the budget of the log applies.
const WINDOW: Duration = Duration::from_secs(10);
/// The maximum number of lines of one server that are logged in this time, and of their bytes.
const MAX_LINES: usize = 1000;
const MAX_LOG_BYTES: usize = 256 << 10;
/// The number of lines of stderr that are kept for error messages.
const N_LAST_LINES: usize = 5;

impl Process {
    /// Starts the process. Its stderr is logged under the name of the server.
    pub(super) fn start(
        program: &Program,
        server: &Arc<str>,
        exit_state: &Arc<ExitState>,
    ) -> io::Result<(Self, ChildStdin, ChildStdout)> {
        let mut command = program.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        // The process must not receive signals of the terminal, such as Ctrl-C.
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        let gone = || io::Error::other("the standard streams of the process are missing");
        let stdin = child.stdin.take().ok_or_else(gone)?;
        let stdout = child.stdout.take().ok_or_else(gone)?;
        let stderr = child.stderr.take();
        let secrets = Redaction::new(program.env.values().filter_map(|value| value.to_str().map(str::to_owned)));
        let log =
            stderr.map(|stderr| tokio::spawn(log(stderr, Arc::clone(server), Arc::clone(exit_state), secrets.clone())));
        Ok((Self { child, log, exit_state: Arc::clone(exit_state), secrets }, stdin, stdout))
    }

    /// Records how the process has ended, after its output was closed and its log was read.
    pub(super) async fn record_end(&mut self) {
        let end = match timeout(STATUS_TIMEOUT, self.child.wait()).await {
            Ok(Ok(status)) => format!("it ended ({status})"),
            _ => "it closed its output".to_owned(),
        };
        if let Some(log) = &mut self.log
            && timeout(LOG_TIMEOUT, log).await.is_ok()
        {
            self.log = None;
        }
        self.exit_state.record(end);
    }

    /// Waits until the process exits after its stdin was closed. After timeouts, sends SIGTERM and then SIGKILL.
    pub(super) async fn end(&mut self) {
        if timeout(EXIT_TIMEOUT, self.child.wait()).await.is_ok() {
            return;
        }
        self.signal(Signal::End);
        if timeout(EXIT_TIMEOUT, self.child.wait()).await.is_ok() {
            return;
        }
        self.signal(Signal::Kill);
        let _ = self.child.kill().await;
    }

    /// Signals the process group. Its id is not reused while the process itself exists.
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
            Ok(Some(status)) => self.exit_state.record(format!("it ended ({status})")),
            _ => self.signal(Signal::Kill),
        }
    }
}

/// The end of a connection, for error messages.
#[derive(Default)]
pub(super) struct ExitState {
    end: SetOnce<String>,
    n_strays: AtomicUsize,
    last_lines: Mutex<VecDeque<String>>,
}

impl ExitState {
    /// Records why the connection has ended. Only the first reason is kept.
    pub(super) fn record(&self, reason: String) {
        let _ = self.end.set(reason);
    }

    /// Returns why the connection has ended.
    pub(super) fn end(&self) -> Option<&str> {
        self.end.get().map(String::as_str)
    }

    /// Waits a moment for the reason, which is not available at once after a failed write.
    pub(super) async fn wait(&self) -> Option<&str> {
        timeout(STATUS_TIMEOUT + 2 * LOG_TIMEOUT, self.end.wait()).await.ok().map(String::as_str)
    }

    /// Counts a line that is not a message. Returns the number of such lines.
    pub(super) fn count_stray(&self) -> usize {
        self.n_strays.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn push_line(&self, line: &str) {
        let mut lines = self.last_lines.lock();
        if lines.len() == N_LAST_LINES {
            lines.pop_front();
        }
        lines.push_back(line.to_owned());
    }
}

/// Formats the reason, the number of invalid lines and the last lines of stderr for the host.
impl fmt::Display for ExitState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.end().unwrap_or("the reason is unknown"))?;
        match self.n_strays.load(Ordering::Relaxed) {
            0 => {}
            1 => write!(f, "; it wrote a line that is not an MCP message")?,
            n => write!(f, "; it wrote {n} lines that are not MCP messages")?,
        }
        let lines = self.last_lines.lock();
        lines.iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}

async fn log(stderr: impl AsyncRead + Unpin, server: Arc<str>, exit_state: Arc<ExitState>, secrets: Redaction) {
    let (mut lines, mut budget) = (LineReader::new(stderr), LogBudget::new());
    while let Ok(Some(line)) = lines.next(MAX_LOG_LINE).await {
        let mut line = String::from_utf8_lossy(line).into_owned();
        secrets.apply(&mut line);
        let line = line.trim_end();
        if !line.is_empty() {
            if budget.admits(&server, line.len()) {
                tracing::info!(target: "toolkit_mcp_client::stderr", server = &*server, "{}", line.escape_debug());
            }
            exit_state.push_line(line);
        }
    }
    budget.report_dropped(&server);
}

/// The budget of the log for one server, which starts again after [`WINDOW`].
struct LogBudget {
    start: Instant,
    n_lines: usize,
    n_bytes: usize,
    n_dropped: u64,
}

impl LogBudget {
    fn new() -> Self {
        Self { start: Instant::now(), n_lines: 0, n_bytes: 0, n_dropped: 0 }
    }

    /// Returns true if a line may be logged. The log has a note for the first one that may not, and their number later.
    fn admits(&mut self, server: &str, n_bytes: usize) -> bool {
        if self.start.elapsed() >= WINDOW {
            self.report_dropped(server);
            *self = Self::new();
        }
        if self.n_dropped == 0 && self.n_lines < MAX_LINES && self.n_bytes + n_bytes <= MAX_LOG_BYTES {
            self.n_lines += 1;
            self.n_bytes += n_bytes;
            return true;
        }
        if self.n_dropped == 0 {
            tracing::warn!(
                target: "toolkit_mcp_client::stderr",
                server,
                "the server writes too much to stderr; further lines are dropped for up to {WINDOW:?}"
            );
        }
        self.n_dropped += 1;
        false
    }

    fn report_dropped(&self, server: &str) {
        if self.n_dropped > 0 {
            let n = self.n_dropped;
            tracing::warn!(target: "toolkit_mcp_client::stderr", server, "{n} lines of stderr were dropped");
        }
    }
}

/// The command line of a server. It is started without a shell, in a process group of its own.
///
/// The process inherits only the environment variables that most programs need, such as `PATH` and `HOME`, so that it
/// cannot read the secrets of other servers. Set further variables with [`Program::env`].
///
/// # Examples
///
/// ```
/// use toolkit_mcp_client::{McpBackend, Program};
///
/// let program = Program::new("uvx").args(["mcp-server-git", "--repository", "."]).env("GIT_PAGER",
/// "").current_dir("/tmp");
/// let backend = McpBackend::stdio("git", program);
/// ```
#[derive(Clone, PartialEq)]
#[must_use]
pub struct Program {
    pub(super) command: OsString,
    pub(super) args: Vec<OsString>,
    pub(super) env: BTreeMap<OsString, OsString>,
    pub(super) inherits_env: bool,
    pub(super) current_dir: Option<PathBuf>,
}

/// The inherited environment variables: those that the official MCP clients pass on, and those for locale and
/// directories.
const INHERITED: &[&str] = &[
    "APPDATA",
    "COMSPEC",
    "HOME",
    "HOMEDRIVE",
    "HOMEPATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOCALAPPDATA",
    "LOGNAME",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMFILES",
    "SHELL",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TERM",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "USERNAME",
    "USERPROFILE",
];

impl Program {
    /// Creates the command line of a program, given by its path or its name in `PATH`.
    pub fn new(command: impl AsRef<OsStr>) -> Self {
        Self {
            command: command.as_ref().to_owned(),
            args: Vec::new(),
            env: BTreeMap::new(),
            inherits_env: false,
            current_dir: None,
        }
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets an environment variable.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.insert(name.as_ref().to_owned(), value.as_ref().to_owned());
        self
    }

    /// Inherits the whole environment of this program, including all secrets in it.
    pub fn inherit_env(mut self) -> Self {
        self.inherits_env = true;
        self
    }

    /// Sets the working directory. Default: that of this program.
    pub fn current_dir(mut self, folder: impl AsRef<Path>) -> Self {
        self.current_dir = Some(folder.as_ref().to_owned());
        self
    }

    pub(super) fn command(&self) -> tokio::process::Command {
        let mut command = tokio::process::Command::new(&self.command);
        command.args(&self.args);
        if !self.inherits_env {
            command.env_clear();
            command.envs(INHERITED.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        }
        command.envs(&self.env);
        if let Some(folder) = &self.current_dir {
            command.current_dir(folder);
        }
        command
    }
}

impl From<&str> for Program {
    fn from(command: &str) -> Self {
        Self::new(command)
    }
}

// Omits the arguments and the values of variables, which may be secrets.
toolkit::debug_fields!(it, Program { command, n_args: it.args.len(), env: it.env.keys(), current_dir });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_of_a_server_is_bounded_in_lines_and_in_bytes() {
        for (n_bytes, n_admitted) in [(0, 1000), (262, 1000), (263, 996), (256 << 10, 1), ((256 << 10) + 1, 0)] {
            let mut budget = LogBudget::new();
            let admitted: Vec<bool> = (0..1010).map(|_| budget.admits("server", n_bytes)).collect();
            assert_eq!(admitted.iter().take_while(|admitted| **admitted).count(), n_admitted, "{n_bytes}");
            assert!(admitted[n_admitted..].iter().all(|admitted| !admitted), "{n_bytes}");
            assert_eq!(budget.n_dropped, 1010 - n_admitted as u64);
            assert!(!budget.admits("server", 0), "a shorter line is not admitted either");
            budget.start = Instant::now().checked_sub(WINDOW).expect("the machine has run for longer");
            assert!(budget.admits("server", 1), "the next window has begun");
            assert_eq!((budget.n_dropped, budget.n_lines, budget.n_bytes), (0, 1, 1));
        }
    }

    #[test]
    fn the_end_of_a_server_is_told_with_its_last_lines() {
        let state = ExitState::default();
        assert_eq!((state.to_string().as_str(), state.end()), ("the reason is unknown", None));
        assert_eq!(state.count_stray(), 1);
        assert_eq!(state.to_string(), "the reason is unknown; it wrote a line that is not an MCP message");
        assert_eq!(state.count_stray(), 2);
        state.record("it ended".to_owned());
        state.record("too late".to_owned());
        assert_eq!(state.end(), Some("it ended"));
        (1..=6).for_each(|n| state.push_line(&n.to_string()));
        let expected = "it ended; it wrote 2 lines that are not MCP messages\n  2\n  3\n  4\n  5\n  6";
        assert_eq!(state.to_string(), expected);
    }
}
