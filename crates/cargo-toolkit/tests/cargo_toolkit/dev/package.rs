//! A package whose sources a test changes.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::client::{DevClient, TIMEOUT};

/// A workspace with the package `served` and an empty `toolkit-core`.
pub(super) struct EditedPackage {
    directory: TempDir,
}

impl EditedPackage {
    /// Creates the package with the tools of `new` of version 1.
    pub(super) fn new() -> Self {
        let package = Self { directory: tempfile::tempdir().unwrap() };
        package.write("Cargo.toml", "[workspace]\nmembers = [\"served\", \"toolkit\"]\nresolver = \"3\"\n");
        let manifest = |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
        package.write("toolkit/Cargo.toml", &manifest("toolkit-core"));
        package.write("toolkit/src/lib.rs", "");
        package.write(
            "served/Cargo.toml",
            &(manifest("served") + "[dependencies]\ntoolkit-core = { path = \"../toolkit\" }\n"),
        );
        package.write("served/src/main.rs", include_str!("../../programs/dev_served.rs"));
        package.tools(1, &["add", "slow"]);
        package
    }

    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Writes a file, as editors do: another one is renamed to it.
    pub(super) fn write(&self, file: &str, text: &str) {
        let path = self.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let saved = path.with_extension("saved");
        fs::write(&saved, text).unwrap();
        fs::rename(saved, path).unwrap();
    }

    /// Writes a version of the tools.
    pub(super) fn tools(&self, version: u32, names: &[&str]) {
        let n = names.len();
        let text = format!(
            "pub const VERSION: u32 = {version};\npub const NAMES: [&str; {n}] = {names:?};\npub fn start() {{}}\n"
        );
        self.write("served/src/tools.rs", &text);
    }

    /// Returns a command of `cargo toolkit` in the workspace.
    pub(super) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-toolkit"));
        command.arg("toolkit").args(args).current_dir(self.path()).env("CARGO_NET_OFFLINE", "true").process_group(0);
        for variable in ["RUSTFLAGS", "CARGO_TARGET_DIR", "CARGO_INCREMENTAL"] {
            command.env_remove(variable);
        }
        command
    }

    /// Starts `dev` as a client does.
    pub(super) fn dev(&self) -> DevClient {
        let mut command = self.command(&["dev", "-p", "served"]);
        DevClient::new(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// Starts `dev` at an address, as a user does.
    pub(super) fn dev_http(&self, address: &str) -> DevClient {
        let mut command = self.command(&["dev", "-p", "served", "--", "--http", address]);
        DevClient::new(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// Returns the error of a command that fails, which is one line.
    #[track_caller]
    pub(super) fn complaint(&self, args: &[&str]) -> String {
        let output = self.command(args).stdin(Stdio::null()).output().unwrap();
        let printed = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{printed}");
        // cargo waits for other tests.
        let lines: Vec<&str> = printed.lines().filter(|line| !line.starts_with("    Blocking waiting")).collect();
        assert_eq!(lines.len(), 1, "{printed}");
        lines[0].strip_prefix("error: ").unwrap().to_owned()
    }

    /// Waits until no process runs a program of this package, or builds it.
    #[track_caller]
    pub(super) fn wait_for_end(&self) {
        self.wait_for_processes(|processes| processes.is_empty());
    }

    /// Waits until a build has come to the script of the package.
    #[track_caller]
    pub(super) fn wait_for_build_script(&self) {
        self.wait_for_processes(|processes| processes.iter().any(|process| process.contains("build-script-build")));
    }

    #[track_caller]
    fn wait_for_processes(&self, is_wanted: impl Fn(&[String]) -> bool) {
        let start = Instant::now();
        while !is_wanted(&self.processes()) {
            assert!(start.elapsed() < TIMEOUT, "{:?}", self.processes());
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns the commands of the processes that run a program of this package, or build it.
    pub(super) fn processes(&self) -> Vec<String> {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let command = |process: PathBuf| {
            let command = fs::read(process.join("cmdline")).ok()?;
            Some(String::from_utf8_lossy(&command).replace('\0', " "))
        };
        let commands = processes.filter_map(|process| command(process.path()));
        let path = self.path().to_string_lossy().into_owned();
        commands.filter(|command| command.contains(&path)).collect()
    }
}
