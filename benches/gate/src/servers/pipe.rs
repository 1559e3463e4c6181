//! Calls over a pipe in memory.

use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::sync::{Arc, Condvar, Mutex};

use tokio::runtime::Builder;
use toolkit_mcp_server::Server;

use super::IN_FLIGHT;
use super::answer::answered;

/// The part of a call after its id.
pub(super) const CALL: &str = r#""method":"tools/call","params":{"name":"add","arguments":{"a":17,"b":25}}"#;

/// A loop over lines, which flushes when there is no further input.
pub(super) fn floor(n_calls: usize) {
    let (client, answers) = Client::new(n_calls);
    answer_lines(client, answers);
}

/// Answers the calls of a client.
pub(super) fn answer_lines(input: impl Read, output: impl Write) {
    let (mut input, mut output) = (BufReader::new(input), BufWriter::new(output));
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line).is_ok_and(|n_read| n_read > 0) {
        if line.windows(12).any(|word| word == b"\"tools/call\"") {
            writeln!(output, "{}", answered(&line)).expect("the client reads");
        }
        line.clear();
        if input.buffer().is_empty() {
            output.flush().expect("the client reads");
        }
    }
}

/// The server, from the first line to the last response.
pub(super) fn calls(server: &Server, n_calls: usize) {
    let (client, answers) = Client::new(n_calls);
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    runtime.block_on(server.pipes(client, answers)).expect("the pipes hold");
}

/// A client that sends calls as soon as all earlier ones are answered.
struct Client {
    n_left: usize,
    next_id: usize,
    unread: Vec<u8>,
    answered: Arc<Answered>,
}

#[derive(Default)]
struct Answered {
    n_waiting: Mutex<usize>,
    changed: Condvar,
}

/// The output of a server, of which only the lines are counted.
struct Answers(Arc<Answered>);

impl Client {
    fn new(n_calls: usize) -> (Self, Answers) {
        let answered = Arc::new(Answered::default());
        let client = Self { n_left: n_calls, next_id: 1, unread: Vec::new(), answered: Arc::clone(&answered) };
        (client, Answers(answered))
    }

    fn write_calls(&mut self) {
        let n_calls = self.n_left.min(IN_FLIGHT);
        self.n_left -= n_calls;
        self.unread.clear();
        for id in self.next_id..self.next_id + n_calls {
            writeln!(self.unread, r#"{{"jsonrpc":"2.0","id":{id},{CALL}}}"#).expect("memory is there");
        }
        self.next_id += n_calls;
    }
}

impl Read for Client {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.unread.is_empty() {
            let mut n_waiting = self.answered.n_waiting.lock().expect("no thread panics");
            while *n_waiting > 0 {
                n_waiting = self.answered.changed.wait(n_waiting).expect("no thread panics");
            }
            *n_waiting = self.n_left.min(IN_FLIGHT);
            drop(n_waiting);
            self.write_calls();
        }
        let n_bytes = self.unread.len().min(buffer.len());
        buffer[..n_bytes].copy_from_slice(&self.unread[..n_bytes]);
        self.unread.drain(..n_bytes);
        Ok(n_bytes)
    }
}

impl Write for Answers {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let n_lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        let mut n_waiting = self.0.n_waiting.lock().expect("no thread panics");
        *n_waiting -= n_lines;
        if *n_waiting == 0 {
            self.0.changed.notify_one();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
