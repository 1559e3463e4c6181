//! The process that makes the calls, and the one that waits for it.

use std::collections::HashSet;
use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use clap::ArgMatches;
use serde_json::{Value, json};
use toolkit::{Context, Dispatcher};
use toolkit_contract::calls::{CallDiagnostic, CallReport, Calls, Defect};

use super::journal::{JOURNAL, JournalReader, JournalWriter, Line};
use crate::error::{CommandError, Exit};
use crate::meter::Meter;
use crate::style::{ERROR, printable};
use crate::{credentials, runtime, stderr};

/// The interval at which the journal is read.
const TICK: Duration = Duration::from_millis(20);

/// The time beyond the limit of a call without a recorded call, after which the process counts as blocked.
const PATIENCE: Duration = Duration::from_secs(30);

/// The default time limit of a call, as in `toolkit_contract::calls`.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// Makes the calls of the tools that the journal does not have yet.
pub(super) fn make_calls(
    dispatcher: &Dispatcher,
    matches: &ArgMatches,
    path: &Path,
) -> Result<CallReport, CommandError> {
    let mut done = HashSet::new();
    let mut read = JournalReader::open(path)?;
    while let Some(line) = read.next()? {
        if let Line::Tool { tool, .. } = line {
            done.insert(tool);
        }
    }
    let journal = Rc::new(JournalWriter::open(path)?);
    let write = move |line: &Line| {
        // Without a journal, the process that waits reports that this one has ended.
        if let Err(error) = journal.write(line) {
            stderr::say(ERROR, &format!("cannot write the journal of the calls: {error}"));
            std::process::exit(1);
        }
    };
    runtime::silence_panics();
    let mut calls = toolkit_contract::calls(dispatcher).context(|tool| {
        let context = Context::new().with_credentials(credentials::from_environment(tool.requirements()));
        credentials::of_each_tool(context)
    });
    let of_calls = write.clone();
    calls = calls.before_call(move |tool, arguments| {
        of_calls(&Line::Call { tool: tool.id().to_string(), arguments: arguments.clone() });
    });
    calls = done.iter().fold(calls, |calls, id| calls.exclude(id));
    let of_tools = write.clone();
    calls = calls.after_tool(move |tool, report| {
        let tool = tool.id().to_string();
        if !done.contains(&tool) {
            of_tools(&Line::Tool { tool, report: report.clone() });
        }
    });
    if let Some(n_calls) = matches.get_one::<u32>("calls") {
        calls = calls.per_tool(*n_calls as usize);
    }
    for name in matches.get_many::<String>("include").into_iter().flatten() {
        calls = calls.include(name);
    }
    for name in matches.get_many::<String>("exclude").into_iter().flatten() {
        calls = calls.exclude(name);
    }
    calls = super::allowed(matches).fold(calls, Calls::allow);
    if let Some(seed) = matches.get_one("seed") {
        calls = calls.seed(*seed);
    }
    if let Some(limit) = matches.get_one("timeout") {
        calls = calls.time_limit(*limit);
    }
    if let Some(path) = matches.get_one::<String>("cases") {
        calls = calls.cases(path);
    }
    let report = calls.run().map_err(|error| failed(error.to_string()))?;
    write(&Line::End);
    Ok(report)
}

/// Starts processes that make the calls, until one has made the last one.
pub(super) fn watch_calls(matches: &ArgMatches) -> Result<CallReport, CommandError> {
    let meter = Meter::default();
    let report = start_until_done(matches, &meter);
    meter.finish();
    report
}

