//! The sandbox of programs, as the user chooses it.

use std::sync::Arc;

use clap::{Arg, ArgMatches, value_parser};
use toolkit_code::Profile;
use toolkit_code::sandbox::{Inline, Process, Remote, Sandbox};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::listen;

/// The environment variable of the token for a sandbox on another machine.
pub(super) const TOKEN: &str = "SANDBOX_TOKEN";

/// Returns the options that choose it.
pub(crate) fn options() -> Vec<Arg> {
    vec![
        profile().help(
            "`standard` runs a program in a confined process, `hardened` refuses if the kernel confines less than \
             everything, and `dev` runs it in this process",
        ),
        Arg::new("sandbox")
            .long("sandbox")
            .value_name("URL")
            .help("Run programs on another machine, where `serve-sandbox` runs; the tools stay on this one"),
        token_option().requires("sandbox"),
    ]
}

/// Creates the option `--profile`.
pub(super) fn profile() -> Arg {
    Arg::new("profile")
        .long("profile")
        .value_name("PROFILE")
        .value_parser(value_parser!(Profile))
        .default_value("standard")
}

/// Creates the option `--sandbox-token-env`.
pub(super) fn token_option() -> Arg {
    Arg::new("sandbox-token-env")
        .long("sandbox-token-env")
        .value_name("NAME")
        .help("Environment variable of the token of the sandbox [default: SANDBOX_TOKEN]")
}

/// Returns the chosen sandbox.
pub(crate) fn sandbox(matches: &ArgMatches) -> Result<Arc<dyn Sandbox>, CommandError> {
    let profile = matches.get_one::<Profile>("profile").copied().unwrap_or_default();
    if let Some(url) = matches.get_one::<String>("sandbox") {
        let remote = Remote::new(url, token(matches)?).map_err(|error| usage(format!("`--sandbox`: {error}")))?;
        return Ok(Arc::new(remote.profile(profile)));
    }
    Ok(match profile {
        Profile::Dev => Arc::new(Inline::javascript()),
        profile => Arc::new(Process::new().profile(profile)),
    })
}

/// Returns the token of a sandbox on another machine.
pub(super) fn token(matches: &ArgMatches) -> Result<String, CommandError> {
    let named = listen::named(matches, "sandbox-token-env")?;
    let token = named.or_else(|| std::env::var(TOKEN).ok().filter(|token| !token.is_empty()));
    token.ok_or_else(|| usage(format!("set {TOKEN} to the token of the sandbox, or pass --sandbox-token-env")))
}

fn usage(message: String) -> CommandError {
    CommandError::Other { exit: Exit::Usage, kind: "usage", message }
}
