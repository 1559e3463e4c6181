//! `chain`: runs chains, in memory or durable ones.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use toolkit::dispatch::DispatcherBuilder;
use toolkit::{Catalog, Context};
use toolkit_backends::chain::{Chain, ChainOutcome};

#[cfg(feature = "durable")]
use crate::durable;
use crate::error::{CommandError, Configure, Exit};
use crate::options::{durable_options, duration, json_switch, option, program_name, read_text, switch, unless};
use crate::{credentials, foreground, runtime, style};

/// The commands about a run, with their descriptions.
const RUNS: [(&str, &str); 6] = [
    ("status", "Show the status of a durable run and its steps"),
    ("wait", "Wait for the outcome of a durable run"),
    ("cancel", "Cancel a durable run"),
    ("resume", "Continue a durable run that was cancelled or given up, or that no worker can continue"),
    ("retry", "Run the failed steps of a durable run again"),
    ("decide", "Decide about a step that waits"),
];

pub(crate) fn command() -> Command {
    let place = || durable_options("The place of the runs", false);
    // The value of `--durable` is optional, so that a word after it is not an argument.
    let usage = |name: &str, arguments: &str| format!("{} chain {name} {arguments} [OPTIONS]", program_name());
    let runs = RUNS.map(|(name, about)| {
        let command = Command::new(name).about(about).arg(Arg::new("id").required(true).value_name("RUN"));
        let command = match name {
            "decide" => command
                .arg(Arg::new("step").required(true).value_name("STEP").value_parser(value_parser!(usize)))
                .arg(Arg::new("decision").required(true).value_name("DECISION").help(
                    "approve, deny or answer=JSON for a question; retry, skip=JSON or fail for an unknown outcome; `status` \
                     names those of a step",
                ))
                .override_usage(usage(name, "<RUN> <STEP> <DECISION>")),
            "resume" => command
                .arg(
                    option("version", "VERSION")
                        .help("Continue it with the tools of this program, which have this version, after a check of its chain"),
                )
                .override_usage(usage(name, "<RUN>")),
            _ => command.override_usage(usage(name, "<RUN>")),
        };
        command.args(place()).arg(json_switch("Print the result as one JSON document"))
    });
    Command::new("chain")
        .about("Run a chain of calls, in memory or recorded, so that it continues after a crash")
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
                .arg(file())
                .override_usage(usage("run", "<FILE | ->"))
                .args(durable_options("Run the chain in workers, which record it in this place", true))
                .arg(unless(cfg!(feature = "durable"), "durable", id().requires("durable")))
                .arg(
                    option("timeout", "TIME")
                        .value_parser(duration)
                        .help("Time after which the command fails; a durable run goes on"),
                )
                .arg(json_switch("Print the outcome of all steps as one JSON document")),
        )
        .subcommand(
            Command::new("start")
                .about("Start a durable run, and print its id")
                .long_about(
                    "Start a durable run, and print its id. The same --id is the same run: a schedule whose ids name the time, \
                     such as --id report-2027-01-31, starts a run once, also from several machines.",
                )
                .args([file(), id()])
                .override_usage(usage("start", "<FILE | ->"))
                .args(place()),
        )
        .subcommands(runs)
        .subcommand(list(place()))
        .subcommand(prune(place()))
}

fn file() -> Arg {
    Arg::new("chain")
        .required(true)
        .value_name("FILE | -")
        .value_parser(value_parser!(PathBuf))
        .help("The file of the chain, or `-` for stdin")
}

fn id() -> Arg {
    option("id", "RUN").help("The id of the durable run [default: random]")
}

/// The states of durable runs, those of `toolkit_durable::RunState`.
const STATES: [&str; 9] =
    ["queued", "no_worker", "running", "waiting", "finished", "failed", "rejected", "cancelled", "parked"];

/// The states in which nothing can happen to a run any more.
const ENDED: [&str; 4] = ["finished", "failed", "rejected", "cancelled"];

fn states(accepted: &'static [&'static str], help: &'static str) -> Arg {
    option("state", "STATE").value_parser(accepted.to_vec()).action(ArgAction::Append).help(help)
}

fn number(name: &'static str, default: &'static str, help: &'static str) -> Arg {
    option(name, "N").value_parser(value_parser!(u32).range(1..)).default_value(default).help(help)
}

fn list(place: [Arg; 2]) -> Command {
    Command::new("list")
        .about("List durable runs")
        .long_about(
            "List durable runs, the last started one first: those of all applications in the file or database, or of --application.\n\n\
             On a terminal, the output is a table; otherwise it has one line per run with the tab-separated columns id, \
             state, application, version, start, last change, and what it waits for.",
        )
        .args([
            states(&STATES, "List the runs in this state; may be repeated"),
            number("limit", "100", "Maximum number of runs"),
        ])
        .args(place)
        .arg(json_switch("Print the list as JSON"))
}

