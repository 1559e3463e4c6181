//! The command line of a server, and the environment variables that its process receives.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

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
    #[must_use]
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
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.insert(name.as_ref().to_owned(), value.as_ref().to_owned());
        self
    }

    /// Inherits the whole environment of this program, including all secrets in it.
    #[must_use]
    pub fn inherit_env(mut self) -> Self {
        self.inherits_env = true;
        self
    }

    /// Sets the working directory. Default: that of this program.
    #[must_use]
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

/// Omits the arguments and the values of variables, which may be secrets.
impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("command", &self.command)
            .field("n_args", &self.args.len())
            .field("env", &self.env.keys())
            .field("current_dir", &self.current_dir)
            .finish_non_exhaustive()
    }
}
