//! `check --lock FILE`: compares the catalog with a lock file.

use std::fs;
use std::io::Write;

use clap::ArgMatches;
use toolkit::Catalog;
use toolkit_contract::Lock;

use crate::comparison::{read, unreadable, write};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::report::counted;
use crate::style::{self, printable};

/// Compares the catalog with the file, or writes the file. A breaking change with the required new version is accepted.
pub(super) fn check(catalog: &Catalog, path: &str, matches: &ArgMatches) -> Result<Exit, CommandError> {
    let now = Lock::from_catalog(catalog);
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
