//! A package that `cargo toolkit new` has written.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::client::DevClient;
use crate::programs::target;

/// A new program with a server.
pub(super) struct NewProgram(PathBuf);

impl NewProgram {
    /// Writes the package, with the explorer and the dependencies of this repository, and builds it, as its user has done before.
    pub(super) fn new(directory: PathBuf) -> Self {
        let new = Command::new(env!("CARGO_BIN_EXE_cargo-toolkit")).args(["toolkit", "new"]).arg(&directory).output();
        assert!(new.unwrap().status.success());
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for file in ["Cargo.lock", "rust-toolchain.toml"] {
            fs::copy(project.join(file), directory.join(file)).unwrap();
        }
        let manifest = fs::read_to_string(directory.join("Cargo.toml")).unwrap();
        let manifest = manifest.replace("crates/cli\" }", "crates/cli\", features = [\"explorer\"] }");
        fs::write(directory.join("Cargo.toml"), manifest).unwrap();
        let program = Self(directory);
        program.build();
        program
    }

    pub(super) fn build(&self) {
        assert!(self.command(&["cargo", "build"]).output().unwrap().status.success());
    }

    pub(super) fn command(&self, words: &[&str]) -> Command {
        let installed = Path::new(env!("CARGO_BIN_EXE_cargo-toolkit")).parent().unwrap();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(&self.0).stdin(Stdio::piped()).stdout(Stdio::piped());
        for variable in ["RUSTFLAGS", "RUST_BACKTRACE"] {
            command.env_remove(variable);
        }
        command
            .stderr(Stdio::piped())
            .env("PATH", format!("{}:{}", installed.display(), std::env::var("PATH").unwrap()))
            .env("CARGO_TARGET_DIR", target())
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_NET_OFFLINE", "true");
        command
    }

    pub(super) fn start(&self, words: &[&str]) -> DevClient {
        DevClient::new(self.command(words).spawn().unwrap())
    }

    /// Replaces a text in the tools.
    pub(super) fn edit(&self, from: &str, to: &str) {
        let file = self.0.join("src/tools.rs");
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(file, text.replace(from, to)).unwrap();
    }
}

/// Calls the tool of the new program.
pub(super) fn share(client: &DevClient) -> String {
    client.request("tools/call", r#"{"name":"money_share","arguments":{"cents":1000,"people":4}}"#)
}
