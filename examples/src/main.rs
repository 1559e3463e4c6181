//! The tools of this package as a program: `toolkit-examples call math:add --a 1 --b 2`.
//!
//! The files are those of the current directory, or of `EXAMPLES_ROOT`; with `EXAMPLES_WRITABLE=1` they may be written.

use std::ffi::OsString;
use std::process::ExitCode;

use toolkit_examples::{Root, resources};

fn main() -> ExitCode {
    let program = toolkit_cli::program!().dispatcher(|dispatcher| {
        let writable = std::env::var_os("EXAMPLES_WRITABLE").is_some_and(|value| value == "1");
        let root = if writable { Root::writable(path()) } else { Root::read_only(path()) };
        Ok(dispatcher.state(root?))
    });
    program.server(|server| Ok(server.resources(resources::files(Root::read_only(path())?)?))).main()
}

fn path() -> OsString {
    std::env::var_os("EXAMPLES_ROOT").unwrap_or_else(|| ".".into())
}
