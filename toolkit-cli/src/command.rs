//! The command line, as far as it does not depend on the tools.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use toolkit::catalog::Naming;

use crate::{Program, missing};

const EXIT_CODES: &str = "\
Exit codes:
  0    it worked
  1    the tool failed, its schema refused the arguments, or the catalogue has problems
  2    the command line is wrong: an unknown command, flag or tool, or a value that a flag cannot take
  130  Ctrl-C stopped the call

With --json, stdout has exactly one JSON document; an error is {\"error\": {\"kind\", \"message\", ...}}.";

/// The whole command line of a program.
pub(crate) fn of(program: &Program) -> Command {
    let command = Command::new(program_name());
    let command = match &program.version {
        // What is printed is the program's own name, not that of the file.
        Some(version) => command.display_name(program.name.clone()).version(version.clone()),
        None => command,
    };
    command
        .bin_name(program_name())
        .about("Lists, finds, shows, calls and checks the tools of this program")
        .after_help(EXIT_CODES)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .subcommands([list(), search(), show(), call(), export(), cost(), check(), diff(), completions()])
        .subcommand(crate::serve::command())
}

/// What the user typed to get here.
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

fn list() -> Command {
    Command::new("list")
        .about("Lists the tools")
        .long_about(
            "Lists the tools.\n\nOn a terminal, as a table that fits it; otherwise one tool a line, as id, hints and \
             summary with tabs between.",
        )
        .args([
            Arg::new("namespace").long("namespace").value_name("NS").help("Only tools of this namespace"),
            Arg::new("tag")
                .long("tag")
                .value_name("TAG")
                .action(ArgAction::Append)
                .help("Only tools with this tag; given more than once, with all of them"),
            switch("all-versions").help("Every version of each tool, not only the highest"),
            json("One JSON array of records, without schemas"),
        ])
}

fn search() -> Command {
    Command::new("search")
        .about("Finds the tools that answer a question")
        .long_about(
            "Finds the tools that answer a question, the best first.\n\nWhat the tools say of themselves is searched: \
             names, tags, descriptions and arguments, in any form of the words. Words of names may be mistyped, or not \
             typed to their end. On a terminal, as a table that fits it; otherwise one tool a line, as id, score and \
             summary with tabs between.",
        )
        .args([
            Arg::new("question").value_name("QUESTION").required(true).num_args(1..).help("What the tool should do"),
            Arg::new("limit")
                .short('n')
                .long("limit")
                .value_name("N")
                .value_parser(value_parser!(u32).range(1..))
                .default_value("5")
                .help("How many tools at most"),
            Arg::new("namespace").long("namespace").value_name("NS").help("Only tools of this namespace"),
            Arg::new("tag")
                .long("tag")
                .value_name("TAG")
                .action(ArgAction::Append)
                .help("Only tools with this tag; given more than once, with any of them"),
            switch("all-versions").help("Every version of each tool, not only the highest"),
            json("One JSON array of summaries and scores"),
        ])
        .arg(model())
}

fn model() -> Arg {
    let model = Arg::new("model").long("model").value_name("FOLDER").value_parser(value_parser!(PathBuf));
    let model = model.help("Finds by what is meant, too, with the sentence-embedding model in this folder");
    missing::unless(cfg!(feature = "embed"), "embed", model)
}

fn show() -> Command {
    Command::new("show")
        .about("Shows everything about a tool")
        .args([tool_id(), json("The tool's record with its schemas")])
}

/// The tool's own flags are not known yet, so its name and all that follows is an external subcommand.
fn call() -> Command {
    Command::new("call")
        .about("Calls a tool")
        .long_about(
            "Calls a tool.\n\nIts arguments are one JSON object, flags, or both; a flag wins over the JSON. `-` reads \
             the JSON from stdin. `call ID --help` shows the flags of a tool.\n\nWhat a tool requires is taken from the \
             environment: a secret under its own name, the token of a provider under `PROVIDER_TOKEN`, the user's id \
             under `USER_ID`.",
        )
        .override_usage(format!("{} call [OPTIONS] <ID> [JSON | -] [--FLAG VALUE]...", program_name()))
        .allow_external_subcommands(true)
        .external_subcommand_value_parser(value_parser!(OsString))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .args(call_options())
}

/// The options of `call` itself; they may stand on either side of the tool's name.
pub(crate) fn call_options() -> [Arg; 4] {
    [
        json("The whole result as JSON: tool, structured, content, changes"),
        switch("lenient").help("Reads \"3\" as 3 where the schema wants a number, and the like; says what it changed"),
        switch("stream")
            .help("Prints each part of the result when it is there, one JSON document a line; with --json every event"),
        Arg::new("timeout")
            .long("timeout")
            .value_name("TIME")
            .value_parser(duration)
            .help("Gives up after this long, such as 30s, 500ms or 2m; a shorter limit of the tool's own holds"),
    ]
}

fn export() -> Command {
    let export = Command::new("export").about("Writes the catalogue in the words of another system");
    #[cfg(feature = "otc")]
    let export = export.arg(crate::otc::toolkit());
    export.args([
        Arg::new("format")
            .long("format")
            .value_parser(PossibleValuesParser::new(crate::export::formats()))
            .default_value("mcp")
            .help("For whom"),
        switch("strict")
            .help("Holds the model to the schema, for every tool for which that is possible (openai, anthropic)"),
        switch("defer-loading")
            .help("Gives the model the parameters of a tool once it has searched for it (openai, anthropic)"),
        switch("namespaces").help("Puts the tools of one namespace together (openai)"),
        switch("losses").help("Says on stderr all that the format has no words for"),
        Arg::new("revision")
            .long("revision")
            .value_parser(["2025-11-25", "2026-07-28"])
            .default_value("2026-07-28")
            .help("The revision of the protocol (mcp)"),
        naming_option(),
        Arg::new("output")
            .short('o')
            .long("output")
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .default_value("-")
            .hide_default_value(true)
            .help("Where to; `-`, or nothing, is stdout"),
    ])
}

fn cost() -> Command {
    let cost = Command::new("cost").about("Says how many tokens a model reads the tools with").long_about(
        "Says how many tokens a model reads the tools with: in every format, or with --format tool by tool, those that \
         cost most first.\n\nWhat is counted is the JSON as it is sent; the description and the two schemas are parts of \
         it. On a terminal, as a table; otherwise one row a line, with tabs between.",
    );
    #[cfg(feature = "otc")]
    let cost = cost.arg(crate::otc::toolkit());
    cost.args([
        Arg::new("format")
            .long("format")
            .value_parser(PossibleValuesParser::new(crate::cost::FORMATS))
            .help("For whom; tool by tool"),
        Arg::new("top")
            .long("top")
            .value_name("N")
            .value_parser(value_parser!(u32).range(1..))
            .default_value("10")
            .help("How many tools at most"),
        switch("strict").help("Holds the model to the schema, as in `export`"),
        naming_option(),
        json("The costs as JSON"),
    ])
}

fn check() -> Command {
    Command::new("check")
        .about("Checks every tool: ids, schemas, examples, wire names, state types, and what a model makes of it")
        .args([
            naming_option(),
            json("The problems as JSON"),
            Arg::new("lock").long("lock").value_name("FILE").help(
                "Compares with the catalogue in this file instead: fails on a change that breaks callers unannounced",
            ),
            Arg::new("allow")
                .long("allow")
                .value_name("RULE")
                .action(ArgAction::Append)
                .value_parser(|code: &str| code.parse::<toolkit::lint::Rule>())
                .help("Switches a rule off, by the code that stands behind each finding"),
            switch("limits").conflicts_with_all(["lock", "manifest"]).help(
                "Says how much of the providers' limits the tools use up, with every tool as strict as it can be",
            ),
            switch("update").requires("lock").help("Writes the file"),
            switch("sarif").requires("lock").help("The changes as SARIF, for code hosts"),
            Arg::new("manifest")
                .value_name("FILE")
                .num_args(1..)
                .help("Checks the tools that others published, as `tools/list` gives them, instead of this program's"),
        ])
}

fn diff() -> Command {
    let file = |name: &'static str, value: &'static str| {
        Arg::new(name).value_name(value).required(true).help("A manifest, as `tools/list` gives it, or a lock")
    };
    Command::new("diff")
        .about("Says what has changed between two manifests, and whether it breaks callers; fails if it does")
        .args([
            file("old", "OLD"),
            file("new", "NEW"),
            json("The changes as JSON"),
            switch("sarif").help("The changes as SARIF, for code hosts"),
        ])
}

fn completions() -> Command {
    Command::new("completions")
        .about("Prints a completion script that knows the tools and their flags")
        .arg(Arg::new("shell").value_name("SHELL").required(true).value_parser(value_parser!(clap_complete::Shell)))
}

pub(crate) fn tool_id() -> Arg {
    Arg::new("id")
        .value_name("ID")
        .required(true)
        .help("The tool: `namespace:name:version`, or less where that is enough")
}

fn json(help: &'static str) -> Arg {
    switch("json").help(help)
}

pub(crate) fn switch(name: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue)
}

pub(crate) fn naming_option() -> Arg {
    Arg::new("naming")
        .long("naming")
        .value_parser(["name", "namespace-name"])
        .default_value("namespace-name")
        .help("How clients see the names of tools: `math_add` or `add`")
}

/// What `--naming` says.
pub(crate) fn naming(matches: &ArgMatches) -> Naming {
    match matches.get_one::<String>("naming").map(String::as_str) {
        Some("name") => Naming::Name,
        _ => Naming::NamespaceName,
    }
}

/// A number and its unit; a number alone is seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let invalid = || "a time is a number and a unit, such as 30s, 500ms or 2m".to_owned();
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
        _ => Err("a time limit is more than nothing, and finite".to_owned()),
    }
}
