//! Options of several commands, and the name of the program.

use std::path::Path;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches};
use toolkit::catalog::Naming;

/// Returns the name of the program as the user typed it.
pub(crate) fn program_name() -> String {
    if let Ok(name) = std::env::var("TOOLKIT_PROGRAM") {
        return name;
    }
    let path = std::env::args_os().next().unwrap_or_default();
    let stem = Path::new(&path).file_stem().unwrap_or_default();
    match stem.to_string_lossy() {
        name if name.is_empty() => "tools".to_owned(),
        name => name.into_owned(),
    }
}

/// Creates the switch `--json`.
pub(crate) fn json_switch(help: &'static str) -> Arg {
    switch("json").help(help)
}

/// Creates an option without a value.
pub(crate) fn switch(name: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue)
}

/// Creates the option `--naming`.
pub(crate) fn naming_option() -> Arg {
    Arg::new("naming")
        .long("naming")
        .value_parser(["name", "namespace-name"])
        .default_value("namespace-name")
        .help("Form of tool names for clients: `math_add` or `add`")
}

/// Returns the value of `--naming`.
pub(crate) fn naming(matches: &ArgMatches) -> Naming {
    match matches.get_one::<String>("naming").map(String::as_str) {
        Some("name") => Naming::Name,
        _ => Naming::NamespaceName,
    }
}

/// Parses a duration: a number and a unit, or a number of seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let invalid = || "expected a number and a unit, such as 30s, 500ms or 2m".to_owned();
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic());
    let (number, unit) = text.split_at(unit_at.unwrap_or(text.len()));
    let seconds_in_unit = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(invalid()),
    };
    let number: f64 = number.trim().parse().map_err(|_| invalid())?;
    match Duration::try_from_secs_f64(number * seconds_in_unit) {
        Ok(time) if !time.is_zero() => Ok(time),
        _ => Err("a duration must be positive and finite".to_owned()),
    }
}
