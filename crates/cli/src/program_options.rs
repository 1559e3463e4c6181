//! The options that the author of a program declares, in its command line, and in what starts the program.

use std::ffi::{OsStr, OsString};
use std::path;

use clap::builder::Resettable;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, ValueHint};

use crate::error::CommandError;
use crate::options::program_name;

/// The heading of the options in `--help`.
const HEADING: &str = "Options of this program";

/// The commands that run tools, or write down how the program is started. Others do without options that are required.
const NEED_ALL: [&str; 6] = ["call", "chain", "check", "install", "run", "serve"];

/// The options of a program, which stand before or after its commands.
pub(crate) struct ProgramOptions {
    /// The type that declares the options.
    type_name: &'static str,
    declared: Command,
    /// Each occurrence in the command line of this process, with its values.
    given: Vec<(Arg, Vec<OsString>)>,
}

impl ProgramOptions {
    pub(crate) fn new<O: Args>() -> Self {
        let command = Command::new("options").no_binary_name(true).disable_help_flag(true).disable_version_flag(true);
        let mut declared = O::augment_args(command);
        declared.build();
        Self { type_name: std::any::type_name::<O>(), declared, given: Vec::new() }
    }

    /// Adds the options to a command line and each of its commands.
    pub(crate) fn add_to(&self, command: Command) -> Result<Command, CommandError> {
        let mut mistakes = Vec::new();
        for arg in self.args() {
            if arg.is_positional() {
                let id = arg.get_id();
                mistakes.push(format!("`{id}` has no name on the command line; write `#[arg(long)]`"));
            }
            let names = arg.get_long_and_visible_aliases().unwrap_or_default().into_iter();
            let names = names.map(|long| format!("--{long}")).chain(arg.get_short().map(|short| format!("-{short}")));
            for name in names {
                let commands = commands_with(&command, &name, "");
                let other = if name.starts_with("--") { "long = \"OTHER\"" } else { "short = 'O'" };
                if let Some((last, others)) = commands.split_last() {
                    let commands =
                        if others.is_empty() { last.clone() } else { format!("{} and {last}", others.join(", ")) };
                    mistakes.push(format!("`{name}` is an option of {commands} too; write `#[arg({other})]`"));
                }
            }
        }
        if self.declared.has_subcommands() {
            mistakes.push("it has commands; declare options only".to_owned());
        }
        match &*mistakes {
            [] => Ok(with_args(command, &self.args().map(without_rules).collect::<Vec<_>>())),
            mistakes => Err(CommandError::failed("options", format!("{}: {}", self.type_name, mistakes.join("; ")))),
        }
    }

