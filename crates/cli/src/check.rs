//! `check`: validates the catalog and applies the lint rules, calls its tools, compares it with a lock file, or checks manifests
//! of other programs.

#[cfg(feature = "mcp")]
mod instructions;
#[cfg(feature = "export")]
mod providers;

use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};
use toolkit::catalog::Diagnostics;
use toolkit::manifest::Listing;
use toolkit::{Catalog, Dispatcher, Manifest};
use toolkit_contract::Lock;
use toolkit_contract::hosts::{self, Host};
use toolkit_contract::lint::{Level, LintDiagnostic, Rule, UnknownRuleError, lint};

use crate::calls::{self, Called};
use crate::diff::{self, unreadable};
use crate::error::{CommandError, Exit};
use crate::options::{MAX_MANIFEST_BYTES, json_switch, naming, naming_option, option, program_name, read_text, switch};
use crate::program::Program;
use crate::proxied::{self, Proxied};
use crate::report::{counted, diagnostics_as_json, snake_case, write_diagnostics, write_lints};
use crate::runtime;
use crate::style::{self, printable};

pub(crate) fn command() -> Command {
    Command::new("check")
        .about("Check the tools: ids, schemas, examples, wire names, state types, lint rules and the rules of model providers")
        .args([
            naming_option(),
            json_switch("Print the diagnostics as JSON"),
            option("lock", "FILE").help(
                "Compare the tools with this lock file instead, and fail if a change breaks callers and the version of the tool does not announce it",
            ),
            option("allow", "RULE")
                .action(ArgAction::Append)
                .value_parser(code)
                .help("Disable a lint rule, or a defect of `--calls`, by its code, shown in brackets after each message"),
            option("host", "HOST")
                .action(ArgAction::Append)
                .value_parser(PossibleValuesParser::new(Host::ALL.iter().map(|host| host.name)))
                .conflicts_with_all(["lock", "manifest"])
                .help("Warn about the limits of this host only; may be repeated"),
            switch("update").requires("lock").help("Write the lock file"),
            switch("sarif").requires("lock").help("Print the changes as SARIF, for code hosts"),
            Arg::new("manifest")
                .value_name("FILE")
                .num_args(1..)
                .help("Check the tools in these manifests (results of `tools/list`) instead of those of this program"),
        ])
        .args(provider_options().map(|option| option.conflicts_with_all(["lock", "manifest"])))
        .args(calls::options())
        .args(
            proxied::options("Also check the tools of the MCP servers in FILE, which has the format of `serve --proxy`")
                .map(|option| option.conflicts_with_all(["lock", "manifest"])),
        )
        .arg(
            option("trust", "SERVER").requires("proxy").action(ArgAction::Append).help(
                "Trust the hints of a server, so that `--calls` calls the tools that it declares read-only; may be \
                 repeated",
            ),
        )
}

#[cfg(feature = "export")]
fn provider_options() -> [Arg; 2] {
    providers::options()
}

#[cfg(not(feature = "export"))]
fn provider_options() -> [Arg; 2] {
    ["provider", "limits"].map(|name| crate::options::unless(false, "export", Arg::new(name)))
}

