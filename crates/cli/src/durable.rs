//! Durable runs: their connection, start, status and end, decisions about their steps, and the runs of all chains, for
//! operators.

use std::collections::HashSet;
use std::fs::DirBuilder;
use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::time::{Duration, Instant};

use clap::ArgMatches;
use serde_json::{Value, json};
use tokio::time::timeout;
use toolkit::Dispatcher;
use toolkit_backends::chain::{Chain, ChainOutcome};
use toolkit_durable::{
    Client, Connect, Decision, DurableError, Pause, Run, RunFilter, RunId, RunState, RunStatus, RunSummary, StepState,
    StepStatus, Worker,
};

use crate::error::{CommandError, Exit};
use crate::options::{program_name, state_directory};
use crate::report::{counted, is_confirmed};
use crate::runtime;
use crate::stderr::say;
use crate::style::table::Table;
use crate::style::{self, BOLD, NOTE, PLAIN, printable};

/// The time after which a command that waits for a run reports that no worker has taken it.
const WORKER_WAIT: Duration = Duration::from_secs(3);

/// The interval at which such a command looks whether a step waits.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// Returns the place of the runs, if the command line has `--durable`: without a value, a file of the program.
pub(crate) fn connect(matches: &ArgMatches, program: &str) -> Result<Option<Connect>, CommandError> {
    match matches.contains_id("durable") {
        true => place(matches, program).map(Some),
        false => Ok(None),
    }
}

/// Returns the place of the runs: by default, a file of the program.
fn place(matches: &ArgMatches, program: &str) -> Result<Connect, CommandError> {
    let connect = match matches.get_one::<String>("durable") {
        Some(place) => Connect::new(place).map_err(|error| match error {
            DurableError::NoPostgres => CommandError::missing_feature("postgres"),
            error => CommandError::usage(format!("--durable: {error}")),
        })?,
        None => Connect::file(default_file(program)?),
    };
    let application = matches.get_one::<String>("application");
    Ok(connect.application(application.cloned().unwrap_or_else(|| application_of(program))))
}

/// Returns the name of the application of a program.
fn application_of(program: &str) -> String {
    let lower = program.to_ascii_lowercase();
    let name = lower.replace(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit() && !"-_".contains(c), "_");
    match name.len() {
        // Too short for a name; see `Connect::application`.
        0..3 => format!("toolkit-{name}"),
        _ => name,
    }
}

/// Connects a command about runs, whose place is by default the file of the program.
async fn client(connect: &Connect, matches: &ArgMatches) -> Result<Client, CommandError> {
    Client::connect(connect).await.map_err(|error| match failed(error) {
        CommandError::Other { exit, kind, message } if !matches.contains_id("durable") => {
            CommandError::Other { exit, kind, message: format!("{message}; --durable FILE | URL names another place") }
        }
        error => error,
    })
}

/// Returns the file of `--durable` without a value, whose folder is created.
pub(crate) fn default_file(program: &str) -> Result<PathBuf, CommandError> {
    let missing = || CommandError::usage("there is no directory for the state of this user: write --durable FILE");
    let folder = state_directory(program).ok_or_else(missing)?;
    let mut create = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut create, 0o700);
    let created = create.recursive(true).create(&folder);
    created.map_err(|error| CommandError::failed("io", format!("{}: {error}", folder.display())))?;
    Ok(folder.join("runs.db"))
}

/// Parses the id of a run.
fn run_id(text: &str) -> Result<RunId, CommandError> {
    RunId::new(text).map_err(|error| CommandError::usage(format!("`{text}` is {error}")))
}

/// Returns the error of a command.
pub(crate) fn failed(error: DurableError) -> CommandError {
    let (exit, kind) = match error {
        DurableError::Rejected(error) => return CommandError::Tool(error),
        DurableError::Application(_) => (Exit::Usage, "usage"),
        DurableError::Locked { .. } => (Exit::Failed, "locked"),
        DurableError::Missing { .. } => (Exit::Failed, "missing"),
        DurableError::Damaged { .. } => (Exit::Failed, "damaged"),
        DurableError::Database { .. } => (Exit::Failed, "database"),
        DurableError::OtherInput { .. } => (Exit::Failed, "other_input"),
        DurableError::UnknownRun(_) => (Exit::Usage, "unknown_run"),
        DurableError::Cancelled(_) => (Exit::Failed, "cancelled"),
        DurableError::NotWaiting(_) => (Exit::Failed, "not_waiting"),
        DurableError::Unchanged { .. } => (Exit::Failed, "unchanged"),
        _ => (Exit::Failed, "durable"),
    };
    CommandError::Other { exit, kind, message: error.to_string() }
}

