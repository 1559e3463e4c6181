//! The options for durable chains: `--durable`.

use clap::Arg;
#[cfg(feature = "durable")]
use clap::ArgMatches;
#[cfg(feature = "durable")]
use toolkit_durable::{Connect, DurableError, RunId};

#[cfg(feature = "durable")]
use crate::error::CommandError;
#[cfg(feature = "durable")]
use crate::exit::Exit;
use crate::missing::unless;

const IS_ON: bool = cfg!(feature = "durable");

/// Returns the options of a connection.
pub(crate) fn options(help: &'static str) -> [Arg; 2] {
    let url = Arg::new("durable").long("durable").value_name("URL").help(help);
    let application = Arg::new("application")
        .long("application")
        .value_name("NAME")
        .requires("durable")
        .help("Name of the application, which workers and callers have in common [default: toolkit]");
    [unless(IS_ON, "durable", url), unless(IS_ON, "durable", application)]
}

/// Returns the connection, if the command line has one.
#[cfg(feature = "durable")]
pub(crate) fn connect(matches: &ArgMatches) -> Result<Option<Connect>, CommandError> {
    let Some(url) = matches.get_one::<String>("durable") else { return Ok(None) };
    let connect = Connect::new(url).map_err(|error| CommandError::Other {
        exit: Exit::Usage,
        kind: "usage",
        message: format!("--durable: {error}"),
    })?;
    Ok(Some(match matches.get_one::<String>("application") {
        Some(name) => connect.application(name),
        None => connect,
    }))
}

/// Parses the id of a run.
#[cfg(feature = "durable")]
pub(crate) fn run_id(text: &str) -> Result<RunId, CommandError> {
    RunId::new(text).map_err(|error| CommandError::Other {
        exit: Exit::Usage,
        kind: "usage",
        message: format!("`{text}` is {error}"),
    })
}

/// Returns the error of a command.
#[cfg(feature = "durable")]
pub(crate) fn failed(error: DurableError) -> CommandError {
    let (exit, kind) = match error {
        DurableError::Rejected(error) => return CommandError::Tool(error),
        DurableError::Database(_) => (Exit::Failed, "database"),
        DurableError::OtherInput { .. } => (Exit::Failed, "other_input"),
        DurableError::UnknownRun(_) => (Exit::Usage, "unknown_run"),
        DurableError::Cancelled(_) => (Exit::Failed, "cancelled"),
        DurableError::NotWaiting(_) => (Exit::Usage, "not_waiting"),
        _ => (Exit::Failed, "durable"),
    };
    CommandError::Other { exit, kind, message: error.to_string() }
}