pub(crate) fn run(
    catalog: impl FnOnce() -> Result<Catalog, CommandError>,
    matches: &ArgMatches,
    program: Program,
) -> Result<Exit, CommandError> {
    if let Some(paths) = matches.get_many::<String>("manifest") {
        return check_manifests(paths.map(String::as_str), matches.get_flag("json"), &allowed(matches));
    }
    if let Some(path) = matches.get_one::<String>("lock") {
        return check_lock(&catalog()?, path, matches);
    }
    let mut found: Vec<Diagnostics> = Vec::new();
    let mut lints = Vec::new();
    let mut n_tools = None;
    #[cfg(feature = "export")]
    let mut limits = None;
    let mut called = None;
    let mut unusable = Vec::new();
    #[cfg_attr(not(feature = "export"), allow(unused_mut))]
    let mut rejected: Vec<String> = Vec::new();
    match catalog() {
        Err(CommandError::Catalog(diagnostics)) => found.push(diagnostics),
        Err(failure) => return Err(failure),
        Ok(own) => {
            let runtime = runtime::create()?;
            let trusted = matches.get_many("trust").into_iter().flatten();
            let own_tools: HashSet<String> = own.iter().map(|tool| tool.id().to_string()).collect();
            let Proxied { catalog, routes, problems, servers } =
                runtime.block_on(proxied::with_servers(own, matches, trusted, &program.name))?;
            unusable = problems;
            n_tools = Some(catalog.len());
            found.extend(catalog.check(naming(matches)).err());
            #[cfg(feature = "export")]
            if found.is_empty() {
                (rejected, limits) = providers::check(&catalog, matches)?;
            }
            let hosts = chosen_hosts(matches);
            lints = lints_of(&catalog, &allowed(matches));
            // Hints of other servers are those of their authors, and hidden unless the server is trusted.
            lints.retain(|lint| lint.rule != Rule::MissingHint || own_tools.contains(&lint.tool));
            lints.extend(hosts::check(catalog.latest(), &program.name, &hosts));
            // Building a dispatcher reports missing state.
            {
                let _on_runtime = runtime.enter();
                let builder = (program.dispatcher)(Dispatcher::builder(catalog)).map_err(CommandError::Setup)?;
                match builder.routes(routes).build() {
                    Ok(dispatcher) => {
                        #[cfg(feature = "mcp")]
                        if let Some(text) = runtime.block_on(instructions::of_server(&dispatcher, program.server)) {
                            lints.extend(hosts::check_instructions(&text, &program.name, &hosts));
                        }
                        called = calls::run(&dispatcher, matches)?;
                    }
                    Err(diagnostics) => found.push(diagnostics),
                }
            }
            lints.retain(|lint| !allowed(matches).contains(&lint.rule));
            runtime.block_on(servers.stop());
            // A tool that is still running must not keep the process alive.
            runtime.shutdown_background();
        }
    }

    if matches.get_flag("json") {
        let diagnostics = found.iter().map(diagnostics_as_json);
        let diagnostics: Vec<_> = diagnostics.flat_map(|list| list.as_array().cloned().unwrap_or_default()).collect();
        let mut report = json!({ "tools": n_tools, "diagnostics": diagnostics, "lints": lints });
        #[cfg(feature = "export")]
        if let Some(limits) = &limits {
            report["limits"] = limits.to_json()?;
        }
        if let Some(called) = &called {
            report["calls"] = called.json.clone();
        }
        if !rejected.is_empty() {
            report["rejected"] = json!(rejected);
        }
        if matches.contains_id("proxy") {
            report["servers"] = json!(unusable);
        }
        style::write_json(&report)?;
    } else {
        #[cfg(feature = "export")]
        if let Some(limits) = &limits {
            limits.write()?;
        }
        unusable.append(&mut rejected);
        write(&unusable, &found, &lints, n_tools, called.as_ref())?;
    }
    let is_sound = found.is_empty()
        && unusable.is_empty()
        && rejected.is_empty()
        && called.is_none_or(|called| called.n_defects() == 0)
        && lints.iter().all(|lint| lint.level < Level::Error);
    Ok(if is_sound { Exit::Success } else { Exit::Failed })
}

/// Returns the hosts whose limits are checked: those of `--host`, or else all.
fn chosen_hosts(matches: &ArgMatches) -> Vec<&'static Host> {
    match matches.get_many::<String>("host") {
        Some(names) => names.filter_map(|name| Host::named(name)).collect(),
        None => Host::ALL.to_vec(),
    }
}

/// Checks the tools that clients see, and reports the versions that they do not see.
fn lints_of(catalog: &Catalog, allowed: &[Rule]) -> Vec<LintDiagnostic> {
    let mut lints = lint(catalog.latest(), allowed);
    if catalog.latest().count() < catalog.len() {
        let others: Vec<Rule> = Rule::ALL.iter().copied().filter(|rule| *rule != Rule::UnlistedVersion).collect();
        lints.extend(lint(catalog, &[&others[..], allowed].concat()));
    }
    lints
}

/// Returns the disabled rules.
fn allowed(matches: &ArgMatches) -> Vec<Rule> {
    matches.get_many::<String>("allow").into_iter().flatten().filter_map(|code| code.parse().ok()).collect()
}

/// Parses the code of a lint rule or of a defect.
fn code(code: &str) -> Result<String, UnknownRuleError> {
    #[cfg(feature = "calls")]
    if toolkit_contract::calls::Defect::from_code(code).is_some() {
        return Ok(code.to_owned());
    }
    code.parse::<Rule>().map(|_| code.to_owned())
}

fn write(
    unusable: &[String],
    found: &[Diagnostics],
    lints: &[LintDiagnostic],
    n_tools: Option<usize>,
    called: Option<&Called>,
) -> io::Result<()> {
    let mut err = anstream::stderr();
    for problem in unusable {
        writeln!(err, "{} {}", style::ERROR, printable(problem))?;
    }
    for diagnostics in found {
        write_diagnostics(&mut err, diagnostics)?;
    }
    write_lints(&mut err, lints)?;
    if let Some(called) = called {
        called.write(&mut err)?;
    }
    let n_errors = lints.iter().filter(|lint| lint.level == Level::Error).count();
    let n_defects = called.map_or(0, Called::n_defects);
    let n_diagnostics =
        unusable.len() + n_errors + n_defects + found.iter().map(|diagnostics| diagnostics.iter().len()).sum::<usize>();
    let tools = n_tools.map(|n| format!("{}, ", counted(n, "tool"))).unwrap_or_default();
    let calls = called.map(|called| format!("{}, ", counted(called.n_calls, "call"))).unwrap_or_default();
    let warnings = match lints.len() - n_errors {
        0 => String::new(),
        n => format!(", {}", counted(n, "warning")),
    };
    match n_diagnostics {
        0 => writeln!(anstream::stdout(), "{tools}{calls}no problems{warnings}"),
        n => writeln!(err, "{tools}{calls}{}{warnings}", counted(n, "problem")),
    }
}