/// Starts a run, or finds the one with this id, and prints the id.
pub(crate) fn start_only(chain: &Chain, matches: &ArgMatches, program: &str) -> Result<Exit, CommandError> {
    let id = given_id(matches.get_one::<String>("id"))?;
    let connect = place(matches, program)?;
    let run = runtime::create()?
        .block_on(async { client(&connect, matches).await?.start(chain, id).await.map_err(failed) })?;
    style::write_line(run.id().as_str())?;
    Ok(Exit::Success)
}

fn given_id(id: Option<&String>) -> Result<RunId, CommandError> {
    id.map_or_else(|| Ok(RunId::random()), |id| run_id(id))
}

/// Starts a run, or finds the one with this id, and waits for its outcome.
pub(crate) async fn start(
    connect: &Connect,
    chain: &Chain,
    id: Option<String>,
    options: &str,
) -> Result<ChainOutcome, CommandError> {
    let id = given_id(id.as_ref())?;
    let client = Client::connect(connect).await.map_err(failed)?;
    let run = client.start(chain, id).await.map_err(failed)?;
    say(NOTE, &format!("run {}", run.id()));
    wait(&run, connect.application_name(), options).await
}

/// Returns the options of the place of the runs, as in another command. A URL may contain a password, so that a placeholder
/// stands for it.
pub(crate) fn place_options(matches: &ArgMatches) -> String {
    let place = match matches.get_one::<String>("durable") {
        Some(url) if url.contains("://") => " --durable URL".to_owned(),
        Some(file) => format!(" --durable {file}"),
        None => String::new(),
    };
    match matches.get_one::<String>("application") {
        Some(application) => format!("{place} --application {application}"),
        None => place,
    }
}

/// Waits for the outcome of a run, and reports once what each step waits for, and that there is no worker.
async fn wait(run: &Run, application: &str, options: &str) -> Result<ChainOutcome, CommandError> {
    let mut outcome = pin!(run.wait());
    let (begun, mut has_reported_worker, mut reported) = (Instant::now(), false, HashSet::new());
    loop {
        if let Ok(outcome) = timeout(REPORT_INTERVAL, &mut outcome).await {
            return outcome.map_err(failed);
        }
        // An error that lasts is that of the outcome.
        let Ok(status) = run.status().await else { continue };
        for step in &status.steps {
            if let StepState::Waiting { pause, attempt, .. } = &step.state
                && reported.insert((step.index, *attempt))
            {
                say(NOTE, &waits(run, step, pause, options));
            }
        }
        let has_no_worker = matches!(status.state, RunState::Queued | RunState::NoWorker);
        if has_no_worker && begun.elapsed() >= WORKER_WAIT && !std::mem::replace(&mut has_reported_worker, true) {
            let version = status.version.map(|version| format!(" with version {version}")).unwrap_or_default();
            say(
                NOTE,
                &format!(
                    "no worker runs it yet, and the command goes on waiting; start one of the application `{application}`{version} \
                 with `serve --durable`"
                ),
            );
        }
    }
}

/// Returns the reason why a step waits, and the command that decides.
fn waits(run: &Run, step: &StepStatus, pause: &Pause, options: &str) -> String {
    let StepStatus { index, tool, .. } = step;
    let waits = format!("step {index} ({tool}) waits: {}", reason(pause));
    match pause.decisions() {
        [] => waits,
        decisions => {
            let decide = format!("{} chain decide {} {index} DECISION{options}", program_name(), run.id());
            format!("{waits}\n    decide with `{decide}`, where DECISION is {}", or(decisions))
        }
    }
}

/// Joins words: `a, b or c`.
fn or(words: &[&str]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => words.concat(),
    }
}

