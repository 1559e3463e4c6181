//! Workers in processes of their own, and what their tools wrote.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use super::*;

/// A process that is killed on drop.
pub(crate) struct Process(Child);

impl Process {
    pub(crate) fn start(server: &Server, options: &str) -> Self {
        Self::start_at(&server.url(), server, options)
    }

    /// Starts a process that connects to another address than that of the server.
    pub(crate) fn start_at(url: &str, server: &Server, options: &str) -> Self {
        let child = Command::new(test_support::program("fixture_nats"))
            .arg(url)
            .args(options.split_whitespace())
            .env("FIXTURE_DIARY", diary(server))
            .stdout(Stdio::null())
            .spawn();
        Self(child.unwrap())
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.0.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap().success());
    }

    /// Returns the resident memory of the process in bytes.
    pub(crate) fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
    }

    pub(crate) fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Waits until the process has ended, successfully.
    pub(crate) async fn ended(&mut self) {
        until(async || self.0.try_wait().unwrap().is_some_and(|status| status.success())).await;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn diary(server: &Server) -> PathBuf {
    server.folder().join("diary")
}

/// Returns the number of events of this kind, by the id of the call.
pub(crate) fn noted(server: &Server, event: &str) -> HashMap<u64, usize> {
    let diary = std::fs::read_to_string(diary(server)).unwrap_or_default();
    let mut noted = HashMap::new();
    for line in diary.lines() {
        let mut words = line.split(' ');
        if words.next() == Some(event)
            && let Some(id) = words.next().and_then(|id| id.parse().ok())
        {
            *noted.entry(id).or_default() += 1;
        }
    }
    noted
}
