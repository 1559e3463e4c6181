//! Durable runs: their connection, start, status and end, and decisions about their steps.

mod operate;

use std::fs::DirBuilder;
use std::io::Write;
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

use clap::ArgMatches;
use serde_json::{Value, json};
use tokio::time::timeout;
use toolkit_backends::chain::{Chain, ChainOutcome};
use toolkit_durable::{Client, Connect, Decision, DurableError, Pause, RunId, RunState, RunStatus, StepState};

pub(crate) use self::operate::{list, prune};
use crate::error::{CommandError, Exit};
use crate::options::state_directory;
use crate::runtime;
use crate::style::{self, printable};

/// The time after which a command that waits for a run reports that no worker has taken it.
const WORKER_WAIT: Duration = Duration::from_secs(3);

/// Returns the place of the runs, if the command line has one: by default, a file of the program.
pub(crate) fn connect(matches: &ArgMatches, program: &str) -> Result<Option<Connect>, CommandError> {
    if !matches.contains_id("durable") {
        return Ok(None);
    }
    let connect = match matches.get_one::<String>("durable") {
        Some(place) => Connect::new(place).map_err(|error| CommandError::usage(format!("--durable: {error}")))?,
        None => Connect::file(default_file(program)?),
    };
    Ok(Some(match matches.get_one::<String>("application") {
        Some(name) => connect.application(name),
        None => connect,
    }))
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
pub(crate) fn run_id(text: &str) -> Result<RunId, CommandError> {
    RunId::new(text).map_err(|error| CommandError::usage(format!("`{text}` is {error}")))
}

/// Returns the error of a command.
pub(crate) fn failed(error: DurableError) -> CommandError {
    let (exit, kind) = match error {
        DurableError::Rejected(error) => return CommandError::Tool(error),
        DurableError::Database(_) => (Exit::Failed, "database"),
        DurableError::OtherInput { .. } => (Exit::Failed, "other_input"),
        DurableError::UnknownRun(_) => (Exit::Usage, "unknown_run"),
        DurableError::Cancelled(_) => (Exit::Failed, "cancelled"),
        DurableError::NotWaiting(_) => (Exit::Usage, "not_waiting"),
        _ => (Exit::Failed, "durable"),
    };
    CommandError::Other { exit, kind, message: error.to_string() }
}

/// Starts a run, or finds the one with this id, and waits for its outcome.
pub(crate) async fn start(connect: &Connect, chain: &Chain, id: Option<String>) -> Result<ChainOutcome, CommandError> {
    let id = match id {
        Some(id) => run_id(&id)?,
        None => RunId::random(),
    };
    let client = Client::connect(connect).await.map_err(failed)?;
    let run = client.start(chain, id).await.map_err(failed)?;
    writeln!(anstream::stderr(), "{} run {}", style::NOTE, run.id())?;
    let mut outcome = pin!(run.wait());
    if let Ok(outcome) = timeout(WORKER_WAIT, &mut outcome).await {
        return outcome.map_err(failed);
    }
    let status = run.status().await.map_err(failed)?;
    if let RunState::Queued | RunState::NoWorker = status.state {
        let version = status.version.map(|version| format!(" with version {version}")).unwrap_or_default();
        let message = format!(
            "no worker runs it yet, and the command goes on waiting; start one of the application `{}`{version} with \
             `serve --durable`",
            connect.application_name()
        );
        writeln!(anstream::stderr(), "{} {}", style::NOTE, printable(&message))?;
    }
    outcome.await.map_err(failed)
}

/// Runs one of the commands about a run. Returns the outcome of the run for `wait`.
pub(crate) fn run(name: &str, matches: &ArgMatches, program: &str) -> Result<Option<ChainOutcome>, CommandError> {
    let connect = connect(matches, program)?.expect("the option is required");
    let id = matches.get_one::<String>("id").expect("the argument is required");
    let id = run_id(id)?;
    runtime::create()?.block_on(async {
        let run = Client::connect(&connect).await.map_err(failed)?.run(id);
        match name {
            "status" => write(&run.status().await.map_err(failed)?, matches.get_flag("json"))?,
            "wait" => return run.wait().await.map(Some).map_err(failed),
            "cancel" => run.cancel().await.map_err(failed)?,
            "resume" => run.resume().await.map_err(failed)?,
            _ => {
                let step = *matches.get_one::<usize>("step").expect("the argument is required");
                let decision = matches.get_one::<String>("decision").expect("the argument is required");
                run.decide(step, &parse_decision(decision)?).await.map_err(failed)?;
            }
        }
        Ok(None)
    })
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
    for step in &status.steps {
        let state = match &step.state {
            StepState::Open => "open".to_owned(),
            StepState::Succeeded => "succeeded".to_owned(),
            StepState::Failed => "failed".to_owned(),
            StepState::Waiting { pause, .. } => format!("waits: {}", reason(pause)),
            other => json!(other).to_string(),
        };
        style::write_line(&printable(&format!("{} {}: {state}", step.index, step.tool)))?;
    }
    Ok(())
}

fn reason(pause: &Pause) -> String {
    match pause {
        Pause::Question { message, .. } => message.clone(),
        Pause::Pending { message, .. } => message.clone(),
        Pause::OutcomeUnknown => "its worker died, and the tool may have had its effect".to_owned(),
        Pause::InvalidValue { message, .. } => message.clone(),
        Pause::Until { time, .. } => format!("until {time}"),
        other => json!(other).to_string(),
    }
}
