//! A server in another process.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use test_support::program;

/// A timeout for operations that must not hang.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A server process, which is killed on drop.
pub(crate) struct Provider {
    child: Child,
    /// The URL of the server.
    pub(crate) url: String,
    /// The output of the process before its address.
    pub(crate) warnings: String,
    diary: PathBuf,
}

impl Provider {
    /// Starts a process on a free port.
    pub(crate) fn start(name: &str) -> Self {
        Self::start_with(name, "0", &[], &[])
    }

    /// Starts a process; `name` is that of the test.
    pub(crate) fn start_with(name: &str, address: &str, args: &[&str], variables: &[(&str, &str)]) -> Self {
        let diary = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("otc-{name}-{}.diary", std::process::id()));
        let mut command = Command::new(program("fixture_otc"));
        command.args(["serve", "--otc", address]).args(args).env("FIXTURE_DIARY", &diary);
        command.env("NO_COLOR", "1").env_remove("RUST_BACKTRACE").envs(variables.iter().copied());
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let (mut warnings, mut line) = (String::new(), String::new());
        let url = loop {
            line.clear();
            assert_ne!(stderr.read_line(&mut line).unwrap(), 0, "it ended: {warnings}");
            if let Some((_, url)) = line.split_once(" at http://") {
                break format!("http://{}", url.split(' ').next().unwrap());
            }
            warnings.push_str(&line);
        };
        // Drains the output, so that it does not fill the pipe.
        std::thread::spawn(move || stderr.read_to_end(&mut Vec::new()));
        Self { child, url, warnings, diary }
    }

    /// Returns the port.
    pub(crate) fn port(&self) -> &str {
        self.url.rsplit(':').next().unwrap()
    }

    /// Sends SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends SIGTERM.
    #[cfg(unix)]
    pub(crate) fn terminate(&self) {
        assert!(Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap().success());
    }

    /// Waits until the process has exited.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(start.elapsed() < PATIENCE, "it does not end");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Returns true if a tool has logged this text.
    pub(crate) fn has_noted(&self, line: &str) -> bool {
        let diary = std::fs::read_to_string(&self.diary).unwrap_or_default();
        diary.lines().any(|noted| noted == line)
    }

    /// Waits until a tool logs this text.
    pub(crate) async fn notes(&self, line: &str) {
        let start = Instant::now();
        while !self.has_noted(line) {
            assert!(start.elapsed() < PATIENCE, "it never notes {line:?}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.diary);
    }
}
