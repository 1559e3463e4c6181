//! Recorded requests with their replies.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use serde_json::{Value, json};
use test_support::replies::api;
use toolkit::catalog::ExportedNames;
use toolkit_providers::reply::{Api, InvalidReply, Reply};

/// Returns a folder of the recordings; `None` if they are absent, which counts as a skip.
pub(super) fn folder(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("TOOLKIT_FIXTURES")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../fixtures")), PathBuf::from);
    let folder = root.join(name);
    if !folder.exists() {
        test_support::skipped(1);
        return None;
    }
    Some(folder)
}

/// A recorded request with its reply.
pub(super) struct Exchange {
    pub(super) name: String,
    /// The short name of the API.
    pub(super) api: &'static str,
    json: Value,
}

/// Reads all exchanges of APIs that can be read, file by file.
pub(super) fn for_each_file(mut take: impl FnMut(&BTreeMap<(String, u64), Exchange>)) {
    let Some(folder) = folder("exchanges") else { return };
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")) {
        let file = path.file_stem().unwrap().to_string_lossy().into_owned();
        let lines = BufReader::new(File::open(path).unwrap()).lines();
        let exchanges = lines.filter_map(|line| {
            let json: Value = serde_json::from_str(&line.unwrap()).unwrap();
            let (path, n) = (json["path"].as_str()?.to_owned(), json["n"].as_u64()?);
            let name = format!("{file}/{path}#{n}");
            Some(((path, n), Exchange { name, api: api_of(&json)?, json }))
        });
        take(&exchanges.collect());
    }
}

fn api_of(json: &Value) -> Option<&'static str> {
    let is_mistral = || {
        let text = |field: &str| json[field].as_str().unwrap_or_default().to_owned();
        text("path").contains("cassettes/mistral/") || text("url").contains("api.mistral.ai")
    };
    Some(match json["api"].as_str()? {
        "anthropic" => "anthropic",
        "openai-responses" => "responses",
        "chat" if is_mistral() => "mistral",
        "chat" => "chat",
        "gemini" => "gemini",
        "bedrock-converse" => "bedrock",
        "ollama" => "ollama",
        _ => return None,
    })
}

impl Exchange {
    pub(super) fn request(&self) -> &Value {
        &self.json["request"]
    }

    pub(super) fn reply(&self) -> &Value {
        &self.json["reply"]
    }

    /// Returns true if a client has to answer a call of the reply.
    pub(super) fn has_calls(&self) -> bool {
        // The only calls of these replies are searches that the API made, or have no name.
        let others = ["/test_openai_hosted_tool_search_stateless_continuation", "/test_snowflake_"];
        !others.iter().any(|other| self.name.contains(other))
            && self.json["status"] == 200
            && self.json["calls"].as_str().is_some_and(|calls| calls.contains('c'))
    }

    pub(super) fn is_whole(&self) -> bool {
        self.json["container"] == "json"
    }

    pub(super) fn is_linked_by_id(&self) -> bool {
        self.json["prefix"] == "previous_response_id"
    }

    /// Returns the place of the request that contains this reply.
    pub(super) fn next(&self) -> Option<(String, u64)> {
        Some((self.json["path"].as_str()?.to_owned(), self.json["next"].as_u64()?))
    }

    /// Returns the messages of the request.
    pub(super) fn messages(&self) -> Vec<Value> {
        let field = match self.api {
            "responses" => "input",
            "gemini" => "contents",
            _ => "messages",
        };
        match &self.request()[field] {
            Value::Array(messages) => messages.clone(),
            Value::Null => Vec::new(),
            text => vec![text.clone()],
        }
    }

    /// Reads the reply; `None` if its API cannot be read yet.
    pub(super) fn read(&self, names: &ExportedNames) -> Option<Result<Reply, InvalidReply>> {
        let api = api(self.api)?;
        Some(if self.is_whole() { api.read(self.reply(), names) } else { stream(api, &events(self.reply()), names) })
    }

    /// Returns the names of the tools in the request.
    pub(super) fn names(&self) -> Vec<Value> {
        let mut names = Vec::new();
        let config = &self.request()["toolConfig"]["tools"];
        for tool in [&self.request()["tools"], config].into_iter().flat_map(Value::as_array).flatten() {
            add_names(tool, &mut names);
        }
        names
    }
}

fn add_names(tool: &Value, names: &mut Vec<Value>) {
    for field in ["functionDeclarations", "function_declarations"] {
        names.extend(tool[field].as_array().into_iter().flatten().map(|tool| tool["name"].clone()));
    }
    match tool["type"].as_str() {
        Some("namespace") => {
            let namespace = &tool["name"];
            let tools = tool["tools"].as_array().into_iter().flatten();
            names.extend(tools.map(|tool| json!({ "namespace": namespace, "name": tool["name"] })));
        }
        // The input of a custom tool is a text.
        Some("custom") if tool.get("input_schema").is_none() => {
            let custom = tool.get("custom").unwrap_or(tool);
            names.push(json!({ "name": custom["name"], "input": {
                "type": "object", "properties": { "input": { "type": "string" } }, "required": ["input"],
            } }));
        }
        None | Some("function" | "custom") => {
            let places = [&tool["name"], &tool["function"]["name"], &tool["toolSpec"]["name"]];
            names.extend(places.into_iter().filter(|name| name.is_string()).cloned());
        }
        Some(_) => {}
    }
}

/// Returns the events of a recorded stream. An event whose name is recorded apart is an object with this name.
pub(super) fn events(reply: &Value) -> Vec<Value> {
    let events = reply.as_array().cloned().unwrap_or_default();
    let events = events.into_iter().filter(|event| !event.is_string()).map(|event| match event {
        Value::Object(event) => Value::Object(
            event.into_iter().map(|(key, value)| (key.trim_start_matches("<:event-type>").to_owned(), value)).collect(),
        ),
        event => event,
    });
    events.collect()
}

/// Reads a stream from its events.
pub(super) fn stream(api: Api, events: &[Value], names: &ExportedNames) -> Result<Reply, InvalidReply> {
    let mut stream = api.stream(names);
    for event in events {
        stream.push_event(event.clone())?;
    }
    stream.finish()
}
