//! Eleventh lesson, continued: running another program under limits.

use std::path::Path;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Split, Take};
use tokio::process::{Child, ChildStdout, Command};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::JoinHandle;
use toolkit::ToolError;

/// The maximum size of Git's output in one call, in bytes.
const MAX_OUTPUT: usize = 4_000_000;

/// The number of concurrent Git processes; further calls wait, within their timeout.
const MAX_PROCESSES: usize = 4;

/// The maximum size of an object that Git holds in memory as a whole.
const MAX_OBJECT: &str = "64m";

/// The maximum memory that one Git process may allocate, in bytes.
const MAX_MEMORY: u64 = 256 << 20;

/// The maximum processor time of one Git process, in seconds.
const MAX_CPU_SECONDS: u64 = 120;

static PERMITS: Semaphore = Semaphore::const_new(MAX_PROCESSES);

/// One run of Git.
pub(super) struct Git {
    command: Command,
    /// Paths in Git's error messages that are of no use to a model.
    hidden: [String; 2],
}

impl Git {
    /// Creates a Git command with this directory as its only configuration.
    pub(super) fn new(git_dir: &Path, objects: &Path) -> Self {
        let mut command = Command::new("git");
        command
            .current_dir(git_dir)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // Neither the user's configuration nor the environment of this program may change the behavior.
        command.env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.env("GIT_DIR", git_dir).env("GIT_OBJECT_DIRECTORY", objects);
        command.envs([
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_LITERAL_PATHSPECS", "1"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_ALLOC_LIMIT", MAX_OBJECT),
            ("LC_ALL", "C.UTF-8"),
        ]);
        command.arg("--no-pager");
        Self { command, hidden: [objects, git_dir].map(|path| path.to_string_lossy().into_owned()) }
    }

    pub(super) fn arg(&mut self, argument: &str) -> &mut Self {
        self.command.arg(argument);
        self
    }

    pub(super) fn args<'a>(&mut self, arguments: impl IntoIterator<Item = &'a str>) -> &mut Self {
        self.command.args(arguments);
        self
    }

    /// Returns the complete output.
    pub(super) async fn run(self) -> Result<String, ToolError> {
        let (stdout, running) = self.start().await?;
        let mut output = Vec::new();
        stdout.take(MAX_OUTPUT as u64 + 1).read_to_end(&mut output).await?;
        if output.len() > MAX_OUTPUT {
            return Err(too_long());
        }
        running.end().await?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }

    /// Yields each text of the output that ends with NUL, as soon as it is complete.
    pub(super) async fn fields(self) -> Result<Fields, ToolError> {
        let (stdout, running) = self.start().await?;
        let stdout = BufReader::new(stdout.take(MAX_OUTPUT as u64 + 1)).split(0);
        Ok(Fields { stdout, running: Some(running), n_bytes: 0 })
    }

    async fn start(mut self) -> Result<(ChildStdout, Running), ToolError> {
        let permit = PERMITS.acquire().await.map_err(ToolError::internal)?;
        let mut child = self
            .command
            .spawn()
            .map_err(|error| ToolError::failed("git is not installed on this host").caused_by(error))?;
        limit(&child)?;
        let (Some(stdout), Some(mut stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(ToolError::internal("the output of git is piped"));
        };
        // A full pipe would block Git, so stderr is read to its end even if not all of it is used.
        let complaint = tokio::spawn(async move {
            let mut complaint = Vec::new();
            let _ = (&mut stderr).take(10_000).read_to_end(&mut complaint).await;
            let _ = tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await;
            complaint
        });
        Ok((stdout, Running { child, complaint, hidden: self.hidden, _permit: permit }))
    }
}

/// Limits memory and processor time, and forbids writing.
#[cfg(target_os = "linux")]
fn limit(child: &Child) -> Result<(), ToolError> {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};

    let Some(pid) = child.id().and_then(|id| Pid::from_raw(id.cast_signed())) else {
        return Ok(());
    };
    for (resource, most) in [(Resource::Data, MAX_MEMORY), (Resource::Cpu, MAX_CPU_SECONDS), (Resource::Fsize, 0)] {
        match prlimit(Some(pid), resource, Rlimit { current: Some(most), maximum: Some(most) }) {
            // A process that has already ended needs no limit.
            Ok(_) | Err(rustix::io::Errno::SRCH) => {}
            Err(error) => return Err(ToolError::internal(error)),
        }
    }
    Ok(())
}

/// On other systems a process cannot be limited from outside; its timeout and Git's own settings apply.
#[cfg(not(target_os = "linux"))]
fn limit(_: &Child) -> Result<(), ToolError> {
    let _ = (MAX_MEMORY, MAX_CPU_SECONDS);
    Ok(())
}

fn too_long() -> ToolError {
    ToolError::failed("the output of Git is too long; set a limit or a path")
}

/// The output of Git, field by field.
pub(super) struct Fields {
    stdout: Split<BufReader<Take<ChildStdout>>>,
    /// `None` after the process has ended.
    running: Option<Running>,
    n_bytes: usize,
}

impl Fields {
    pub(super) async fn next(&mut self) -> Result<Option<String>, ToolError> {
        if let Some(field) = self.stdout.next_segment().await? {
            self.n_bytes += field.len() + 1;
            return match self.n_bytes > MAX_OUTPUT {
                true => Err(too_long()),
                false => Ok(Some(String::from_utf8_lossy(&field).into_owned())),
            };
        }
        match self.running.take() {
            Some(running) => running.end().await.map(|()| None),
            None => Ok(None),
        }
    }
}

/// A running Git process, which is killed on drop.
struct Running {
    child: Child,
    complaint: JoinHandle<Vec<u8>>,
    hidden: [String; 2],
    _permit: SemaphorePermit<'static>,
}

impl Running {
    async fn end(mut self) -> Result<(), ToolError> {
        if self.child.wait().await?.success() {
            return Ok(());
        }
        let complaint = self.complaint.await.map_err(ToolError::internal)?;
        let mut complaint = String::from_utf8_lossy(&complaint).into_owned();
        for path in self.hidden {
            complaint = complaint.replace(&path, "…");
        }
        if complaint.contains("attempting to allocate") {
            let message =
                "the history has a file of more than 64 MiB, which is not looked into; name other paths or revisions";
            return Err(ToolError::failed(message));
        }
        let complaint = complaint.lines().next().unwrap_or("it gave no reason");
        Err(ToolError::failed(format!("Git failed: {}", complaint.trim_start_matches("fatal: "))))
    }
}