/// Runs one of the commands about a run. Returns the outcome of the run for `wait`.
pub(crate) fn run(name: &str, matches: &ArgMatches, program: &str) -> Result<Option<ChainOutcome>, CommandError> {
    let id = run_id(matches.get_one::<String>("id").expect("the argument is required"))?;
    let connect = place(matches, program)?;
    runtime::create()?.block_on(async {
        let run = client(&connect, matches).await?.run(id);
        match name {
            "status" => write(&run.status().await.map_err(failed)?, matches.get_flag("json"))?,
            "wait" => return wait(&run, connect.application_name(), &place_options(matches)).await.map(Some),
            "cancel" => run.cancel().await.map_err(failed)?,
            "resume" => run.resume().await.map_err(failed)?,
            "retry" => run.retry().await.map_err(failed)?,
            _ => {
                let step = *matches.get_one::<usize>("step").expect("the argument is required");
                let decision = matches.get_one::<String>("decision").expect("the argument is required");
                run.decide(step, &parse_decision(decision)?).await.map_err(failed)?;
            }
        }
        Ok(None)
    })
}

/// Binds a run to the tools of this program, and continues it (`chain resume RUN --version VERSION`).
pub(crate) fn bind(
    runtime: &tokio::runtime::Runtime,
    matches: &ArgMatches,
    program: &str,
    dispatcher: Dispatcher,
) -> Result<Exit, CommandError> {
    let id = run_id(matches.get_one::<String>("id").expect("the argument is required"))?;
    let given = matches.get_one::<String>("version").expect("the command has the option");
    let connect = place(matches, program)?;
    let own = Worker::new(connect.clone(), dispatcher.clone()).version();
    if *given != own {
        return Err(CommandError::usage(format!(
            "--version: the tools of this program have the version {own}: write it, or use the program with version {given}"
        )));
    }
    runtime.block_on(async {
        let run = client(&connect, matches).await?.run(id);
        run.bind(&dispatcher).await.map_err(failed)
    })?;
    Ok(Exit::Success)
}

/// Parses the text form of a decision: `approve`, `deny`, `answer=JSON`, `retry`, `skip=JSON` or `fail`.
fn parse_decision(text: &str) -> Result<Decision, CommandError> {
    let (name, value) = match text.split_once('=') {
        Some((name, json)) => (
            name,
            Some(serde_json::from_str::<Value>(json).map_err(|error| invalid_decision(text, &error.to_string()))?),
        ),
        None => (text, None),
    };
    match (name, value) {
        ("approve", None) => Ok(Decision::Approve),
        ("deny", None) => Ok(Decision::Deny),
        ("retry", None) => Ok(Decision::Retry),
        ("fail", None) => Ok(Decision::Fail),
        ("answer", Some(content)) => Ok(Decision::Answer(content)),
        ("skip", Some(value)) => Ok(Decision::Skip(value)),
        _ => Err(invalid_decision(text, "expected approve, deny, answer=JSON, retry, skip=JSON or fail")),
    }
}

fn invalid_decision(text: &str, reason: &str) -> CommandError {
    let message = format!("`{text}` is not a decision: {reason}");
    CommandError::usage(message)
}

fn write(status: &RunStatus, as_json: bool) -> Result<(), CommandError> {
    if as_json {
        return Ok(style::write_json(status)?);
    }
    let version = status.version.as_deref().unwrap_or("unknown");
    style::write_line(&format!("{}, version {version}", status.state.name()))?;
    if let Some(error) = &status.error {
        style::write_line(&printable(&format!("error: {}", style::without_os_codes(error))))?;
    }
    for step in &status.steps {
        let state = match &step.state {
            StepState::Open => "open".to_owned(),
            StepState::Succeeded => "succeeded".to_owned(),
            StepState::Failed => "failed".to_owned(),
            StepState::Waiting { pause, .. } => match pause.decisions() {
                [] => format!("waits: {}", reason(pause)),
                decisions => format!("waits: {}; decide {}", reason(pause), or(decisions)),
            },
            other => json!(other).to_string(),
        };
        style::write_line(&printable(&format!("{} {}: {state}", step.index, step.tool)))?;
    }
    Ok(())
}

/// Returns the reason why a step waits. The lines of a text of the tool are indented, so that they do not pass for others.
fn reason(pause: &Pause) -> String {
    let text = |message: &str| message.replace('\n', "\n    ");
    match pause {
        Pause::Question { message, .. } | Pause::Pending { message, .. } | Pause::InvalidValue { message, .. } => {
            text(message)
        }
        Pause::OutcomeUnknown { .. } => "its worker died, and the tool may have had its effect".to_owned(),
        Pause::Until { time, .. } => format!("until {time}"),
        Pause::Child { run, .. } => format!("for the run {run}"),
        Pause::Backoff { time, error, .. } => format!("{}; it is called again at {time}", text(error)),
        other => text(&json!(other).to_string()),
    }
}

