//! `login` and `logout`: logins at other MCP servers.

#[cfg(feature = "proxy")]
mod interact;
#[cfg(feature = "proxy")]
mod list;
#[cfg(feature = "proxy")]
mod server;

use clap::{ArgMatches, Command};

use crate::error::CommandError;
use crate::exit::Exit;
#[cfg(not(feature = "proxy"))]
use crate::missing;
use crate::program::Program;

#[cfg(not(feature = "proxy"))]
pub(crate) fn commands() -> [Command; 2] {
    [missing::command("login"), missing::command("logout")]
}

#[cfg(feature = "proxy")]
pub(crate) fn commands() -> [Command; 2] {
    use std::path::PathBuf;

    use clap::{Arg, value_parser};

    use crate::logins::DIRECTORY;
    use crate::options::{duration, json_switch, switch};

    let server = || Arg::new("server").value_name("SERVER").help("Name of a server in FILE, or the URL of a server");
    let file = || {
        let file = Arg::new("proxy").long("proxy").value_name("FILE").value_parser(value_parser!(PathBuf));
        file.help("Configuration file of `serve --proxy`")
    };
    let login = Command::new("login")
        .about("Log in at another MCP server, for `serve --proxy`")
        .long_about(format!(
            "Log in at an MCP server with OAuth, in the browser. `serve --proxy` of the same user then sends its access \
             tokens, and renews them; a running server notices the login.\n\n\
             Without SERVER, list the servers of FILE with a URL and their logins. The exit code is then 1 if one of the \
             logins is not valid.\n\n\
             The tokens are in a directory that only the user can read, or in that of the environment variable \
             {DIRECTORY}."
        ))
        .args([
            server().required_unless_present("proxy"),
            file(),
            switch("no-browser")
                .requires("server")
                .help("Print the URL and read the address to which the browser was redirected, from another machine"),
            Arg::new("timeout")
                .long("timeout")
                .value_name("TIME")
                .value_parser(duration)
                .help("Time to wait for the browser [default: 5m]"),
            json_switch("Print the logins as JSON").conflicts_with("server"),
        ]);
    let logout = Command::new("logout")
        .about("Remove the login at another MCP server")
        .long_about("Remove the tokens of a server. The authorization server is not notified.")
        .args([server().required(true), file()]);
    [login, logout]
}

#[cfg(not(feature = "proxy"))]
pub(crate) fn login(_: &ArgMatches, _: &Program) -> Result<Exit, CommandError> {
    Err(missing::feature("proxy"))
}

#[cfg(not(feature = "proxy"))]
pub(crate) fn logout(_: &ArgMatches, _: &Program) -> Result<Exit, CommandError> {
    Err(missing::feature("proxy"))
}

#[cfg(feature = "proxy")]
pub(crate) fn login(matches: &ArgMatches, program: &Program) -> Result<Exit, CommandError> {
    use std::time::Duration;

    use crate::runtime;

    let logins = server::logins(program)?;
    let runtime = runtime::create()?;
    let outcome = runtime.block_on(async {
        match matches.get_one::<String>("server") {
            Some(name) => {
                if !logins.can_store() {
                    return Err(server::failed(name, "there is no directory for the tokens; set LOGIN_DIRECTORY"));
                }
                let endpoint = server::endpoint(name, matches, &logins)?;
                server::check_login(name, &endpoint)?;
                let limit = matches.get_one::<Duration>("timeout").copied().unwrap_or(Duration::from_secs(300));
                interact::login(name, &endpoint, matches.get_flag("no-browser"), limit).await
            }
            None => list::run(matches, &logins).await,
        }
    });
    // Reading from stdin cannot be canceled.
    runtime.shutdown_background();
    outcome
}

#[cfg(feature = "proxy")]
pub(crate) fn logout(matches: &ArgMatches, program: &Program) -> Result<Exit, CommandError> {
    use std::io::Write;

    use crate::{runtime, style};

    let name = matches.get_one::<String>("server").expect("`SERVER` is required");
    let endpoint = server::endpoint(name, matches, &server::logins(program)?)?;
    let removed = runtime::create()?.block_on(endpoint.logout());
    let message = match removed.map_err(|error| server::failed(name, error))? {
        true => "the login is removed",
        false => "there was no login",
    };
    let _ = writeln!(anstream::stderr(), "{} {message}", style::NOTE);
    Ok(Exit::Success)
}
