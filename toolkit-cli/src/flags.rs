//! The flags of a tool, made from its input schema.

mod value;

use std::collections::HashSet;

use clap::{Arg, ArgAction, Command};
use serde_json::Value;
use toolkit::Tool;

use crate::options::{duration, json_switch, program_name, switch};
use crate::shape::{Kind, Property, Shape, constraints};
use crate::style::printable;

/// A property that can be given as a flag.
#[derive(Debug)]
pub(crate) struct Flag<'s> {
    /// The flag without its dashes.
    pub(crate) long: String,
    /// The property as the author spells it, where that is another flag.
    alias: Option<String>,
    /// The keys from the root to it.
    pub(crate) path: Vec<&'s str>,
    property: Property<'s>,
}

/// The options of `call` itself. A property of such a name is a flag behind `arg-`.
const RESERVED: [&str; 5] = ["help", "json", "lenient", "stream", "timeout"];
/// Deeper objects are given as JSON; a recursive type has no end of flags.
const MAX_DEPTH: usize = 3;
/// A page of help with more flags than this is of no use.
const MAX_FLAGS: usize = 400;

/// Creates the options of `call` itself; they may stand on either side of the tool's name.
pub(crate) fn call_options() -> [Arg; 4] {
    [
        json_switch("The whole result as JSON: tool, structured, content, changes"),
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

/// Returns the flags for the properties under `schema`, nested ones after the object that they are in. A property that no
/// flag can name is among them, without one.
pub(crate) fn of(schema: &Value) -> Vec<Flag<'_>> {
    let mut found = Vec::new();
    if let Kind::Object(properties) = Shape::of(schema).kind() {
        add(properties, &[], true, &mut found);
    }
    name(&mut found);
    found
}

fn add<'s>(properties: Vec<Property<'s>>, parent: &[&'s str], is_needed: bool, found: &mut Vec<Flag<'s>>) {
    for mut property in properties {
        // What an object needs is needed only where the object is.
        property.required &= is_needed;
        if found.len() == MAX_FLAGS {
            return;
        }
        let path = [parent, &[property.name]].concat();
        let nested = match property.kind() {
            Kind::Object(properties) if path.len() < MAX_DEPTH => properties,
            _ => Vec::new(),
        };
        let is_needed = property.required;
        found.push(Flag { long: String::new(), alias: None, path: path.clone(), property });
        add(nested, &path, is_needed, found);
    }
}

/// Gives every flag a name that no other has. A property that is spelled as its flag comes first, so `dry-run` keeps
/// `--dry-run` where there is a `dry_run` too, which is then `--dry_run`.
fn name(flags: &mut [Flag<'_>]) {
    let mut taken: HashSet<String> = RESERVED.map(str::to_owned).into();
    let spelled_as_flag = |flag: &Flag<'_>| !flag.path.iter().any(|key| key.contains('_'));
    let (exact, rest): (Vec<_>, Vec<_>) = flags.iter_mut().partition(|flag| spelled_as_flag(flag));
    for flag in exact.into_iter().chain(rest) {
        if !flag.path.iter().all(|key| is_word(key)) {
            continue;
        }
        let spelled = flag.path.join(".");
        let kebab = spelled.replace('_', "-");
        let behind_arg = (1..).map(|n| format!("{}{kebab}", "arg-".repeat(n)));
        let candidates = [kebab.clone(), spelled.clone()].into_iter().chain(behind_arg);
        for candidate in candidates {
            if !candidate.starts_with('-') && taken.insert(candidate.clone()) {
                flag.long = candidate;
                break;
            }
        }
        if taken.insert(spelled.clone()) {
            flag.alias = Some(spelled);
        }
    }
}

/// Returns true if a key can be part of a flag; any other is reached through JSON.
fn is_word(key: &str) -> bool {
    key.chars().any(char::is_alphanumeric)
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$' | '@' | '/'))
}

/// Creates the command line of one tool, which follows its name.
pub(crate) fn command(tool: &Tool, flags: &[Flag<'_>]) -> Command {
    let bin_name = format!("{} call {}", program_name(), tool.id().unversioned());
    let arguments =
        Arg::new("arguments").value_name("JSON").help("The arguments as a JSON object; `-` reads it from stdin");
    Command::new(bin_name.clone())
        .bin_name(bin_name)
        .no_binary_name(true)
        .disable_help_subcommand(true)
        .about(printable(&tool.summary()).into_owned())
        .long_about(printable(tool.description()).into_owned())
        .args(call_options())
        .arg(arguments)
        .next_help_heading("Arguments of the tool")
        .args(flags.iter().filter(|flag| flag.is_reachable()).map(Flag::arg))
        .after_help(only_through_json(flags))
}

fn only_through_json(flags: &[Flag<'_>]) -> String {
    let unreachable = flags.iter().filter(|flag| !flag.is_reachable());
    let paths = unreachable.map(|flag| Value::from(flag.path.join(".")).to_string());
    let paths: Vec<String> = paths.collect();
    if paths.is_empty() {
        return String::new();
    }
    format!("Only through JSON: {}", printable(&paths.join(", ")))
}

impl Flag<'_> {
    /// Returns the id of the argument in clap; no option of `call` has such a name.
    pub(crate) fn id(&self) -> String {
        // A JSON Pointer: no two paths have the same one.
        let keys = self.path.iter().map(|key| key.replace('~', "~0").replace('/', "~1"));
        keys.map(|key| format!("/{key}")).collect()
    }

    /// Returns true if there is a flag for the property.
    pub(crate) fn is_reachable(&self) -> bool {
        !self.long.is_empty()
    }

    /// Returns, for a list, whether one flag may give several items, as a JSON array.
    pub(crate) fn list(&self) -> Option<bool> {
        match self.property.kind() {
            Kind::List(items) => Some(value::takes_whole_list(&items.kind())),
            _ => None,
        }
    }

    fn arg(&self) -> Arg {
        let kind = self.property.kind();
        let arg = Arg::new(self.id())
            .long(self.long.clone())
            .value_name(value::placeholder(&kind))
            .value_parser(value::parser(&kind, self.property.is_nullable()))
            .help(self.help());
        let arg = match &self.alias {
            Some(alias) => arg.alias(alias.clone()),
            None => arg,
        };
        match kind {
            Kind::Boolean => {
                arg.hide_possible_values(true).num_args(0..=1).require_equals(true).default_missing_value("true")
            }
            Kind::List(_) => arg.action(ArgAction::Append).allow_hyphen_values(true),
            // As getopt has it, the word behind a flag is its value: `--text "-5 degrees"`, `--n -5`.
            _ => arg.allow_hyphen_values(true),
        }
    }

    fn help(&self) -> String {
        let mut parts = Vec::new();
        if let Some(description) = self.property.description() {
            parts.push(printable(description).into_owned());
        }
        let limits = self.property.shape().map(constraints).unwrap_or_default();
        if !limits.is_empty() {
            parts.push(format!("({})", printable(&limits.join("; "))));
        }
        if self.list().is_some() {
            parts.push("[repeatable]".to_owned());
        }
        match self.property.default() {
            Some(default) => parts.push(format!("[default: {}]", printable(&default))),
            None if self.property.required => parts.push("[required]".to_owned()),
            None => {}
        }
        parts.join(" ")
    }
}
