//! `chain`: runs chains, in memory or durable ones.

mod execute;
#[cfg(feature = "durable")]
mod runs;

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};
use toolkit::Catalog;
use toolkit::dispatch::DispatcherBuilder;

use crate::durable;
use crate::error::CommandError;
use crate::exit::Exit;
#[cfg(not(feature = "durable"))]
use crate::missing;
use crate::missing::unless;
use crate::options::{duration, json_switch};
use crate::program::Configure;

/// The commands about a run, with their descriptions.
const RUNS: [(&str, &str); 5] = [
    ("status", "Show the status of a durable run and its steps"),
    ("wait", "Wait for the outcome of a durable run"),
    ("cancel", "Cancel a durable run"),
    ("resume", "Continue a durable run that was cancelled or given up"),
    ("decide", "Decide about a step that waits"),
];

pub(crate) fn command() -> Command {
    let url = |required: bool| {
        durable::options("The Postgres database of the runs").map(move |arg| {
            let is_url = arg.get_id() == "durable";
            arg.required(required && is_url)
        })
    };
    let runs = RUNS.map(|(name, about)| {
        let command = Command::new(name).about(about).arg(Arg::new("id").required(true).value_name("RUN"));
        let command = match name {
            "decide" => command
                .arg(Arg::new("step").required(true).value_name("STEP").value_parser(value_parser!(usize)))
                .arg(Arg::new("decision").required(true).value_name("DECISION").help(
                    "approve, deny or answer=JSON for a question; retry, skip=JSON or fail for an unknown outcome",
                )),
            _ => command,
        };
        command.args(url(true)).arg(json_switch("Print the result as one JSON document"))
    });
    Command::new("chain")
        .about("Run a chain of calls, in memory or so that it survives the death of every process")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .subcommand(
            Command::new("run")
                .about("Run a chain")
                .long_about(
                    "Run a chain: a JSON list of steps, or an object {\"parallel\": true, \"steps\": [...]}.\n\n\
                     With --durable, workers run the steps (`serve --durable`), and the command waits for the outcome. \
                     The run goes on if the command ends. The same --id is the same run.",
                )
                .arg(
                    Arg::new("chain")
                        .required(true)
                        .value_name("FILE | -")
                        .value_parser(value_parser!(PathBuf))
                        .help("The file of the chain, or `-` for stdin"),
                )
                .args(url(false))
                .arg(unless(
                    cfg!(feature = "durable"),
                    "durable",
                    Arg::new("id")
                        .long("id")
                        .value_name("RUN")
                        .requires("durable")
                        .help("The id of the durable run [default: random]"),
                ))
                .arg(
                    Arg::new("timeout")
                        .long("timeout")
                        .value_name("TIME")
                        .value_parser(duration)
                        .help("Time after which the command fails; a durable run goes on"),
                )
                .arg(json_switch("Print the outcome of all steps as one JSON document")),
        )
        .subcommands(runs)
}

pub(crate) fn run(
    catalog: impl FnOnce() -> Result<Catalog, CommandError>,
    matches: &ArgMatches,
    configure: Configure<DispatcherBuilder>,
) -> Result<Exit, CommandError> {
    let (name, matches) = matches.subcommand().expect("clap rejects `chain` without a command");
    match name {
        "run" => execute::run(catalog, matches, configure),
        #[cfg(feature = "durable")]
        _ => runs::run(name, matches),
        #[cfg(not(feature = "durable"))]
        _ => Err(missing::feature("durable")),
    }
}
