//! The settings of a server, whose values a client asks for: options of the program, and environment variables.

use std::any::TypeId;
use std::collections::BTreeMap;

use clap::{Arg, ArgAction, ValueHint};
use serde_json::{Map, Value, json};
use toolkit::Catalog;

use crate::program::Program;
use crate::program_options::ProgramOptions;
use crate::{credentials, program_options};

/// A setting of the server, whose value a client asks for.
struct Setting {
    /// The type in MCPB.
    kind: &'static str,
    title: String,
    description: String,
    is_secret: bool,
    is_required: bool,
    default: Value,
    /// The option of the program; `None` for an environment variable.
    option: Option<String>,
}

/// The settings: environment variables by their names, and options of the program by their ids.
pub(super) struct Settings {
    by_key: BTreeMap<String, Setting>,
    /// The options of the program for which a client cannot ask.
    pub(super) unasked: Vec<String>,
}

impl Settings {
    /// Collects the options of the program, and the credentials that the tools require. Only some tools require each, so no
    /// credential is required.
    pub(super) fn of(program: &Program, catalog: &Catalog) -> Self {
        let mut tools: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for tool in catalog.iter() {
            for variable in credentials::variables(tool.requirements()) {
                let names = tools.entry(variable).or_default();
                if !names.contains(&tool.id().name()) {
                    names.push(tool.id().name());
                }
            }
        }
        let credentials = tools.into_iter().map(|(variable, tools)| {
            let setting = Setting {
                is_secret: variable != credentials::USER_ID,
                ..Setting::variable(&variable, format!("Required by {}", tools.join(", ")))
            };
            (variable, setting)
        });
        let mut settings = Self { by_key: credentials.collect(), unasked: Vec::new() };
        for arg in program.options.iter().flat_map(ProgramOptions::args_not_given) {
            match Setting::of_option(arg) {
                Some((key, setting)) => drop(settings.by_key.insert(key, setting)),
                None => settings.unasked.push(program_options::name(arg)),
            }
        }
        settings
    }

    /// Adds an environment variable that the server needs in any case.
    pub(super) fn add(&mut self, variable: &str, kind: &'static str) {
        let description = format!("Environment variable {variable} of the server");
        let setting = Setting { kind, is_required: true, ..Setting::variable(variable, description) };
        self.by_key.insert(variable.to_owned(), setting);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }

    /// Returns `user_config` of an MCPB manifest.
    pub(super) fn user_config(&self) -> Value {
        let options = self.by_key.iter().map(|(key, setting)| {
            let mut option = json!({
                "type": setting.kind,
                "title": setting.title,
                "description": setting.description,
                "required": setting.is_required,
            });
            if setting.is_secret {
                option["sensitive"] = json!(true);
            }
            if !setting.is_required {
                // Without a default, the server would receive the placeholder.
                option["default"] = setting.default.clone();
            }
            (key.clone(), option)
        });
        options.collect()
    }

    /// Returns `env` of an MCPB manifest, which refers to `user_config`.
    pub(super) fn environment(&self) -> Map<String, Value> {
        let variables = self.by_key.iter().filter(|(_, setting)| setting.option.is_none());
        variables.map(|(key, _)| (key.clone(), json!(format!("${{user_config.{key}}}")))).collect()
    }

    /// Returns the options in `args` of an MCPB manifest, which refer to `user_config`.
    pub(super) fn arguments(&self) -> Vec<String> {
        let options = self.by_key.iter().filter_map(|(key, setting)| Some((setting.option.as_ref()?, key)));
        options.map(|(option, key)| format!("{option}=${{user_config.{key}}}")).collect()
    }

    /// Returns `environmentVariables` of a package in `server.json`.
    pub(super) fn environment_variables(&self) -> Vec<Value> {
        let variables = self.by_key.iter().filter(|(_, setting)| setting.option.is_none());
        let variables = variables.map(|(variable, setting)| {
            json!({
                "name": variable,
                "description": setting.description,
                "isRequired": setting.is_required,
                "isSecret": setting.is_secret,
            })
        });
        variables.collect()
    }

