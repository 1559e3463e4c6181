//! A tool-calling agent: the tools of this package, any provider, plain HTTP.
//!
//! ```sh
//! cargo run -p toolkit-examples --example agent -- --api anthropic --model NAME "How many lines has README.md?"
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`connection`] | one request and its response |
//! | [`agent`] | the loop |
//! | [`terminal`] | output, and approval of calls |

mod agent;
mod connection;
mod terminal;

use std::process::ExitCode;

use anyhow::Context;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use toolkit::{Catalog, Dispatcher};
use toolkit_examples::Root;
use toolkit_providers::reply::Api;
use toolkit_providers::request::{Conversation, NextStep, Request};

use self::connection::Connection;

fn command() -> Command {
    let number = |name: &'static str| Arg::new(name).long(name).value_name("N").value_parser(value_parser!(u64));
    Command::new("agent")
        .about("Answers a question with the tools of this package, on the files of this directory")
        .args([
            Arg::new("api")
                .long("api")
                .required(true)
                .help("The API of the provider")
                .value_parser(Api::all().map(Api::id).collect::<Vec<_>>()),
            Arg::new("model").long("model").required(true).help("The model, as the provider names it"),
            Arg::new("url").long("url").help("The base URL of the API, if it is not that of the provider"),
            number("max-turns").default_value("20").help("The maximum number of requests"),
            number("max-calls").default_value("100").help("The maximum number of tool calls"),
            number("max-tokens").help("The maximum number of tokens of all requests and replies"),
            number("max-retries").default_value("4").help("How often a request is sent again in a row"),
            Arg::new("yes").long("yes").action(ArgAction::SetTrue).help("Approves all calls without a question"),
            Arg::new("question").required(true).help("The question"),
        ])
}

/// Runs the agent. Exit codes: 0 with an answer, 1 after an error, 2 for wrong arguments, 3 at a limit, 4 if the model
/// stopped without an answer, 130 after Ctrl-C.
#[tokio::main]
async fn main() -> ExitCode {
    let (message, code) = match run(&command().get_matches()).await {
        Ok(Some(NextStep::Limit(limit))) => (limit, 3),
        Ok(Some(NextStep::Stopped(reason))) => (reason, 4),
        Ok(Some(_)) => return ExitCode::SUCCESS,
        Ok(None) => ("interrupted".to_owned(), 130),
        Err(error) => (format!("error: {error:#}"), 1),
    };
    eprintln!("{}", terminal::printable(&message));
    ExitCode::from(code)
}

async fn run(arguments: &ArgMatches) -> anyhow::Result<Option<NextStep>> {
    let text = |name: &str| arguments.get_one::<String>(name).map_or("", String::as_str);
    let number = |name: &str| arguments.get_one::<u64>(name).copied().unwrap_or(u64::MAX);
    let api = Api::with_id(text("api")).context("no such API")?;
    let dispatcher = Dispatcher::builder(Catalog::linked()?)
        .state(Root::writable(".")?)
        .layer(terminal::approval(arguments.get_flag("yes")))
        .build()?;
    let url = arguments.get_one::<String>("url");
    let mut request = Request::new(api, text("model")).tools(&api.export(dispatcher.catalog())?).user(text("question"));
    if let Some(url) = url {
        request = request.url(url);
    }
    let chat = Conversation::new(request.streamed())
        .max_turns(number("max-turns"))
        .max_calls(number("max-calls"))
        .max_tokens(number("max-tokens"))
        .max_retries(u32::try_from(number("max-retries"))?);
    let last = agent::answer(&Connection::new(api, url.map(String::as_str))?, &dispatcher, chat).await?;
    println!();
    Ok(last)
}
