//! Workers in processes of their own, and what their tools wrote.

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};

use super::Place;

/// A process that is killed on drop.
pub(crate) struct Process(Child);

impl Process {
    pub(crate) fn start(place: &Place, options: &str) -> Self {
        Self::start_at(&place.url(), place, &[], options)
    }

    /// Starts a process that connects to another address than that of the place, by a command such as that of a network
    /// namespace.
    pub(crate) fn start_at(url: &str, place: &Place, by: &[&str], options: &str) -> Self {
        let program = test_support::program("fixture_durable");
        let words = [by, &[program.to_str().unwrap(), url]].concat();
        let child = Command::new(words[0])
            .args(&words[1..])
            .args(options.split_whitespace())
            .env("FIXTURE_DIARY", place.diary())
            .stdout(Stdio::null())
            .spawn();
        Self(child.unwrap())
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.0.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap().success());
    }

    /// Limits the size of the files that the process writes, in bytes.
    pub(crate) fn limit_files(&self, bytes: &str) {
        let words = ["--pid", &self.0.id().to_string(), &format!("--fsize={bytes}:")];
        assert!(Command::new("prlimit").args(words).status().unwrap().success());
    }

    pub(crate) fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Returns true if the process has ended, and that was its intention.
    pub(crate) fn has_succeeded(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some_and(|status| status.success())
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A line of the diary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) event: String,
    pub(crate) kind: String,
    /// `RUN/STEP`.
    pub(crate) key: String,
    pub(crate) pid: String,
    pub(crate) release: String,
}

/// Returns what the tools wrote.
pub(crate) fn lines(place: &Place) -> Vec<Line> {
    let diary = std::fs::read_to_string(place.diary()).unwrap_or_default();
    let read = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let [event, kind, key, pid, release] = words[..] else { panic!("unexpected line {line}") };
        let [event, kind, key, pid, release] = [event, kind, key, pid, release].map(str::to_owned);
        Line { event, kind, key, pid, release }
    };
    diary.lines().map(read).collect()
}

/// Returns the number of times that a tool of a kind has started, by step.
pub(crate) fn starts(place: &Place, kind: &str) -> BTreeMap<String, usize> {
    let mut starts = BTreeMap::new();
    for line in lines(place).into_iter().filter(|line| line.event == "start" && line.kind == kind) {
        *starts.entry(line.key).or_default() += 1;
    }
    starts
}
