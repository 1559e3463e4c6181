//! `chain list` and `chain prune`: the runs of all chains, for operators.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use clap::ArgMatches;
use serde_json::json;
use toolkit_durable::{RunFilter, RunState, RunSummary};

use super::{client, failed, note, place, reason};
use crate::error::{CommandError, Exit};
use crate::report::counted;
use crate::runtime;
use crate::style::{self, BOLD, DIM, printable, width};

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
        write(&runs)?;
    }
    if runs.len() >= limit(matches) {
        note(&format!("these are the last {}; --limit N lists more", counted(runs.len(), "run")))?;
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
        note(&format!("no run of the application `{}` is that old", connect.application_name()))?;
        return Ok(Exit::Success);
    }
    write(&runs)?;
    if !is_confirmed(matches, &counted(runs.len(), "run"))? {
        return Ok(Exit::Success);
    }
    let n_deleted = runtime.block_on(client.delete(runs.iter().map(|run| &run.id))).map_err(failed)?;
    note(&format!("deleted {}", counted(usize::try_from(n_deleted).unwrap_or(usize::MAX), "run")))?;
    Ok(Exit::Success)
}

fn limit(matches: &ArgMatches) -> usize {
    let limit = *matches.get_one::<u32>("limit").expect("the option has a default");
    usize::try_from(limit).unwrap_or(usize::MAX)
}

fn filter(matches: &ArgMatches) -> RunFilter {
    let named = matches.get_many::<String>("state").into_iter().flatten();
    let states = named.filter_map(|name| RunState::ALL.into_iter().find(|state| state.name() == name));
    states.fold(RunFilter::new().limit(limit(matches)), RunFilter::state)
}

/// Returns true if the runs shall be deleted.
fn is_confirmed(matches: &ArgMatches, n_runs: &str) -> io::Result<bool> {
    if matches.get_flag("yes") {
        return Ok(true);
    }
    if matches.get_flag("dry-run") || !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        note(&format!("nothing was deleted; --yes deletes {n_runs}"))?;
        return Ok(false);
    }
    write!(anstream::stderr(), "Delete {n_runs}? [y/N] ")?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

const HEADERS: [&str; 7] = ["RUN", "STATE", "APPLICATION", "VERSION", "STARTED", "CHANGED", "WAITS FOR"];

/// Writes a table on a terminal, and otherwise tab-separated lines without a header.
fn write(runs: &[RunSummary]) -> io::Result<()> {
    let rows: Vec<[String; 7]> = runs.iter().map(cells).collect();
    if style::terminal_width().is_none() {
        let mut out = io::stdout().lock();
        return rows.iter().try_for_each(|row| writeln!(out, "{}", row.join("\t")));
    }
    let columns = |nth: usize| rows.iter().map(|row| width(&row[nth])).max().unwrap_or(0).max(width(HEADERS[nth]));
    let widths: [usize; 7] = std::array::from_fn(columns);
    let line = |cells: [&str; 7]| {
        let cells = std::iter::zip(cells, widths).map(|(cell, columns)| style::padded(cell, columns));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let mut out = anstream::stdout().lock();
    if !rows.is_empty() {
        writeln!(out, "{DIM}{}{}", line(HEADERS), DIM.clear())?;
    }
    for (row, run) in std::iter::zip(&rows, runs) {
        let text = line(row.each_ref().map(String::as_str));
        match run.state {
            RunState::NoWorker | RunState::Waiting | RunState::Parked => {
                writeln!(out, "{BOLD}{text}{}", BOLD.clear())?;
            }
            _ => writeln!(out, "{text}")?,
        }
    }
    Ok(())
}

fn cells(run: &RunSummary) -> [String; 7] {
    let reason = match run.state {
        RunState::NoWorker => format!(
            "a worker of the application `{}` with version {}: start it with `serve --durable`",
            run.application,
            run.version.as_deref().unwrap_or("of any kind")
        ),
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
