//! Calls over pipes.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use crate::cores::Cores;
use crate::payload::Payload;
use crate::process::{Process, Turn};
use crate::rows::Row;
use crate::table::Client;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"load","version":"1"}}}"#;

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A server and the ends of its pipes.
pub(crate) struct Pipe {
    process: Process,
    ends: Ends,
}

struct Ends {
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    line: String,
    payload: Payload,
    n_asked: usize,
}

impl Pipe {
    pub(crate) fn start(row: &Row, cores: Cores, payload: Payload) -> Self {
        let mut process = Process::start(row, cores, "pipe", payload);
        let mut to = process.0.stdin.take().expect("stdin is a pipe");
        let mut from = BufReader::new(process.0.stdout.take().expect("stdout is a pipe"));
        let mut line = String::new();
        writeln!(to, "{INITIALIZE}").expect("the server reads");
        from.read_line(&mut line).expect("the server answers");
        writeln!(to, "{INITIALIZED}").expect("the server reads");
        Self { process, ends: Ends { to, from, line, payload, n_asked: 0 } }
    }
}

impl Client for Pipe {
    fn turn(&mut self, n_in_flight: usize, time: Duration) -> Turn {
        self.process.measure(|| self.ends.ask(n_in_flight, time))
    }
}

impl Ends {
    /// Sends a call as soon as a response arrives, until the time is over; returns the duration of each call.
    fn ask(&mut self, n_in_flight: usize, time: Duration) -> Vec<Duration> {
        let Payload { tool, arguments, .. } = self.payload;
        let call = format!(r#""method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}"#);
        let started = Instant::now();
        let mut taken = Vec::new();
        let mut requests = Vec::new();
        let mut sent = vec![started; n_in_flight];
        let mut idle: Vec<usize> = (0..n_in_flight).collect();
        loop {
            if started.elapsed() < time {
                requests.clear();
                let now = Instant::now();
                for place in idle.drain(..) {
                    // The id contains the index of the call, since responses may arrive in any order.
                    let id = self.n_asked * n_in_flight + place;
                    self.n_asked += 1;
                    writeln!(requests, r#"{{"jsonrpc":"2.0","id":{id},{call}}}"#).expect("memory is there");
                    sent[place] = now;
                }
                self.to.write_all(&requests).expect("the server reads");
            }
            if idle.len() == n_in_flight {
                return taken;
            }
            // Waits for one response, and takes those that arrived with it.
            loop {
                let place = self.answered() % n_in_flight;
                taken.push(sent[place].elapsed());
                idle.push(place);
                if !self.from.buffer().contains(&b'\n') {
                    break;
                }
            }
        }
    }

    /// Returns the id of the next response.
    fn answered(&mut self) -> usize {
        self.line.clear();
        self.from.read_line(&mut self.line).expect("the server answers");
        assert!(self.line.contains(self.payload.expected), "{}", self.line);
        let (_, id) = self.line.split_once(r#""id":"#).expect("an answer has an id");
        let n_digits = id.bytes().take_while(u8::is_ascii_digit).count();
        id[..n_digits].parse().expect("it is the one that was asked with")
    }
}
