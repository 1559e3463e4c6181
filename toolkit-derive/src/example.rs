//! The examples of a tool, as far as the macro knows its arguments.

use syn::LitStr;

use crate::field::{Kind, kind};
use crate::json::{self, Json};
use crate::json_name;
use crate::parameter::Argument;
use crate::report::{Report, suggest};

/// Reports examples that are not JSON, or name or hold what no argument takes.
pub(crate) fn check(examples: &[LitStr], arguments: &[&Argument], report: &mut Report) {
    for example in examples {
        match json::members(&example.value()) {
            Err(reason) => report.error(example, reason),
            // Of other sole arguments only rustc knows whether their fields are the arguments.
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
    // Under `flatten` there are names that the macro cannot see.
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
    let Some(expected) = kind(&argument.ty).filter(|_| !argument.is_converted()) else {
        return Ok(());
    };
    let (fits, expected) = match expected {
        Kind::Number => (matches!(found, Json::Integer | Json::Number), "a number"),
        Kind::Text => (found == Json::String, "a string"),
        Kind::List => (found == Json::Array, "an array"),
        Kind::Bool => (found == Json::Bool, "a boolean"),
    };
    // An argument that may be absent may be null.
    match fits || found == Json::Null {
        true => Ok(()),
        false => Err(format!("the example has {} for `{name}`, which is {expected}", found.name())),
    }
}
