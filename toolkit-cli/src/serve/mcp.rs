//! The Model Context Protocol, over stdio or HTTP.

use std::io::Write;
use std::time::Duration;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use toolkit::catalog::Naming;
use toolkit::{Catalog, Dispatcher};
use toolkit_mcp::server::{Filter, HttpError, Rule, ServeError, Server};

#[cfg(feature = "proxy")]
use super::proxy;
use crate::Setup;
use crate::call::{self, credentials};
use crate::command::{duration, naming, naming_option, program_name, switch};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::style;

/// Where the token is looked for that clients must have. A flag would show it to everybody who lists processes.
const TOKEN: &str = "SERVE_TOKEN";

/// How long clients may keep a list that other servers change.
const PROXY_TTL: Duration = Duration::from_secs(60);

pub(super) fn command(command: Command) -> Command {
    #[cfg(feature = "proxy")]
    let command = command.arg(proxy::option());
    command
        .about("Serves the tools over the Model Context Protocol")
        .long_about(
            "Serves the tools over the Model Context Protocol: on stdin and stdout, or with --http at http://ADDR/mcp.\n\n\
             Over HTTP clients must have the token that stands in SERVE_TOKEN, if there is one. A server that other \
             machines can reach wants one.\n\nA RULE is `namespace=NS`, `tag=TAG`, `hint=HINT` (`read-only`, \
             `destructive`, `idempotent`, `open-world`) or the id of a tool.",
        )
        .args([
            Arg::new("http")
                .long("http")
                .value_name("ADDR")
                .value_parser(address)
                .help("Listens at an address, such as 127.0.0.1:8000; a port alone is one of this machine's own"),
            rule("allow").help("Serves only these tools; may be given more than once"),
            rule("deny").help("Does not serve these tools; may be given more than once"),
            switch("read-only").help("Serves only tools that say that they change nothing"),
            naming_option(),
            Arg::new("list-at-most")
                .long("list-at-most")
                .value_name("N")
                .value_parser(value_parser!(usize))
                .help("Above so many tools, clients are shown three that find, describe and call them [default: 128]"),
            Arg::new("timeout")
                .long("timeout")
                .value_name("TIME")
                .value_parser(duration)
                .help("How long a call may take, such as 30s or 2m [default: 5m]"),
            text("allow-host").help("Answers to this name too, besides `localhost`; with --http"),
            text("allow-origin").help("Answers to pages of this origin too; with --http"),
            Arg::new("rate")
                .long("rate")
                .value_name("N")
                .value_parser(value_parser!(u32).range(1..))
                .requires("http")
                .help("How many requests a second each client may make; with --http"),
            switch("open-to-all").requires("http").help("Lets everybody who can reach ADDR call the tools; with --http"),
        ])
}

/// An address to listen at; what names no host is reached from this machine only.
fn address(text: &str) -> Result<String, String> {
    let (host, port) = text.rsplit_once(':').unwrap_or(("", text));
    let port: u16 =
        port.parse().map_err(|_| "an address is a host and a port, such as 127.0.0.1:8000, or a port alone")?;
    match host {
        "" => Ok(format!("127.0.0.1:{port}")),
        host => Ok(format!("{host}:{port}")),
    }
}

fn rule(name: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name("RULE")
        .action(ArgAction::Append)
        .value_parser(|text: &str| text.parse::<Rule>())
}

fn text(name: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("TEXT").action(ArgAction::Append).requires("http")
}

pub(super) fn run(catalog: Catalog, matches: &ArgMatches, setup: impl Setup) -> Result<Exit, Failure> {
    let runtime = call::runtime()?;
    #[cfg(feature = "proxy")]
    let servers = proxy::servers(matches)?;
    let dispatcher = {
        let _on_runtime = runtime.enter();
        setup(Dispatcher::builder(catalog)).map_err(Failure::Setup)?.build()?
    };
    let server = server(dispatcher, matches)?;
    let serving = serve(&server, matches);
    #[cfg(feature = "proxy")]
    let serving = async {
        match servers {
            Some(servers) => proxy::along_with(&server, servers, serving).await,
            None => serving.await,
        }
    };
    let outcome = runtime.block_on(serving);
    // A tool that nobody waits for any more must not keep the process alive.
    runtime.shutdown_background();
    outcome
}

async fn serve(server: &Server, matches: &ArgMatches) -> Result<Exit, Failure> {
    let Some(address) = matches.get_one::<String>("http") else {
        server.stdio().await?;
        return Ok(Exit::Success);
    };
    let mut http = server.http();
    if let Some(token) = std::env::var(TOKEN).ok().filter(|token| !token.is_empty()) {
        http = http.token(token);
    }
    let texts = |name: &str| matches.get_many::<String>(name).into_iter().flatten().cloned();
    http = texts("allow-host").fold(http, |http, host| http.allow_host(host));
    http = texts("allow-origin").fold(http, |http, origin| http.allow_origin(origin));
    if let Some(&per_second) = matches.get_one::<u32>("rate") {
        http = http.rate(per_second, per_second.saturating_mul(2));
    }
    if matches.get_flag("open-to-all") {
        http = http.open_to_all();
    }
    let listening = http.bind(address).await.map_err(refused)?;
    let _ = writeln!(anstream::stderr(), "{} serving at http://{}/mcp", style::NOTE, listening.local_addr()?);
    listening.run_until_told().await;
    Ok(Exit::Success)
}

fn server(dispatcher: Dispatcher, matches: &ArgMatches) -> Result<Server, Failure> {
    let rules = |name: &str| matches.get_many::<Rule>(name).into_iter().flatten().cloned();
    let mut filter = rules("allow").fold(Filter::all(), Filter::allow);
    filter = rules("deny").fold(filter, Filter::deny);
    if matches.get_flag("read-only") {
        filter = filter.read_only();
    }
    let mut server = Server::builder(dispatcher)
        .named(program_name(), env!("CARGO_PKG_VERSION"))
        .naming(served_naming(matches))
        .filter(filter)
        .credentials(|tool| credentials::from_environment(tool.requirements()));
    if is_proxy(matches) {
        // Not every client listens to changes.
        server = server.list_ttl(PROXY_TTL);
    }
    if let Some(&n_tools) = matches.get_one::<usize>("list-at-most") {
        server = server.list_at_most(n_tools);
    }
    if let Some(&limit) = matches.get_one::<Duration>("timeout") {
        server = server.call_timeout(limit);
    }
    server.build().map_err(|error| match error {
        ServeError::Catalog(problems) => Failure::Catalog(problems),
        other => Failure::Own { exit: Exit::Failed, kind: "invalid_catalog", message: other.to_string() },
    })
}

/// How clients see the names of tools: those of several servers have little reason to differ, so that they are told
/// apart by their namespace unless something else is asked for.
fn served_naming(matches: &ArgMatches) -> Naming {
    match matches.value_source("naming") {
        Some(ValueSource::DefaultValue) if is_proxy(matches) => Naming::NamespaceName,
        _ => naming(matches),
    }
}

fn is_proxy(matches: &ArgMatches) -> bool {
    cfg!(feature = "proxy") && matches.contains_id("proxy")
}

fn refused(error: HttpError) -> Failure {
    let (kind, message) = match &error {
        HttpError::Unprotected(_) => {
            let fix = format!("set {TOKEN} to a token that clients must have, or give --open-to-all");
            ("unprotected", format!("{error}: {fix}"))
        }
        _ => ("io", error.to_string()),
    };
    Failure::Own { exit: Exit::Failed, kind, message }
}
