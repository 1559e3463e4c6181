//! `status`: the state of a running server and of the servers behind it.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{Arg, ArgMatches, Command};
use serde::Deserialize;
use serde_json::Value;
use toolkit::call::ErrorKind;
use toolkit_mcp_client::{Endpoint, fetch_status};

use crate::error::{CommandError, Exit};
use crate::listen::{self, TOKEN};
use crate::options::{duration, json_switch, option};
use crate::report::counted;
use crate::runtime;
use crate::style::table::Table;
use crate::style::{self, BOLD, DIM, HIGHLIGHT, PLAIN, printable};

pub(crate) fn command() -> Command {
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
            option("token-env", "NAME")
                .help(format!("Environment variable with the token of the server [default: {TOKEN}]")),
            option("timeout", "TIME")
                .value_parser(duration)
                .help("Timeout of the request [default: 10s]"),
            json_switch("Print the status as JSON"),
        ])
}

pub(crate) fn run(matches: &ArgMatches) -> Result<Exit, CommandError> {
    let failed = |exit, kind, message| CommandError::Other { exit, kind, message };
    let url = matches.get_one::<String>("url").expect("`URL` is required");
    let url = url_of(url);
    let mut endpoint = Endpoint::new(&url).map_err(|error| failed(Exit::Usage, "usage", format!("{url}: {error}")))?;
    if let Some(token) = listen::token(matches)? {
        endpoint = endpoint.bearer(token.into());
    }
    let timeout = matches.get_one::<Duration>("timeout").copied().unwrap_or(Duration::from_secs(10));
    let json = runtime::create()?.block_on(fetch_status(&endpoint, timeout));
    let json = json.map_err(|error| {
        let remedy = match error.kind() {
            ErrorKind::Unauthorized => format!("; set {TOKEN}, or name the variable of the token with --token-env"),
            _ => String::new(),
        };
        failed(Exit::Failed, error.kind().name(), format!("{url}: {}{remedy}", error.message()))
    })?;
    let report = Report::from_json(&json).map_err(|error| {
        failed(Exit::Failed, "invalid_response", format!("{url}: the response is not the status of a server: {error}"))
    })?;
    match matches.get_flag("json") {
        true => style::write_json(&json)?,
        false => write(&report)?,
    }
    Ok(if report.is_ready() { Exit::Success } else { Exit::Failed })
}

/// Completes an address as `serve --http` accepts it to a URL.
fn url_of(address: &str) -> String {
    match address {
        url if url.contains("://") => url.to_owned(),
        port if port.parse::<u16>().is_ok() => format!("http://127.0.0.1:{port}"),
        address => format!("http://{address}"),
    }
}

const HEADERS: [&str; 9] = ["NAME", "STATE", "FOR", "TOOLS", "LEFT OUT", "CALLS", "RUNNING", "ERRORS", "RESTARTS"];

/// Writes the status to stdout, and errors of the configuration to stderr.
fn write(report: &Report) -> io::Result<()> {
    for error in &report.configuration_errors {
        let _ = writeln!(anstream::stderr(), "{} {}", style::ERROR, printable(error));
    }
    match style::terminal_width() {
        Some(_) => write_table(report, &mut anstream::stdout().lock()),
        None => write_lines(report, &mut io::stdout().lock()),
    }
}

fn write_lines(report: &Report, out: &mut impl Write) -> io::Result<()> {
    if report.backends.is_empty() {
        let _ = writeln!(anstream::stderr(), "{} {}, and no server behind it", style::NOTE, summary(report));
    }
    for backend in &report.backends {
        let Backend { name, state, tools, left_out, calls, restarts, last_error, .. } = backend;
        let error = one_line(last_error.as_deref().unwrap_or_default());
        let (ended, n_errors) = (calls.ended, calls.n_errors());
        let (name, state) = (one_line(name), one_line(state));
        writeln!(out, "{name}\t{state}\t{tools}\t{left_out}\t{ended}\t{n_errors}\t{restarts}\t{error}")?;
    }
    Ok(())
}

fn write_table(report: &Report, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", summary(report))?;
    if report.backends.is_empty() {
        return Ok(());
    }
    let table = Table::new(HEADERS, report.backends.iter().map(cells));
    table.write_header(out)?;
    for (nth, backend) in report.backends.iter().enumerate() {
        table.write_row(out, nth, if backend.is_ready() { PLAIN } else { HIGHLIGHT })?;
        if !backend.is_ready()
            && let Some(error) = &backend.last_error
        {
            let next = backend.next_attempt.map(|at| format!("; next attempt in {}", span(at - now())));
            writeln!(out, "  {BOLD}{}{}{}", one_line(error), BOLD.clear(), next.unwrap_or_default())?;
        }
        for reason in &backend.left_out_reasons {
            writeln!(out, "  {DIM}{}{}", one_line(reason), DIM.clear())?;
        }
    }
    Ok(())
}

fn summary(report: &Report) -> String {
    let n_running = usize::try_from(report.calls_running).unwrap_or(usize::MAX);
    let n_tools = usize::try_from(report.tools).unwrap_or(usize::MAX);
    format!("{}, {}", counted(n_tools, "tool"), counted(n_running, "running call"))
}

fn cells(backend: &Backend) -> [String; 9] {
    let number = |n: u64| n.to_string();
    [
        one_line(&backend.name),
        one_line(&backend.state),
        backend.since.map(|since| span(now() - since)).unwrap_or_default(),
        number(backend.tools),
        number(backend.left_out),
        number(backend.calls.ended),
        number(backend.calls.running),
        number(backend.calls.n_errors()),
        number(backend.restarts),
    ]
}

fn one_line(text: &str) -> String {
    printable(text).replace(['\n', '\t'], " ")
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// Formats a number of seconds with its two largest units, such as `3m 12s`.
fn span(seconds: f64) -> String {
    let seconds = Duration::try_from_secs_f64(seconds.ceil()).unwrap_or_default().as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, _) => format!("{minutes}m {}s", seconds % 60),
        (0, ..) => format!("{hours}h {}m", minutes % 60),
        _ => format!("{days}d {}h", hours % 24),
    }
}

/// The status of a server.
#[derive(Debug, Deserialize)]
struct Report {
    tools: u64,
    calls_running: u64,
    #[serde(default)]
    configuration_errors: Vec<String>,
    backends: Vec<Backend>,
}

/// The status of a server behind the proxy.
#[derive(Debug, Deserialize)]
struct Backend {
    name: String,
    state: String,
    /// Seconds since 1970.
    since: Option<f64>,
    next_attempt: Option<f64>,
    last_error: Option<String>,
    restarts: u64,
    tools: u64,
    left_out: u64,
    #[serde(default)]
    left_out_reasons: Vec<String>,
    calls: CallCounts,
}

/// The counts of calls.
#[derive(Debug, Deserialize)]
struct CallCounts {
    running: u64,
    ended: u64,
    errors: BTreeMap<String, u64>,
}

impl Report {
    fn from_json(json: &Value) -> serde_json::Result<Self> {
        Self::deserialize(json)
    }

    /// Returns true if all servers are ready and their configuration is valid.
    fn is_ready(&self) -> bool {
        self.configuration_errors.is_empty() && self.backends.iter().all(Backend::is_ready)
    }
}

impl Backend {
    fn is_ready(&self) -> bool {
        self.state == "ready" || self.state == "asleep"
    }
}

impl CallCounts {
    fn n_errors(&self) -> u64 {
        self.errors.values().fold(0, |sum, n| sum.saturating_add(*n))
    }
}