/// Lists runs.
pub(crate) fn list(matches: &ArgMatches, program: &str) -> Result<Exit, CommandError> {
    let mut filter = filter(matches);
    if matches.get_one::<String>("application").is_none() {
        filter = filter.any_application();
    }
    let connect = place(matches, program)?;
    let runs =
        runtime::create()?.block_on(async { client(&connect, matches).await?.list(&filter).await.map_err(failed) })?;
    if matches.get_flag("json") {
        style::write_json(&runs)?;
    } else {
        write_runs(&runs)?;
    }
    if runs.len() >= limit(matches) {
        say(NOTE, &format!("these are the last {}; --limit N lists more", counted(runs.len(), "run")));
    }
    Ok(Exit::Success)
}

/// Deletes runs that have ended.
pub(crate) fn prune(matches: &ArgMatches, program: &str) -> Result<Exit, CommandError> {
    let age = *matches.get_one::<Duration>("older-than").expect("the option is required");
    let mut filter = filter(matches).ended_for(age);
    if matches.get_many::<String>("state").is_none() {
        filter =
            [RunState::Finished, RunState::Rejected, RunState::Cancelled].into_iter().fold(filter, RunFilter::state);
    }
    let runtime = runtime::create()?;
    let connect = place(matches, program)?;
    let client = runtime.block_on(client(&connect, matches))?;
    let runs = runtime.block_on(client.list(&filter)).map_err(failed)?;
    if runs.is_empty() {
        say(NOTE, &format!("no run of the application `{}` is that old", connect.application_name()));
        return Ok(Exit::Success);
    }
    write_runs(&runs)?;
    if !may_delete(matches, &counted(runs.len(), "run"))? {
        return Ok(Exit::Success);
    }
    let n_deleted = runtime.block_on(client.delete(runs.iter().map(|run| &run.id))).map_err(failed)?;
    say(NOTE, &format!("deleted {}", counted(usize::try_from(n_deleted).unwrap_or(usize::MAX), "run")));
    Ok(Exit::Success)
}

fn limit(matches: &ArgMatches) -> usize {
    let limit = *matches.get_one::<u32>("limit").expect("the option has a default");
    usize::try_from(limit).unwrap_or(usize::MAX)
}

fn filter(matches: &ArgMatches) -> RunFilter {
    let named = matches.get_many::<String>("state").into_iter().flatten();
    let states = named.filter_map(|name| RunState::from_name(name));
    states.fold(RunFilter::new().limit(limit(matches)), RunFilter::state)
}

/// Returns true if the runs shall be deleted.
fn may_delete(matches: &ArgMatches, n_runs: &str) -> io::Result<bool> {
    let kept = format!("nothing was deleted; --yes deletes {n_runs}");
    if matches.get_flag("dry-run") {
        say(NOTE, &kept);
        return Ok(false);
    }
    is_confirmed(matches, &format!("Delete {n_runs}?"), &kept)
}

const HEADERS: [&str; 7] = ["RUN", "STATE", "APPLICATION", "VERSION", "STARTED", "CHANGED", "WAITS FOR"];

fn write_runs(runs: &[RunSummary]) -> io::Result<()> {
    Table::new(HEADERS, runs.iter().map(cells)).write(|nth| match runs[nth].state {
        RunState::NoWorker | RunState::Waiting | RunState::Failed | RunState::Parked => BOLD,
        _ => PLAIN,
    })
}

fn cells(run: &RunSummary) -> [String; 7] {
    let reason = match run.state {
        RunState::NoWorker => format!(
            "a worker of the application `{}` with {}: start it with `serve --durable`, or continue with other tools by `chain \
             resume --version`",
            run.application,
            run.version.as_deref().map_or("any tools".to_owned(), |version| format!("the tools of version {version}"))
        ),
        RunState::Failed | RunState::Rejected => run.error.clone().unwrap_or_default(),
        RunState::Parked => "`chain resume`, after its workers died too often".to_owned(),
        _ => {
            let steps = run.waiting.iter().map(|(step, pause)| format!("step {step}: {}", reason(pause)));
            steps.collect::<Vec<_>>().join("; ")
        }
    };
    let time = |time| json!(time).as_str().unwrap_or_default().to_owned();
    [
        run.id.to_string(),
        run.state.name().to_owned(),
        run.application.clone(),
        run.version.clone().unwrap_or_default(),
        time(run.started),
        time(run.changed),
        reason,
    ]
    .map(|cell| printable(&cell).replace(['\n', '\t'], " "))
}
