//! `check --calls`: calls the tools with generated arguments.
//!
//! A tool may exit, abort, or exceed the stack or the memory, so that the calls are made in a process of their own: this program
//! with the same arguments. It records each call in a journal before it makes it (`journal`), and the result of each tool. If it
//! ends early, the last call is the defect, and the next process continues with the next tool.

#[cfg(feature = "calls")]
mod journal;
#[cfg(feature = "calls")]
mod process;

use std::io::{self, Write};

use clap::{Arg, ArgAction, ArgMatches, value_parser};
use serde_json::Value;
use toolkit::Dispatcher;

use crate::error::CommandError;
use crate::options::{duration, option, unless};
use crate::style::{self, printable};

pub(crate) fn options() -> [Arg; 6] {
    let calls = option("calls", "N").value_parser(value_parser!(u32).range(1..)).help(
        "Also call each tool that is declared read-only N times with generated arguments, and report panics, hangs, \
         results that do not match their schema, and other broken promises",
    );
    let detail = |name: &'static str, value: &'static str| option(name, value).requires("calls");
    [
        calls.conflicts_with_all(["lock", "manifest"]),
        detail("include", "TOOL")
            .action(ArgAction::Append)
            .help("Call this tool although it is not declared read-only; may be repeated"),
        detail("exclude", "TOOL")
            .action(ArgAction::Append)
            .help("Do not call this tool although it is declared read-only; may be repeated"),
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
    pub(crate) n_calls: usize,
    /// Each with a command that makes the call.
    defects: Vec<(String, String)>,
    untested: Vec<String>,
}

impl Called {
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

/// Calls the tools if `--calls` is given: in another process, or in this one if it is that process.
#[cfg(feature = "calls")]
pub(crate) fn run(dispatcher: &Dispatcher, matches: &ArgMatches) -> Result<Option<Called>, CommandError> {
    if !matches.contains_id("calls") {
        return Ok(None);
    }
    // An unknown name is an error of the command line.
    for option in ["include", "exclude"] {
        for name in matches.get_many::<String>(option).into_iter().flatten() {
            dispatcher.catalog().resolve(name)?;
        }
    }
    let report = match journal::inherited() {
        Some(path) => process::make_calls(dispatcher, matches, &path)?,
        None => process::watch_calls(matches)?,
    };
    called(&report, matches).map(Some)
}

/// Returns the defects of `--allow`.
#[cfg(feature = "calls")]
fn allowed(matches: &ArgMatches) -> impl Iterator<Item = toolkit_contract::calls::Defect> + '_ {
    use toolkit_contract::calls::Defect;

    matches.get_many::<String>("allow").into_iter().flatten().filter_map(|code| Defect::from_code(code))
}

/// Adds the command that makes the call to each defect.
#[cfg(feature = "calls")]
fn called(report: &toolkit_contract::calls::CallReport, matches: &ArgMatches) -> Result<Called, CommandError> {
    let mut json = serde_json::to_value(report).map_err(io::Error::from)?;
    let program = crate::options::program_name();
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
    Ok(Called { json, n_calls: report.n_calls(), defects, untested })
}

#[cfg(not(feature = "calls"))]
pub(crate) fn run(_: &Dispatcher, _: &ArgMatches) -> Result<Option<Called>, CommandError> {
    // The option rejects every value.
    Ok(None)
}
