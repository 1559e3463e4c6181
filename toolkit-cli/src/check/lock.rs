//! `check --lock FILE`: what has changed since the file was written, and whether it breaks callers.

use std::fs;
use std::io::Write;

use clap::ArgMatches;
use toolkit::Catalog;
use toolkit::lock::Lock;

use crate::comparison::{read, unreadable, write};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report::counted;
use crate::style::{self, printable};

/// Compares the catalog with the file, or writes the file. A break that a new version announces is accepted.
pub(super) fn check(catalog: &Catalog, path: &str, matches: &ArgMatches) -> Result<Exit, Failure> {
    let now = Lock::of(catalog);
    if matches.get_flag("update") {
        fs::write(path, now.to_json()).map_err(|error| unreadable(path, &error))?;
        let n_tools = now.tools().count();
        writeln!(anstream::stderr(), "{} {} locked in {}", style::NOTE, counted(n_tools, "tool"), printable(path))?;
        return Ok(Exit::Success);
    }
    let comparison = read(path)?.compare(&now);
    write(&comparison, path, matches)?;
    Ok(if comparison.unannounced().next().is_some() { Exit::Failed } else { Exit::Success })
}