    /// Reads the options in the command line of a command. Returns `None` if one is absent that another command requires.
    pub(crate) fn read(&mut self, command: &str, matches: &ArgMatches) -> Result<Option<ArgMatches>, CommandError> {
        self.given = self.occurrences(matches);
        let words = self.given.iter().flat_map(|(arg, values)| words(arg, values));
        let declared = self.declared.clone().override_usage(format!("{} [OPTIONS] {command} …", program_name()));
        match declared.mut_args(without_empty_variable).try_get_matches_from(words) {
            Ok(matches) => Ok(Some(matches)),
            Err(error) if error.kind() == ErrorKind::MissingRequiredArgument && !NEED_ALL.contains(&command) => {
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the words of a command line without what a client writes for settings that its user left empty or off, before
    /// the command: `--db=` and `--read-only=false`.
    pub(crate) fn without_empty(&self, words: &[OsString]) -> Vec<OsString> {
        let mut words = words.iter().cloned();
        let mut kept: Vec<OsString> = words.next().into_iter().collect();
        for word in words.by_ref() {
            let text = word.to_string_lossy().into_owned();
            let option = text.strip_prefix("--").and_then(|text| text.split_once('='));
            let arg = option.and_then(|(long, _)| self.args().find(|arg| arg.get_long() == Some(long)));
            match (option, arg) {
                (Some((_, "")), Some(_)) => {}
                (Some((_, "false")), Some(arg)) if is_switch(arg) => {}
                (Some((long, "true")), Some(arg)) if is_switch(arg) => kept.push(format!("--{long}").into()),
                _ if text.starts_with("--") => kept.push(word),
                _ => {
                    kept.push(word);
                    break;
                }
            }
        }
        kept.extend(words);
        kept
    }

    /// Returns the words that start the program with the options of this process in any directory.
    pub(crate) fn words_anywhere(&self) -> Result<Vec<String>, CommandError> {
        let mut all = Vec::new();
        for (arg, values) in &self.given {
            let mut values = values.clone();
            if let Some(variable) = secret(arg) {
                let message = format!("`{}` is secret, and is not stored in a configuration", name(arg));
                return Err(CommandError::usage(format!("{message}; its entry refers to the variable {variable}")));
            }
            if is_path(arg) {
                values =
                    values.iter().map(path::absolute).map(|path| path.map(OsString::from)).collect::<Result<_, _>>()?;
            }
            all.extend(words(arg, &values));
        }
        let text = |word: OsString| {
            word.into_string().map_err(|word| {
                let message = "an option must be UTF-8 to be part of a configuration";
                CommandError::usage(format!("{}: {message}", word.display()))
            })
        };
        all.into_iter().map(text).collect()
    }

    /// Returns the declared options that are not in the command line of this process.
    pub(crate) fn args_not_given(&self) -> impl Iterator<Item = &Arg> {
        self.args().filter(|arg| self.given.iter().all(|(given, _)| given.get_id() != arg.get_id()))
    }

    /// Returns the name of an option in the command line of this process.
    pub(crate) fn first_given(&self) -> Option<String> {
        self.given.first().map(|(arg, _)| name(arg))
    }

    /// Returns the declared options.
    pub(crate) fn args(&self) -> impl Iterator<Item = &Arg> {
        self.declared.get_arguments()
    }

    fn occurrences(&self, mut matches: &ArgMatches) -> Vec<(Arg, Vec<OsString>)> {
        let mut found = Vec::new();
        loop {
            for arg in self.args() {
                let id = id(arg);
                // The words after the id of a tool are those of the tool.
                let Ok(Some(occurrences)) = matches.try_get_raw_occurrences(&id) else { continue };
                if matches.value_source(&id) == Some(ValueSource::CommandLine) {
                    found.extend(occurrences.map(|values| (arg.clone(), values.map(OsStr::to_owned).collect())));
                }
            }
            match matches.subcommand() {
                Some((_, of_command)) => matches = of_command,
                None => return found,
            }
        }
    }
}

/// Returns true for an option without a value.
pub(crate) fn is_switch(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue | ArgAction::SetFalse)
}

/// Returns true for an option that takes the path of a file or a directory.
pub(crate) fn is_path(arg: &Arg) -> bool {
    matches!(
        arg.get_value_hint(),
        ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath | ValueHint::ExecutablePath
    )
}

/// Returns the environment variable of an option whose value `--help` hides.
pub(crate) fn secret(arg: &Arg) -> Option<String> {
    let variable = arg.get_env().filter(|_| arg.is_hide_env_values_set());
    variable.map(|variable| variable.to_string_lossy().into_owned())
}

/// Returns the name of an option on the command line.
pub(crate) fn name(arg: &Arg) -> String {
    match (arg.get_long(), arg.get_short()) {
        (Some(long), _) => format!("--{long}"),
        (None, Some(short)) => format!("-{short}"),
        (None, None) => arg.get_id().to_string(),
    }
}

/// Returns the id of an option in a command line, in which a command may have an option of the same id.
fn id(arg: &Arg) -> String {
    format!("program:{}", arg.get_id())
}

/// Returns the commands with an option of this name, behind the names of the commands above them.
fn commands_with(command: &Command, name: &str, above: &str) -> Vec<String> {
    if ["--help", "--version", "-h", "-V"].contains(&name) {
        return vec!["every command".to_owned()];
    }
    let is_name = |arg: &Arg| {
        let long = |long: &str| name.strip_prefix("--") == Some(long);
        let short = |short: char| name.strip_prefix('-').is_some_and(|text| text.chars().eq([short]));
        arg.get_long_and_visible_aliases().unwrap_or_default().into_iter().any(long)
            || arg.get_short_and_visible_aliases().unwrap_or_default().into_iter().any(short)
    };
    let mut found = Vec::new();
    for command in command.get_subcommands() {
        let path = format!("{above}{}", command.get_name());
        if command.get_arguments().any(is_name) {
            found.push(format!("`{path}`"));
        }
        found.extend(commands_with(command, name, &format!("{path} ")));
    }
    found
}

/// Returns an option of a command line, whose occurrences the declared options check afterwards.
fn without_rules(arg: &Arg) -> Arg {
    let heading = arg.get_help_heading().unwrap_or(HEADING).to_owned();
    let arg = arg.clone().id(id(arg)).required(false).help_heading(heading);
    let arg = arg.conflicts_with(Resettable::Reset).requires(Resettable::Reset).overrides_with(Resettable::Reset);
    without_empty_variable(arg.required_unless_present(Resettable::Reset).exclusive(false))
}

/// Returns an option that does not read its environment variable if that is empty: a client passes on an empty text for a
/// variable that its user has not set.
fn without_empty_variable(arg: Arg) -> Arg {
    let is_empty = arg.get_env().and_then(std::env::var_os).is_some_and(|value| value.is_empty());
    if is_empty { arg.env(Resettable::Reset) } else { arg }
}

/// Adds options to a command and its commands.
fn with_args(command: Command, args: &[Arg]) -> Command {
    let is_own = |command: &Command| !command.is_hide_set();
    let command = if is_own(&command) { command.args(args) } else { command };
    command.mut_subcommands(|command| with_args(command, args))
}

/// Returns the words of one occurrence of an option.
fn words(arg: &Arg, values: &[OsString]) -> Vec<OsString> {
    let name = OsString::from(name(arg));
    if !arg.get_action().takes_values() {
        // The value of `ArgAction::Count` is the number of its occurrences.
        let n = values.first().and_then(|value| value.to_str()?.parse().ok()).unwrap_or(1);
        return vec![name; n];
    }
    match (values, arg.get_long()) {
        ([value], Some(_)) => {
            let mut word = name;
            word.push("=");
            word.push(value);
            vec![word]
        }
        _ => [&[name], values].concat(),
    }
}
