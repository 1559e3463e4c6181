//! `check`: validates the catalog.

mod lock;
mod manifest;

use std::io::{self, Write};

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::json;
use toolkit::catalog::Diagnostics;
use toolkit::dispatch::DispatcherBuilder;
use toolkit::{Catalog, Dispatcher};
use toolkit_contract::lint::{Level, LintDiagnostic, Rule, lint};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::options::{json_switch, naming, naming_option, switch};
use crate::program::Configure;
use crate::report::{counted, diagnostics_as_json, write_diagnostics, write_lints};
use crate::{limits, runtime, style};

pub(crate) fn command() -> Command {
    Command::new("check")
        .about("Check the tools: ids, schemas, examples, wire names, state types and lint rules")
        .args([
            naming_option(),
            json_switch("Print the diagnostics as JSON"),
            Arg::new("lock").long("lock").value_name("FILE").help(
                "Compare the tools with this lock file instead, and fail if a change breaks callers and the version of the tool does not announce it",
            ),
            Arg::new("allow")
                .long("allow")
                .value_name("RULE")
                .action(ArgAction::Append)
                .value_parser(|code: &str| code.parse::<Rule>())
                .help("Disable a lint rule by its code, shown in brackets after each message"),
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
    let mut lints = Vec::new();
    let mut n_tools = None;
    let mut usages = None;
    match catalog() {
        Err(CommandError::Catalog(diagnostics)) => found.push(diagnostics),
        Err(failure) => return Err(failure),
        Ok(catalog) => {
            n_tools = Some(catalog.len());
            found.extend(catalog.check(naming(matches)).err());
            if matches.get_flag("limits") && found.is_empty() {
                usages = Some(limits::usages(&catalog, naming(matches))?);
            }
            lints = lint(catalog.latest(), &allowed(matches));
            // Building a dispatcher reports missing state.
            let runtime = runtime::create()?;
            let _on_runtime = runtime.enter();
            let builder = configure(Dispatcher::builder(catalog)).map_err(CommandError::Setup)?;
            found.extend(builder.build().err());
        }
    }

    if matches.get_flag("json") {
        let diagnostics = found.iter().map(diagnostics_as_json);
        let diagnostics: Vec<_> = diagnostics.flat_map(|list| list.as_array().cloned().unwrap_or_default()).collect();
        let mut report = json!({ "tools": n_tools, "diagnostics": diagnostics, "lints": lints });
        if let Some(usages) = usages {
            report["limits"] = json!(usages);
        }
        style::write_json(&report)?;
    } else {
        if let Some(usages) = usages {
            limits::write(&usages)?;
        }
        write(&found, &lints, n_tools)?;
    }
    let is_sound = found.is_empty() && lints.iter().all(|lint| lint.level < Level::Error);
    Ok(if is_sound { Exit::Success } else { Exit::Failed })
}

/// Returns the disabled rules.
fn allowed(matches: &ArgMatches) -> Vec<Rule> {
    matches.get_many::<Rule>("allow").into_iter().flatten().copied().collect()
}

fn write(found: &[Diagnostics], lints: &[LintDiagnostic], n_tools: Option<usize>) -> io::Result<()> {
    let mut err = anstream::stderr();
    for diagnostics in found {
        write_diagnostics(&mut err, diagnostics)?;
    }
    write_lints(&mut err, lints)?;
    let n_errors = lints.iter().filter(|lint| lint.level == Level::Error).count();
    let n_diagnostics = n_errors + found.iter().map(|diagnostics| diagnostics.iter().len()).sum::<usize>();
    let tools = n_tools.map(|n| format!("{}, ", counted(n, "tool"))).unwrap_or_default();
    let warnings = match lints.len() - n_errors {
        0 => String::new(),
        n => format!(", {}", counted(n, "warning")),
    };
    match n_diagnostics {
        0 => writeln!(anstream::stdout(), "{tools}no problems{warnings}"),
        n => writeln!(err, "{tools}{}{warnings}", counted(n, "problem")),
    }
}
