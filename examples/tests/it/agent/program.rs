//! The example program.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use super::server::Server;
use super::wire::{KEY, MODEL, QUESTION};
use crate::output::program;

/// A run of the program in an empty directory.
pub(crate) struct Agent {
    command: Command,
    directory: TempDir,
}

pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Agent {
    pub(crate) fn new(server: &Server) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut command = Command::new(program("agent"));
        command.args(["--api", server.wire.api, "--model", MODEL, "--url", &server.url, QUESTION]);
        command.current_dir(&directory).stdin(Stdio::null()).env("NO_PROXY", "*");
        command.envs(server.wire.key.map(|variable| (variable, KEY)));
        Self { command, directory }
    }

    pub(crate) fn flag(mut self, flag: &str) -> Self {
        self.command.arg(flag);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn run(&mut self) -> Outcome {
        Outcome::new(self.command.output().unwrap())
    }

    /// Sends an interrupt, as Ctrl-C does, as soon as the server has a request.
    #[cfg(unix)]
    pub(crate) fn run_interrupted(&mut self, server: &Server) -> Outcome {
        let child = self.command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        while server.n_requests() == 0 {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT).unwrap();
        Outcome::new(child.wait_with_output().unwrap())
    }
}

impl Outcome {
    fn new(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}