    /// Returns `packageArguments` of a package in `server.json` that starts the program.
    pub(super) fn package_arguments(&self) -> Vec<Value> {
        let options = self.by_key.values().filter_map(|setting| {
            let format = match setting.kind {
                "file" | "directory" => "filepath",
                kind => kind,
            };
            let mut argument = json!({
                "type": "named",
                "name": setting.option.as_ref()?,
                "description": setting.description,
                "format": format,
                "isRequired": setting.is_required,
            });
            if setting.default != "" {
                // The default of every format is a text.
                let default = setting.default.as_str().map_or_else(|| setting.default.to_string(), str::to_owned);
                argument["default"] = json!(default);
            }
            Some(argument)
        });
        options.collect()
    }
}

impl Setting {
    /// Returns a setting that is an environment variable with any text.
    fn variable(name: &str, description: String) -> Self {
        Self {
            kind: "string",
            title: name.to_owned(),
            description,
            is_secret: false,
            is_required: false,
            default: json!(""),
            option: None,
        }
    }

    /// Returns the setting of an option of the program, and its key. An option with several values has none.
    fn of_option(arg: &Arg) -> Option<(String, Self)> {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let is_required = arg.is_required_set() && arg.get_default_values().is_empty();
        if let Some(variable) = program_options::secret(arg) {
            let setting = Self { is_secret: true, is_required, ..Self::variable(&variable, help) };
            return Some((variable, setting));
        }
        let is_switch = program_options::is_switch(arg);
        let is_single = matches!(arg.get_action(), ArgAction::Set)
            && arg.get_num_args().is_none_or(|n| n.max_values() == 1)
            && arg.get_long().is_some();
        if !is_switch && !is_single {
            return None;
        }
        let value = arg.get_default_values().first().map(|value| value.to_string_lossy().into_owned());
        let kind = match arg.get_value_hint() {
            _ if is_switch => "boolean",
            ValueHint::DirPath => "directory",
            _ if program_options::is_path(arg) => "file",
            _ if is_number(arg) => "number",
            _ => "string",
        };
        let default = match (kind, &value) {
            ("boolean", _) => json!(false),
            // A path may be relative to another directory there.
            ("file" | "directory", _) | (_, None) => json!(""),
            ("number", Some(value)) => serde_json::from_str(value).unwrap_or_else(|_| json!(value)),
            (_, Some(value)) => json!(value),
        };
        let possible: Vec<String> = arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
        let notes = [
            (!is_switch && !possible.is_empty()).then(|| format!("one of {}", possible.join(", "))),
            value.filter(|_| !is_switch).map(|value| format!("default: {value}")),
        ];
        let notes: Vec<String> = notes.into_iter().flatten().collect();
        let description = if notes.is_empty() { help } else { format!("{help} ({})", notes.join("; ")) };
        let long = arg.get_long()?;
        let words = long.replace('-', " ");
        let first = words.chars().next().into_iter().flat_map(char::to_uppercase);
        let title: String = first.chain(words.chars().skip(1)).collect();
        let option = Some(format!("--{long}"));
        let setting = Self { kind, title, description, is_secret: false, is_required, default, option };
        Some((arg.get_id().to_string(), setting))
    }
}

/// Returns true for an option whose value is a number.
fn is_number(arg: &Arg) -> bool {
    let kind = arg.get_value_parser().type_id();
    [
        TypeId::of::<i8>(),
        TypeId::of::<i16>(),
        TypeId::of::<i32>(),
        TypeId::of::<i64>(),
        TypeId::of::<u8>(),
        TypeId::of::<u16>(),
        TypeId::of::<u32>(),
        TypeId::of::<u64>(),
        TypeId::of::<usize>(),
        TypeId::of::<f32>(),
        TypeId::of::<f64>(),
    ]
    .iter()
    .any(|number| kind == *number)
}
