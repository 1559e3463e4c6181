//! A process of the program, which serves MCP over its stdin and stdout.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The number of lines of stderr that an error contains.
const N_LINES: usize = 20;

/// A running process.
#[derive(Debug)]
pub(super) struct ServedProcess {
    child: Child,
    /// `None` after the process was told to end.
    input: Option<Sender<String>>,
    log: LastLines,
}

impl ServedProcess {
    /// Starts the process. `received` is called with each line of its stdout, and at its end with `None`.
    pub(super) fn start(command: &mut Command, received: impl Fn(Option<String>) + Send + 'static) -> io::Result<Self> {
        // Ctrl-C is for `dev` alone.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (input, lines) = channel::<String>();
        let stdin = child.stdin.take();
        // A thread of its own, since a process that writes may not read.
        thread::spawn(move || {
            let Some(mut stdin) = stdin else { return };
            while let Ok(line) = lines.recv() {
                if writeln!(stdin, "{line}").and_then(|()| stdin.flush()).is_err() {
                    break;
                }
            }
        });
        let log = LastLines::default();
        let (stdout, printed) =
            (child.stdout.take().map(BufReader::new), child.stderr.take().map(|pipe| log.copy(pipe, |line| line)));
        thread::spawn(move || {
            for line in stdout.into_iter().flat_map(|stdout| stdout.split(b'\n')).map_while(Result::ok) {
                received(Some(String::from_utf8_lossy(&line).into_owned()));
            }
            // The reason of the end.
            printed.map(thread::JoinHandle::join);
            received(None);
        });
        Ok(Self { child, input: Some(input), log })
    }

    /// Sends a message.
    pub(super) fn send(&self, line: String) {
        if let Some(input) = &self.input {
            let _ = input.send(line);
        }
    }

    /// Closes stdin, at which the process ends after its running calls.
    pub(super) fn close(&mut self) {
        self.input = None;
    }

    /// Ends the process at once.
    pub(super) fn kill(&mut self) {
        let _ = self.child.kill();
    }

    /// Waits for the end of the process, and returns its reason with the last lines of stderr.
    pub(super) fn ended(mut self) -> String {
        self.input = None;
        let status = self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        self.log.after(&status)
    }
}

/// The last lines of a log.
#[derive(Clone, Debug, Default)]
pub(super) struct LastLines(Arc<Mutex<VecDeque<String>>>);

impl LastLines {
    /// Copies a log to stderr. `shown` returns what is printed of a line.
    pub(super) fn copy(
        &self,
        pipe: ChildStderr,
        mut shown: impl FnMut(String) -> String + Send + 'static,
    ) -> thread::JoinHandle<()> {
        let last = self.clone();
        thread::spawn(move || {
            for line in BufReader::new(pipe).split(b'\n').map_while(Result::ok) {
                let line = shown(String::from_utf8_lossy(&line).into_owned());
                super::say(&line);
                let mut last = last.0.lock().unwrap_or_else(PoisonError::into_inner);
                if last.len() == N_LINES {
                    last.pop_front();
                }
                last.push_back(line);
            }
        })
    }

    /// Returns the lines after a first one.
    pub(super) fn after(&self, first: &str) -> String {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::iter::once(first).chain(last.iter().map(String::as_str)).collect::<Vec<_>>().join("\n")
    }
}
