//! The command, the run of the program, and its output.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Arg, ArgMatches, Command, value_parser};
use toolkit::dispatch::DispatcherBuilder;
use toolkit::{Catalog, Context, Dispatcher};
use toolkit_code::{CodeMode, Execution, Limits, Program};
use toolkit_runtime::read_bounded;

use super::sandbox;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::options::{duration, json_switch, switch};
use crate::program::Configure;
use crate::style::{self, content_line, printable};
use crate::{credentials, foreground, runtime};

/// The time after the limit of the run within which it should have ended.
const BLOCKED: Duration = Duration::from_secs(1);
/// The maximum number of columns of the arguments and the result of a call.
const WIDTH: usize = 60;

pub(super) fn command() -> Command {
    Command::new("run")
        .about("Run a program that calls the tools")
        .long_about(
            "Run a program that calls the tools: JavaScript, the body of an async function, in which \
             `await tools.NAMESPACE.NAME({...})` calls a tool. What it returns goes to stdout as JSON, and what it \
             prints to stderr.\n\nThe program has no files, no network and no variables of the environment. The tools \
             that it calls are those of `call`, with the same credentials.",
        )
        .arg(
            Arg::new("program")
                .required(true)
                .value_name("FILE | -")
                .value_parser(value_parser!(PathBuf))
                .help("The file of the program, or `-` for stdin"),
        )
        .args(sandbox::options())
        .arg(
            Arg::new("timeout")
                .long("timeout")
                .value_name("TIME")
                .value_parser(duration)
                .help("Time of the whole run, with its calls [default: 5m]"),
        )
        .arg(
            Arg::new("calls")
                .long("calls")
                .value_name("N")
                .value_parser(value_parser!(u32))
                .help("The number of calls that the program may make [default: 100]"),
        )
        .arg(switch("trace").help("Print the calls to stderr, with their arguments and results"))
        .arg(json_switch("Print the value, the output, the calls and the limits as one JSON document"))
}

pub(super) fn run(
    catalog: Catalog,
    matches: &ArgMatches,
    configure: Configure<DispatcherBuilder>,
) -> Result<Exit, CommandError> {
    let path = matches.get_one::<PathBuf>("program").expect("the argument is required");
    let program = Program::javascript(read(path)?);
    let sandbox = sandbox::sandbox(matches)?;
    let runtime = runtime::create()?;
    let dispatcher = {
        let _on_runtime = runtime.enter();
        configure(Dispatcher::builder(catalog)).map_err(CommandError::Setup)?.build()?
    };
    runtime::silence_panics();
    let limits = limits(matches);
    let code = CodeMode::new(dispatcher, sandbox).limits(limits);
    // A tool that blocks its thread also blocks the timer of the run.
    let time_limit = Some(limits.time + BLOCKED);
    let work = foreground::until_done(credentials::of_each_tool(Context::new()), time_limit, async move |context| {
        code.run_with(&context, limits, program).await.map_err(|error| failed("unavailable", error.to_string()))
    });
    let outcome = runtime.block_on(work);
    // A tool that is still running must not keep the process alive.
    runtime.shutdown_background();
    let execution: Execution = outcome?;
    if matches.get_flag("trace") {
        write_trace(&execution);
    }
    match matches.get_flag("json") {
        true => write_json(&execution)?,
        false => write(&execution)?,
    }
    Ok(if execution.outcome.is_ok() { Exit::Success } else { Exit::Failed })
}

fn limits(matches: &ArgMatches) -> Limits {
    let mut limits = Limits::default();
    if let Some(&time) = matches.get_one::<Duration>("timeout") {
        limits = limits.time(time).run_time(limits.run_time.min(time));
    }
    if let Some(&calls) = matches.get_one::<u32>("calls") {
        limits = limits.calls(calls);
    }
    limits
}

/// Reads a program, up to the maximum size of one.
fn read(path: &Path) -> Result<String, CommandError> {
    let max = Limits::default().code_bytes;
    let failed = |error: &dyn std::fmt::Display| CommandError::Other {
        exit: Exit::Usage,
        kind: "io",
        message: format!("{}: {error}", path.display()),
    };
    let read = match path.to_str() {
        Some("-") => read_bounded(std::io::stdin().lock(), max),
        _ => std::fs::File::open(path).and_then(|file| read_bounded(file, max)),
    };
    String::from_utf8(read.map_err(|error| failed(&error))?).map_err(|error| failed(&error))
}

fn failed(kind: &'static str, message: String) -> CommandError {
    CommandError::Other { exit: Exit::Failed, kind, message }
}

/// Writes the value to stdout, and the rest to stderr.
fn write(execution: &Execution) -> io::Result<()> {
    let mut err = anstream::stderr();
    for printed in &execution.printed {
        let _ = writeln!(err, "{}", printable(&printed.text));
    }
    for block in &execution.content {
        let _ = writeln!(err, "{}", printable(&content_line(block)));
    }
    match &execution.outcome {
        Ok(value) => style::write_line(value.get()),
        Err(failure) => {
            let _ = writeln!(err, "{} {}", style::ERROR, printable(&failure.to_string()));
            if let Some(source) = &failure.source {
                let _ = writeln!(err, "  {}", printable(source));
            }
            Ok(())
        }
    }
}

/// Writes everything as one JSON document.
fn write_json(execution: &Execution) -> io::Result<()> {
    style::write_json(execution)
}

/// Writes one line for each call.
fn write_trace(execution: &Execution) {
    let mut err = anstream::stderr();
    for call in &execution.calls {
        let (mark, result) = match &call.result {
            Ok(result) => ("->", result.get()),
            Err(error) => ("!!", &*error.message),
        };
        let line = call.line.map(|line| format!("{line}: ")).unwrap_or_default();
        let (args, result) = (printable(call.args.get()), printable(result));
        let _ = writeln!(
            err,
            "{line}{}({}) {mark} {} [{:.1?}]",
            printable(&call.tool),
            style::cut(&args, WIDTH),
            style::cut(&result, WIDTH),
            call.duration,
        );
    }
}
