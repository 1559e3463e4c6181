//! Flags of a tool, derived from its input schema. `values` parses what they are given.

mod values;

use std::collections::HashSet;

use clap::{Arg, ArgAction, Command};
use serde_json::Value;
use toolkit::Tool;
use toolkit::schema::child;
use toolkit::schema::view::{Field, Shape, View};

use self::values::{parser, placeholder, takes_whole_list};
use crate::options::{duration, json_switch, option, program_name, switch};
use crate::style::printable;

/// A property of the input schema and its flag.
#[derive(Debug)]
pub(crate) struct Flag<'s> {
    /// The flag without its dashes, or empty if the property has no flag.
    pub(crate) long: String,
    /// The property as spelled in the schema, if that differs from the flag.
    alias: Option<String>,
    /// The keys from the root to the property.
    pub(crate) path: Vec<&'s str>,
    field: Field<'s>,
}

/// The options of `call` itself. The flag of a property with the same name has the prefix `arg-`.
const RESERVED: [&str; 5] = ["help", "json", "lenient", "stream", "timeout"];
/// The maximum depth of properties with flags. Deeper objects are passed as JSON, and recursive types end here.
const MAX_DEPTH: usize = 3;
/// The maximum number of flags of a tool.
const MAX_FLAGS: usize = 400;

/// Returns the options of `call`, which are accepted before and after the id of the tool.
pub(crate) fn call_options() -> [Arg; 4] {
    [
        json_switch("Print the result as JSON: tool, structured, content, changes"),
        switch("lenient")
            .help("Convert arguments to the types of the schema, such as \"3\" to 3, and report the changes"),
        switch("stream").help(
            "Print items of the result as they arrive, one JSON document per line; with --json, print every event",
        ),
        option("timeout", "TIME")
            .value_parser(duration)
            .help("Time limit of the call, such as 30s, 500ms or 2m; a shorter timeout of the tool still applies"),
    ]
}

/// Returns the properties of a schema with their flags, each object before its nested properties. Properties whose names
/// cannot be flags are included.
pub(crate) fn from_schema(schema: &Value) -> Vec<Flag<'_>> {
    let mut found = Vec::new();
    if let Shape::Object(fields) = View::new(schema).shape() {
        add(fields, &[], true, &mut found);
    }
    name(&mut found);
    found
}

fn add<'s>(fields: Vec<Field<'s>>, parent: &[&'s str], is_needed: bool, found: &mut Vec<Flag<'s>>) {
    for mut field in fields {
        // A required property of an optional object is optional.
        field.is_required &= is_needed;
        if found.len() == MAX_FLAGS {
            return;
        }
        let path = [parent, &[field.name]].concat();
        let nested = match field.view.shape() {
            Shape::Object(fields) if path.len() < MAX_DEPTH => fields,
            _ => Vec::new(),
        };
        let is_needed = field.is_required;
        found.push(Flag { long: String::new(), alias: None, path: path.clone(), field });
        add(nested, &path, is_needed, found);
    }
}

/// Returns the default in the form of a flag; `None` for `null`.
pub(crate) fn default(view: &View<'_>) -> Option<String> {
    match view.default()? {
        Value::Null => None,
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        value => Some(value.to_string()),
    }
}

/// Returns the limits in parentheses, or an empty text.
pub(crate) fn limits(view: &View<'_>) -> String {
    let limits: Vec<String> = view.limits().iter().map(ToString::to_string).collect();
    if limits.is_empty() { String::new() } else { format!("({})", limits.join("; ")) }
}

/// Assigns unique names to the flags. Properties that are spelled like a flag are named first, so that `dry-run` is
/// `--dry-run` and `dry_run` is `--dry_run` if a tool has both.
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

/// Returns true if a key can be part of a flag. Other keys require JSON.
fn is_word(key: &str) -> bool {
    key.chars().any(char::is_alphanumeric)
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$' | '@' | '/'))
}

/// Returns the command line of a tool, which follows its id.
pub(crate) fn command(tool: &Tool, flags: &[Flag<'_>]) -> Command {
    let bin_name = format!("{} call {}", program_name(), tool.id().unversioned());
    let arguments =
        Arg::new("arguments").value_name("JSON").help("The arguments as a JSON object; `-` reads them from stdin");
    Command::new(bin_name.clone())
        .bin_name(bin_name)
        .no_binary_name(true)
        .disable_help_subcommand(true)
        .about(printable(&tool.summary()).into_owned())
        .long_about(printable(tool.description()).into_owned())
        .args(call_options())
        .arg(arguments)
        .next_help_heading("Tool arguments")
        .args(flags.iter().filter(|flag| flag.is_reachable()).map(Flag::arg))
        .after_help(properties_without_flags(flags))
}

fn properties_without_flags(flags: &[Flag<'_>]) -> String {
    let unreachable = flags.iter().filter(|flag| !flag.is_reachable());
    let paths = unreachable.map(|flag| Value::from(flag.path.join(".")).to_string());
    let paths: Vec<String> = paths.collect();
    if paths.is_empty() {
        return String::new();
    }
    format!("Available in JSON only: {}", printable(&paths.join(", ")))
}

impl Flag<'_> {
    /// Returns the id of the argument in clap, which differs from the options of `call`.
    pub(crate) fn id(&self) -> String {
        // A JSON Pointer, since it is unique for each path.
        self.path.iter().fold(String::new(), |pointer, key| child(&pointer, key))
    }

    /// Returns true if the property has a flag.
    pub(crate) fn is_reachable(&self) -> bool {
        !self.long.is_empty()
    }

    /// Returns `None` if the property is not a list, and otherwise whether a flag accepts a JSON array of items.
    pub(crate) fn list(&self) -> Option<bool> {
        match self.field.view.shape() {
            Shape::List(Some(items)) => Some(takes_whole_list(&items)),
            _ => None,
        }
    }

    fn arg(&self) -> Arg {
        let view = &self.field.view;
        let arg = Arg::new(self.id())
            .long(self.long.clone())
            .value_name(placeholder(view))
            .value_parser(parser(view))
            .help(self.help());
        let arg = match &self.alias {
            Some(alias) => arg.alias(alias.clone()),
            None => arg,
        };
        match view.shape() {
            Shape::Boolean => {
                arg.hide_possible_values(true).num_args(0..=1).require_equals(true).default_missing_value("true")
            }
            Shape::List(Some(_)) => arg.action(ArgAction::Append).allow_hyphen_values(true),
            // As in getopt, the word after a flag is its value: `--text "-5 degrees"`, `--n -5`.
            _ => arg.allow_hyphen_values(true),
        }
    }

    fn help(&self) -> String {
        let mut parts = Vec::new();
        if let Some(description) = self.field.view.description() {
            parts.push(printable(description).into_owned());
        }
        let limits = limits(&self.field.view);
        if !limits.is_empty() {
            parts.push(printable(&limits).into_owned());
        }
        if self.list().is_some() {
            parts.push("[repeatable]".to_owned());
        }
        match default(&self.field.view) {
            Some(default) => parts.push(format!("[default: {}]", printable(&default))),
            None if self.field.is_required => parts.push("[required]".to_owned()),
            None => {}
        }
        parts.join(" ")
    }
}
