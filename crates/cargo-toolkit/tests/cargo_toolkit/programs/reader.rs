//! A reader who follows a document in a directory of their own.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::target;

/// The address of the servers in the chapters.
const ADDRESS: &str = "127.0.0.1:8000";

/// The directory of a reader, in which commands run.
pub(super) struct Reader {
    pub(super) directory: PathBuf,
    home: PathBuf,
    /// The server that runs in the background.
    server: Option<Child>,
}

impl Drop for Reader {
    fn drop(&mut self) {
        if let Some(mut server) = self.server.take() {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

impl Reader {
    pub(super) fn new(home: &Path) -> Self {
        Self { directory: home.to_owned(), home: home.to_owned(), server: None }
    }

    /// Runs a command line, and returns what it prints. `cd` leads into a new package, and a server runs in the background
    /// after `&`.
    pub(super) fn run(&mut self, line: &str) -> String {
        if let Some(server) = line.strip_suffix(" &") {
            assert!(TcpStream::connect(ADDRESS).is_err(), "another program serves {ADDRESS}");
            let mut server = self.command("bash", &["-c", &format!("exec {server}")]);
            self.server = Some(server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
            let start = Instant::now();
            while TcpStream::connect(ADDRESS).is_err() {
                assert!(start.elapsed() < Duration::from_secs(60), "no server at {ADDRESS}");
                thread::sleep(Duration::from_millis(20));
            }
            return String::new();
        }
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
        command.args(args).current_dir(&self.directory).stdin(Stdio::null());
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
