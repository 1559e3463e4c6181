//! `check`: everything that is wrong with the catalogue.

use std::io::Write;

use clap::ArgMatches;
use serde_json::json;
use toolkit::catalog::Problems;
use toolkit::{Catalog, Dispatcher};

use crate::Setup;
use crate::command::naming;
use crate::exit::Exit;
use crate::failure::{Failure, problems_as_json, write_problems};
use crate::{call, diff, manifest, style};

pub(crate) fn run(matches: &ArgMatches, setup: impl Setup) -> Result<Exit, Failure> {
    if let Some(paths) = matches.get_many::<String>("manifest") {
        return manifest::check(paths.map(String::as_str), matches.get_flag("json"));
    }
    if let Some(path) = matches.get_one::<String>("lock") {
        return diff::check(path, matches);
    }
    let mut found: Vec<Problems> = Vec::new();
    let mut n_tools = None;
    match Catalog::linked() {
        Err(problems) => found.push(problems),
        Ok(catalog) => {
            n_tools = Some(catalog.len());
            found.extend(catalog.check(naming(matches)).err());
            // State that nobody gave is found when a dispatcher is built, so one is.
            let runtime = call::runtime()?;
            let _on_runtime = runtime.enter();
            let builder = setup(Dispatcher::builder(catalog)).map_err(Failure::Setup)?;
            found.extend(builder.build().err());
        }
    }

    if matches.get_flag("json") {
        let problems = found.iter().map(problems_as_json);
        let problems: Vec<_> = problems.flat_map(|list| list.as_array().cloned().unwrap_or_default()).collect();
        style::write_json(&json!({ "tools": n_tools, "problems": problems }))?;
    } else if found.is_empty() {
        writeln!(anstream::stdout(), "{}, no problems", counted(n_tools.unwrap_or(0), "tool"))?;
    } else {
        let mut err = anstream::stderr();
        for problems in &found {
            write_problems(&mut err, problems)?;
        }
        let n_problems = found.iter().map(|problems| problems.iter().len()).sum();
        let tools = n_tools.map(|n| format!("{}, ", counted(n, "tool"))).unwrap_or_default();
        writeln!(err, "{tools}{}", counted(n_problems, "problem"))?;
    }
    Ok(if found.is_empty() { Exit::Success } else { Exit::Failed })
}

pub(crate) fn counted(n: usize, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {noun}{plural}")
}
