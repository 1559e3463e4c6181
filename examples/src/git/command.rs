//! Eleventh lesson, continued: another program, kept on a short lead.

use std::path::Path;
use std::process::Stdio;

use tokio::io::AsyncReadExt;
use tokio::process::Command;
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

    pub(super) async fn run(mut self) -> Result<String, ToolError> {
        let mut child =
            self.0.spawn().map_err(|error| ToolError::failed("git is not installed on this host").caused_by(error))?;
        let (Some(stdout), Some(mut stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(ToolError::internal("the output of git is piped"));
        };
        let (mut output, mut complaint) = (Vec::new(), Vec::new());
        // A full pipe stops git, and git then ends neither stream: too much output ends the waiting at once, and
        // complaints are read to their end, even if nobody needs them all.
        let read_output = async {
            stdout.take(MAX_OUTPUT + 1).read_to_end(&mut output).await?;
            if output.len() as u64 > MAX_OUTPUT {
                let message = "git has too much to say; ask for less, with a limit or a path";
                return Err(ToolError::failed(message));
            }
            Ok(())
        };
        let read_complaint = async {
            (&mut stderr).take(10_000).read_to_end(&mut complaint).await?;
            tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await?;
            Ok(())
        };
        tokio::try_join!(read_output, read_complaint)?;
        if !child.wait().await?.success() {
            let complaint = String::from_utf8_lossy(&complaint);
            let complaint = complaint.lines().next().unwrap_or("it gave no reason");
            return Err(ToolError::failed(format!("git refuses: {}", complaint.trim_start_matches("fatal: "))));
        }
        Ok(String::from_utf8_lossy(&output).into_owned())
    }
}
