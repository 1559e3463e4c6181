//! The manifest of an MCPB file.

use serde_json::{Map, Value, json};
use toolkit::Catalog;
use toolkit::catalog::{Naming, WireNames};

use super::executable::{Executable, Platform};
use super::user_config::Settings;
use crate::error::CommandError;

/// The content of a manifest, without the tools.
pub(super) struct Manifest<'a> {
    pub(super) name: &'a str,
    pub(super) title: Option<&'a str>,
    pub(super) version: &'a str,
    pub(super) description: &'a str,
    /// The name, and the email address in angle brackets.
    pub(super) author: &'a str,
    pub(super) license: Option<&'a str>,
    pub(super) repository: Option<&'a str>,
    pub(super) icon: Option<&'static str>,
    pub(super) arguments: Vec<String>,
    pub(super) settings: &'a Settings,
}

impl Manifest<'_> {
    /// Returns the JSON of the manifest.
    pub(super) fn to_json(&self, executables: &[Executable], catalog: &Catalog) -> Result<Value, CommandError> {
        let first = executables.first().expect("a bundle has a program");
        let path = |executable: &Executable| format!("${{__dirname}}/{}", executable.entry(self.name));
        let mut config = json!({ "command": path(first), "args": self.arguments });
        if !self.settings.is_empty() {
            config["env"] = self.settings.environment();
        }
        let others = executables[1..].iter();
        let others: Map<String, Value> =
            others.map(|other| (other.platform.as_str().to_owned(), json!({ "command": path(other) }))).collect();
        if !others.is_empty() {
            config["platform_overrides"] = Value::Object(others);
        }
        let platforms = executables.iter().map(|executable| executable.platform);
        let mut manifest = json!({
            "manifest_version": "0.3",
            "name": self.name,
            "version": self.version,
            "description": self.description,
            "author": author(self.author),
            "server": { "type": "binary", "entry_point": first.entry(self.name), "mcp_config": config },
            "tools": tools(catalog)?,
            "compatibility": { "platforms": platforms.map(Platform::as_str).collect::<Vec<_>>() },
        });
        let texts = [("display_name", self.title), ("license", self.license), ("icon", self.icon)];
        for (field, text) in texts {
            if let Some(text) = text {
                manifest[field] = json!(text);
            }
        }
        if let Some(url) = self.repository {
            manifest["repository"] = json!({ "type": "git", "url": url });
        }
        if !self.settings.is_empty() {
            manifest["user_config"] = self.settings.user_config();
        }
        Ok(manifest)
    }
}

/// Splits an author in the syntax of Cargo.toml: `Ada Lovelace <ada@example.com>`.
fn author(text: &str) -> Value {
    match text.trim().strip_suffix('>').and_then(|text| text.rsplit_once('<')) {
        Some((name, email)) if !name.trim().is_empty() => json!({ "name": name.trim(), "email": email.trim() }),
        _ => json!({ "name": text.trim() }),
    }
}

/// Returns the tools under the names that clients see.
fn tools(catalog: &Catalog) -> Result<Value, CommandError> {
    let names = WireNames::new(catalog, Naming::NamespaceName)?;
    let tools = names.iter().map(|(name, tool)| {
        let mut listed = json!({ "name": name });
        if !tool.summary().is_empty() {
            listed["description"] = json!(tool.summary());
        }
        listed
    });
    Ok(tools.collect())
}
