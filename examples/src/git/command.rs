//! Eleventh lesson, continued: another program, kept on a short lead.

use std::path::Path;
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Split, Take};
use tokio::process::{Child, ChildStdout, Command};
use tokio::task::JoinHandle;
use toolkit::ToolError;

use crate::root::{Refusal, RelativePath, Root};

/// The most that is read from git in one call, in bytes.
const MAX_OUTPUT: u64 = 4_000_000;

/// One run of git.
pub(super) struct Git(Command);

impl Git {
    /// Git in a repository that lies below the root with all that belongs to it.
    pub(super) async fn open(root: &Root, repository: &RelativePath) -> Result<Self, ToolError> {
        let relative = repository.checked()?;
        root.dir.open_dir(relative).map_err(|error| Refusal::of(repository, error))?;
        let folder = root.path.join(relative).canonicalize()?;
        // A link may lead outside, and so may the file that stands in place of `.git` in a worktree.
        let mut git = Self::command(root, &folder);
        git.args(["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-dir", "--git-common-dir"]);
        let places = git.run().await.map_err(|error| {
            ToolError::failed(format!("`{}` is in no repository that git can open", repository.0)).caused_by(error)
        })?;
        for place in std::iter::once(folder.clone()).chain(places.lines().map(Into::into)) {
            if !place.canonicalize()?.starts_with(&root.path) {
                return Err(ToolError::failed(format!("the repository of `{}` lies outside the root", repository.0)));
            }
        }
        Ok(Self::command(root, &folder))
    }

    fn command(root: &Root, folder: &Path) -> Self {
        let mut command = Command::new("git");
        command
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // Neither the user's own configuration nor that of a hook which started us has a say here.
        command.env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_TERMINAL_PROMPT", "0")]);
        command.envs([
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_LITERAL_PATHSPECS", "1"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("LC_ALL", "C.UTF-8"),
        ]);
        command.env("GIT_CEILING_DIRECTORIES", root.path.parent().unwrap_or(&root.path));
        // A repository's own configuration may name programs to run and files to read; these are the settings that
        // reading a repository heeds. A bare one may be made of ordinary files, so none is opened.
        for setting in [
            "safe.bareRepository=explicit",
            "core.fsmonitor=false",
            "log.showSignature=false",
            "blame.ignoreRevsFile=",
            "core.quotePath=false",
        ] {
            command.args(["-c", setting]);
        }
        command.arg("--no-pager");
        Self(command)
    }

    pub(super) fn arg(&mut self, argument: &str) -> &mut Self {
        self.0.arg(argument);
        self
    }

    pub(super) fn args<'a>(&mut self, arguments: impl IntoIterator<Item = &'a str>) -> &mut Self {
        self.0.args(arguments);
        self
    }

    /// Everything that it prints.
    pub(super) async fn run(self) -> Result<String, ToolError> {
        let (stdout, running) = self.start()?;
        let mut output = Vec::new();
        stdout.take(MAX_OUTPUT + 1).read_to_end(&mut output).await?;
        if output.len() as u64 > MAX_OUTPUT {
            return Err(ToolError::failed("git has too much to say; ask for less, with a limit or a path"));
        }
        running.end().await?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }

    /// Each text that it prints before a NUL, as soon as it is there.
    pub(super) fn fields(self) -> Result<Fields, ToolError> {
        let (stdout, running) = self.start()?;
        Ok(Fields { stdout: BufReader::new(stdout.take(MAX_OUTPUT)).split(0), running: Some(running) })
    }

    fn start(mut self) -> Result<(ChildStdout, Running), ToolError> {
        let mut child =
            self.0.spawn().map_err(|error| ToolError::failed("git is not installed on this host").caused_by(error))?;
        let (Some(stdout), Some(mut stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(ToolError::internal("the output of git is piped"));
        };
        // A full pipe stops git: complaints are read to their end, even if nobody needs them all.
        let complaint = tokio::spawn(async move {
            let mut complaint = Vec::new();
            let _ = (&mut stderr).take(10_000).read_to_end(&mut complaint).await;
            let _ = tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await;
            complaint
        });
        Ok((stdout, Running { child, complaint }))
    }
}

/// What git prints, field by field.
pub(super) struct Fields {
    stdout: Split<BufReader<Take<ChildStdout>>>,
    /// `None` once it has ended.
    running: Option<Running>,
}

impl Fields {
    pub(super) async fn next(&mut self) -> Result<Option<String>, ToolError> {
        if let Some(field) = self.stdout.next_segment().await? {
            return Ok(Some(String::from_utf8_lossy(&field).into_owned()));
        }
        match self.running.take() {
            Some(running) => running.end().await.map(|()| None),
            None => Ok(None),
        }
    }
}

/// Git while it runs; it ends when this is dropped.
struct Running {
    child: Child,
    complaint: JoinHandle<Vec<u8>>,
}

impl Running {
    async fn end(mut self) -> Result<(), ToolError> {
        if self.child.wait().await?.success() {
            return Ok(());
        }
        let complaint = self.complaint.await.map_err(ToolError::internal)?;
        let complaint = String::from_utf8_lossy(&complaint);
        let complaint = complaint.lines().next().unwrap_or("it gave no reason");
        Err(ToolError::failed(format!("git refuses: {}", complaint.trim_start_matches("fatal: "))))
    }
}
