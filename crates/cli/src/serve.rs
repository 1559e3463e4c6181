//! `serve`: serves the tools over MCP, Open Tool Calling or NATS, or runs the steps of durable chains.
//!
//! | module | part |
//! |---|---|
//! | this file | the options, by the headings of the help; `proxy`, `code`, `access_tokens` and others declare their own |
//! | `mcp`, `otc`, `worker` | one protocol each; the steps of durable chains are those of a worker |
//! | `proxy`, `code` | what `mcp` serves beside the tools of the program: those of other servers, and programs |
//! | `access_tokens`, `views` | whom `mcp` serves over HTTP, and which callers of a proxy see what |
//! | `server_card` | how clients find what `mcp` serves over HTTP |
//! | `health`, `queue` | probes and metrics of a server without HTTP, and of durable chains |

mod access_tokens;
#[cfg(all(feature = "code", feature = "mcp"))]
mod code;
#[cfg(feature = "server")]
mod health;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(feature = "otc")]
mod otc;
#[cfg(feature = "proxy")]
mod proxy;
#[cfg(feature = "durable")]
mod queue;
mod server_card;
#[cfg(feature = "proxy")]
mod views;
#[cfg(any(feature = "durable", feature = "nats"))]
mod worker;

use clap::builder::{PossibleValuesParser, TypedValueParser as _, UnknownArgumentValueParser};
#[cfg(feature = "durable")]
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command, value_parser};
use toolkit::{Catalog, Coercion};

use crate::error::{CommandError, Exit};
use crate::listen::TOKEN;
use crate::options::{durable_options, duration, naming_option, option, switch, unless};
use crate::program::Program;
use crate::{log, nats};

pub(crate) fn run(catalog: Catalog, matches: &ArgMatches, mut program: Program) -> Result<Exit, CommandError> {
    let _export = log::start(matches, &program.name);
    #[cfg(feature = "durable")]
    if matches.contains_id("durable") && !matches.contains_id("http") {
        let is_given = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
        if let Some(option) = mcp().iter().chain([&coercion()]).find(|option| is_given(option.get_id().as_str())) {
            let message = format!("--{} cannot be used with --durable without --http", option.get_id());
            return Err(CommandError::usage(message));
        }
        let queue = queue::Queue::default();
        let configure = health::start(matches, program.dispatcher, queue.metrics())?;
        return worker::run_steps(catalog, matches, configure, &program.name, &queue);
    }
    if let Some(&coercion) = matches.get_one::<Coercion>("coercion") {
        let configure = program.dispatcher;
        program.dispatcher = Box::new(move |builder| Ok(configure(builder)?.coercion(coercion)));
    }
    #[cfg(feature = "server")]
    {
        program.dispatcher =
            health::start(matches, program.dispatcher, Box::new(|| Box::pin(async { String::new() })))?;
    }
    #[cfg(feature = "nats")]
    if matches.contains_id("nats") {
        return worker::run_calls(catalog, matches, program.dispatcher);
    }
    #[cfg(feature = "otc")]
    if matches.contains_id("otc") {
        return otc::run(catalog, matches, program.dispatcher);
    }
    #[cfg(feature = "mcp")]
    return mcp::run(catalog, matches, program);
    #[cfg(not(feature = "mcp"))]
    {
        let _ = (catalog, matches, program);
        Err(CommandError::missing_feature("mcp"))
    }
}

/// The environment variable of the keys that seal the state of calls.
const STATE_KEYS: &str = "SERVE_STATE_KEYS";

const MCP: bool = cfg!(feature = "mcp");
const HTTP: bool = cfg!(feature = "http");
const OTC: bool = cfg!(feature = "otc");
const EXPLORER: bool = cfg!(feature = "explorer");
const OPENAPI: bool = cfg!(feature = "openapi");

