//! A server as a process, and the processor time of its calls.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use toolkit_benches::measure::Sorted;

use crate::cores::Cores;
use crate::payload::Payload;
use crate::rows::Row;

/// Measurements of one turn.
pub(crate) struct Turn {
    pub(crate) calls_a_second: f64,
    /// Processor time of the server, in microseconds, like the two fields below.
    pub(crate) processor: f64,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
}

/// A server process, which is killed on drop.
pub(crate) struct Process(pub(crate) Child);

impl Process {
    pub(crate) fn start(row: &Row, cores: Cores, transport: &str, payload: Payload) -> Self {
        let mut command = row.program.command(cores);
        command.args([row.server, transport, payload.tool]).stdin(Stdio::piped()).stdout(Stdio::piped());
        Self(command.spawn().unwrap_or_else(|error| panic!("{} does not start: {error}", row.name)))
    }

    /// Measures the calls that `make` makes and whose durations it returns.
    pub(crate) fn measure(&self, make: impl FnOnce() -> Vec<Duration>) -> Turn {
        let (before, started) = (self.processor_seconds(), Instant::now());
        let taken = make();
        let (spent, took) = (self.processor_seconds() - before, started.elapsed());
        let n_calls = taken.len() as f64;
        let taken = Sorted::of(taken.into_iter().map(|time| time.as_secs_f64() * 1e6));
        Turn {
            calls_a_second: n_calls / took.as_secs_f64(),
            processor: spent * 1e6 / n_calls,
            p50: taken.at(0.5),
            p99: taken.at(0.99),
        }
    }

    fn processor_seconds(&self) -> f64 {
        /// Ticks per second in `/proc`, which Linux fixes for user space.
        const TICKS_A_SECOND: f64 = 100.0;
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).expect("Linux tells");
        // The name of the program, in parentheses, may contain spaces.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |nth: usize| fields[nth].parse::<f64>().expect("a number");
        (ticks(11) + ticks(12)) / TICKS_A_SECOND
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
