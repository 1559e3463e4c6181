//! `call`: calls a tool.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use toolkit::call::Change;
use toolkit::dispatch::DispatcherBuilder;
use toolkit::stream::{CallStream, Event};
use toolkit::{Arguments, Catalog, Coercion, Content, Context, Dispatcher, RunResult, Tool};
use toolkit_runtime::read_bounded;

use crate::error::{CommandError, Configure, Exit};
use crate::flags::{self, Flag};
use crate::options::program_name;
use crate::program_options::ProgramOptions;
use crate::style::{self, content_line, printable};
use crate::{credentials, foreground, nats, program_options, proxied, runtime};

/// Returns the command. The flags of the tool are unknown at this point, so its id and the following words are an external
/// subcommand.
pub(crate) fn command() -> Command {
    Command::new("call")
        .about("Call a tool")
        .long_about(
            "Call a tool.\n\nThe arguments are a JSON object, flags, or both, but each argument only once. `-` reads the \
             JSON from stdin. `call ID --help` lists the flags of a tool.\n\nRequired credentials are read from the \
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
        .args(
            proxied::options("Call a tool of the MCP servers in FILE, which has the format of `serve --proxy`")
                .map(|option| option.conflicts_with("nats")),
        )
}

pub(crate) fn run(
    linked: impl FnOnce() -> Result<Catalog, CommandError>,
    matches: &ArgMatches,
    configure: Configure<DispatcherBuilder>,
    program: &str,
    options: Option<&ProgramOptions>,
) -> Result<Exit, CommandError> {
    // The tools of workers take the place of those of the program.
    let linked = if matches.contains_id("nats") { Catalog::new([])? } else { linked()? };
    let moved;
    let matches = match connection_first(&linked, matches) {
        Some(words) => {
            moved = command().try_get_matches_from(words)?;
            &moved
        }
        None => matches,
    };
    let runtime = runtime::create()?;
    let mut servers = None;
    let (catalog, routes) = match nats::collect(matches, &runtime)? {
        Some((catalog, routes)) => (catalog, Some(routes)),
        None if matches.contains_id("proxy") => {
            let proxied = runtime.block_on(proxied::with_servers(linked, matches, [].iter(), program))?;
            proxied.warn();
            servers = Some(proxied.servers);
            (proxied.catalog, Some(proxied.routes))
        }
        None => (linked, None),
    };
    let (name, tool_matches) = matches.subcommand().expect("clap rejects `call` without a tool");
    let tool = catalog.resolve(name).map_err(|error| CommandError::unresolved(&catalog, name, error))?;
    let flags = flags::from_schema(tool.input().as_value());
    let words = tool_matches.get_many::<OsString>("").unwrap_or_default();
    let words: Vec<&OsString> = words.collect();
    let (mut command, parsed, unknown) = parse(tool, &flags, &words);
    if let Some(error) = unknown.iter().find_map(|name| misplaced(&format!("--{name}"), tool, options)) {
        return Err(error);
    }
    let tool_matches = match parsed {
        Ok(matches) if !is_assignment(&matches, &flags) => matches,
        Err(error) if error.kind() != ErrorKind::UnknownArgument => return Err(error.into()),
        read => match as_flags(&words, &flags) {
            Some(spelled) => {
                let id = tool.id().unversioned();
                let message = format!("arguments are flags or a JSON object; write `call {id} {spelled}`");
                return Err(CommandError::usage(message));
            }
            None => read.map_err(|error| unexpected(&error, tool, &flags, options).unwrap_or(error.into()))?,
        },
    };
    if let Some(text) = tool_matches.get_one::<String>("arguments").filter(|text| is_bare_word(text)) {
        return Err(CommandError::usage(format!("`{}` is not JSON; {}", printable(text), forms(tool, &flags))));
    }
    let arguments = read(&mut command, &tool_matches, &flags, &unknown)?;
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
    let own_timeout = tool.timeout();

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
    let outcome = runtime.block_on(foreground::until_done(context, time_limit, own_timeout, async move |context| {
        if parts != Streaming::None {
            return print(dispatcher.stream_with(&context, &id, arguments), parts).await;
        }
        let result = dispatcher.call_with(&context, &id, arguments).await.map_err(CommandError::Tool)?;
        Ok(Finished { result, is_printed: false })
    }));
    if let Some(servers) = servers {
        runtime.block_on(servers.stop());
    }
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
        write_as_json(&result)?;
    } else {
        write(&result)?;
    }
    Ok(Exit::Success)
}

