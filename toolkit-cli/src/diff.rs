//! `diff OLD NEW`: what has changed, and whether it breaks callers.

use clap::{Arg, ArgMatches, Command};
use toolkit::lock::Verdict;

use crate::comparison::{read, write};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::options::{json_switch, switch};

pub(crate) fn command() -> Command {
    let file = |name: &'static str, value: &'static str| {
        Arg::new(name).value_name(value).required(true).help("A manifest, as `tools/list` gives it, or a lock")
    };
    Command::new("diff")
        .about("Says what has changed between two manifests, and whether it breaks callers; fails if it does")
        .args([
            file("old", "OLD"),
            file("new", "NEW"),
            json_switch("The changes as JSON"),
            switch("sarif").help("The changes as SARIF, for code hosts"),
        ])
}

/// Compares two manifests, or two locks.
pub(crate) fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let path = |name: &str| matches.get_one::<String>(name).map(String::as_str).unwrap_or_default();
    let comparison = read(path("old"))?.compare(&read(path("new"))?);
    write(&comparison, path("new"), matches)?;
    Ok(if comparison.verdict() >= Some(Verdict::Unknown) { Exit::Failed } else { Exit::Success })
}
