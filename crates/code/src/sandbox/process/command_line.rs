//! Command lines of workers.

use std::ffi::OsString;
use std::process::Stdio;

use tokio::process::Command;

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

/// Writes the program and its arguments, for people.
impl std::fmt::Display for CommandLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.program.to_string_lossy())?;
        self.arguments.iter().try_for_each(|argument| write!(f, " {}", argument.to_string_lossy()))
    }
}
