//! The entry of a server in the configuration of a client.

use serde_json::{Map, Value, json};

use super::client::{Client, input_id};

/// The connection of a client to the server.
#[derive(Debug)]
pub(super) enum Launch {
    /// The client starts a program.
    Program { command: String, arguments: Vec<String>, environment: Vec<Variable> },
    /// The client connects to a URL, with the token in an environment variable.
    Remote { url: String, token: Option<String> },
}

/// An environment variable of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variable {
    pub(super) name: String,
    /// The value, or `None` if the client gets it from the user.
    pub(super) value: Option<String>,
}

/// The entry of a server.
#[derive(Debug)]
pub(super) struct Entry {
    /// The fields, as the client reads them.
    pub(super) fields: Vec<(&'static str, Value)>,
    /// The variables in `env` whose values the user has to fill in; the fields contain an empty text.
    pub(super) to_fill_in: Vec<String>,
    /// The inputs of VS Code that the fields refer to.
    pub(super) inputs: Vec<Value>,
}

impl Entry {
    /// Creates the entry of the server `name` for a client.
    pub(super) fn new(client: Client, name: &str, launch: &Launch) -> Self {
        let mut entry = Self { fields: Vec::new(), to_fill_in: Vec::new(), inputs: Vec::new() };
        match launch {
            Launch::Program { command, arguments, environment } => {
                if client.has_type() {
                    entry.set("type", json!("stdio"));
                }
                entry.set("command", json!(command));
                entry.set("args", json!(arguments));
                let values = environment.iter().map(|variable| {
                    let value = variable.value.clone().unwrap_or_else(|| entry.reference(client, name, &variable.name));
                    (variable.name.clone(), Value::String(value))
                });
                let values: Map<String, Value> = values.collect();
                if !values.is_empty() {
                    entry.set("env", Value::Object(values));
                }
            }
            Launch::Remote { url, token } => {
                if client.has_type() {
                    entry.set("type", json!("http"));
                }
                entry.set("url", json!(url));
                if let Some(token) = token {
                    let token = entry.reference(client, name, token);
                    entry.set("headers", json!({ "Authorization": format!("Bearer {token}") }));
                }
            }
        }
        entry
    }

    /// Returns the fields of another transport, which contradict the fields of this entry.
    pub(super) fn obsolete_fields(&self) -> &'static [&'static str] {
        if self.fields.iter().any(|(field, _)| *field == "url") {
            &["command", "args", "env", "cwd"]
        } else {
            &["url", "headers"]
        }
    }

    fn set(&mut self, field: &'static str, value: Value) {
        self.fields.push((field, value));
    }

    /// Returns the text that stands for the value of a variable.
    fn reference(&mut self, client: Client, server: &str, variable: &str) -> String {
        let reference = client.reference(server, variable);
        if reference.is_none() {
            self.to_fill_in.push(variable.to_owned());
        }
        if client == Client::VsCode {
            self.inputs.push(json!({
                "type": "promptString",
                "id": input_id(server, variable),
                "description": format!("{variable} of {server}"),
                "password": true,
            }));
        }
        reference.unwrap_or_default()
    }
}
