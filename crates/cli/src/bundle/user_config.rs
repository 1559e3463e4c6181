//! The environment variables of a server whose values the user enters.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolkit::Catalog;

use crate::credentials;

/// An environment variable of the server.
pub(super) struct Setting {
    /// The type in MCPB.
    kind: String,
    description: String,
    is_secret: bool,
    is_required: bool,
}

/// The settings by the names of their environment variables.
pub(super) struct Settings(BTreeMap<String, Setting>);

impl Settings {
    /// Collects the credentials that the tools require. Only some tools require each, so none is required.
    pub(super) fn from_catalog(catalog: &Catalog) -> Self {
        let mut tools: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for tool in catalog.iter() {
            for variable in credentials::variables(tool.requirements()) {
                let names = tools.entry(variable).or_default();
                if !names.contains(&tool.id().name()) {
                    names.push(tool.id().name());
                }
            }
        }
        let settings = tools.into_iter().map(|(variable, tools)| {
            let setting = Setting {
                kind: "string".to_owned(),
                description: format!("Required by {}", tools.join(", ")),
                is_secret: variable != credentials::USER_ID,
                is_required: false,
            };
            (variable, setting)
        });
        Self(settings.collect())
    }

    /// Adds a setting that the server needs in any case.
    pub(super) fn add(&mut self, variable: &str, kind: &str) {
        let description = format!("Environment variable {variable} of the server");
        let setting = Setting { kind: kind.to_owned(), description, is_secret: false, is_required: true };
        self.0.insert(variable.to_owned(), setting);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `user_config` of an MCPB manifest.
    pub(super) fn user_config(&self) -> Value {
        let options = self.0.iter().map(|(variable, setting)| {
            let mut option = json!({
                "type": setting.kind,
                "title": variable,
                "description": setting.description,
                "required": setting.is_required,
            });
            if setting.is_secret {
                option["sensitive"] = json!(true);
            }
            if !setting.is_required {
                // Without a default, the server would receive the placeholder.
                option["default"] = json!("");
            }
            (variable.clone(), option)
        });
        options.collect()
    }

    /// Returns `env` of an MCPB manifest, which refers to `user_config`.
    pub(super) fn environment(&self) -> Value {
        let values = self.0.keys().map(|variable| (variable.clone(), json!(format!("${{user_config.{variable}}}"))));
        values.collect()
    }

    /// Returns `environmentVariables` of a package in `server.json`.
    pub(super) fn environment_variables(&self) -> Value {
        let variables = self.0.iter().map(|(variable, setting)| {
            json!({
                "name": variable,
                "description": setting.description,
                "isRequired": setting.is_required,
                "isSecret": setting.is_secret,
            })
        });
        variables.collect()
    }
}
