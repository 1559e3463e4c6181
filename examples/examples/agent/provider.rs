//! The providers: URLs, headers, and the fields of a request.

use anyhow::Context;
use serde_json::{Value, json};
use toolkit::Catalog;
use toolkit::catalog::{Diagnostics, Naming};
use toolkit_providers::reply::Api;
use toolkit_providers::{Export, anthropic, bedrock, cohere, gemini, mistral, ollama, openai};

/// An API of a provider, and how to send a request to it.
pub struct Provider {
    /// The value of `--api`.
    pub name: &'static str,
    /// The reader of its replies.
    pub api: Api,
    /// The base URL.
    pub url: &'static str,
    /// The rest of the URL, in which `MODEL` stands for the model.
    pub path: &'static str,
    /// The environment variable of the key.
    pub key: Option<&'static str>,
    /// The header of the key, and the text before it.
    pub authorization: (&'static str, &'static str),
    /// Other headers.
    pub headers: &'static [(&'static str, &'static str)],
    /// True if the reply is streamed.
    pub is_streamed: bool,
    /// Exports the tools.
    pub tools: fn(&Catalog) -> Result<Export, Diagnostics>,
    /// Returns the message with the question.
    pub question: fn(&str) -> Value,
    /// Returns the body of a request for a model, its tools, and the messages so far.
    pub body: fn(&str, &Value, &[Value]) -> Value,
    /// The numbers of tokens in the metadata of a reply. Their sum counts.
    pub tokens: &'static [&'static str],
}

/// The header of most providers.
const BEARER: (&str, &str) = ("authorization", "Bearer ");

/// All APIs.
pub static PROVIDERS: [Provider; 10] = [
    ANTHROPIC,
    OPENAI,
    OPENAI_CHAT,
    GEMINI,
    GEMINI_INTERACTIONS,
    BEDROCK,
    MISTRAL,
    MISTRAL_CONVERSATIONS,
    COHERE,
    OLLAMA,
];

const ANTHROPIC: Provider = Provider {
    name: "anthropic",
    api: anthropic::MESSAGES,
    url: "https://api.anthropic.com",
    path: "/v1/messages",
    key: Some("ANTHROPIC_API_KEY"),
    authorization: ("x-api-key", ""),
    headers: &[("anthropic-version", "2023-06-01")],
    is_streamed: true,
    tools: |catalog| anthropic::tools(catalog, Naming::default(), anthropic::Options::default()),
    question: |text| json!({ "role": "user", "content": text }),
    body: |model, tools, messages| {
        let max_tokens = 8192;
        json!({ "model": model, "max_tokens": max_tokens, "stream": true, "tools": tools, "messages": messages })
    },
    tokens: &["/usage/input_tokens", "/usage/output_tokens"],
};

const OPENAI: Provider = Provider {
    name: "openai",
    api: openai::RESPONSES,
    url: "https://api.openai.com",
    path: "/v1/responses",
    key: Some("OPENAI_API_KEY"),
    authorization: BEARER,
    headers: &[],
    is_streamed: true,
    tools: |catalog| openai::tools(catalog, Naming::default(), openai::Options::responses()),
    question: |text| json!({ "role": "user", "content": text }),
    body: |model, tools, messages| json!({ "model": model, "stream": true, "tools": tools, "input": messages }),
    tokens: &["/usage/total_tokens"],
};

/// Many other servers have this API; `--url` selects one.
const OPENAI_CHAT: Provider = Provider {
    name: "openai-chat",
    api: openai::CHAT_COMPLETIONS,
    path: "/v1/chat/completions",
    tools: |catalog| openai::tools(catalog, Naming::default(), openai::Options::chat_completions()),
    body: |model, tools, messages| {
        let options = json!({ "include_usage": true });
        json!({ "model": model, "stream": true, "stream_options": options, "tools": tools, "messages": messages })
    },
    ..OPENAI
};

