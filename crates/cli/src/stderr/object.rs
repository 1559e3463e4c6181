//! Lines of stderr as JSON objects, with the fields of the log: time, level, message and target.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};

/// The target of messages of the program itself.
pub(super) const PROGRAM: &str = "toolkit_cli";

/// The target of text that anything else has written.
const STDERR: &str = "stderr";

/// The size of a line in bytes, above which it is divided.
const MAX_LINE: usize = 64 << 10;

static IS_WANTED: AtomicBool = AtomicBool::new(false);

/// Returns true if each line is a JSON object: after [`start`].
pub(crate) fn is_json() -> bool {
    IS_WANTED.load(Ordering::Relaxed)
}

/// Makes each line an object, also the message of a panic, which would have several lines.
pub(super) fn start(write: impl Fn(&[u8]) + Send + Sync + 'static) {
    IS_WANTED.store(true, Ordering::Relaxed);
    std::panic::set_hook(Box::new(move |panic| write(&of_panic(panic))));
}

fn of_panic(panic: &PanicHookInfo<'_>) -> Vec<u8> {
    let thread = thread::current();
    let mut message = format!("thread '{}' {panic}", thread.name().unwrap_or("<unnamed>"));
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured {
        message.push_str(&format!("\n{backtrace}"));
    }
    of("ERROR", PROGRAM, &message)
}

/// Returns the line of a message.
pub(super) fn of(level: &str, target: &str, message: &str) -> Vec<u8> {
    #[derive(Serialize)]
    struct Line<'m> {
        timestamp: String,
        level: &'m str,
        message: &'m str,
        target: &'m str,
    }
    let mut timestamp = String::new();
    let _ = SystemTime.format_time(&mut Writer::new(&mut timestamp));
    let mut line = serde_json::to_vec(&Line { timestamp, level, message, target }).unwrap_or_default();
    line.push(b'\n');
    line
}

/// Text whose lines become objects.
#[derive(Default)]
pub(super) struct Lines {
    /// The beginning of a line.
    rest: Vec<u8>,
}

impl Lines {
    /// Adds text, and passes on the lines that it completes.
    pub(super) fn push(&mut self, text: &[u8], mut write: impl FnMut(&[u8])) {
        self.rest.extend_from_slice(text);
        while let Some(length) = self.next_line() {
            let line: Vec<u8> = self.rest.drain(..length).collect();
            write_line(&line, &mut write);
        }
    }

    /// Passes on a line without an end.
    pub(super) fn end(&mut self, mut write: impl FnMut(&[u8])) {
        write_line(&std::mem::take(&mut self.rest), &mut write);
    }

    fn next_line(&self) -> Option<usize> {
        let end = self.rest.iter().position(|&byte| byte == b'\n').map(|end| end + 1);
        end.or_else(|| (self.rest.len() >= MAX_LINE).then_some(MAX_LINE))
    }
}

fn write_line(line: &[u8], write: &mut impl FnMut(&[u8])) {
    let line = line.trim_ascii_end();
    if line.is_empty() {
        return;
    }
    match is_of_log(line) {
        true => write(&[line, b"\n"].concat()),
        false => write(&of("INFO", STDERR, &String::from_utf8_lossy(line))),
    }
}

/// Returns true for a line of the log of the host, which is an object already.
fn is_of_log(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    #[expect(dead_code, reason = "the fields have to exist")]
    struct Line {
        level: IgnoredAny,
        #[serde(alias = "time", alias = "ts")]
        timestamp: IgnoredAny,
    }
    line.starts_with(b"{") && serde_json::from_slice::<Line>(line).is_ok()
}
