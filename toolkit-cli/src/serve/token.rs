//! The token that clients must have.
#![cfg_attr(not(any(feature = "mcp", feature = "otc")), allow(dead_code))]

use clap::ArgMatches;

use crate::exit::Exit;
use crate::failure::Failure;

/// Where the token is looked for by default. A flag with the token itself would show it to everyone who lists processes.
pub(super) const TOKEN: &str = "SERVE_TOKEN";

/// Returns the token of `--token-env`, or that of `SERVE_TOKEN` if it is set.
pub(super) fn token(matches: &ArgMatches) -> Result<Option<String>, Failure> {
    match named(matches, "token-env")? {
        Some(token) => Ok(Some(token)),
        None => Ok(std::env::var(TOKEN).ok().filter(|token| !token.is_empty())),
    }
}

/// Returns the value of the environment variable that an option names.
pub(super) fn named(matches: &ArgMatches, option: &str) -> Result<Option<String>, Failure> {
    let Some(name) = matches.get_one::<String>(option) else {
        return Ok(None);
    };
    match std::env::var(name) {
        Ok(value) if !value.is_empty() => Ok(Some(value)),
        _ => {
            let message = format!("`--{option}` names the environment variable `{name}`, which is not set");
            Err(Failure::Own { exit: Exit::Usage, kind: "usage", message })
        }
    }
}
