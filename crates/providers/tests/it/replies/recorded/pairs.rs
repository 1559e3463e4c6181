//! Replies that were recorded complete and as a stream.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use test_support::replies::api;
use toolkit::catalog::ExportedNames;
use toolkit_providers::reply::{Api, InvalidReply, Reply};

use super::exchange::{folder, stream};

/// The folders of the recordings, with their APIs.
const FOLDERS: [(&str, &str); 15] = [
    ("openai/src/responses", "responses"),
    ("azure/src", "responses"),
    ("xai/src/responses", "responses"),
    ("open-responses/src/responses", "responses"),
    ("anthropic/src", "anthropic"),
    ("google/src", "gemini"),
    ("amazon-bedrock/src", "bedrock"),
    ("mistral/src", "mistral"),
    ("cohere/src", "cohere"),
    ("google/src/interactions", "interactions"),
    ("groq/src", "chat"),
    ("deepseek/src/chat", "chat"),
    ("xai/src", "chat"),
    ("alibaba/src", "chat"),
    ("openai-compatible/src/chat", "chat"),
];

/// Recordings whose two forms are different replies, with the difference.
const DIFFERENT: [(&str, &str); 14] = [
    ("amazon-bedrock/src/amazon-bedrock-tool-call.1", "two requests"),
    ("openai/src/responses/openai-error.1", "the complete form is the body of an error"),
    ("openai/src/responses/openai-mcp-tool.1", "the model called the server again"),
    ("openai/src/responses/openai-reasoning-encrypted-content.1", "the last reply against the first"),
    ("openai/src/responses/openai-web-search-tool.1", "the model searched more often"),
    ("openai/src/responses/parallel-tool-call-wrapper.1", "the last event is not JSON"),
    ("azure/src/azure-deepseek-reasoning.1", "a reply of Chat Completions"),
    ("azure/src/azure-reasoning-encrypted-content.1", "the last reply against the first"),
    ("azure/src/azure-web-search-preview-tool.1", "the model searched more often"),
    ("open-responses/src/responses/lmstudio-tool-call.1", "the model wrote a text as well"),
    ("anthropic/src/anthropic-code-execution-20250825.pptx-skill", "the model ran more code"),
    ("anthropic/src/anthropic-code-execution-file-upload.1", "the model ran more code"),
    ("anthropic/src/anthropic-programmatic-tool-calling.1", "the model wrote another program"),
    ("anthropic/src/anthropic-web-search-tool.1", "the model searched more often"),
];

/// A reply in both forms.
pub(super) struct Pair {
    pub(super) name: String,
    pub(super) api: Api,
    /// The short name of the API.
    pub(super) short_name: &'static str,
    pub(super) body: Value,
    pub(super) events: Vec<Value>,
}

pub(super) fn for_each_pair(mut take: impl FnMut(&Pair)) {
    let Some(root) = folder("vercel-ai/packages") else { return };
    for (place, short_name) in FOLDERS {
        let Some(api) = api(short_name) else { continue };
        for whole in files(&root.join(place).join("__fixtures__"), ".json") {
            let streamed = PathBuf::from(whole.to_string_lossy().replace(".json", ".chunks.txt"));
            if !streamed.exists() {
                continue;
            }
            let body = serde_json::from_slice(&fs::read(&whole).unwrap()).unwrap();
            let lines = fs::read_to_string(streamed).unwrap();
            let mut events = first_stream(lines.lines().filter_map(|line| serde_json::from_str(line).ok()));
            // The end, which is not recorded.
            events.extend(matches!(short_name, "chat" | "mistral").then(|| "[DONE]".into()));
            let name = format!("{place}/{}", whole.file_stem().unwrap().to_string_lossy());
            take(&Pair { name, api, short_name, body, events });
        }
    }
}

#[test]
fn a_reply_is_the_same_complete_and_streamed() {
    let (names, mut n_pairs, mut others) = (ExportedNames::default(), 0, Vec::new());
    for_each_pair(|Pair { name, api, body, events, .. }| {
        let (whole, streamed) = (shape(&api.read(body, &names)), shape(&stream(*api, events, &names)));
        n_pairs += 1;
        if whole != streamed && !DIFFERENT.iter().any(|(other, _)| other == name) {
            others.push(format!("{name}:\n  {whole}\n  {streamed}"));
        }
    });
    assert!(others.is_empty(), "{} of {n_pairs} differ:\n{}", others.len(), others.join("\n"));
    test_support::ran(n_pairs);
}

/// Some recordings contain the streams of several replies.
fn first_stream(events: impl Iterator<Item = Value>) -> Vec<Value> {
    let mut n_starts = 0;
    let is_first = |event: &Value| {
        n_starts += usize::from(event["type"] == "message_start" || event["type"] == "response.created");
        n_starts < 2
    };
    events.take_while(is_first).collect()
}

fn files(folder: &Path, suffix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.to_string_lossy().ends_with(suffix));
    files.sort();
    files
}

/// Returns what two recordings of one scenario have in common: the calls without their ids, and the end.
pub(super) fn shape(reply: &Result<Reply, InvalidReply>) -> String {
    match reply {
        Err(error) => error.to_string(),
        Ok(reply) => {
            let calls: Vec<&str> = reply.calls().iter().map(|call| call.name.as_str()).collect();
            let provider_calls: Vec<&str> = reply.provider_calls().iter().map(|call| call.kind.as_str()).collect();
            format!("{calls:?} {provider_calls:?} {} {}", reply.stop_reason(), !reply.text().is_empty())
        }
    }
}