pub(crate) fn command() -> Command {
    Command::new("serve")
        .about("Serve the tools over MCP, Open Tool Calling or NATS, or run the steps of durable chains")
        // With options of one line each, the help of all features fits two screens.
        .after_help(format!(
            "Serves until SIGTERM or Ctrl-C: MCP on stdin and stdout, or at http://ADDR/mcp with --http.\n\n\
             A server that other machines can reach requires a token, from the environment variable {TOKEN} or that of \
             --token-env. Servers with the same {STATE_KEYS} (secrets of at least 32 characters, separated by commas) continue \
             each other's calls after a question. RUST_LOG filters the log on stderr, and OTEL_EXPORTER_OTLP_ENDPOINT receives \
             spans and metrics (feature `otlp`). --coercion is `lossless` by default, and `null-as-absent` for other servers.\n\n\
             A RULE is `namespace=NS`, `tag=TAG`, `hint=HINT` (`read-only`, `destructive`, `idempotent`, `open-world`) or \
             the id or the listed name of a tool; NS, TAG and ids may contain `*`."
        ))
        .group(ArgGroup::new("listen").args(["http", "otc"]))
        .group(ArgGroup::new("address").args(["http", "otc", "health"]).multiple(true))
        .group(ArgGroup::new("nats-server").args(["nats", "nats-tools"]))
        .next_help_heading("Model Context Protocol")
        .args(mcp().into_iter().map(|arg| unless(MCP, "mcp", arg.conflicts_with_all(["otc", "nats"]))))
        .next_help_heading("Open Tool Calling")
        .args(otc().into_iter().map(|arg| unless(OTC, "otc", arg)))
        .next_help_heading("NATS")
        .args(nats::serve_options().into_iter().map(|arg| match arg.get_id() == "nats" {
            true => arg.conflicts_with("listen"),
            false => arg,
        }))
        .next_help_heading("Durable chains")
        .args(durable_options("Run the steps of durable chains", true).map(|arg| {
            match arg.get_id() == "durable" {
                true => arg.conflicts_with_all(["otc", "nats-server"]),
                false => arg,
            }
        }))
        .arg(unless(
            cfg!(feature = "durable"),
            "durable",
            option("max-runs", "N")
                .requires("durable")
                .value_parser(value_parser!(u32).range(1..))
                .help("Runs at once, not counting those that wait [default: 100]"),
        ))
        .next_help_heading("HTTP (with --http, --otc or --health)")
        .args(http().map(|arg| unless(cfg!(feature = "server"), "http", arg)))
        .next_help_heading("Operation")
        .arg(coercion().conflicts_with("nats"))
        .arg(health())
        .args(log::options())
}

fn mcp() -> Vec<Arg> {
    let rule = |name: &'static str| {
        let rule = option(name, "RULE").action(ArgAction::Append);
        #[cfg(feature = "mcp")]
        let rule = rule.value_parser(value_parser!(toolkit_mcp_server::Rule));
        rule
    };
    #[cfg(feature = "proxy")]
    let proxy = proxy::options();
    #[cfg(not(feature = "proxy"))]
    let proxy = [unless(false, "proxy", Arg::new("proxy"))];
    #[cfg(all(feature = "code", feature = "mcp"))]
    let code = code::options();
    #[cfg(not(all(feature = "code", feature = "mcp")))]
    let code = [unless(false, "code", Arg::new("code"))];
    let options = vec![
        option("http", "ADDR")
            .value_parser(crate::listen::address)
            .help("Listen at this address; a port alone listens on 127.0.0.1"),
        // What other servers call it.
        Arg::new("port").long("port").hide(true).value_parser(UnknownArgumentValueParser::suggest_arg("--http")),
        rule("allow").help("Serve only these tools; may be repeated"),
        rule("deny").help("Do not serve these tools; may be repeated"),
        switch("read-only").help("Serve only read-only tools"),
        naming_option(),
        option("list-at-most", "N")
            .value_parser(value_parser!(usize))
            .help("Above N tools, list only tools to search [default: 128]"),
        option("timeout", "TIME").value_parser(duration).help("Timeout of a call, such as 30s [default: 5m]"),
        option("task-dir", "DIR")
            .value_parser(value_parser!(std::path::PathBuf))
            .help("Store tasks here, so that results outlive the server"),
        option("replica", "NAME").help("Name of this replica, with which ids of tasks begin"),
        option("task-after", "TIME")
            .value_parser(duration)
            .help("Time after which a long call becomes a task [default: 5s]"),
        unless(
            cfg!(feature = "skills"),
            "skills",
            option("skills", "DIR")
                .value_parser(value_parser!(std::path::PathBuf))
                .help("Serve the skills in subdirectories with a SKILL.md, or `docs`: those of the tools"),
        ),
        option("rate", "N")
            .value_parser(value_parser!(u32).range(1..))
            .requires("http")
            .help("Limit the requests per second of each client"),
        option("allow-origin", "ORIGIN")
            .value_parser(origin)
            .action(ArgAction::Append)
            .requires("http")
            .help("Accept requests of web pages with this origin"),
        unless(
            EXPLORER,
            "explorer",
            switch("explorer").requires("http").help("Serve a page to read and try the tools at /explorer"),
        ),
        unless(
            OPENAPI,
            "openapi",
            switch("openapi").requires("http").help("Serve POST /tools/NAME, described at /openapi.json"),
        ),
    ];
    let options: Vec<Arg> =
        options.into_iter().chain(access_tokens::options()).chain([server_card::option()]).collect();
    let needs_http = ["http", "port", "rate", "allow-origin"];
    let options = options.into_iter().map(|arg| {
        let is_on = HTTP || !needs_http.iter().any(|name| arg.get_id() == name);
        unless(is_on, "http", unless(cfg!(feature = "search") || arg.get_id() != "list-at-most", "search", arg))
    });
    let mut options: Vec<Arg> = options.collect();
    options.push(log::audit_option());
    options.extend(proxy);
    options.extend(code);
    options
}

