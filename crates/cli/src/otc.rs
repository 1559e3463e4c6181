//! Options of Open Tool Calling, for `export`, `cost` and `serve`.

use std::io::Write;

use clap::{Arg, ArgMatches};
use toolkit_otc::{Naming, Published};

use crate::options::program_name;
use crate::style::{self, printable};

/// Creates the option `--toolkit`.
pub(crate) fn toolkit() -> Arg {
    let help = "Toolkit of tools without a namespace, for Open Tool Calling [default: the name of this program]";
    Arg::new("toolkit").long("toolkit").value_name("NAME").help(help)
}

/// Returns the toolkit and version of tools that have no namespace or version.
pub(crate) fn naming(matches: &ArgMatches) -> Naming {
    Naming::new(&matches.get_one::<String>("toolkit").cloned().unwrap_or_else(program_name), "0.0.0")
}

/// Reports omitted tools on stderr.
pub(crate) fn report_left_out(published: &Published) {
    for diagnostic in published.diagnostics() {
        let _ = writeln!(anstream::stderr(), "{} omitted: {}", style::WARNING, printable(&diagnostic.to_string()));
    }
}