fn start_until_done(matches: &ArgMatches, meter: &Meter) -> Result<CallReport, CommandError> {
    let (journal, log) = (tempfile::NamedTempFile::new()?, tempfile::NamedTempFile::new()?);
    let patience = *matches.get_one("timeout").unwrap_or(&TIME_LIMIT) + PATIENCE;
    let mut report = CallReport::default();
    let mut lines = JournalReader::open(journal.path())?;
    loop {
        log.as_file().set_len(0)?;
        // What the tools print is none of the output of this command, and what they log to a file is not counted as writing.
        let mut child = Command::new(std::env::current_exe()?)
            .args(std::env::args_os().skip(1))
            .env(JOURNAL, journal.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::from(log.reopen()?))
            .spawn()?;
        let ended = watch(&mut child, &mut lines, patience, &mut report, meter);
        let _ = child.kill();
        let _ = child.wait();
        let Some(EarlyEnd { how, call, n_calls }) = ended? else { return Ok(report) };
        let logged = fs::read_to_string(log.path()).unwrap_or_default();
        let last = logged.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
        let Some((tool, arguments)) = call else {
            // Before its first call: its last line on stderr is the reason.
            let reason = last.strip_prefix("error: ").unwrap_or(last);
            return Err(failed(if reason.is_empty() { how.to_string() } else { reason.to_owned() }));
        };
        let message = if last.is_empty() { format!("the call {how}") } else { format!("the call {how}: {last}") };
        let mut of_tool = CallReport::default();
        of_tool.count(n_calls);
        if !super::allowed(matches).any(|defect| defect == how.defect()) {
            if let Some(path) = matches.get_one::<String>("cases") {
                keep_case(Path::new(path), &tool, &arguments)?;
            }
            of_tool.push(CallDiagnostic::new(how.defect(), tool.clone(), arguments, message));
        }
        JournalWriter::open(journal.path())?.write(&Line::Tool { tool, report: of_tool })?;
    }
}

/// The end of a process that has not made all calls.
struct EarlyEnd {
    how: Ending,
    /// The call that it was in.
    call: Option<(String, Value)>,
    /// The number of calls of that tool.
    n_calls: usize,
}

#[derive(Clone, Copy)]
enum Ending {
    Exited(ExitStatus),
    Blocked(Duration),
}

impl Ending {
    fn defect(self) -> Defect {
        match self {
            Self::Exited(_) => Defect::Ends,
            Self::Blocked(_) => Defect::Hang,
        }
    }
}

/// Writes what a call does.
impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(status) => write!(f, "ends the process ({status})"),
            Self::Blocked(time) => write!(f, "blocks the whole process for {} s", time.as_secs()),
        }
    }
}

/// Adds the results of a process to the report, until it ends. Returns `None` if it has made all calls.
fn watch(
    child: &mut Child,
    lines: &mut JournalReader,
    patience: Duration,
    report: &mut CallReport,
    meter: &Meter,
) -> io::Result<Option<EarlyEnd>> {
    let (mut call, mut n_calls, mut seen) = (None, 0, Instant::now());
    loop {
        // Asked before the journal is read, since the process may write its last lines in between.
        let exited = child.try_wait()?;
        while let Some(line) = lines.next()? {
            seen = Instant::now();
            match line {
                Line::Call { tool, arguments } => {
                    meter.set(&format!("calling {}", printable(&tool)));
                    (call, n_calls) = (Some((tool, arguments)), n_calls + 1);
                }
                Line::Tool { report: of_tool, .. } => {
                    report.extend(of_tool);
                    (call, n_calls) = (None, 0);
                }
                Line::End => return Ok(None),
            }
        }
        let how = match exited {
            Some(status) => Some(Ending::Exited(status)),
            None => (seen.elapsed() > patience).then_some(Ending::Blocked(patience)),
        };
        if let Some(how) = how {
            return Ok(Some(EarlyEnd { how, call, n_calls }));
        }
        thread::sleep(TICK);
    }
}

/// Adds the arguments to the file of cases.
fn keep_case(path: &Path, tool: &str, arguments: &Value) -> io::Result<()> {
    let case = format!("{}\n", json!({ "tool": tool, "arguments": arguments }));
    let kept = fs::read_to_string(path).unwrap_or_default();
    match kept.contains(&case) {
        true => Ok(()),
        false => OpenOptions::new().create(true).append(true).open(path)?.write_all(case.as_bytes()),
    }
}

fn failed(message: String) -> CommandError {
    CommandError::Other { exit: Exit::Failed, kind: "calls", message }
}
