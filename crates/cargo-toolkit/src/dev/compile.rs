//! A build by cargo, with the messages of the compiler.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;

use serde_json::Value;

use super::INTERVAL;
use crate::{guard, program};

/// A line of cargo.
enum CargoLine {
    /// On stdout: a message as JSON.
    Message(String),
    /// On stderr.
    Text(String),
}

/// Runs a command of cargo, and returns the executable. `wait` is called several times in a second. The messages are printed.
///
/// # Errors
///
/// Returns the errors as the compiler and cargo print them.
pub(super) fn compile(command: &Command, mut wait: impl FnMut()) -> Result<PathBuf, String> {
    let mut child = guard::spawn(command).map_err(|error| format!("cannot run cargo: {error}"))?;
    // The build ends with the pipe.
    let _alive = child.stdin.take();
    let (sender, lines) = channel();
    read(child.stdout.take(), sender.clone(), CargoLine::Message);
    read(child.stderr.take(), sender, CargoLine::Text);
    let (mut executable, mut errors, mut printed) = (None, String::new(), String::new());
    loop {
        match lines.recv_timeout(INTERVAL) {
            Ok(CargoLine::Message(line)) => {
                let message: Value = serde_json::from_str(&line).unwrap_or_default();
                executable = program::executable(&message).or(executable);
                let message = &message["message"];
                let rendered = message["rendered"].as_str().unwrap_or_default();
                // Errors while writing to stderr cannot be reported.
                let _ = write!(anstream::stderr(), "{rendered}");
                if message["level"] == "error" {
                    errors.push_str(rendered);
                }
            }
            Ok(CargoLine::Text(line)) => {
                let _ = writeln!(anstream::stderr(), "{line}");
                printed.push_str(&line);
                printed.push('\n');
            }
            Err(RecvTimeoutError::Timeout) => wait(),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let status = child.wait().map_err(|error| format!("cannot wait for cargo: {error}"))?;
    if status.success() {
        return executable.ok_or_else(|| "cargo built no program".to_owned());
    }
    if errors.is_empty() {
        // Such as those of a manifest, below the lines about what was compiled.
        errors = printed.find("error").map_or(printed.clone(), |start| printed[start..].to_owned());
    }
    Err(anstream::adapter::strip_str(errors.trim_end()).to_string())
}

fn read(
    output: Option<impl Read + Send + 'static>,
    lines: Sender<CargoLine>,
    kind: impl Fn(String) -> CargoLine + Send + 'static,
) {
    thread::spawn(move || {
        let lines_of = output.into_iter().flat_map(|output| BufReader::new(output).split(b'\n'));
        for line in lines_of.map_while(Result::ok) {
            let _ = lines.send(kind(String::from_utf8_lossy(&line).into_owned()));
        }
    });
}
