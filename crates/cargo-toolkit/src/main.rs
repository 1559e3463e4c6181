//! `cargo toolkit`: the command line of `toolkit-cli` for a package without a binary.
//!
//! It generates, builds and runs a program that links the library. The program is in the target directory of the workspace
//! and shares its build. `cargo toolkit new` writes such a library, or a program.
#![forbid(unsafe_code)]

mod dev;
mod guard;
mod new;
mod package;
mod program;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::{Arg, ArgAction, ArgMatches, value_parser};

use self::package::Package;

/// The exit code of an invalid command line, as in the generated program.
const USAGE: u8 = 2;
/// The exit code of a failed build.
const FAILED: u8 = 1;

fn main() -> ExitCode {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    // cargo runs `cargo-toolkit toolkit …`; users may run `cargo-toolkit …`.
    if words.get(1).is_some_and(|word| word == "toolkit") {
        words.remove(1);
    }
    if words.get(1).is_some_and(|word| word == guard::OPTION) {
        return guard::run(&words[2..]);
    }
    let matches = match command_line().try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { USAGE } else { 0 });
        }
    };
    if let Some(("new", matches)) = matches.subcommand() {
        return match new::run(matches) {
            Ok(next) => {
                // Errors while writing to stdout cannot be reported.
                let _ = write!(anstream::stdout(), "{next}");
                ExitCode::SUCCESS
            }
            Err(message) => fail(&message, FAILED),
        };
    }
    if let Some(("dev", options)) = matches.subcommand() {
        return dev::run(&matches, options).unwrap_or_else(|message| fail(&message, USAGE));
    }
    let (name, _) = matches.subcommand().expect("clap rejects a command line without a command");
    if !commands().any(|(command, _)| command == name) {
        let names: Vec<&str> = ["new", "dev"].into_iter().chain(commands().map(|(command, _)| command)).collect();
        return fail(&format!("there is no command `{name}`; the commands are {}", names.join(", ")), USAGE);
    }
    let package = match Package::find(&matches) {
        Ok(package) => package,
        Err(message) => return fail(&message, USAGE),
    };
    let words = command_and_arguments(&matches);
    let executable = match program::build(&package, &matches, &words) {
        Ok(executable) => executable,
        Err(message) => return fail(&message, FAILED),
    };
    let mut command = Command::new(executable);
    command.args(words).env("TOOLKIT_PROGRAM", "cargo toolkit");
    replace_process(command)
}

/// Replaces this process with `command`, which then handles Ctrl-C and sets the exit code.
#[cfg(unix)]
fn replace_process(mut command: Command) -> ExitCode {
    use std::os::unix::process::CommandExt;

    let error = command.exec();
    fail(&format!("cannot run the program: {error}"), FAILED)
}

/// Runs `command` and returns its exit code.
#[cfg(not(unix))]
fn replace_process(mut command: Command) -> ExitCode {
    let code = command.status().ok().and_then(|status| status.code());
    let code = code.and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}

fn fail(message: &str, code: u8) -> ExitCode {
    say(&format!("error: {message}"));
    ExitCode::from(code)
}

/// Writes a line to stderr, with the reasons of the operating system but without its numbers.
fn say(line: &str) {
    let mut parts = line.split(" (os error ");
    let first = parts.next().unwrap_or_default().to_owned();
    let line = parts.fold(first, |text, part| text + part.split_once(')').map_or("", |(_, rest)| rest));
    // Errors while writing to stderr cannot be reported.
    let _ = writeln!(anstream::stderr(), "{line}");
}

fn command_line() -> clap::Command {
    clap::Command::new("cargo toolkit")
        .bin_name("cargo toolkit")
        .version(env!("CARGO_PKG_VERSION"))
        .about("List, search, call, export, check and serve the tools of a library")
        .after_help(format!(
            "Commands for the tools of a library, in its directory; `cargo toolkit COMMAND --help` has their options:\n{}\n\
             Tools with injected state need a program for `call`, `check` and `serve`, which `cargo toolkit new` writes.",
            commands().map(|(name, about)| format!("  {name:<14} {about}\n")).collect::<String>()
        ))
        .override_usage("cargo toolkit [OPTIONS] <COMMAND> [ARGS]...")
        .allow_external_subcommands(true)
        .external_subcommand_value_parser(value_parser!(OsString))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .subcommand(new::command())
        .subcommand(dev::command())
        .args(package_options())
}

/// Returns the options that select the package and its build.
pub(crate) fn package_options() -> [Arg; 7] {
    let switch = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
    [
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
    ]
}

/// Returns the commands of `toolkit-cli` with all features, each with its summary.
fn commands() -> impl Iterator<Item = (&'static str, &'static str)> {
    include_str!("commands.txt").lines().filter_map(|line| line.split_once('\t'))
}

/// Returns the command and its arguments.
fn command_and_arguments(matches: &ArgMatches) -> Vec<OsString> {
    let Some((command, matches)) = matches.subcommand() else {
        return Vec::new();
    };
    let rest = matches.get_many::<OsString>("").unwrap_or_default();
    std::iter::once(OsString::from(command)).chain(rest.cloned()).collect()
}

/// Returns the features of `toolkit-cli` that the command requires, so that `list` does not compile a server.
pub(crate) fn features(words: &[OsString]) -> Vec<&'static str> {
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
            // A server lists `search_tools` in place of a long list.
            features.extend(["mcp", "search"]);
            features.extend((is_help || has("--http") || has("--health")).then_some("http"));
            features.extend((is_help || has("--otc")).then_some("otc"));
            features.extend((is_help || has("--nats-tools")).then_some("nats"));
            features.extend((is_help || has("--nats-tools")).then_some("proxy"));
            features.extend((is_help || has("--code")).then_some("code"));
            features.extend((is_help || has("--explorer")).then_some("explorer"));
            features.extend((is_help || has("--openapi")).then_some("openapi"));
        }
        Some(&("run" | "serve-sandbox")) => features.push("code"),
        Some(&"chain") => features.push(if words.get(1) == Some(&"run") { "chain" } else { "durable" }),
        Some(&"check") => {
            features.push("export");
            features.extend((is_help || has("--calls")).then_some("calls"));
        }
        Some(&"export") => {
            features.push("export");
            features.extend((is_help || has("otc") || has("--format=otc")).then_some("otc"));
            features.extend((is_help || has("html") || has("--format=html")).then_some("html"));
        }
        Some(&"search") => features.push(if is_help || has("--model") { "embed" } else { "search" }),
        Some(&("status" | "login" | "logout")) => features.push("proxy"),
        Some(&"bundle") => features.push("bundle"),
        Some(&("install" | "uninstall")) => features.push("install"),
        Some(&"cost") => features.extend(["mcp", "otc", "search"]),
        _ => {}
    }
    for (option, feature) in [("--nats", "nats"), ("--proxy", "proxy"), ("--durable", "durable")] {
        features.extend(has(option).then_some(feature));
    }
    features.sort_unstable();
    features.dedup();
    features
}
