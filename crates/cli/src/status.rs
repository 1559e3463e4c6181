//! `status`: the state of a running server and of the servers behind it.

#[cfg(feature = "proxy")]
mod output;
#[cfg(feature = "proxy")]
mod report;

use clap::{ArgMatches, Command};

use crate::error::CommandError;
use crate::exit::Exit;
#[cfg(not(feature = "proxy"))]
use crate::missing;

#[cfg(not(feature = "proxy"))]
pub(crate) fn command() -> Command {
    missing::command("status")
}

#[cfg(feature = "proxy")]
pub(crate) fn command() -> Command {
    use clap::Arg;

    use crate::listen::TOKEN;
    use crate::options::{duration, json_switch};

    Command::new("status")
        .about("Show the state of a running server and of the servers behind its proxy")
        .long_about(format!(
            "Show the state of a server that runs with `serve --http`, and of the servers behind its `--proxy`.\n\n\
             The exit code is 1 if the server cannot be reached, one of its servers is not ready, or its configuration \
             file has errors.\n\n\
             On a terminal, the output is a table; otherwise it has one line per server with the tab-separated columns \
             name, state, tools, tools left out, calls, errors, restarts and last error. The token of the server is read \
             from the environment variable {TOKEN}, or from the variable of --token-env."
        ))
        .args([
            Arg::new("url")
                .value_name("URL")
                .required(true)
                .help("URL of the server, such as http://127.0.0.1:8000; a port stands for that URL on this machine"),
            Arg::new("token-env")
                .long("token-env")
                .value_name("NAME")
                .help(format!("Environment variable with the token of the server [default: {TOKEN}]")),
            Arg::new("timeout")
                .long("timeout")
                .value_name("TIME")
                .value_parser(duration)
                .help("Timeout of the request [default: 10s]"),
            json_switch("Print the status as JSON"),
        ])
}

#[cfg(not(feature = "proxy"))]
pub(crate) fn run(_: &ArgMatches) -> Result<Exit, CommandError> {
    Err(missing::feature("proxy"))
}

#[cfg(feature = "proxy")]
pub(crate) fn run(matches: &ArgMatches) -> Result<Exit, CommandError> {
    use std::time::Duration;

    use toolkit_mcp_client::{Endpoint, fetch_status};

    use self::report::Report;
    use crate::{listen, runtime, style};

    let failed = |exit, kind, message| CommandError::Other { exit, kind, message };
    let url = matches.get_one::<String>("url").expect("`URL` is required");
    let url = url_of(url);
    let mut endpoint = Endpoint::new(&url).map_err(|error| failed(Exit::Usage, "usage", format!("{url}: {error}")))?;
    if let Some(token) = listen::token(matches)? {
        endpoint = endpoint.bearer(token.into());
    }
    let timeout = matches.get_one::<Duration>("timeout").copied().unwrap_or(Duration::from_secs(10));
    let json = runtime::create()?.block_on(fetch_status(&endpoint, timeout));
    let json =
        json.map_err(|error| failed(Exit::Failed, error.kind().name(), format!("{url}: {}", error.message())))?;
    let report = Report::from_json(&json).map_err(|error| {
        failed(Exit::Failed, "invalid_response", format!("{url}: the response is not the status of a server: {error}"))
    })?;
    match matches.get_flag("json") {
        true => style::write_json(&json)?,
        false => output::write(&report)?,
    }
    Ok(if report.is_ready() { Exit::Success } else { Exit::Failed })
}

/// Completes an address as `serve --http` accepts it to a URL.
#[cfg(feature = "proxy")]
fn url_of(address: &str) -> String {
    match address {
        url if url.contains("://") => url.to_owned(),
        port if port.parse::<u16>().is_ok() => format!("http://127.0.0.1:{port}"),
        address => format!("http://{address}"),
    }
}