fn prune(place: [Arg; 2]) -> Command {
    Command::new("prune")
        .about("Delete durable runs that have ended")
        .long_about(
            "Delete durable runs of the application that have ended, with the results of their steps. The id of a deleted run \
             is free: a chain that is started with it runs again.\n\n\
             On a terminal, they are deleted after a confirmation; otherwise with --yes.",
        )
        .args([
            option("older-than", "TIME")
                .required(true)
                .value_parser(duration)
                .help("Delete the runs that ended at least this time ago, such as 30d or 12h"),
            states(&ENDED, "Delete only runs in this state; may be repeated"),
            number("limit", "10000", "Maximum number of runs"),
            switch("dry-run").help("Only list the runs"),
            switch("yes").short('y').conflicts_with("dry-run").help("Delete without a confirmation"),
        ])
        .args(place)
}

pub(crate) fn run(
    catalog: impl FnOnce() -> Result<Catalog, CommandError>,
    matches: &ArgMatches,
    configure: Configure<DispatcherBuilder>,
    program: &str,
) -> Result<Exit, CommandError> {
    let (name, matches) = matches.subcommand().expect("clap rejects `chain` without a command");
    match name {
        "run" => run_chain(catalog, matches, configure, program),
        #[cfg(feature = "durable")]
        "start" => durable::start_only(&read_chain(matches)?, matches, program),
        #[cfg(feature = "durable")]
        "list" => durable::list(matches, program),
        #[cfg(feature = "durable")]
        "prune" => durable::prune(matches, program),
        #[cfg(feature = "durable")]
        "resume" if matches.contains_id("version") => {
            let runtime = runtime::create()?;
            let dispatcher = runtime::dispatcher(&runtime, catalog()?, configure)?;
            durable::bind(&runtime, matches, program, dispatcher)
        }
        #[cfg(feature = "durable")]
        _ => match durable::run(name, matches, program)? {
            Some(outcome) => write(&outcome, matches.get_flag("json")),
            None => Ok(Exit::Success),
        },
        #[cfg(not(feature = "durable"))]
        _ => Err(CommandError::missing_feature("durable")),
    }
}

/// The maximum size of a chain, in bytes.
const MAX_BYTES: u64 = 16 << 20;

fn run_chain(
    catalog: impl FnOnce() -> Result<Catalog, CommandError>,
    matches: &ArgMatches,
    configure: Configure<DispatcherBuilder>,
    program: &str,
) -> Result<Exit, CommandError> {
    #[cfg(not(feature = "durable"))]
    let _ = program;
    let chain = read_chain(matches)?;
    let time_limit = matches.get_one::<Duration>("timeout").copied();
    let runtime = runtime::create()?;
    #[cfg(feature = "durable")]
    if let Some(connect) = durable::connect(matches, program)? {
        let id = matches.get_one::<String>("id").cloned();
        let options = durable::place_options(matches);
        let work = foreground::until_done(Context::new(), time_limit, None, async move |_| {
            durable::start(&connect, &chain, id, &options).await
        });
        let outcome = runtime.block_on(work);
        runtime.shutdown_background();
        return write(&outcome?, matches.get_flag("json"));
    }
    let dispatcher = runtime::dispatcher(&runtime, catalog()?, configure)?;
    runtime::silence_panics();
    let context = credentials::of_each_tool(Context::new());
    let work = foreground::until_done(context, time_limit, None, async move |context| {
        let outcome = chain.run(&dispatcher, &context).await;
        outcome.map_err(|diagnostics| CommandError::usage(diagnostics.to_string()))
    });
    let outcome = runtime.block_on(work);
    // A tool that is still running must not keep the process alive.
    runtime.shutdown_background();
    write(&outcome?, matches.get_flag("json"))
}

fn read_chain(matches: &ArgMatches) -> Result<Chain, CommandError> {
    let path: &Path = matches.get_one::<PathBuf>("chain").expect("the argument is required");
    let text = read_text(path, MAX_BYTES).map_err(CommandError::usage)?;
    Chain::from_json(&*text).map_err(|error| CommandError::usage(format!("{}: {error}", path.display())))
}

/// Writes the outcome: the result of the last step, or all of it as JSON.
fn write(outcome: &ChainOutcome, as_json: bool) -> Result<Exit, CommandError> {
    if as_json {
        style::write_json(outcome)?;
    } else if let Some(error) = outcome.error() {
        let message = match outcome.steps().iter().find(|step| step.result.is_err()) {
            Some(step) => format!("step {} failed: {error}", step.index),
            None => error.to_string(),
        };
        return Err(CommandError::failed(error.kind().name(), message));
    } else if let Some(json) = outcome.result().and_then(|result| result.json()) {
        // Not parsed, since parsing could round numbers.
        style::write_line(&String::from_utf8_lossy(json))?;
    }
    Ok(if outcome.error().is_none() { Exit::Success } else { Exit::Failed })
}
