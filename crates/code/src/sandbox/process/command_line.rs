//! Command lines of workers, and those of sandboxes of other projects that start a program of this machine.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;

use tokio::process::Command;

use super::super::super::worker;

/// The folders with shared libraries.
const LIBRARIES: [&str; 5] = ["/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib64"];

/// A command line that starts a worker, whose standard streams speak the [protocol](crate::wire).
///
/// # Examples
///
/// ```
/// use toolkit_code::sandbox::CommandLine;
///
/// let command = CommandLine::new("/usr/local/bin/toolkit-code-worker");
/// assert_eq!(command.to_string(), "/usr/local/bin/toolkit-code-worker");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    program: OsString,
    arguments: Vec<OsString>,
    inherits_environment: bool,
    cleanup: Option<Box<CommandLine>>,
}

impl CommandLine {
    /// Creates a command line without arguments and environment.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self { program: program.into(), arguments: Vec::new(), inherits_environment: false, cleanup: None }
    }

    pub(super) fn program(&self) -> &std::ffi::OsStr {
        &self.program
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<S: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Passes on the environment of this process, which clients of containers need to find their servers.
    #[must_use]
    pub fn inherit_environment(mut self) -> Self {
        self.inherits_environment = true;
        self
    }

    /// Sets a command line that removes what outlives the process when that is killed, such as a container.
    #[must_use]
    pub fn cleanup(mut self, cleanup: CommandLine) -> Self {
        self.cleanup = Some(Box::new(cleanup));
        self
    }

    pub(super) fn cleanup_command(&self) -> Option<Command> {
        let cleanup = self.cleanup.as_ref()?;
        let mut command = cleanup.command();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Some(command)
    }

    /// Returns the command with streams for a worker, in a process group of its own: the group is killed as a whole, and
    /// does not receive signals of the terminal.
    pub(super) fn worker_command(&self) -> Command {
        let mut command = self.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        command
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        if !self.inherits_environment {
            command.env_clear();
        }
        command
    }
}

impl CommandLine {
    /// Creates the command line of [Bubblewrap](https://github.com/containers/bubblewrap): the worker at this absolute
    /// path in new namespaces of all kinds, as `nobody`, with no files except its own and the shared libraries, all of
    /// them read-only.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit_code::sandbox::{CommandLine, Process};
    ///
    /// let command = CommandLine::bubblewrap("/usr/local/bin/toolkit-code-worker");
    /// let sandbox = Process::command("bubblewrap", command);
    /// ```
    pub fn bubblewrap(worker: impl AsRef<Path>) -> Self {
        let options = ["--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"];
        let mut command = Self::new("bwrap").args(options).args(["--uid", "65534", "--gid", "65534"]);
        for folder in LIBRARIES {
            command = command.args(["--ro-bind-try", folder, folder]);
        }
        let worker = worker.as_ref().as_os_str().to_owned();
        let inside = OsString::from("/worker");
        command
            .args(["--ro-bind".into(), worker, inside.clone()])
            .args(["--proc", "/proc", "--remount-ro", "/", "--chdir", "/", "--"])
            .args([inside, worker::ARGUMENT.into()])
            .inherit_environment()
    }

    /// Creates the command line of [gVisor](https://gvisor.dev) without a container: the worker at this absolute path on a
    /// kernel in user space, without network. It sees the files of this machine until it has confined itself; `runsc` as the
    /// [runtime](super::Container::runtime) of a container hides them.
    pub fn gvisor(worker: impl AsRef<Path>) -> Self {
        let worker = worker.as_ref().as_os_str().to_owned();
        Self::new("runsc")
            .args(["--network=none", "--ignore-cgroups", "do", "--cwd=/", "--quiet", "--"])
            .args([worker, worker::ARGUMENT.into()])
            .inherit_environment()
    }
}

/// Writes the program and its arguments, for people.
impl std::fmt::Display for CommandLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.program.to_string_lossy())?;
        self.arguments.iter().try_for_each(|argument| write!(f, " {}", argument.to_string_lossy()))
    }
}
