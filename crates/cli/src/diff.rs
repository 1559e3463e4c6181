//! `diff OLD NEW`: compares two manifests or locks.

use clap::{Arg, ArgMatches, Command};
use toolkit_contract::Verdict;

use crate::comparison::{read, write};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::options::{json_switch, switch};

pub(crate) fn command() -> Command {
    let file = |name: &'static str, value: &'static str| {
        Arg::new(name).value_name(value).required(true).help("A manifest (the result of `tools/list`) or a lock")
    };
    Command::new("diff").about("Compare two manifests or locks, and fail if a change breaks callers").args([
        file("old", "OLD"),
        file("new", "NEW"),
        json_switch("Print the changes as JSON"),
        switch("sarif").help("Print the changes as SARIF, for code hosts"),
    ])
}

/// Compares two manifests, or two locks.
pub(crate) fn run(matches: &ArgMatches) -> Result<Exit, CommandError> {
    let path = |name: &str| matches.get_one::<String>(name).map(String::as_str).unwrap_or_default();
    let comparison = read(path("old"))?.compare(&read(path("new"))?);
    write(&comparison, path("new"), matches)?;
    Ok(if comparison.verdict() >= Some(Verdict::Unknown) { Exit::Failed } else { Exit::Success })
}
