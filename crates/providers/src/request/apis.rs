//! The differences between the requests of APIs: one row for each API.

use serde_json::{Value, json};
use toolkit::catalog::{Catalog, Diagnostics, Naming};

use super::fields::{self, Fields};
use super::thinking::Thinking;
use super::tool_choice::ToolChoice;
use super::{AnswerForm, Request};
use crate::dialect::Dialect;
use crate::export::Export;
use crate::reply::Api;
use crate::{anthropic, bedrock, cohere, gemini, mistral, ollama, openai};

/// The request of an API. Each option becomes fields that are added to the body.
pub(super) struct RequestFormat {
    api: Api,
    /// The name in a command line.
    id: &'static str,
    /// The base URL.
    pub(super) url: &'static str,
    /// The rest of the URL, in which `MODEL` stands for the model.
    pub(super) path: &'static str,
    /// That of a stream, if it is another.
    pub(super) stream_path: Option<&'static str>,
    /// The environment variable of the key.
    key: Option<&'static str>,
    /// The header of the key, and the text before it.
    pub(super) key_header: (&'static str, &'static str),
    pub(super) headers: &'static [(&'static str, &'static str)],
    export: fn(&Catalog) -> Result<Export, Diagnostics>,
    pub(super) user: fn(&str) -> Value,
    /// The field with the messages.
    pub(super) messages: &'static str,
    pub(super) model: fn(&str) -> Value,
    pub(super) system: fn(&str) -> Value,
    pub(super) tools: fn(Value) -> Value,
    pub(super) tool_choice: fn(&ToolChoice) -> Fields,
    /// At most one call in a reply.
    pub(super) sequential: fn() -> Fields,
    pub(super) max_tokens: fn(u64) -> Value,
    /// The limit that is sent where the API requires one.
    pub(super) default_max_tokens: Option<u64>,
    pub(super) thinking: fn(Thinking) -> Fields,
    pub(super) stream: fn(bool) -> Value,
    /// Marks what the provider keeps in its cache.
    pub(super) cache: fn(&mut Value) -> Result<(), &'static str>,
    /// The format of a typed answer with a schema.
    pub(super) answer: fn(Value) -> Fields,
    pub(super) answer_dialect: &'static Dialect,
    /// Returns an option that excludes another one, with the reason.
    pub(super) check: fn(&Request) -> Result<(), (&'static str, &'static str)>,
}

