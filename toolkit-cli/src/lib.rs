//! Turns a program that links tools into a command-line program.
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     toolkit_cli::program!().main()
//! }
//! ```
//!
//! The program then has the commands `list`, `search`, `show`, `call`, `export`, `cost`, `check`, `diff`, `completions` and
//! `serve` over every tool that is linked into it; [`Program`] configures it. A package that has only a library gets the
//! same from `cargo toolkit COMMAND`: the binary `cargo-toolkit` of this package builds a program that links the library,
//! and runs it.
//!
//! `serve` offers the tools to other programs: over the Model Context Protocol, and with the feature `otc` in the call
//! format of Open Tool Calling. With the feature `proxy` it serves the tools of other MCP servers too. Its log goes to
//! stderr, filtered by `RUST_LOG`. A command that needs a feature which is off names it.
//!
//! # Exit codes
//!
//! | code | meaning |
//! |---|---|
//! | 0 | it worked |
//! | 1 | the tool failed, its schema refused the arguments, or the catalogue has problems |
//! | 2 | the command line is wrong: an unknown command, flag or tool, or a value that a flag cannot take |
//! | 130 | Ctrl-C stopped the call |
//!
//! # Output
//!
//! Results go to stdout, everything else to stderr. With `--json`, stdout has exactly one JSON document, and an error is
//! that document too: `{"error": {"kind", "message", …}}`. What caused an internal error is for the eyes of whoever runs
//! the program: it is printed on stderr, and never part of the JSON, which may go on to a model.
#![forbid(unsafe_code)]

mod call;
mod check;
mod comparison;
mod completions;
mod cost;
mod credentials;
mod diff;
mod exit;
mod export;
mod failure;
mod flags;
mod formats;
mod limits;
mod list;
mod missing;
mod options;
#[cfg(feature = "otc")]
mod otc;
mod program;
mod record;
mod report;
mod run;
mod runtime;
mod search;
mod serve;
mod shape;
mod show;
mod style;
mod table;

use std::process::ExitCode;

use toolkit::dispatch::DispatcherBuilder;

pub use self::failure::SetupError;
pub use self::program::Program;

/// Runs the command line of this process over every linked tool.
///
/// The program is named like its executable file, and its version is unknown to it; [`program!`] knows both.
#[must_use]
pub fn main() -> ExitCode {
    Program::named(options::program_name()).main()
}

/// Runs the command line of this process over every linked tool, with state, limits and policies of the host.
///
/// It is short for [`Program::dispatcher`], for a program without a version.
#[must_use]
pub fn main_with(
    configure: impl FnOnce(DispatcherBuilder) -> Result<DispatcherBuilder, SetupError> + 'static,
) -> ExitCode {
    Program::named(options::program_name()).dispatcher(configure).main()
}
