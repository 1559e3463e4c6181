//! `call`: calls a tool.

mod input;
mod output;

use std::ffi::OsString;
use std::io::Write;
use std::time::Duration;

use clap::{ArgMatches, Command, value_parser};
use toolkit::dispatch::DispatcherBuilder;
use toolkit::{Catalog, Coercion, Context, Dispatcher, Tool};

use self::output::{Finished, Streaming};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::options::program_name;
use crate::program::Configure;
use crate::style::{self, printable};
use crate::{credentials, flags, foreground, nats, runtime};

/// Returns the command. The flags of the tool are unknown at this point, so its id and the following words are an external
/// subcommand.
pub(crate) fn command() -> Command {
    Command::new("call")
        .about("Call a tool")
        .long_about(
            "Call a tool.\n\nThe arguments are a JSON object, flags, or both; flags take precedence. `-` reads the JSON \
             from stdin. `call ID --help` lists the flags of a tool.\n\nRequired credentials are read from the \
             environment: a secret from the variable of the same name, the token of a provider from `PROVIDER_TOKEN`, \
             and the id of the user from `USER_ID`.",
        )
        .override_usage(format!("{} call [OPTIONS] <ID> [JSON | -] [--FLAG VALUE]...", program_name()))
        .allow_external_subcommands(true)
        .external_subcommand_value_parser(value_parser!(OsString))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .args(flags::call_options())
        .args(nats::options("Call a tool of the workers at this NATS server, such as nats://localhost"))
}

pub(crate) fn run(
    linked: impl FnOnce() -> Result<Catalog, CommandError>,
    matches: &ArgMatches,
    configure: Configure<DispatcherBuilder>,
) -> Result<Exit, CommandError> {
    let runtime = runtime::create()?;
    let (catalog, routes) = match nats::collect(matches, &runtime)? {
        Some((catalog, routes)) => (catalog, Some(routes)),
        None => (linked()?, None),
    };
    let (name, tool_matches) = matches.subcommand().expect("clap rejects `call` without a tool");
    let tool = catalog.resolve(name)?;
    let flags = flags::from_schema(tool.input().as_value());
    let words = tool_matches.get_many::<OsString>("").unwrap_or_default();
    let mut command = flags::command(tool, &flags);
    let tool_matches = command.try_get_matches_from_mut(words)?;
    let arguments = input::read(&mut command, &tool_matches, &flags)?;
    note_deprecation(tool, name);

    let is_set = |option: &str| matches.get_flag(option) || tool_matches.get_flag(option);
    let time_limit = |matches: &ArgMatches| matches.get_one::<Duration>("timeout").copied();
    let time_limit = time_limit(&tool_matches).or_else(|| time_limit(matches));
    let (whole, lenient) = (is_set("json"), is_set("lenient"));
    let parts = match (is_set("stream"), whole) {
        (false, _) => Streaming::None,
        (true, false) => Streaming::Items,
        (true, true) => Streaming::Events,
    };
    let id = tool.id().to_string();
    let requirements = tool.requirements().clone();

    let dispatcher = {
        let _on_runtime = runtime.enter();
        let builder = Dispatcher::builder(catalog);
        let builder = configure(builder).map_err(CommandError::Setup)?;
        // After the configuration, whose routes would lead to the functions of this program.
        let builder = routes.into_iter().fold(builder, DispatcherBuilder::routes);
        let builder = if lenient { builder.coercion(Coercion::Lenient) } else { builder };
        builder.build()?
    };
    runtime::silence_panics();
    let context = Context::new().with_credentials(credentials::from_environment(&requirements));
    let outcome = runtime.block_on(foreground::until_done(context, time_limit, async move |context| {
        if parts != Streaming::None {
            return output::print(dispatcher.stream_with(&context, &id, arguments), parts).await;
        }
        let result = dispatcher.call_with(&context, &id, arguments).await.map_err(CommandError::Tool)?;
        Ok(Finished { result, is_printed: false })
    }));
    // A tool that is still running must not keep the process alive.
    runtime.shutdown_background();
    let Finished { result, is_printed } = outcome?;
    for change in result.changes() {
        let _ = writeln!(anstream::stderr(), "{} {}", style::NOTE, printable(&change.to_string()));
    }
    if is_printed {
        return Ok(Exit::Success);
    }
    if whole {
        output::write_as_json(&result)?;
    } else {
        output::write(&result)?;
    }
    Ok(Exit::Success)
}

fn note_deprecation(tool: &Tool, name: &str) {
    let Some(instead) = tool.deprecated() else {
        return;
    };
    let (name, instead) = (printable(name), printable(instead));
    let _ = writeln!(anstream::stderr(), "{} `{name}` is deprecated: {instead}", style::WARNING);
}
