//! The command line of `cargo toolkit` itself; the command and what follows belongs to the program that is built.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

pub(crate) fn program() -> Command {
    let switch = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
    Command::new("cargo toolkit")
        .bin_name("cargo toolkit")
        .about("Lists, finds, shows, calls, checks and serves the tools of a library")
        .after_help(
            "Commands: list, search, show, call, export, cost, check, diff, completions, serve; `cargo toolkit COMMAND --help` says more.\n\n\
             Tools that borrow state need a program of their own, with `toolkit_cli::main_with`; of them, too, \
             everything but `call` and `check` works.",
        )
        .override_usage("cargo toolkit [OPTIONS] <COMMAND> [ARGS]...")
        .allow_external_subcommands(true)
        .external_subcommand_value_parser(value_parser!(OsString))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .args([
            Arg::new("manifest-path")
                .long("manifest-path")
                .value_name("PATH")
                .value_parser(value_parser!(PathBuf))
                .help("The Cargo.toml of the package, or of its workspace"),
            Arg::new("package")
                .short('p')
                .long("package")
                .value_name("NAME")
                .help("The package, where the workspace has several"),
            Arg::new("features")
                .short('F')
                .long("features")
                .value_name("FEATURES")
                .action(ArgAction::Append)
                .value_delimiter(',')
                .help("Features of the package, separated by commas"),
            switch("all-features").help("All features of the package"),
            switch("no-default-features").help("Without its default features"),
            switch("release").short('r').help("Builds with optimisations"),
            switch("offline").help("Builds without the network"),
        ])
}

/// The command and its arguments, as they were typed.
pub(crate) fn passed_on(matches: &ArgMatches) -> Vec<OsString> {
    let Some((command, matches)) = matches.subcommand() else {
        return Vec::new();
    };
    let rest = matches.get_many::<OsString>("").unwrap_or_default();
    std::iter::once(OsString::from(command)).chain(rest.cloned()).collect()
}

/// The features of `toolkit-cli` that the command needs: who lists tools need not build a server first.
pub(crate) fn features(matches: &ArgMatches) -> Vec<&'static str> {
    let words = passed_on(matches);
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let has = |option: &str| {
        let is_it = |word: &str| word.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='));
        words.iter().any(|word| is_it(word))
    };
    // The help of a command has all of its options.
    let is_help = has("-h") || has("--help");
    let mut features = Vec::new();
    match words.first() {
        Some(&"serve") => {
            features.push("mcp");
            features.extend((is_help || has("--proxy")).then_some("proxy"));
            features.extend((is_help || has("--otc")).then_some("otc"));
        }
        Some(&"export") => {
            features.extend((is_help || has("otc") || has("--format=otc")).then_some("otc"));
            features.extend((is_help || has("html") || has("--format=html")).then_some("html"));
        }
        Some(&"search") => features.extend((is_help || has("--model")).then_some("embed")),
        Some(&"cost") => features.extend(["mcp", "otc"]),
        _ => {}
    }
    features
}
