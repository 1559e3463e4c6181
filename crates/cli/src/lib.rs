//! Command line for programs with tools.
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     toolkit_cli::program!().main()
//! }
//! ```
//!
//! The program has the commands `list`, `search`, `show`, `call`, `run`, `chain`, `export`, `cost`, `check`, `diff`,
//! `completions`, `serve`, `serve-sandbox`, `status`, `login`, `logout`, `install`, `uninstall` and `bundle` for all
//! tools that are linked into it. [`Program`] configures state, limits and servers. A package without a binary gets the
//! same commands from `cargo toolkit COMMAND`: the package `cargo-toolkit` builds and runs a program that links the library.
//!
//! `serve` is an MCP server over stdio, and with the feature `http` over HTTP. With the feature `otc` it is also an Open Tool Calling server, and
//! with the feature `proxy` it also serves the tools of other MCP servers, at which `login` logs in. Its log goes to
//! stderr, filtered by `RUST_LOG`. The error of a command or option whose feature is disabled contains the name of the
//! feature.
//!
//! # Exit codes
//!
//! | code | meaning |
//! |---|---|
//! | 0 | success |
//! | 1 | failure: the tool failed, its arguments are invalid, the catalog has problems, or a server is not ready |
//! | 2 | usage error: an unknown command, option or tool, or an invalid value of an option |
//! | 130 | the call was interrupted by Ctrl-C |
//!
//! # Output
//!
//! Results go to stdout, everything else to stderr. With `--json`, stdout contains exactly one JSON document, also for an
//! error: `{"error": {"kind", "message", …}}`. The cause of an internal error is printed to stderr and never part of the
//! JSON, which may be passed to a model.
//!
//! # Source
//!
//! | module | part |
//! |---|---|
//! | `run`, `program` | assembles the commands, also those of disabled features; what a host configures |
//! | `list`, `call`, `serve` and other names of commands | one command each, with its options |
//! | `check`, `diff` | both print changes by `diff::write`; the sentence of a change is that of `toolkit_contract::Change` |
//! | `calls`, `code`, `resources` | `check --calls`; `run` and `serve-sandbox`; `list --resources` and `show URI` |
//! | `program_options`, `options`, `flags` | options that the author declares; those that several commands have; flags for the arguments of a tool |
//! | `listen`, `durable`, `nats`, `proxied`, `credentials` | what commands connect to, and with which tokens |
//! | `in_process`, `runtime`, `foreground`, `meter` | requests at the own server, the runtime of tools, work that a terminal waits for, and its progress |
//! | `formats`, `report`, `style` | what is printed |
//! | `error` | errors and exit codes |
//! | `log`, `stderr` | the log of `serve`, and writes to stderr that do not wait for its reader |
#![forbid(unsafe_code)]

#[cfg(feature = "bundle")]
mod bundle;
mod call;
mod calls;
#[cfg(feature = "chain")]
mod chain;
mod check;
#[cfg(feature = "code")]
mod code;
mod completions;
#[cfg(feature = "export")]
mod cost;
mod credentials;
mod diff;
#[cfg(feature = "durable")]
mod durable;
mod error;
#[cfg(feature = "export")]
mod export;
mod flags;
mod foreground;
#[cfg(feature = "export")]
mod formats;
#[cfg(feature = "mcp")]
mod in_process;
#[cfg(feature = "install")]
mod install;
mod list;
mod listen;
#[cfg(any(feature = "durable", feature = "mcp", feature = "nats", feature = "otc"))]
mod log;
#[cfg(feature = "proxy")]
mod login;
mod meter;
mod nats;
mod options;
mod program;
// Parts of it are for `bundle` and `install` only.
#[cfg_attr(not(all(feature = "bundle", feature = "install")), allow(dead_code))]
mod program_options;
mod proxied;
mod report;
#[cfg(feature = "mcp")]
mod resources;
mod run;
mod runtime;
#[cfg(feature = "search")]
mod search;
#[cfg(any(feature = "durable", feature = "mcp", feature = "nats", feature = "otc"))]
mod serve;
mod show;
#[cfg(feature = "proxy")]
mod status;
mod stderr;
mod style;

use std::process::ExitCode;

use toolkit::dispatch::DispatcherBuilder;

pub use self::error::SetupError;
pub use self::program::Program;

/// Runs the command line of this process for all linked tools.
///
/// The name of the program is that of its executable file, and it has no version. [`program!`] sets both.
///
/// # Examples
///
/// ```no_run
/// /// Adds two integers.
/// #[toolkit::tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// fn main() -> std::process::ExitCode {
///     // `calculator call add --a 1 --b 2` prints 3.
///     toolkit_cli::main()
/// }
/// ```
#[must_use]
pub fn main() -> ExitCode {
    Program::named(options::program_name()).main()
}

/// Runs the command line of this process for all linked tools, with a configured dispatcher.
///
/// A shorthand for [`Program::dispatcher`], for a program without a version.
///
/// # Examples
///
/// ```no_run
/// use std::time::Duration;
///
/// fn main() -> std::process::ExitCode {
///     toolkit_cli::main_with(|dispatcher| Ok(dispatcher.timeout(Duration::from_secs(30))))
/// }
/// ```
#[must_use]
pub fn main_with(
    configure: impl FnOnce(DispatcherBuilder) -> Result<DispatcherBuilder, SetupError> + 'static,
) -> ExitCode {
    Program::named(options::program_name()).dispatcher(configure).main()
}