/// Parses the words after the id of a tool. Returns the command, its matches, and the flags that the tool does not have: the schema
/// rejects their arguments, together with all others that are wrong, if it rejects what it does not declare.
fn parse(
    tool: &Tool,
    flags: &[Flag<'_>],
    words: &[&OsString],
) -> (Command, Result<ArgMatches, clap::Error>, Vec<String>) {
    let is_closed = tool.input().as_value()["additionalProperties"] == false;
    let mut unknown: Vec<String> = Vec::new();
    loop {
        let mut command = unknown.iter().fold(flags::command(tool, flags), |command, name| {
            let arg = Arg::new(format!("--{name}")).long(name.clone()).action(ArgAction::Append);
            command.arg(arg.num_args(0..=1).allow_negative_numbers(true))
        });
        let parsed = command.try_get_matches_from_mut(words);
        let name = parsed.as_ref().err().and_then(unknown_flag).map(str::to_owned);
        match name.filter(|name| is_closed && !unknown.contains(name)) {
            Some(name) => unknown.push(name),
            None => return (command, parsed, unknown),
        }
    }
}

/// Returns the name of a flag that the command does not have.
fn unknown_flag(error: &clap::Error) -> Option<&str> {
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) if error.kind() == ErrorKind::UnknownArgument => {
            word.strip_prefix("--").filter(|name| !name.is_empty())
        }
        _ => None,
    }
}

/// Returns the words of the command line with the options of a connection, such as `--proxy FILE`, before the id of the tool, if
/// they stand after the id of a tool of another server.
fn connection_first(own: &Catalog, matches: &ArgMatches) -> Option<Vec<OsString>> {
    let (name, _) = matches.subcommand()?;
    // The flags of an own tool may have the same names.
    if ["proxy", "nats"].iter().any(|option| matches.contains_id(option)) || own.resolve(name).is_ok() {
        return None;
    }
    let connections = [proxied::options("").to_vec(), nats::options("")].concat();
    let mut words = std::env::args_os().skip(2);
    let (mut first, mut rest) = (vec![OsString::from("call")], Vec::new());
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let (long, value) = text.split_once('=').map_or((&*text, None), |(long, value)| (long, Some(value)));
        let option = connections.iter().find(|option| option.get_long() == long.strip_prefix("--"));
        match option.map(|option| option.get_action().takes_values() && value.is_none()) {
            Some(is_followed) => {
                first.push(word);
                first.extend(words.by_ref().take(usize::from(is_followed)));
            }
            None => rest.push(word),
        }
    }
    let is_moved = first.len() > 1;
    is_moved.then(|| [first, rest].concat())
}

fn note_deprecation(tool: &Tool, name: &str) {
    let Some(instead) = tool.deprecated() else {
        return;
    };
    let (name, instead) = (printable(name), printable(instead));
    let _ = writeln!(anstream::stderr(), "{} `{name}` is deprecated: {instead}", style::WARNING);
}

