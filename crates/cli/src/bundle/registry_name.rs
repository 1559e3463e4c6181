//! The name of a server in the MCP registry.

use clap::Arg;

/// Creates the option `--name`.
pub(super) fn option() -> Arg {
    Arg::new("name")
        .long("name")
        .value_name("NAME")
        .required(true)
        .value_parser(parse)
        .help("Name in the MCP registry, such as io.github.USER/NAME")
}

/// Parses a name: a reverse domain, a slash, and a name.
fn parse(text: &str) -> Result<String, String> {
    let expected =
        || "expected a reverse domain and a name, such as io.github.USER/NAME, of at most 200 characters".to_owned();
    let (namespace, name) = text.split_once('/').ok_or_else(expected)?;
    let is_in = |text: &str, other: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || other.contains(c))
    };
    match is_in(namespace, ".-") && is_in(name, "._-") && text.len() <= 200 {
        true => Ok(text.to_owned()),
        false => Err(expected()),
    }
}
