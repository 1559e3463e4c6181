//! Durable runs: their start, status and end, and decisions about their steps.

use std::io::Write;

use clap::ArgMatches;
use serde_json::{Value, json};
use toolkit_backends::chain::{Chain, ChainOutcome};
use toolkit_durable::{Client, Connect, Decision, Pause, RunId, RunStatus, StepState};

use super::execute;
use crate::durable::{connect, failed, run_id};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::runtime;
use crate::style::{self, printable};

/// Starts a run, or finds the one with this id, and waits for its outcome.
pub(super) async fn start(connect: &Connect, chain: &Chain, id: Option<String>) -> Result<ChainOutcome, CommandError> {
    let id = match id {
        Some(id) => run_id(&id)?,
        None => RunId::random(),
    };
    let client = Client::connect(connect).await.map_err(failed)?;
    let run = client.start(chain, id).await.map_err(failed)?;
    writeln!(anstream::stderr(), "{} run {}", style::NOTE, run.id())?;
    run.wait().await.map_err(failed)
}

/// Runs one of the commands about a run.
pub(super) fn run(name: &str, matches: &ArgMatches) -> Result<Exit, CommandError> {
    let connect = connect(matches)?.expect("the option is required");
    let id = matches.get_one::<String>("id").expect("the argument is required");
    let id = run_id(id)?;
    let as_json = matches.get_flag("json");
    runtime::create()?.block_on(async {
        let run = Client::connect(&connect).await.map_err(failed)?.run(id);
        match name {
            "status" => write(&run.status().await.map_err(failed)?, as_json)?,
            "wait" => return execute::write(&run.wait().await.map_err(failed)?, as_json),
            "cancel" => run.cancel().await.map_err(failed)?,
            "resume" => run.resume().await.map_err(failed)?,
            _ => {
                let step = *matches.get_one::<usize>("step").expect("the argument is required");
                let decision = matches.get_one::<String>("decision").expect("the argument is required");
                run.decide(step, &parse_decision(decision)?).await.map_err(failed)?;
            }
        }
        Ok(Exit::Success)
    })
}

/// Parses the text form of a decision: `approve`, `deny`, `answer=JSON`, `retry`, `skip=JSON` or `fail`.
fn parse_decision(text: &str) -> Result<Decision, CommandError> {
    let (name, value) = match text.split_once('=') {
        Some((name, json)) => {
            (name, Some(serde_json::from_str::<Value>(json).map_err(|error| usage(text, &error.to_string()))?))
        }
        None => (text, None),
    };
    match (name, value) {
        ("approve", None) => Ok(Decision::Approve),
        ("deny", None) => Ok(Decision::Deny),
        ("retry", None) => Ok(Decision::Retry),
        ("fail", None) => Ok(Decision::Fail),
        ("answer", Some(content)) => Ok(Decision::Answer(content)),
        ("skip", Some(value)) => Ok(Decision::Skip(value)),
        _ => Err(usage(text, "expected approve, deny, answer=JSON, retry, skip=JSON or fail")),
    }
}

fn usage(text: &str, reason: &str) -> CommandError {
    let message = format!("`{text}` is not a decision: {reason}");
    CommandError::Other { exit: Exit::Usage, kind: "usage", message }
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
        other => json!(other).to_string(),
    }
}
