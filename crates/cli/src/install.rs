//! `install CLIENT` and `uninstall CLIENT`: the entry of this program in the configuration of an MCP client.
//!
//! | module | part |
//! |---|---|
//! | `client` | the clients, and the entry of the server in their files |
//! | `places` | the directories of these files |
//! | `document` | changes the text after it was checked |
//! | `change` | shows the difference without secrets, and makes the change in the file, or by a command of the client if it has one |

mod change;
mod client;
mod document;
mod places;

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use toolkit::Catalog;
use toolkit_contract::hosts::{self, Host};

use self::client::{Client, Scope};
use self::places::{Os, Places};
use crate::error::{CommandError, Exit};
use crate::options::{option, switch};
use crate::program::Program;
use crate::report::write_lints;

/// Adds the entry of this program, or prints what would change.
pub(crate) fn install(catalog: &Catalog, matches: &ArgMatches, program: &Program) -> Result<Exit, CommandError> {
    let target = target(matches, program)?;
    let launch = client::launch(catalog, matches, program.options.as_ref(), target.client)?;
    let entry = client::Entry::new(target.client, &target.name, &launch);
    let installed = change::install(&target, &entry, matches)?;
    if !matches.get_flag("print") {
        let host = Host::named(target.client.name()).expect("every client is a host");
        write_lints(&mut anstream::stderr(), &hosts::check(catalog.latest(), &target.name, &[host]))?;
    }
    Ok(installed)
}

/// Removes the entry of this program, or prints what would change.
pub(crate) fn uninstall(matches: &ArgMatches, program: &Program) -> Result<Exit, CommandError> {
    change::uninstall(&target(matches, program)?, matches)
}

/// The configuration that changes, and the name of the entry.
struct ChangedConfig {
    client: Client,
    scope: Scope,
    name: String,
    places: Places<'static>,
}

pub(crate) fn install_command() -> Command {
    Command::new("install")
        .about("Add this program to the configuration of an MCP client")
        .long_about(
            "Add this program to the configuration of an MCP client, which then starts `serve` with the arguments after \
             `--`, or connects to the URL of --http.\n\n\
             The change is shown first. On a terminal, it is made after a confirmation; otherwise it is made with --yes. \
             The file is replaced as a whole, after a backup beside it. Only the entry of this program changes: \
             everything else in the file remains, with its comments.\n\n\
             The credentials that the tools require are environment variables of the server. The entry refers to them by \
             their names, and the client reads the values from its environment (Claude Code, Cursor) or asks for them \
             (VS Code). Claude Desktop can do neither, so the values have to be filled in there.\n\n\
             Options of this program that are given here become arguments of `serve`, with absolute paths.",
        )
        .args(shared())
        .args([
            option("http", "URL")
                .value_parser(client::url)
                .help("Connect to a running server at this URL, such as https://example.com/mcp, instead of starting one"),
            option("token-env", "NAME")
                .requires("http")
                .value_parser(client::variable_name)
                .help("Environment variable with the token that the client sends; with --http"),
            option("env", "NAME[=VALUE]")
                .action(ArgAction::Append)
                .conflicts_with("http")
                .help("Pass an environment variable to the server; without VALUE, its value is not stored. May be repeated"),
            switch("dev").conflicts_with("http").help(
                "Start `cargo toolkit dev`, which builds the program at each change; run it with `cargo run`",
            ),
            switch("print").conflicts_with_all(["dry-run", "yes"]).help("Only print the entry, as it is written"),
            Arg::new("arguments")
                .value_name("ARGS")
                .num_args(0..)
                .last(true)
                .conflicts_with("http")
                .help("Arguments of `serve`"),
        ])
}

pub(crate) fn uninstall_command() -> Command {
    Command::new("uninstall").about("Remove this program from the configuration of an MCP client").args(shared())
}

fn shared() -> [Arg; 6] {
    [
        Arg::new("client").value_name("CLIENT").required(true).value_parser(value_parser!(Client)).help("The client"),
        option("name", "NAME").help("Name of the entry [default: the name of this program]"),
        Arg::new("scope")
            .long("scope")
            .value_parser(value_parser!(Scope))
            .default_value("user")
            .help("The configuration of the user, or that of the project in the current directory"),
        switch("dry-run").help("Only show the change"),
        switch("yes").short('y').conflicts_with("dry-run").help("Make the change without a confirmation"),
        switch("force").help("Also change an entry of that name that belongs to another program"),
    ]
}

/// Reads the client, the scope and the name.
fn target(matches: &ArgMatches, program: &Program) -> Result<ChangedConfig, CommandError> {
    let client = *matches.get_one::<Client>("client").expect("clap requires it");
    let scope = *matches.get_one::<Scope>("scope").expect("it has a default");
    let name = matches.get_one::<String>("name").unwrap_or(&program.name);
    let is_valid = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_valid) {
        let message =
            format!("the name {name:?} of the entry must be 1 to 64 letters, digits, `-` and `_`; --name sets it");
        return Err(CommandError::usage(message));
    }
    let places =
        Places { variable: &|name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from) };
    Ok(ChangedConfig { client, scope, name: name.clone(), places })
}

impl ChangedConfig {
    /// Returns the configuration files; none if the client's own command changes them.
    fn files(&self) -> Result<Vec<PathBuf>, CommandError> {
        self.client.files(self.scope, Os::CURRENT, &self.places).map_err(CommandError::usage)
    }
}

/// Returns the error of a configuration that cannot be changed.
fn failed(message: String) -> CommandError {
    CommandError::failed("install", message)
}
