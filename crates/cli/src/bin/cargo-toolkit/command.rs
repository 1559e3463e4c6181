//! The command line of `cargo toolkit`. The command and its arguments are passed to the generated program.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

pub(crate) fn program() -> Command {
    let switch = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
    Command::new("cargo toolkit")
        .bin_name("cargo toolkit")
        .about("List, search, call, export, check and serve the tools of a library")
        .after_help(
            "Commands: list, search, show, call, export, cost, check, diff, completions, serve, status, login, logout, install, uninstall, bundle; see `cargo toolkit COMMAND --help`.\n\n\
             Tools with injected state require a binary with `toolkit_cli::main_with` for `call`, `check` and `serve`.",
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
                .help("Path to the Cargo.toml of the package or its workspace"),
            Arg::new("package")
                .short('p')
                .long("package")
                .value_name("NAME")
                .help("Package with the tools, if the workspace has several"),
            Arg::new("features")
                .short('F')
                .long("features")
                .value_name("FEATURES")
                .action(ArgAction::Append)
                .value_delimiter(',')
                .help("Comma-separated list of features of the package"),
            switch("all-features").help("Enable all features of the package"),
            switch("no-default-features").help("Disable the default features of the package"),
            switch("release").short('r').help("Build with optimizations"),
            switch("offline").help("Build without network access"),
        ])
}

/// Returns the command and its arguments.
pub(crate) fn command_and_arguments(matches: &ArgMatches) -> Vec<OsString> {
    let Some((command, matches)) = matches.subcommand() else {
        return Vec::new();
    };
    let rest = matches.get_many::<OsString>("").unwrap_or_default();
    std::iter::once(OsString::from(command)).chain(rest.cloned()).collect()
}

/// Returns the features of `toolkit-cli` that the command requires, so that `list` does not compile a server.
pub(crate) fn features(matches: &ArgMatches) -> Vec<&'static str> {
    let words = command_and_arguments(matches);
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let has = |option: &str| {
        let is_it = |word: &str| word.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='));
        words.iter().any(|word| is_it(word))
    };
    // The help of a command contains all of its options.
    let is_help = has("-h") || has("--help");
    let mut features = Vec::new();
    match words.first() {
        Some(&"serve") => {
            features.push("mcp");
            features.extend((is_help || has("--proxy")).then_some("proxy"));
            features.extend((is_help || has("--otc")).then_some("otc"));
            features.extend((is_help || has("--nats-tools")).then_some("nats"));
            features.extend(has("--nats-tools").then_some("proxy"));
            features.extend((is_help || has("--code")).then_some("code"));
        }
        Some(&"run") => features.push("code"),
        Some(&"export") => {
            features.extend((is_help || has("otc") || has("--format=otc")).then_some("otc"));
            features.extend((is_help || has("html") || has("--format=html")).then_some("html"));
        }
        Some(&"search") => features.extend((is_help || has("--model")).then_some("embed")),
        Some(&("status" | "login" | "logout")) => features.push("proxy"),
        Some(&("install" | "uninstall" | "bundle")) => features.push("install"),
        Some(&"cost") => features.extend(["mcp", "otc"]),
        _ => {}
    }
    features.extend(has("--nats").then_some("nats"));
    features
}