const MISTRAL: Provider = Provider {
    name: "mistral",
    api: mistral::CHAT,
    url: "https://api.mistral.ai",
    key: Some("MISTRAL_API_KEY"),
    body: |model, tools, messages| json!({ "model": model, "stream": true, "tools": tools, "messages": messages }),
    ..OPENAI_CHAT
};

/// The provider stores nothing, so that each request has all messages.
const MISTRAL_CONVERSATIONS: Provider = Provider {
    name: "mistral-conversations",
    api: mistral::CONVERSATIONS,
    path: "/v1/conversations",
    question: |text| json!({ "object": "entry", "type": "message.input", "role": "user", "content": text }),
    body: |model, tools, messages| json!({ "model": model, "stream": true, "store": false, "tools": tools, "inputs": messages }),
    ..MISTRAL
};

const COHERE: Provider = Provider {
    name: "cohere",
    api: cohere::CHAT,
    url: "https://api.cohere.com",
    path: "/v2/chat",
    key: Some("CO_API_KEY"),
    tokens: &["/usage/tokens/input_tokens", "/usage/tokens/output_tokens"],
    ..MISTRAL
};

const OLLAMA: Provider = Provider {
    name: "ollama",
    api: ollama::CHAT,
    url: "http://localhost:11434",
    path: "/api/chat",
    key: None,
    tokens: &["/prompt_eval_count", "/eval_count"],
    ..MISTRAL
};

const GEMINI: Provider = Provider {
    name: "gemini",
    api: gemini::GENERATE_CONTENT,
    url: "https://generativelanguage.googleapis.com",
    path: "/v1beta/models/MODEL:streamGenerateContent?alt=sse",
    key: Some("GEMINI_API_KEY"),
    authorization: ("x-goog-api-key", ""),
    headers: &[],
    is_streamed: true,
    tools: |catalog| gemini::tools(catalog, Naming::default(), gemini::Options::default()),
    question: |text| json!({ "role": "user", "parts": [{ "text": text }] }),
    body: |_, tools, messages| json!({ "tools": tools, "contents": messages }),
    tokens: &["/usageMetadata/totalTokenCount"],
};

/// The provider stores nothing, so that each request has all messages.
const GEMINI_INTERACTIONS: Provider = Provider {
    name: "gemini-interactions",
    api: gemini::INTERACTIONS,
    path: "/v1beta/interactions",
    tools: |catalog| gemini::interaction_tools(catalog, Naming::default()),
    question: |text| json!({ "type": "user_input", "content": [{ "type": "text", "text": text }] }),
    body: |model, tools, messages| json!({ "model": model, "stream": true, "store": false, "tools": tools, "input": messages }),
    tokens: &["/usage/total_tokens"],
    ..GEMINI
};

/// The stream of Converse has binary frames, which the AWS SDK decodes.
const BEDROCK: Provider = Provider {
    name: "bedrock",
    api: bedrock::CONVERSE,
    url: "https://bedrock-runtime.us-east-1.amazonaws.com",
    path: "/model/MODEL/converse",
    key: Some("AWS_BEARER_TOKEN_BEDROCK"),
    authorization: BEARER,
    headers: &[],
    is_streamed: false,
    tools: |catalog| bedrock::tools(catalog, Naming::default(), bedrock::Options::default()),
    question: |text| json!({ "role": "user", "content": [{ "text": text }] }),
    body: |_, tools, messages| json!({ "toolConfig": { "tools": tools }, "messages": messages }),
    tokens: &["/usage/totalTokens"],
};

impl Provider {
    /// Returns the provider with a name.
    pub fn named(name: &str) -> anyhow::Result<&'static Self> {
        PROVIDERS.iter().find(|provider| provider.name == name).context("no such API")
    }

    /// Returns the number of tokens of a request and its reply, or 0 if the provider does not report it.
    pub fn tokens_of(&self, metadata: &Value) -> u64 {
        self.tokens.iter().filter_map(|pointer| metadata.pointer(pointer)?.as_u64()).sum()
    }
}
