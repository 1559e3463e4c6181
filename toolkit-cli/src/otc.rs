//! The tools as Open Tool Calling publishes them: what both the server and the files need.

use std::io::Write;

use clap::{Arg, ArgMatches};
use toolkit_otc::{Naming, Published};

use crate::options::program_name;
use crate::style::{self, printable};

/// Creates the option `--toolkit`.
pub(crate) fn toolkit() -> Arg {
    let help = "What tools without a namespace are in, for Open Tool Calling [default: the name of this program]";
    Arg::new("toolkit").long("toolkit").value_name("NAME").help(help)
}

/// Returns the names of tools without a namespace and without a version.
pub(crate) fn naming(matches: &ArgMatches) -> Naming {
    Naming::new(&matches.get_one::<String>("toolkit").cloned().unwrap_or_else(program_name), "0.0.0")
}

/// Reports on stderr which tools are left out, and why.
pub(crate) fn report_left_out(published: &Published) {
    for problem in published.diagnostics() {
        let _ = writeln!(anstream::stderr(), "{} left out: {}", style::WARNING, printable(&problem.to_string()));
    }
}
