//! Checks of the `examples` argument.

use syn::LitStr;

use crate::field::{Kind, kind};
use crate::json::{self, Json};
use crate::json_name;
use crate::parameter::Argument;
use crate::report::{Report, suggest};

/// Reports examples that are not JSON objects, or that have an unknown argument or a value of the wrong kind.
pub(crate) fn check(examples: &[LitStr], arguments: &[&Argument], report: &mut Report) {
    for example in examples {
        match json::members(&example.value()) {
            Err(reason) => report.error(example, reason),
            // The macro cannot see whether any other sole argument is an argument struct.
            Ok(_) if arguments.len() == 1 && !arguments[0].is_named() && kind(&arguments[0].ty).is_none() => {}
            Ok(members) => {
                for (name, found) in members {
                    if let Err(reason) = check_member(&name, found, arguments) {
                        report.error(example, reason);
                    }
                }
            }
        }
    }
}

fn check_member(name: &str, found: Json, arguments: &[&Argument]) -> Result<(), String> {
    let names: Option<Vec<Vec<String>>> = arguments.iter().map(|argument| json_name::all(argument)).collect();
    // The macro cannot see the names that `flatten` adds.
    let Some(names) = names else {
        return Ok(());
    };
    let Some(place) = names.iter().position(|names| names.iter().any(|other| other == name)) else {
        let all: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
        return Err(match suggest(name, &all) {
            Some(near) => format!("the example has `{name}`, which is not an argument; did you mean `{near}`?"),
            None => format!("the example has `{name}`, which is not an argument"),
        });
    };
    let argument = arguments[place];
    let Some(expected) = kind(&argument.ty).filter(|_| !argument.has_conversion()) else {
        return Ok(());
    };
    let (fits, expected) = match expected {
        Kind::Number => (matches!(found, Json::Integer | Json::Number), "a number"),
        Kind::Text => (found == Json::String, "a string"),
        Kind::List => (found == Json::Array, "an array"),
        Kind::Bool => (found == Json::Bool, "a boolean"),
    };
    // `null` counts as absent.
    match fits || found == Json::Null {
        true => Ok(()),
        false => Err(format!("the example has {} for `{name}`, which must be {expected}", found.name())),
    }
}
