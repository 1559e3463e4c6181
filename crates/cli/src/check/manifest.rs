//! `check FILE…`: checks manifests of other programs.

use std::fs;
use std::io::{self, Read, Write};

use serde_json::{Value, json};
use toolkit::Manifest;
use toolkit::manifest::Listing;
use toolkit_contract::lint::{Level, LintDiagnostic, Rule, lint};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::report::{counted, snake_case, write_lints};
use crate::style::{self, printable};

/// Checks manifests; `-` is stdin.
pub(super) fn check<'p>(
    paths: impl Iterator<Item = &'p str>,
    as_json: bool,
    allowed: &[Rule],
) -> Result<Exit, CommandError> {
    let mut exit = Exit::Success;
    let mut reports = Vec::new();
    for path in paths {
        let manifest = match read(path) {
            Ok(manifest) => manifest,
            // The other files are checked nevertheless.
            Err(reason) => {
                exit = Exit::Failed;
                match as_json {
                    true => reports.push(json!({ "file": path, "error": reason })),
                    false => writeln!(anstream::stderr(), "{} {}: {reason}", style::ERROR, printable(path))?,
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
            true => reports.push(report(path, &manifest, &lints)),
            false => {
                write_lints(&mut anstream::stderr(), &lints)?;
                write(path, &manifest)?;
            }
        }
    }
    if as_json {
        style::write_json(&reports)?;
    }
    Ok(exit)
}

fn read(path: &str) -> Result<Manifest, String> {
    let text = match path {
        "-" => {
            let mut text = Vec::new();
            io::stdin().lock().read_to_end(&mut text).map(|_| text)
        }
        path => fs::read(path),
    };
    let text = text.map_err(|error| error.to_string())?;
    Manifest::from_mcp_json(text).map_err(|error| error.to_string())
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

fn write(path: &str, manifest: &Manifest) -> io::Result<()> {
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

fn report(path: &str, manifest: &Manifest, lints: &[LintDiagnostic]) -> Value {
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