/// Returns true if the place of the JSON has `NAME=VALUE`, as other command lines write arguments.
fn is_assignment(matches: &ArgMatches, flags: &[Flag<'_>]) -> bool {
    matches.get_one::<String>("arguments").is_some_and(|text| assigned(text, flags).is_some())
}

/// Reads `NAME=VALUE`, where the tool has an argument of that name.
fn assigned<'w>(word: &'w str, flags: &[Flag<'_>]) -> Option<(String, &'w str)> {
    let (name, value) = word.split_once('=')?;
    let flag = flags.iter().find(|flag| flag.is_reachable() && (flag.long == name || flag.path.join(".") == name))?;
    Some((flag.long.clone(), value))
}

/// Returns true for a text that was not meant as JSON, such as the value of an argument without its flag.
fn is_bare_word(text: &str) -> bool {
    !text.trim_start().starts_with(['{', '[', '-']) && serde_json::from_str::<IgnoredAny>(text).is_err()
}

/// Returns the error of a word that is neither a flag of the tool nor its JSON, unless clap suggests another flag.
fn unexpected(
    error: &clap::Error,
    tool: &Tool,
    flags: &[Flag<'_>],
    options: Option<&ProgramOptions>,
) -> Option<CommandError> {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return None };
    if let Some(error) = misplaced(word, tool, options) {
        return Some(error);
    }
    if error.get(ContextKind::SuggestedArg).is_some() {
        return None;
    }
    let what = if word.starts_with('-') { "is not a flag of this tool" } else { "is unexpected" };
    Some(CommandError::usage(format!("`{}` {what}; {}", printable(word), forms(tool, flags))))
}

/// Returns the error of an option of the program among the words of a tool.
fn misplaced(word: &str, tool: &Tool, options: Option<&ProgramOptions>) -> Option<CommandError> {
    options?.args().find(|arg| program_options::name(arg) == word)?;
    let (program, id) = (program_name(), tool.id().unversioned());
    let message = format!("`{word}` is an option of this program, and stands before the tool");
    Some(CommandError::usage(format!("{message}; write `{program} {word} … call {id}`")))
}

/// Describes how the arguments of a tool are written.
fn forms(tool: &Tool, flags: &[Flag<'_>]) -> String {
    // The flags of nested objects follow, and `--help` lists them.
    let top = flags.iter().filter(|flag| flag.is_reachable() && flag.path.len() == 1);
    let top: Vec<String> = top.map(|flag| format!("--{}", flag.long)).collect();
    let id = tool.id().unversioned();
    match top.is_empty() {
        true => format!("`{id}` has no flags, and takes one JSON object"),
        false => format!("write each argument of `{id}` as a flag ({}), or all as one JSON object", top.join(", ")),
    }
}

/// Spells words such as `a=1` as flags. Returns `None` if there are none.
fn as_flags(words: &[&OsString], flags: &[Flag<'_>]) -> Option<String> {
    let mut has_assignment = false;
    let spelled: Vec<String> = words
        .iter()
        .map(|word| word.to_string_lossy())
        .map(|word| match assigned(&word, flags) {
            Some((long, value)) => {
                has_assignment = true;
                format!("--{long} {}", style::shell_word(value))
            }
            None => style::shell_word(&word),
        })
        .collect();
    has_assignment.then(|| spelled.join(" "))
}

/// The maximum size of arguments on stdin. A dispatcher has a lower limit by default.
const MAX_ARGUMENT_BYTES: u64 = 256 << 20;

/// Reads the arguments from the command line, and from stdin for `-`. An argument is in the JSON or has a flag.
fn read(
    command: &mut Command,
    matches: &ArgMatches,
    flags: &[Flag<'_>],
    unknown: &[String],
) -> Result<Arguments<'static>, CommandError> {
    let json = match matches.get_one::<String>("arguments").map(String::as_str) {
        None => Arguments::NONE,
        Some("-") => read_bounded(std::io::stdin().lock(), MAX_ARGUMENT_BYTES)?.into(),
        Some(text) => text.to_owned().into(),
    };
    let given: Vec<(&Flag<'_>, Value)> = flags
        .iter()
        .filter(|flag| flag.is_reachable())
        .filter_map(|flag| Some((flag, value(matches, flag)?)))
        .collect();
    if given.is_empty() && unknown.is_empty() {
        // The dispatcher parses the text, with better error messages.
        return Ok(json);
    }
    let Value::Object(mut arguments) = json.to_value()? else {
        let message = "flags can be combined with a JSON object only, and the JSON is not an object";
        return Err(command.error(ErrorKind::ValueValidation, message).into());
    };
    for (flag, value) in &given {
        let (head, rest) = flag.path.split_first().expect("a flag is for a property");
        let stated = rest.iter().try_fold(arguments.get(*head), |object, key| object.map(|object| object.get(*key)));
        if let Some(Some(stated)) = stated
            && stated != value
        {
            let message = format!(
                "the argument `{0}` is {stated} in the JSON and {value} by the flag --{1}; leave one of them out",
                flag.path.join("."),
                flag.long,
            );
            return Err(command.error(ErrorKind::ArgumentConflict, printable(&message)).into());
        }
    }
    // Flags are sorted by depth, so `--point.x` changes the value of `--point`.
    for (flag, value) in given {
        set(&mut arguments, &flag.path, value);
    }
    for name in unknown {
        set(&mut arguments, &name.split('.').collect::<Vec<_>>(), Value::Null);
    }
    Ok(Value::Object(arguments).into())
}

fn value(matches: &ArgMatches, flag: &Flag<'_>) -> Option<Value> {
    let mut values = matches.get_many::<Value>(&flag.id())?.cloned();
    if let Some(takes_whole_list) = flag.list() {
        let items = values.flat_map(|value| match value {
            Value::Array(items) if takes_whole_list => items,
            item => vec![item],
        });
        return Some(items.collect());
    }
    values.next()
}

/// Inserts `value` at `path`, and creates missing objects on the way.
fn set(object: &mut Map<String, Value>, path: &[&str], value: Value) {
    match path {
        [] => {}
        [key] => {
            object.insert((*key).to_owned(), value);
        }
        [key, rest @ ..] => {
            let slot = object.entry(*key).or_insert(Value::Null);
            if !slot.is_object() {
                *slot = Value::Object(Map::new());
            }
            if let Value::Object(object) = slot {
                set(object, rest, value);
            }
        }
    }
}

/// The output of a call while it runs.
#[derive(Clone, Copy, PartialEq)]
enum Streaming {
    /// Nothing.
    None,
    /// The items of the result, one JSON document per line.
    Items,
    /// Every event, one JSON document per line.
    Events,
}

/// A call that has succeeded.
struct Finished {
    result: RunResult,
    /// True if the result was printed while the call ran.
    is_printed: bool,
}

/// Prints the events of a call, and returns its result.
async fn print(mut events: CallStream, parts: Streaming) -> Result<Finished, CommandError> {
    let mut is_printed = parts == Streaming::Events;
    while let Some(event) = events.next().await {
        if parts == Streaming::Events {
            style::write_line(&serde_json::to_string(&event).map_err(io::Error::from)?)?;
        }
        match event.event {
            Event::Chunk(chunk) if parts == Streaming::Items => {
                is_printed = true;
                style::write_line(chunk.json())?;
            }
            Event::Done(result) => return Ok(Finished { result, is_printed }),
            Event::Error(error) => return Err(CommandError::Tool(error)),
            _ => {}
        }
    }
    Err(io::Error::from(io::ErrorKind::UnexpectedEof).into())
}

/// The result as JSON.
#[derive(Serialize)]
struct JsonResult<'r> {
    tool: &'r str,
    structured: Option<&'r RawValue>,
    content: &'r [Content],
    changes: &'r [Change],
}

/// Writes the result, its content and its changes as one JSON document.
fn write_as_json(result: &RunResult) -> io::Result<()> {
    let structured = result.json().map(serde_json::from_slice::<&RawValue>);
    style::write_json(&JsonResult {
        tool: result.tool(),
        structured: structured.transpose()?,
        content: &result.content(),
        changes: result.changes(),
    })
}

/// Writes the result, formatted for a terminal or as is for a pipe.
fn write(result: &RunResult) -> io::Result<()> {
    if io::stdout().is_terminal() {
        return write_for_terminal(result);
    }
    match result.json() {
        // Not parsed, since parsing could round numbers.
        Some(json) => {
            style::write_line(&String::from_utf8_lossy(json))?;
            let mut err = anstream::stderr();
            for block in own_media(result) {
                let _ = writeln!(err, "{}", printable(&content_line(&block)));
            }
            Ok(())
        }
        None => {
            for block in result.content().iter() {
                style::write_line(&content_line(block))?;
            }
            Ok(())
        }
    }
}

fn write_for_terminal(result: &RunResult) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    if result.json().is_some() {
        let text = match result.value() {
            serde_json::Value::String(text) => printable(&text).into_owned(),
            value => style::indented(&value)?,
        };
        writeln!(out, "{text}")?;
        for block in own_media(result) {
            writeln!(out, "{}", printable(&content_line(&block)))?;
        }
    } else {
        for block in result.content().iter() {
            writeln!(out, "{}", printable(&content_line(block)))?;
        }
    }
    Ok(())
}

/// Returns the content blocks other than text, which a structured result does not contain.
fn own_media(result: &RunResult) -> Vec<Content> {
    let mut blocks = result.content().into_owned();
    blocks.retain(|block| !matches!(block, Content::Text { .. }));
    blocks
}
