//! `check`: validates the catalog.

mod lock;
mod manifest;

use std::io::{self, Write};

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::json;
use toolkit::catalog::Diagnostics;
use toolkit::dispatch::DispatcherBuilder;
use toolkit::lint::{Finding, Level, Rule, lint};
use toolkit::{Catalog, Dispatcher};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::options::{json_switch, naming, naming_option, switch};
use crate::program::Configure;
use crate::report::{counted, problems_as_json, write_findings, write_problems};
use crate::{limits, runtime, style};

pub(crate) fn command() -> Command {
    Command::new("check")
        .about("Check the tools: ids, schemas, examples, wire names, state types and lint rules")
        .args([
            naming_option(),
            json_switch("Print the problems as JSON"),
            Arg::new("lock").long("lock").value_name("FILE").help(
                "Compare the tools with this lock file instead, and fail if a change breaks callers and the version of the tool does not announce it",
            ),
            Arg::new("allow")
                .long("allow")
                .value_name("RULE")
                .action(ArgAction::Append)
                .value_parser(|code: &str| code.parse::<Rule>())
                .help("Disable a lint rule by its code, which follows each finding"),
            switch("limits").conflicts_with_all(["lock", "manifest"]).help(
                "Show the usage of the providers' limits, with strict mode for every tool that supports it",
            ),
            switch("update").requires("lock").help("Write the lock file"),
            switch("sarif").requires("lock").help("Print the changes as SARIF, for code hosts"),
            Arg::new("manifest")
                .value_name("FILE")
                .num_args(1..)
                .help("Check the tools in these manifests (results of `tools/list`) instead of those of this program"),
        ])
}

pub(crate) fn run(
    catalog: impl FnOnce() -> Result<Catalog, CommandError>,
    matches: &ArgMatches,
    configure: Configure<DispatcherBuilder>,
) -> Result<Exit, CommandError> {
    if let Some(paths) = matches.get_many::<String>("manifest") {
        return manifest::check(paths.map(String::as_str), matches.get_flag("json"), &allowed(matches));
    }
    if let Some(path) = matches.get_one::<String>("lock") {
        return lock::check(&catalog()?, path, matches);
    }
    let mut found: Vec<Diagnostics> = Vec::new();
    let mut findings = Vec::new();
    let mut n_tools = None;
    let mut usages = None;
    match catalog() {
        Err(CommandError::Catalog(problems)) => found.push(problems),
        Err(failure) => return Err(failure),
        Ok(catalog) => {
            n_tools = Some(catalog.len());
            found.extend(catalog.check(naming(matches)).err());
            if matches.get_flag("limits") && found.is_empty() {
                usages = Some(limits::usages(&catalog, naming(matches))?);
            }
            findings = lint(catalog.latest(), &allowed(matches));
            // Building a dispatcher reports missing state.
            let runtime = runtime::create()?;
            let _on_runtime = runtime.enter();
            let builder = configure(Dispatcher::builder(catalog)).map_err(CommandError::Setup)?;
            found.extend(builder.build().err());
        }
    }

    if matches.get_flag("json") {
        let problems = found.iter().map(problems_as_json);
        let problems: Vec<_> = problems.flat_map(|list| list.as_array().cloned().unwrap_or_default()).collect();
        let mut report = json!({ "tools": n_tools, "problems": problems, "findings": findings });
        if let Some(usages) = usages {
            report["limits"] = json!(usages);
        }
        style::write_json(&report)?;
    } else {
        if let Some(usages) = usages {
            limits::write(&usages)?;
        }
        write(&found, &findings, n_tools)?;
    }
    let is_sound = found.is_empty() && findings.iter().all(|finding| finding.level < Level::Error);
    Ok(if is_sound { Exit::Success } else { Exit::Failed })
}

/// Returns the disabled rules.
fn allowed(matches: &ArgMatches) -> Vec<Rule> {
    matches.get_many::<Rule>("allow").into_iter().flatten().copied().collect()
}

fn write(found: &[Diagnostics], findings: &[Finding], n_tools: Option<usize>) -> io::Result<()> {
    let mut err = anstream::stderr();
    for problems in found {
        write_problems(&mut err, problems)?;
    }
    write_findings(&mut err, findings)?;
    let n_errors = findings.iter().filter(|finding| finding.level == Level::Error).count();
    let n_problems = n_errors + found.iter().map(|problems| problems.iter().len()).sum::<usize>();
    let tools = n_tools.map(|n| format!("{}, ", counted(n, "tool"))).unwrap_or_default();
    let warnings = match findings.len() - n_errors {
        0 => String::new(),
        n => format!(", {}", counted(n, "warning")),
    };
    match n_problems {
        0 => writeln!(anstream::stdout(), "{tools}no problems{warnings}"),
        n => writeln!(err, "{tools}{}{warnings}", counted(n, "problem")),
    }
}
