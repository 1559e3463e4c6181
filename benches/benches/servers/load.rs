//! A server as a process, and what it has spent.

use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// What calls cost.
pub(crate) struct Spent {
    pub(crate) micros_a_call: f64,
    pub(crate) calls_a_second: f64,
}

/// A server that runs until this is dropped.
pub(crate) struct Server(pub(crate) Child);

impl Server {
    pub(crate) fn start(name: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("the program is a file"));
        command.args(["serve", name]).stdin(Stdio::piped()).stdout(Stdio::piped());
        Self(command.spawn().expect("the server starts"))
    }

    /// What `n_calls`, which `make` makes, cost the server.
    pub(crate) fn spend(&self, n_calls: usize, make: impl FnOnce()) -> Spent {
        let (before, started) = (self.processor_seconds(), Instant::now());
        make();
        let (spent, took) = (self.processor_seconds() - before, started.elapsed());
        Spent { micros_a_call: spent * 1e6 / n_calls as f64, calls_a_second: n_calls as f64 / took.as_secs_f64() }
    }

    fn processor_seconds(&self) -> f64 {
        /// Of the units of `/proc`, which Linux fixes for all who read them.
        const TICKS_A_SECOND: f64 = 100.0;
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).expect("Linux tells");
        // The name of the program, in brackets, may have spaces.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |nth: usize| fields[nth].parse::<f64>().expect("a number");
        (ticks(11) + ticks(12)) / TICKS_A_SECOND
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
