//! `diff OLD NEW`: what has changed, and whether it breaks callers.

use clap::ArgMatches;
use toolkit::lock::Verdict;

use crate::comparison::{read, write};
use crate::exit::Exit;
use crate::failure::Failure;

/// `diff OLD NEW`: two manifests, or two locks.
pub(crate) fn run(matches: &ArgMatches) -> Result<Exit, Failure> {
    let path = |name: &str| matches.get_one::<String>(name).map(String::as_str).unwrap_or_default();
    let comparison = read(path("old"))?.compare(&read(path("new"))?);
    write(&comparison, path("new"), matches)?;
    Ok(if comparison.verdict() >= Some(Verdict::Unknown) { Exit::Failed } else { Exit::Success })
}
