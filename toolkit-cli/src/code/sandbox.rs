//! The sandbox of programs, as the user chooses it.

use std::sync::Arc;

use clap::{Arg, ArgMatches, value_parser};
use toolkit_code::Profile;
use toolkit_code::sandbox::{Inline, Process, Sandbox};

/// Returns the options that choose it.
pub(crate) fn options() -> Vec<Arg> {
    vec![
        Arg::new("profile")
            .long("profile")
            .value_name("PROFILE")
            .value_parser(value_parser!(Profile))
            .default_value("standard")
            .help(
                "`standard` runs a program in a confined process, `hardened` refuses if the kernel confines less than \
                   everything, and `dev` runs it in this process",
            ),
    ]
}

/// Returns the chosen sandbox.
pub(crate) fn sandbox(matches: &ArgMatches) -> Arc<dyn Sandbox> {
    match matches.get_one::<Profile>("profile").copied().unwrap_or_default() {
        Profile::Dev => Arc::new(Inline::javascript()),
        profile => Arc::new(Process::new().profile(profile)),
    }
}