/// Compares the catalog with a lock file (`--lock FILE`), or writes the file. A breaking change with the required new
/// version is accepted.
fn check_lock(catalog: &Catalog, path: &str, matches: &ArgMatches) -> Result<Exit, CommandError> {
    let now = Lock::from_catalog(catalog);
    if matches.get_flag("update") {
        fs::write(path, now.to_json()).map_err(|error| unreadable(path, &error))?;
        let n_tools = now.tools().count();
        writeln!(anstream::stderr(), "{} {} locked in {}", style::NOTE, counted(n_tools, "tool"), printable(path))?;
        return Ok(Exit::Success);
    }
    if !Path::new(path).exists() {
        return Err(CommandError::failed("io", format!("{path}: no such file; `--update` writes it")));
    }
    let comparison = diff::read(path)?.compare(&now);
    diff::write(&comparison, path, matches)?;
    if comparison.unannounced().next().is_none() {
        return Ok(Exit::Success);
    }
    let accept = format!("{} check --lock {} --update", program_name(), style::shell_word(path));
    writeln!(anstream::stderr(), "{} to break these callers nevertheless: `{}`", style::NOTE, printable(&accept))?;
    Ok(Exit::Failed)
}

/// Checks manifests of other programs (`check FILE…`); `-` is stdin.
fn check_manifests<'p>(
    paths: impl Iterator<Item = &'p str>,
    as_json: bool,
    allowed: &[Rule],
) -> Result<Exit, CommandError> {
    let mut exit = Exit::Success;
    let mut reports = Vec::new();
    for path in paths {
        let manifest = match read_manifest(path) {
            Ok(manifest) => manifest,
            // The other files are checked nevertheless.
            Err(reason) => {
                exit = Exit::Failed;
                match as_json {
                    true => reports.push(json!({ "file": path, "error": reason })),
                    false => writeln!(anstream::stderr(), "{} {}", style::ERROR, printable(&reason))?,
                }
                continue;
            }
        };
        let lints = deceptions(&manifest, allowed);
        let deceives = lints.iter().any(|lint| lint.level == Level::Error);
        if deceives || manifest.listings().any(|listing| !listing.is_sound()) {
            exit = Exit::Failed;
        }
        match as_json {
            true => reports.push(manifest_report(path, &manifest, &lints)),
            false => {
                write_lints(&mut anstream::stderr(), &lints)?;
                write_manifest(path, &manifest)?;
            }
        }
    }
    if as_json {
        style::write_json(&reports)?;
    }
    Ok(exit)
}

fn read_manifest(path: &str) -> Result<Manifest, String> {
    let text = read_text(path.as_ref(), MAX_MANIFEST_BYTES).map_err(|reason| style::without_os_codes(&reason))?;
    Manifest::from_mcp_json(text).map_err(|error| format!("{path}: {error}"))
}

/// Returns the lints about deceptive content. The quality of descriptions in other programs is not checked.
fn deceptions(manifest: &Manifest, allowed: &[Rule]) -> Vec<LintDiagnostic> {
    let concerns = |rule: Rule| rule.level() == Level::Error || rule == Rule::SuspiciousText;
    let mut lints = lint(manifest.listings().filter_map(Listing::tool), allowed);
    lints.retain(|lint| concerns(lint.rule));
    lints
}

fn unsound(manifest: &Manifest) -> impl Iterator<Item = &Listing> {
    manifest.listings().filter(|listing| !listing.is_sound())
}

fn write_manifest(path: &str, manifest: &Manifest) -> io::Result<()> {
    let tools = counted(manifest.listings().count(), "tool");
    if unsound(manifest).next().is_none() {
        return writeln!(anstream::stdout(), "{}: {tools}, no problems", printable(path));
    }
    let mut err = anstream::stderr();
    for listing in unsound(manifest) {
        for diagnostic in listing.diagnostics() {
            writeln!(err, "{} {}", style::ERROR, printable(diagnostic.message()))?;
        }
        // The name is untrusted: it may be long, and contain line breaks or bidirectional formatting.
        let short = |name: &str| name.chars().take(128).flat_map(char::escape_debug).collect::<String>();
        let name = listing.name().map(|name| format!(" {}", short(name))).unwrap_or_default();
        let (place, end) = (style::LOCATION, style::LOCATION.clear());
        writeln!(err, "  {place}-->{end} {}: tools/{}{name}", printable(path), listing.index())?;
    }
    let n_diagnostics = manifest.listings().map(|listing| listing.diagnostics().len()).sum();
    writeln!(err, "{}: {tools}, {}", printable(path), counted(n_diagnostics, "problem"))
}

fn manifest_report(path: &str, manifest: &Manifest, lints: &[LintDiagnostic]) -> Value {
    let diagnostics = unsound(manifest).flat_map(|listing| {
        listing.diagnostics().iter().map(|diagnostic| {
            json!({
                "tool": listing.index(),
                "name": listing.name(),
                "kind": snake_case(&format!("{:?}", diagnostic.kind())),
                "message": diagnostic.message(),
            })
        })
    });
    let diagnostics: Vec<Value> = diagnostics.collect();
    json!({ "file": path, "tools": manifest.listings().count(), "diagnostics": diagnostics, "lints": lints })
}
