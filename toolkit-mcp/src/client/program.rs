//! A program that is a server, and how it is started.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

/// A program that is a server, and how it is started: without a shell, in a group of processes of its own.
///
/// Of this program's environment it sees the few variables that any program needs, such as `PATH` and `HOME`, so that a
/// secret of one server is none of another's business. What it needs beyond them is given by [`Program::env`].
#[derive(Clone)]
pub struct Program {
    pub(super) command: OsString,
    pub(super) args: Vec<OsString>,
    pub(super) env: BTreeMap<OsString, OsString>,
    pub(super) inherits_env: bool,
    pub(super) current_dir: Option<PathBuf>,
}

/// What a program sees of this program's environment: what the official clients of MCP pass on, and what says how to
/// write text and where to put files.
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
    /// A program by its path, or by its name in `PATH`.
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

    /// Sets a variable of its environment.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.insert(name.as_ref().to_owned(), value.as_ref().to_owned());
        self
    }

    /// Shows it the whole environment of this program, with every secret that is in it.
    #[must_use]
    pub fn inherit_env(mut self) -> Self {
        self.inherits_env = true;
        self
    }

    /// Starts it in another folder than that of this program.
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

/// Names of variables without their values, and how many arguments there are: both are where secrets stand.
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
