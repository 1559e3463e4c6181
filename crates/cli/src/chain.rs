//! `chain`: runs chains, in memory or durable ones.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Arg, ArgMatches, Command, value_parser};
use toolkit::dispatch::DispatcherBuilder;
use toolkit::{Catalog, Context};
use toolkit_backends::chain::{Chain, ChainOutcome};

#[cfg(feature = "durable")]
use crate::durable;
use crate::error::{CommandError, Configure, Exit};
use crate::options::{durable_options, duration, json_switch, read_text, unless};
use crate::{credentials, foreground, runtime, style};

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
        durable_options("The Postgres database of the runs").map(move |arg| {
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
        "run" => run_chain(catalog, matches, configure),
        #[cfg(feature = "durable")]
        _ => match durable::run(name, matches)? {
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
) -> Result<Exit, CommandError> {
    let chain = read(matches.get_one::<PathBuf>("chain").expect("the argument is required"))?;
    let time_limit = matches.get_one::<Duration>("timeout").copied();
    let runtime = runtime::create()?;
    #[cfg(feature = "durable")]
    if let Some(connect) = durable::connect(matches)? {
        let id = matches.get_one::<String>("id").cloned();
        let work = foreground::until_done(Context::new(), time_limit, async move |_| {
            durable::start(&connect, &chain, id).await
        });
        let outcome = runtime.block_on(work);
        runtime.shutdown_background();
        return write(&outcome?, matches.get_flag("json"));
    }
    let dispatcher = runtime::dispatcher(&runtime, catalog()?, configure)?;
    runtime::silence_panics();
    let context = credentials::of_each_tool(Context::new());
    let work = foreground::until_done(context, time_limit, async move |context| {
        let outcome = chain.run(&dispatcher, &context).await;
        outcome.map_err(|diagnostics| CommandError::usage(diagnostics.to_string()))
    });
    let outcome = runtime.block_on(work);
    // A tool that is still running must not keep the process alive.
    runtime.shutdown_background();
    write(&outcome?, matches.get_flag("json"))
}

fn read(path: &Path) -> Result<Chain, CommandError> {
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
