//! A reader who follows a document in a directory of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::target;

/// The directory of a reader, in which commands run.
pub(super) struct Reader {
    pub(super) directory: PathBuf,
    home: PathBuf,
}

impl Reader {
    pub(super) fn new(home: &Path) -> Self {
        Self { directory: home.to_owned(), home: home.to_owned() }
    }

    /// Runs a command line, and returns what it prints. `cd` leads into a new package.
    pub(super) fn run(&mut self, line: &str) -> String {
        if let Some(directory) = line.strip_prefix("cd ") {
            self.directory.push(directory);
            // The versions of this workspace, so that nothing is downloaded.
            let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
            fs::copy(lock, self.directory.join("Cargo.lock")).unwrap();
            return String::new();
        }
        let output = self.command("bash", &["-c", &format!("exec 2>&1; {line}")]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// Creates a command in the directory, for which `cargo toolkit` is installed.
    pub(super) fn command(&self, program: &str, args: &[&str]) -> Command {
        let installed = Path::new(env!("CARGO_BIN_EXE_cargo-toolkit")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        let mut command = Command::new(program);
        command.args(args).current_dir(&self.directory).stdin(std::process::Stdio::null());
        for variable in ["RUSTFLAGS", "RUST_BACKTRACE", "UPDATE_EXPECT"] {
            command.env_remove(variable);
        }
        // Cargo and rustup stay those of this user, while what commands write into the home directory is only for this reader.
        let own_home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
        for (variable, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            command.env(variable, std::env::var_os(variable).map_or(own_home.join(folder), PathBuf::from));
        }
        command
            .env("HOME", &self.home)
            .env("PATH", format!("{}:{path}", installed.display()))
            .env("CARGO_TARGET_DIR", target())
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_NET_OFFLINE", "true");
        command
    }
}
