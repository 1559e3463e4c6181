//! The arguments of the call, from JSON and flags.

use std::io::Read;

use clap::error::ErrorKind;
use clap::{ArgMatches, Command};
use serde_json::{Map, Value};
use toolkit::Arguments;

use crate::error::CommandError;
use crate::flags::Flag;

/// Reads the arguments from the command line, and from stdin for `-`. Flags take precedence over the JSON.
pub(super) fn read(
    command: &mut Command,
    matches: &ArgMatches,
    flags: &[Flag<'_>],
) -> Result<Arguments<'static>, CommandError> {
    let json = match matches.get_one::<String>("arguments").map(String::as_str) {
        None => Arguments::NONE,
        Some("-") => {
            let mut text = Vec::new();
            std::io::stdin().lock().read_to_end(&mut text)?;
            text.into()
        }
        Some(text) => text.to_owned().into(),
    };
    let given: Vec<(&Flag<'_>, Value)> = flags
        .iter()
        .filter(|flag| flag.is_reachable())
        .filter_map(|flag| Some((flag, value(matches, flag)?)))
        .collect();
    if given.is_empty() {
        // The dispatcher parses the text, with better error messages.
        return Ok(json);
    }
    let Value::Object(mut arguments) = json.to_value()? else {
        let message = "flags can be combined with a JSON object only, and the JSON is not an object";
        return Err(command.error(ErrorKind::ValueValidation, message).into());
    };
    // Flags are sorted by depth, so `--point.x` changes the value of `--point`.
    for (flag, value) in given {
        set(&mut arguments, &flag.path, value);
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
