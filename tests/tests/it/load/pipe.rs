//! A server over stdio in another process.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use super::server::{process, terminate, until};

/// A server process, which is killed on drop.
pub(crate) struct Pipe {
    child: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    diary: PathBuf,
    last_id: u64,
}

impl Pipe {
    pub(crate) fn start(numbers: &str) -> Self {
        let (mut child, diary) = process("stdio", numbers, Stdio::piped());
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, input, lines: BufReader::new(output).lines(), diary, last_id: 0 }
    }

    pub(crate) fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    /// Sends a request, and returns its id.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params }));
        self.last_id
    }

    pub(crate) fn begin(&mut self, tool: &str, arguments: Value) -> u64 {
        self.request("tools/call", json!({ "name": format!("Load_{tool}"), "arguments": arguments }))
    }

    /// Reads the next message, which must be the response to this request.
    #[track_caller]
    pub(crate) fn answer_to(&mut self, id: u64) -> String {
        let line = self.lines.next().unwrap().unwrap();
        assert!(line.contains(&format!("\"id\":{id},")), "{line}");
        line
    }

    #[track_caller]
    pub(crate) fn wait_until_noted(&self, line: &str, n: usize) {
        let n_noted = || {
            let diary = std::fs::read_to_string(&self.diary).unwrap_or_default();
            diary.lines().filter(|noted| *noted == line).count()
        };
        until(&format!("{n} × {line}"), || n_noted() >= n);
    }

    pub(crate) fn terminate(&self) {
        terminate(&self.child);
    }

    /// Waits until the server rejects new requests.
    #[track_caller]
    pub(crate) fn wait_until_ending(&mut self) {
        until("the end of its requests", || {
            let ping = self.request("ping", json!({}));
            self.answer_to(ping).contains("the server is shutting down")
        });
    }

    #[track_caller]
    pub(crate) fn assert_ends(&mut self) {
        until("the end of the process", || self.child.try_wait().unwrap().is_some());
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.diary);
    }
}