/// All APIs.
static APIS: [RequestFormat; 10] = [
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

/// The header of most providers.
const BEARER: (&str, &str) = ("authorization", "Bearer ");
const NO_PARALLEL: &str = "the API has no such option";

const ANTHROPIC: RequestFormat = RequestFormat {
    api: anthropic::MESSAGES,
    id: "anthropic",
    url: "https://api.anthropic.com",
    path: "/v1/messages",
    stream_path: None,
    key: Some("ANTHROPIC_API_KEY"),
    key_header: BEARER,
    headers: &[("anthropic-version", "2026-10-21")],
    export: |catalog| anthropic::tools(catalog, Naming::default(), anthropic::Options::default()),
    user: fields::user_message,
    messages: "messages",
    model: |model| json!({ "model": model }),
    system: |text| json!({ "system": text }),
    tools: |tools| json!({ "tools": tools }),
    tool_choice: |choice| {
        let choice = match choice {
            ToolChoice::Auto => json!({ "type": "auto" }),
            ToolChoice::Required => json!({ "type": "any" }),
            ToolChoice::None => json!({ "type": "none" }),
            ToolChoice::Tool(name) => json!({ "type": "tool", "name": name }),
        };
        Ok(json!({ "tool_choice": choice }))
    },
    sequential: || Ok(json!({ "tool_choice": { "type": "auto", "disable_parallel_tool_use": true } })),
    max_tokens: |max_tokens| json!({ "max_tokens": max_tokens }),
    default_max_tokens: Some(8192),
    thinking: |thinking| {
        Ok(match thinking {
            Thinking::Off => json!({ "thinking": { "type": "disabled" } }),
            Thinking::Tokens(tokens) => json!({ "thinking": { "type": "enabled", "budget_tokens": tokens } }),
            level => json!({ "thinking": { "type": "adaptive" }, "output_config": { "effort": level.level() } }),
        })
    },
    stream: |is_streamed| if is_streamed { json!({ "stream": true }) } else { json!({}) },
    cache: |body| {
        body["cache_control"] = json!({ "type": "ephemeral" });
        Ok(())
    },
    answer: |schema| Ok(json!({ "output_config": { "format": { "type": "json_schema", "schema": schema } } })),
    answer_dialect: &Dialect::ANTHROPIC_STRICT,
    check: |request| {
        let max_tokens = request.max_tokens.unwrap_or(8192);
        let is_forced = matches!(request.tool_choice, Some(ToolChoice::Required | ToolChoice::Tool(_)));
        match request.thinking {
            Some(Thinking::Tokens(tokens)) if tokens >= max_tokens => {
                Err(("thinking", "its tokens are part of `max_tokens`, which must be larger"))
            }
            None | Some(Thinking::Off) => Ok(()),
            Some(_) if is_forced => Err(("tool_choice", "a model that thinks cannot be forced to call a tool")),
            Some(_) => Ok(()),
        }
    },
};

const OPENAI: RequestFormat = RequestFormat {
    api: openai::RESPONSES,
    id: "openai",
    url: "https://api.openai.com",
    path: "/v1/responses",
    key: Some("OPENAI_API_KEY"),
    headers: &[],
    export: |catalog| openai::tools(catalog, Naming::default(), openai::Options::responses()),
    messages: "input",
    system: |text| json!({ "instructions": text }),
    tool_choice: |choice| {
        let function = |name: &str| json!({ "type": "function", "name": name });
        Ok(json!({ "tool_choice": fields::choice(choice, "required", function) }))
    },
    sequential: || Ok(json!({ "parallel_tool_calls": false })),
    max_tokens: |max_tokens| json!({ "max_output_tokens": max_tokens }),
    default_max_tokens: None,
    thinking: |thinking| fields::level(thinking, |level| json!({ "reasoning": { "effort": level } })),
    cache: |_| Ok(()),
    answer: |schema| {
        let format = json!({ "type": "json_schema", "name": "answer", "schema": schema, "strict": true });
        Ok(json!({ "text": { "format": format } }))
    },
    answer_dialect: &Dialect::OPENAI_STRICT,
    check: |_| Ok(()),
    ..ANTHROPIC
};

/// Many other servers have this API.
const OPENAI_CHAT: RequestFormat = RequestFormat {
    api: openai::CHAT_COMPLETIONS,
    id: "openai-chat",
    path: "/v1/chat/completions",
    export: |catalog| openai::tools(catalog, Naming::default(), openai::Options::chat_completions()),
    messages: "messages",
    system: fields::system_message,
    tool_choice: |choice| {
        let function = |name: &str| json!({ "type": "function", "function": { "name": name } });
        Ok(json!({ "tool_choice": fields::choice(choice, "required", function) }))
    },
    max_tokens: |max_tokens| json!({ "max_completion_tokens": max_tokens }),
    thinking: |thinking| fields::level(thinking, |level| json!({ "reasoning_effort": level })),
    stream: |is_streamed| {
        // The usage is in an event of its own, which must be asked for.
        if is_streamed { json!({ "stream": true, "stream_options": { "include_usage": true } }) } else { json!({}) }
    },
    answer: |schema| Ok(json!({ "response_format": fields::json_schema(schema) })),
    ..OPENAI
};

const MISTRAL: RequestFormat = RequestFormat {
    api: mistral::CHAT,
    id: "mistral",
    url: "https://api.mistral.ai",
    key: Some("MISTRAL_API_KEY"),
    tool_choice: |choice| {
        let function = |name: &str| json!({ "type": "function", "function": { "name": name } });
        Ok(json!({ "tool_choice": fields::choice(choice, "any", function) }))
    },
    max_tokens: |max_tokens| json!({ "max_tokens": max_tokens }),
    stream: |is_streamed| if is_streamed { json!({ "stream": true }) } else { json!({}) },
    cache: |_| Err("the cache has a key of yours; set it with `field(\"prompt_cache_key\", …)`"),
    ..OPENAI_CHAT
};

/// The provider stores nothing, so that each request has all messages.
const MISTRAL_CONVERSATIONS: RequestFormat = RequestFormat {
    api: mistral::CONVERSATIONS,
    id: "mistral-conversations",
    path: "/v1/conversations",
    user: |text| json!({ "object": "entry", "type": "message.input", "role": "user", "content": text }),
    messages: "inputs",
    model: |model| json!({ "model": model, "store": false }),
    system: |text| json!({ "instructions": text }),
    tool_choice: |choice| match choice {
        ToolChoice::Tool(_) => Err("a single tool cannot be selected; use `Required`, and send only that tool"),
        choice => {
            let choice = fields::choice(choice, "any", |_| Value::Null);
            Ok(json!({ "completion_args": { "tool_choice": choice } }))
        }
    },
    sequential: || Err(NO_PARALLEL),
    max_tokens: |max_tokens| json!({ "completion_args": { "max_tokens": max_tokens } }),
    thinking: |thinking| fields::level(thinking, |level| json!({ "completion_args": { "reasoning_effort": level } })),
    cache: |_| Err("the API has no option for it"),
    answer: |schema| Ok(json!({ "completion_args": { "response_format": fields::json_schema(schema) } })),
    ..MISTRAL
};

const COHERE: RequestFormat = RequestFormat {
    api: cohere::CHAT,
    id: "cohere",
    url: "https://api.cohere.com",
    path: "/v2/chat",
    key: Some("CO_API_KEY"),
    tool_choice: |choice| match choice {
        ToolChoice::Auto => Ok(json!({})),
        ToolChoice::Required => Ok(json!({ "tool_choice": "REQUIRED" })),
        ToolChoice::None => Ok(json!({ "tool_choice": "NONE" })),
        ToolChoice::Tool(_) => Err("a single tool cannot be selected; use `Required`, and send only that tool"),
    },
    sequential: || Err(NO_PARALLEL),
    thinking: |thinking| match thinking {
        Thinking::Off => Ok(json!({ "thinking": { "type": "disabled" } })),
        Thinking::Tokens(tokens) => Ok(json!({ "thinking": { "type": "enabled", "token_budget": tokens } })),
        _ => Err("there are no levels; use `Off` or `Tokens`"),
    },
    cache: |_| Ok(()),
    answer: |schema| Ok(json!({ "response_format": { "type": "json_object", "json_schema": schema } })),
    answer_dialect: &Dialect::OPENAI,
    check: |request| match (&request.answer, &request.tools) {
        (Some(AnswerForm::Format(_)), Some(_)) => {
            Err(("answer", "is not supported beside tools; use `answer_by_tool`"))
        }
        _ => Ok(()),
    },
    ..MISTRAL
};

const OLLAMA: RequestFormat = RequestFormat {
    api: ollama::CHAT,
    id: "ollama",
    url: "http://127.0.0.1:11434",
    path: "/api/chat",
    key: None,
    tool_choice: |choice| match choice {
        ToolChoice::Auto => Ok(json!({})),
        _ => Err("only `Auto` is supported"),
    },
    max_tokens: |max_tokens| json!({ "options": { "num_predict": max_tokens } }),
    thinking: |thinking| match thinking {
        Thinking::Off => Ok(json!({ "think": false })),
        thinking => fields::level(thinking, |level| json!({ "think": level })),
    },
    stream: |is_streamed| json!({ "stream": is_streamed }),
    answer: |schema| Ok(json!({ "format": schema })),
    check: |_| Ok(()),
    ..COHERE
};

const GEMINI: RequestFormat = RequestFormat {
    api: gemini::GENERATE_CONTENT,
    id: "gemini",
    url: "https://generativelanguage.googleapis.com",
    path: "/v1/models/MODEL:generateContent",
    stream_path: Some("/v1/models/MODEL:streamGenerateContent?alt=sse"),
    key: Some("GEMINI_API_KEY"),
    key_header: ("x-goog-api-key", ""),
    export: |catalog| gemini::tools(catalog, Naming::default(), gemini::Options::default()),
    user: |text| json!({ "role": "user", "parts": [{ "text": text }] }),
    messages: "contents",
    model: |_| json!({}),
    system: |text| json!({ "systemInstruction": { "role": "user", "parts": [{ "text": text }] } }),
    tool_choice: |choice| {
        let config = match choice {
            ToolChoice::Auto => json!({ "mode": "AUTO" }),
            ToolChoice::Required => json!({ "mode": "ANY" }),
            ToolChoice::None => json!({ "mode": "NONE" }),
            ToolChoice::Tool(name) => json!({ "mode": "ANY", "allowedFunctionNames": [name] }),
        };
        Ok(json!({ "toolConfig": { "functionCallingConfig": config } }))
    },
    sequential: || Err(NO_PARALLEL),
    max_tokens: |max_tokens| json!({ "generationConfig": { "maxOutputTokens": max_tokens } }),
    thinking: |thinking| {
        let config = match thinking {
            Thinking::Off => json!({ "thinkingBudget": 0 }),
            Thinking::Low => json!({ "thinkingLevel": "LOW" }),
            Thinking::Medium => json!({ "thinkingLevel": "MEDIUM" }),
            Thinking::High => json!({ "thinkingLevel": "HIGH" }),
            Thinking::Tokens(tokens) => json!({ "thinkingBudget": tokens }),
        };
        Ok(json!({ "generationConfig": { "thinkingConfig": config } }))
    },
    stream: |_| json!({}),
    answer: |schema| {
        let config = json!({ "responseMimeType": "application/json", "responseJsonSchema": schema });
        Ok(json!({ "generationConfig": config }))
    },
    answer_dialect: &Dialect::GEMINI,
    ..OPENAI
};

/// The provider stores nothing, so that each request has all messages.
const GEMINI_INTERACTIONS: RequestFormat = RequestFormat {
    api: gemini::INTERACTIONS,
    id: "gemini-interactions",
    path: "/v1/interactions",
    stream_path: None,
    export: |catalog| gemini::interaction_tools(catalog, Naming::default()),
    user: |text| json!({ "type": "user_input", "content": [{ "type": "text", "text": text }] }),
    messages: "input",
    model: |model| json!({ "model": model, "store": false }),
    system: |text| json!({ "system_instruction": text }),
    tool_choice: |choice| {
        let function = |name: &str| json!({ "allowed_tools": { "mode": "any", "tools": [name] } });
        Ok(json!({ "generation_config": { "tool_choice": fields::choice(choice, "any", function) } }))
    },
    max_tokens: |max_tokens| json!({ "generation_config": { "max_output_tokens": max_tokens } }),
    thinking: |thinking| match thinking {
        Thinking::Off => Err("it cannot be switched off; the lowest level is `Low`"),
        thinking => fields::level(thinking, |level| json!({ "generation_config": { "thinking_level": level } })),
    },
    stream: |is_streamed| if is_streamed { json!({ "stream": true }) } else { json!({}) },
    answer: |schema| {
        Ok(json!({ "response_format": { "type": "text", "mime_type": "application/json", "schema": schema } }))
    },
    ..GEMINI
};

const BEDROCK: RequestFormat = RequestFormat {
    api: bedrock::CONVERSE,
    id: "bedrock",
    url: "https://bedrock-runtime.us-east-1.amazonaws.com",
    path: "/model/MODEL/converse",
    stream_path: Some("/model/MODEL/converse-stream"),
    key: Some("AWS_BEARER_TOKEN_BEDROCK"),
    key_header: BEARER,
    export: |catalog| bedrock::tools(catalog, Naming::default(), bedrock::Options::default()),
    user: |text| json!({ "role": "user", "content": [{ "text": text }] }),
    messages: "messages",
    system: |text| json!({ "system": [{ "text": text }] }),
    tools: |tools| json!({ "toolConfig": { "tools": tools } }),
    tool_choice: |choice| {
        let choice = match choice {
            ToolChoice::Auto => json!({ "auto": {} }),
            ToolChoice::Required => json!({ "any": {} }),
            ToolChoice::None => return Err("calls cannot be forbidden; leave out the tools"),
            ToolChoice::Tool(name) => json!({ "tool": { "name": name } }),
        };
        Ok(json!({ "toolConfig": { "toolChoice": choice } }))
    },
    max_tokens: |max_tokens| json!({ "inferenceConfig": { "maxTokens": max_tokens } }),
    thinking: |thinking| match thinking {
        Thinking::Off | Thinking::Tokens(_) => {
            Err("its form depends on the model; set it with `field(\"additionalModelRequestFields\", …)`")
        }
        level => Ok(json!({ "outputConfig": { "effort": level.level() } })),
    },
    cache: |body| {
        let point = json!({ "cachePoint": { "type": "default" } });
        let places = ["/system", "/toolConfig/tools"].map(str::to_owned);
        let n_messages = body["messages"].as_array().map_or(0, Vec::len);
        let last = n_messages.checked_sub(1).map(|last| format!("/messages/{last}/content"));
        for place in places.into_iter().chain(last) {
            if let Some(list) = body.pointer_mut(&place).and_then(Value::as_array_mut) {
                list.push(point.clone());
            }
        }
        Ok(())
    },
    answer: |schema| {
        let schema = json!({ "jsonSchema": { "name": "answer", "schema": schema.to_string() } });
        Ok(json!({ "outputConfig": { "textFormat": { "type": "json_schema", "structure": schema } } }))
    },
    answer_dialect: &Dialect::BEDROCK_STRICT,
    ..GEMINI
};

/// The parts of a request to an API.
impl Api {
    /// Returns all APIs.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        APIS.iter().map(|format| format.api)
    }

    /// Returns the API with an [id](Self::id).
    ///
    /// ```
    /// use toolkit_providers::openai::CHAT_COMPLETIONS;
    /// use toolkit_providers::reply::Api;
    ///
    /// assert_eq!(Api::with_id("openai-chat"), Some(CHAT_COMPLETIONS));
    /// assert_eq!(Api::all().find(|api| api.key_variable() == Some("CO_API_KEY")), Api::with_id("cohere"));
    /// ```
    #[must_use]
    pub fn with_id(id: &str) -> Option<Self> {
        Self::all().find(|api| api.id() == id)
    }

    /// Returns the id, such as `anthropic`, for the option of a program.
    #[must_use]
    pub fn id(self) -> &'static str {
        self.request_format().id
    }

    /// Returns the environment variable in which programs of the provider look for the key, if it has one.
    #[must_use]
    pub fn key_variable(self) -> Option<&'static str> {
        self.request_format().key
    }

    /// Exports a catalog for a request, with the default options of the provider's module.
    ///
    /// # Errors
    ///
    /// Returns an error if two tools have the same name.
    pub fn export(self, catalog: &Catalog) -> Result<Export, Diagnostics> {
        (self.request_format().export)(catalog)
    }

    pub(super) fn request_format(self) -> &'static RequestFormat {
        APIS.iter().find(|format| format.api == self).unwrap_or_else(|| unreachable!("each API has a row"))
    }
}
