//! `check --calls`: calls the tools with generated arguments.

use std::io::{self, Write};

use clap::{Arg, ArgAction, ArgMatches, value_parser};
use serde_json::Value;
use toolkit::Dispatcher;

use crate::error::CommandError;
use crate::options::{duration, unless};
use crate::style::{self, printable};

pub(crate) fn options() -> [Arg; 5] {
    let calls = Arg::new("calls").long("calls").value_name("N").value_parser(value_parser!(u32).range(1..)).help(
        "Also call each tool that is declared read-only N times with generated arguments, and report panics, hangs, \
         results that do not match their schema, and other broken promises",
    );
    let detail =
        |name: &'static str, value: &'static str| Arg::new(name).long(name).value_name(value).requires("calls");
    [
        calls.conflicts_with_all(["lock", "manifest"]),
        detail("include", "TOOL")
            .action(ArgAction::Append)
            .help("Call this tool although it is not declared read-only; may be repeated"),
        detail("seed", "SEED").value_parser(value_parser!(u64)).help("Seed of the generated arguments [default: 0]"),
        detail("cases", "FILE")
            .help("Try the arguments in FILE first, and add those that show a defect; one JSON object on each line"),
        detail("timeout", "TIME").value_parser(duration).help("Time limit of each call [default: 10s]"),
    ]
    .map(|option| unless(cfg!(feature = "calls"), "calls", option))
}

/// The defects that the calls showed, and the tools that were not called.
pub(crate) struct Called {
    pub(crate) json: Value,
    n_calls: usize,
    /// Each with a command that makes the call.
    defects: Vec<(String, String)>,
    untested: Vec<String>,
}

impl Called {
    pub(crate) fn n_calls(&self) -> usize {
        self.n_calls
    }

    pub(crate) fn n_defects(&self) -> usize {
        self.defects.len()
    }

    /// Writes the defects, and a note for each tool that was not called.
    pub(crate) fn write(&self, err: &mut impl Write) -> io::Result<()> {
        for (message, command) in &self.defects {
            writeln!(err, "{} {}", style::ERROR, printable(message))?;
            writeln!(err, "  {}-->{} {}", style::LOCATION, style::LOCATION.clear(), printable(command))?;
        }
        for tool in &self.untested {
            writeln!(err, "{} {}", style::NOTE, printable(tool))?;
        }
        Ok(())
    }
}

/// Calls the tools on the current runtime if `--calls` is given.
#[cfg(feature = "calls")]
pub(crate) fn run(dispatcher: &Dispatcher, matches: &ArgMatches) -> Result<Option<Called>, CommandError> {
    use std::time::Duration;

    use indicatif::{ProgressBar, ProgressStyle};
    use toolkit::Context;
    use toolkit_contract::calls::CallsError;

    use crate::error::Exit;
    use crate::options::program_name;
    use crate::{credentials, runtime};

    let Some(n_calls) = matches.get_one::<u32>("calls") else {
        return Ok(None);
    };
    // Shown on a terminal only.
    let progress = ProgressBar::new_spinner();
    progress.set_style(ProgressStyle::with_template("{spinner} {elapsed}  {msg}").map_err(io::Error::other)?);
    progress.enable_steady_tick(Duration::from_millis(120));
    let shown = progress.clone();
    let mut calls = toolkit_contract::calls(dispatcher).per_tool(*n_calls as usize).context(move |tool| {
        shown.set_message(format!("calling {}", printable(&tool.id().to_string())));
        let context = Context::new().with_credentials(credentials::from_environment(tool.requirements()));
        credentials::of_each_tool(context)
    });
    for name in matches.get_many::<String>("include").into_iter().flatten() {
        // An unknown name is an error of the command line.
        dispatcher.catalog().resolve(name)?;
        calls = calls.include(name);
    }
    if let Some(seed) = matches.get_one("seed") {
        calls = calls.seed(*seed);
    }
    if let Some(limit) = matches.get_one("timeout") {
        calls = calls.time_limit(*limit);
    }
    if let Some(path) = matches.get_one::<String>("cases") {
        calls = calls.cases(path);
    }
    runtime::silence_panics();
    let failed =
        |error: CallsError| CommandError::Other { exit: Exit::Failed, kind: "calls", message: error.to_string() };
    let report = calls.run();
    progress.finish_and_clear();
    let report = report.map_err(failed)?;
    let mut json = serde_json::to_value(&report).map_err(io::Error::from)?;
    let program = program_name();
    let proxy = matches.get_one::<String>("proxy").map(|file| style::shell_word(file));
    let mut defects = Vec::new();
    for (idx, found) in report.diagnostics().iter().enumerate() {
        let mut command = found.command(&program);
        if let Some(file) = &proxy {
            command = command.replacen(" call ", &format!(" call --proxy {file} "), 1);
        }
        json["diagnostics"][idx]["command"] = command.clone().into();
        defects.push((format!("{}: {} [{}]", found.tool, found.message, found.defect), command));
    }
    let untested = report.untested().iter().map(ToString::to_string).collect();
    Ok(Some(Called { json, n_calls: report.n_calls(), defects, untested }))
}

#[cfg(not(feature = "calls"))]
pub(crate) fn run(_: &Dispatcher, _: &ArgMatches) -> Result<Option<Called>, CommandError> {
    // The option rejects every value.
    Ok(None)
}
