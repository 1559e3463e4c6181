//! The options of `serve`, by protocol.

use clap::{Arg, ArgAction, ArgGroup, Command, value_parser};

use super::token::TOKEN;
use crate::missing::unless;
use crate::options::{duration, naming_option, switch};

const MCP: bool = cfg!(feature = "mcp");
const OTC: bool = cfg!(feature = "otc");

pub(super) fn command() -> Command {
    Command::new("serve")
        .about("Serves the tools to other programs, over MCP or Open Tool Calling, until it is stopped")
        .long_about(format!(
            "Serves the tools to other programs until it receives SIGTERM or Ctrl-C: over the Model Context Protocol on \
             stdin and stdout, with --http at http://ADDR/mcp, or with --otc in the call format of Open Tool Calling.\n\n\
             A server that other machines can reach needs a token, which clients must send. It is read from the \
             environment variable {TOKEN}, or from the one that --token-env names.\n\n\
             The log goes to stderr. RUST_LOG selects what it has, as in RUST_LOG=debug.\n\n\
             A RULE is `namespace=NS`, `tag=TAG`, `hint=HINT` (`read-only`, `destructive`, `idempotent`, `open-world`) or \
             the id of a tool."
        ))
        .group(ArgGroup::new("listen").args(["http", "otc"]))
        .next_help_heading("Model Context Protocol")
        .args(mcp().into_iter().map(|arg| unless(MCP, "mcp", arg.conflicts_with("otc"))))
        .next_help_heading("Open Tool Calling")
        .args(otc().into_iter().map(|arg| unless(OTC, "otc", arg)))
        .next_help_heading("HTTP (with --http or --otc)")
        .args(http())
}

fn mcp() -> Vec<Arg> {
    let rule = |name: &'static str| {
        let rule = Arg::new(name).long(name).value_name("RULE").action(ArgAction::Append);
        #[cfg(feature = "mcp")]
        let rule = rule.value_parser(value_parser!(toolkit_mcp::server::Rule));
        rule
    };
    #[cfg(feature = "proxy")]
    let proxy = super::proxy::options();
    #[cfg(not(feature = "proxy"))]
    let proxy = [unless(false, "proxy", Arg::new("proxy"))];
    let mut options =
        vec![
            Arg::new("http")
                .long("http")
                .value_name("ADDR")
                .value_parser(address)
                .help("Listens at an address, such as 127.0.0.1:8000; a port alone listens on this machine only"),
            rule("allow").help("Serves only these tools; may be given more than once"),
            rule("deny").help("Does not serve these tools; may be given more than once"),
            switch("read-only").help("Serves only tools that change nothing"),
            naming_option(),
            Arg::new("list-at-most").long("list-at-most").value_name("N").value_parser(value_parser!(usize)).help(
                "Above so many tools, lists three tools that search, describe and call the others [default: 128]",
            ),
            Arg::new("timeout")
                .long("timeout")
                .value_name("TIME")
                .value_parser(duration)
                .help("Sets the timeout of a call, such as 30s or 2m [default: 5m]"),
            Arg::new("rate")
                .long("rate")
                .value_name("N")
                .value_parser(value_parser!(u32).range(1..))
                .requires("http")
                .help("Limits the requests per second of each client; with --http"),
            Arg::new("allow-origin")
                .long("allow-origin")
                .value_name("ORIGIN")
                .action(ArgAction::Append)
                .requires("http")
                .help("Answers web pages of this origin too, such as https://example.com; with --http"),
        ];
    options.extend(proxy);
    options
}

fn otc() -> Vec<Arg> {
    #[cfg(feature = "otc")]
    let otc = Arg::new("otc").long("otc").value_name("ADDR").value_parser(super::otc::address);
    #[cfg(not(feature = "otc"))]
    let otc = Arg::new("otc");
    vec![
        otc.help("Listens at an address, such as 127.0.0.1:8080; a port alone listens on this machine only"),
        Arg::new("toolkit")
            .long("toolkit")
            .value_name("NAME")
            .requires("otc")
            .help("Names the toolkit of tools without a namespace [default: the name of this program]"),
        Arg::new("jwt-secret-env")
            .long("jwt-secret-env")
            .value_name("NAME")
            .requires("otc")
            .conflicts_with("token-env")
            .help("Accepts tokens that are signed (HS256) with the secret in this environment variable; with --otc"),
    ]
}

fn http() -> [Arg; 3] {
    [
        Arg::new("token-env")
            .long("token-env")
            .alias("api-key-env")
            .value_name("NAME")
            .requires("listen")
            .help(format!("Names the environment variable that has the token of clients [default: {TOKEN}]")),
        Arg::new("allow-host")
            .long("allow-host")
            .alias("host")
            .value_name("HOST")
            .action(ArgAction::Append)
            .requires("listen")
            .help("Answers to this host name too, besides `localhost`"),
        switch("allow-unauthenticated")
            .aliases(["open-to-all", "anyone"])
            .requires("listen")
            .help("Lets everyone who can reach ADDR call the tools without a token"),
    ]
}

/// An address to listen at; one without a host is reached from this machine only.
fn address(text: &str) -> Result<String, String> {
    let (host, port) = text.rsplit_once(':').unwrap_or(("", text));
    let port: u16 =
        port.parse().map_err(|_| "an address is a host and a port, such as 127.0.0.1:8000, or a port alone")?;
    match host {
        "" => Ok(format!("127.0.0.1:{port}")),
        host => Ok(format!("{host}:{port}")),
    }
}
