//! A tool-calling agent: the tools of this package, any provider, plain HTTP.
//!
//! ```sh
//! cargo run -p toolkit-examples --example agent -- --api anthropic --model NAME "How many lines has README.md?"
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`provider`] | what differs between providers, as data |
//! | [`connection`] | one request and its reply |
//! | [`agent`] | the loop |
//! | [`terminal`] | output, and approval of calls |

mod agent;
mod connection;
mod provider;
mod terminal;

use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use toolkit::{Catalog, Dispatcher};
use toolkit_examples::Root;

use self::agent::{Agent, End, Limits};
use self::connection::Connection;
use self::provider::{PROVIDERS, Provider};

fn command() -> Command {
    let number = |name: &'static str| Arg::new(name).long(name).value_name("N").value_parser(value_parser!(u64));
    Command::new("agent")
        .about("Answers a question with the tools of this package, on the files of this directory")
        .args([
            Arg::new("api")
                .long("api")
                .required(true)
                .help("The API of the provider")
                .value_parser(PROVIDERS.each_ref().map(|provider| provider.name)),
            Arg::new("model").long("model").required(true).help("The model, as the provider names it"),
            Arg::new("url").long("url").help("The base URL of the API, if it is not that of the provider"),
            number("max-turns").default_value("20").help("The maximum number of requests"),
            number("max-calls").default_value("100").help("The maximum number of tool calls"),
            number("max-tokens").help("The maximum number of tokens of all requests and replies"),
            Arg::new("yes").long("yes").action(ArgAction::SetTrue).help("Approves all calls without a question"),
            Arg::new("question").required(true).help("The question"),
        ])
}

/// Runs the agent. Exit codes: 0 with an answer, 1 after an error, 2 for wrong arguments, 3 at a limit, 4 if the model
/// stopped without an answer, 130 after Ctrl-C.
#[tokio::main]
async fn main() -> ExitCode {
    let (message, code) = match run(&command().get_matches()).await {
        Ok(End::Answered) => return ExitCode::SUCCESS,
        Ok(End::Limit(limit)) => (limit, 3),
        Ok(End::Stopped(reason)) => (format!("the model stopped without an answer: {reason}"), 4),
        Ok(End::Interrupted) => ("interrupted".to_owned(), 130),
        Err(error) => (format!("error: {error:#}"), 1),
    };
    eprintln!("{}", terminal::printable(&message));
    ExitCode::from(code)
}

async fn run(arguments: &ArgMatches) -> anyhow::Result<End> {
    let text = |name: &str| arguments.get_one::<String>(name).map_or("", String::as_str);
    let number = |name: &str| arguments.get_one::<u64>(name).copied().unwrap_or(u64::MAX);
    let provider = Provider::named(text("api"))?;
    let dispatcher = Dispatcher::builder(Catalog::linked()?)
        .state(Root::writable(".")?)
        .layer(terminal::approval(arguments.get_flag("yes")))
        .build()?;
    let agent = Agent {
        connection: Connection::new(provider, arguments.get_one("url").map(String::as_str), text("model"))?,
        tools: (provider.tools)(dispatcher.catalog())?,
        dispatcher,
        limits: Limits { turns: number("max-turns"), calls: number("max-calls"), tokens: number("max-tokens") },
    };
    agent.answer(text("question")).await
}
