//! Assignment of processor cores to a server and its client.

use std::fmt;
use std::process::{Command, Stdio};

/// One core for the server and another for this process, so that neither takes time from the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cores {
    server: Option<usize>,
}

impl Cores {
    /// Leaves all cores to everyone.
    pub(crate) fn all() -> Self {
        Self { server: None }
    }

    /// Reserves the first available core for the servers, and moves this process to the second.
    pub(crate) fn share() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).map(listed);
        let Some([first, second, ..]) = allowed.as_deref() else { return Self { server: None } };
        let mut command = Command::new("taskset");
        command.args(["-c", "-p", &second.to_string(), &std::process::id().to_string()]);
        let is_moved = command.stdout(Stdio::null()).status().is_ok_and(|status| status.success());
        Self { server: is_moved.then_some(*first) }
    }

    /// Creates a command that starts `program` on the core of the servers.
    pub(crate) fn command(self, program: &str) -> Command {
        let Some(core) = self.server else { return Command::new(program) };
        let mut command = Command::new("taskset");
        command.args(["-c", &core.to_string(), program]);
        command
    }
}

impl fmt::Display for Cores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.server {
            Some(_) => "each server on one core, its client on another",
            None => "servers and client on all cores: there is but one, or no `taskset`",
        })
    }
}

/// Parses the numbers of a list such as `0,2-5`.
fn listed(list: &str) -> Vec<usize> {
    let ranges = list.trim().split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse().ok()?..=last.parse().ok()?)
    });
    ranges.flatten().collect()
}
