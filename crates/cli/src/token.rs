//! The token that clients must send.
#![cfg_attr(not(any(feature = "mcp", feature = "otc")), allow(dead_code))]

use clap::ArgMatches;

use crate::error::CommandError;
use crate::exit::Exit;

/// The default environment variable of the token. A flag with the token itself would be visible in the list of processes.
pub(crate) const TOKEN: &str = "SERVE_TOKEN";

/// Returns the token in the variable of `--token-env`, or in `SERVE_TOKEN` if it is set.
pub(crate) fn token(matches: &ArgMatches) -> Result<Option<String>, CommandError> {
    match named(matches, "token-env")? {
        Some(token) => Ok(Some(token)),
        None => Ok(std::env::var(TOKEN).ok().filter(|token| !token.is_empty())),
    }
}

/// Returns the value of the environment variable in an option.
pub(crate) fn named(matches: &ArgMatches, option: &str) -> Result<Option<String>, CommandError> {
    let Some(name) = matches.get_one::<String>(option) else {
        return Ok(None);
    };
    match std::env::var(name) {
        Ok(value) if !value.is_empty() => Ok(Some(value)),
        _ => {
            let message = format!("`--{option}`: the environment variable `{name}` is not set");
            Err(CommandError::Other { exit: Exit::Usage, kind: "usage", message })
        }
    }
}