#[cfg(feature = "server")]
fn health() -> Arg {
    health::option()
}

#[cfg(not(feature = "server"))]
fn health() -> Arg {
    unless(false, "http", Arg::new("health"))
}

fn coercion() -> Arg {
    let parser = PossibleValuesParser::new(Coercion::ALL.map(Coercion::name));
    option("coercion", "WHICH")
        .value_parser(parser.try_map(|name| Coercion::from_name(&name).ok_or("not a coercion")))
        .hide_possible_values(true)
        .help("Convert wrong arguments: off, null-as-absent, lossless, lenient")
}

fn otc() -> Vec<Arg> {
    #[cfg(feature = "otc")]
    let otc = option("otc", "ADDR").value_parser(crate::listen::address);
    #[cfg(not(feature = "otc"))]
    let otc = Arg::new("otc");
    vec![
        otc.help("Listen at this address; a port alone listens on 127.0.0.1"),
        option("toolkit", "NAME").requires("otc").help("Toolkit of tools without a namespace [default: the program]"),
        option("jwt-secret-env", "NAME")
            .requires("otc")
            .conflicts_with("token-env")
            .help("Variable with the secret of JWTs (HS256) to accept"),
    ]
}

fn http() -> [Arg; 5] {
    [
        option("token-env", "NAME")
            .alias("api-key-env")
            .requires("address")
            .help(format!("Variable with the token of clients [default: {TOKEN}]")),
        option("allow-host", "HOST")
            .alias("host")
            .value_parser(host)
            .action(ArgAction::Append)
            .requires("listen")
            .help("Accept requests for this host name, beside `localhost`"),
        switch("allow-unauthenticated")
            .aliases(["open-to-all", "anyone"])
            .requires("address")
            .help("Allow requests without a token from everyone"),
        option("drain-delay", "TIME")
            .value_parser(duration)
            .requires("listen")
            .help("Time between SIGTERM and the end of the listener [default: none]"),
        option("trust-proxy", "NETWORK")
            .action(ArgAction::Append)
            .requires("listen")
            .help("Trust the X-Forwarded-For of this proxy, such as 10.0.0.0/8"),
    ]
}

/// Checks a host name, possibly with a port. Patterns would have no effect.
fn host(text: &str) -> Result<String, String> {
    let is_valid = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
    match !text.is_empty() && text.chars().all(is_valid) {
        true => Ok(text.to_owned()),
        false => {
            Err("expected the name of a host, such as tools.example or tools.example:8000, without `*`".to_owned())
        }
    }
}

/// Checks an origin of web pages. Patterns and paths would have no effect.
fn origin(text: &str) -> Result<String, String> {
    let host_of =
        |text: &str| text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).map(str::to_owned);
    match host_of(text).is_some_and(|text| host(&text).is_ok()) {
        true => Ok(text.to_owned()),
        false => Err("expected a scheme and a host, such as https://example.com, without a path or `*`".to_owned()),
    }
}
