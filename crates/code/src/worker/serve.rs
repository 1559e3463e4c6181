//! The turns of a worker, by lines on the standard streams.

use std::fmt::{self, Display};
use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::super::engine::{Done, Engine, State, Step};
use super::super::failure::{Failure, FailureKind};
use super::super::limits::Limits;
use super::super::wire::{self, GREETING_BYTES, Hello, ToHost, ToWorker, WireError};
use super::confine;

/// Confines this process and runs one program. Returns when it is done, or when the host has closed the input.
pub(super) fn serve<E: Engine>(engine: impl FnOnce(Limits, Arc<AtomicBool>) -> E) -> Result<(), ServeError> {
    let report = confine::begin();
    let Some(line) = receive(GREETING_BYTES)? else { return Ok(()) };
    wire::check_version(&line)?;
    let ToWorker::Hello(Hello { limits, .. }) = wire::decode(&line)? else { return Err(out_of_turn("hello")) };
    // Engines may read files of their platform at first. This one knows nothing of the program yet.
    let mut engine = engine(limits, Arc::new(AtomicBool::new(false)));
    let ready = confine::complete(report, &limits).map_err(ServeError::Confinement)?;
    send_line(&ToHost::Ready(ready), GREETING_BYTES)?;

    let max = wire::max_line(&limits);
    let mut is_started = false;
    while let Some(line) = receive(max)? {
        let step = match wire::decode(&line)? {
            ToWorker::Start(program) if !is_started => engine.start(&program),
            ToWorker::Resume(answers) if is_started => {
                drop(line);
                engine.resume(answers)
            }
            _ => return Err(out_of_turn(if is_started { "resume" } else { "start" })),
        };
        is_started = true;
        if send(step, max)? {
            break;
        }
    }
    Ok(())
}

/// Writes a step, or a failure if it is too long for a line. Returns true if the program is done.
fn send(step: Step, max: usize) -> Result<bool, WireError> {
    let (is_done, usage) = (matches!(step.state, State::Done(_)), step.usage);
    match send_line(&ToHost::Step(Box::new(step)), max) {
        Err(WireError::TooLong(_)) => {
            let message = format!("the calls that wait for an answer at the same time exceed {max} bytes of JSON");
            let outcome = Err(Failure::new(FailureKind::Size, message));
            let state = State::Done(Done { outcome, shown: Vec::new() });
            send_line(&ToHost::Step(Box::new(Step { printed: Vec::new(), state, usage })), max)?;
            Ok(true)
        }
        sent => sent.map(|()| is_done),
    }
}

/// Reads a line of at most `max` bytes; `None` at the end of the input.
fn receive(max: usize) -> Result<Option<Vec<u8>>, WireError> {
    let mut line = Vec::new();
    let limit = u64::try_from(max).unwrap_or(u64::MAX);
    let read = io::stdin().lock().take(limit).read_until(b'\n', &mut line);
    read.map_err(|error| WireError::Invalid(error.to_string()))?;
    match line.last() {
        None => Ok(None),
        Some(b'\n') => Ok(Some(line)),
        Some(_) if line.len() == max => Err(WireError::TooLong(max)),
        Some(_) => Err(WireError::Invalid("the last line has no end".to_owned())),
    }
}

/// Writes a message as a line of at most `max` bytes.
fn send_line(message: &ToHost, max: usize) -> Result<(), WireError> {
    let line = wire::encode(message, max)?;
    let mut output = io::stdout().lock();
    let written = output.write_all(&line).and_then(|()| output.flush());
    written.map_err(|error| WireError::Invalid(error.to_string()))
}

/// Writes why the worker ends.
pub(super) fn send_error(error: &impl Display) -> Result<(), WireError> {
    send_line(&ToHost::Error(error.to_string()), GREETING_BYTES)
}

fn out_of_turn(expected: &str) -> ServeError {
    ServeError::Wire(WireError::Invalid(format!("expected `{expected}`")))
}

/// The reason why a worker ends before its program.
pub(super) enum ServeError {
    Wire(WireError),
    Confinement(String),
}

impl From<WireError> for ServeError {
    fn from(error: WireError) -> Self {
        Self::Wire(error)
    }
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wire(error) => error.fmt(f),
            Self::Confinement(reason) => f.write_str(reason),
        }
    }
}
