//! Tools whose results a test chooses, for replies that call any tool.

use std::error::Error;

use serde_json::{Value, json};
use toolkit::backend::{Backend, BackendCall, BackendResponse, OfferedTools};
use toolkit::call::BoxFuture;
use toolkit::catalog::{ExportedName, ExportedNames};
use toolkit::tool::{BackendKind, ToolBackend};
use toolkit::{Catalog, Dispatcher, Tool, ToolError};
use toolkit_backends::Backends;
use toolkit_providers::reply::{Api, CallInfo};
use toolkit_providers::{anthropic, bedrock, cohere, gemini, mistral, ollama, openai};

use crate::block_on;

/// Returns the API with a short name, if its replies can be read.
#[must_use]
pub fn api(name: &str) -> Option<Api> {
    Some(match name {
        "anthropic" => anthropic::MESSAGES,
        "bedrock" => bedrock::CONVERSE,
        "chat" | "openrouter" => openai::CHAT_COMPLETIONS,
        "cohere" => cohere::CHAT,
        "conversations" => mistral::CONVERSATIONS,
        "gemini" => gemini::GENERATE_CONTENT,
        "interactions" => gemini::INTERACTIONS,
        "mistral" => mistral::CHAT,
        "ollama" => ollama::CHAT,
        "responses" => openai::RESPONSES,
        _ => return None,
    })
}

/// Returns a dispatcher with one tool for each name, and their names. A name is a string, or an object with `name` and
/// optionally `namespace` and `input`, the input schema.
///
/// Call number `n` of a reply has outcome number `n`, in the form of MCP (`CallToolResult`), and begins again after the
/// last outcome. Null is a result without content.
///
/// # Errors
///
/// Returns an error if the schema of a tool is invalid.
pub fn answering(names: &[Value], outcomes: Vec<Value>) -> Result<(Dispatcher, ExportedNames), Box<dyn Error>> {
    let backends = Backends::new();
    backends.register(Answers { schemas: names.iter().map(schema).collect(), outcomes })?;
    let collected = block_on(backends.collect(Catalog::new([])?));
    let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build()?;
    let exported = names.iter().enumerate().map(|(idx, name)| {
        let text = |field: &str| name[field].as_str();
        let exported = ExportedName::new(name.as_str().or(text("name")).unwrap_or_default(), id(idx).parse()?);
        Ok(text("namespace").map_or(exported.clone(), |namespace| exported.in_namespace(namespace)))
    });
    let exported = exported.collect::<Result<ExportedNames, Box<dyn Error>>>()?;
    Ok((dispatcher, exported))
}

/// Returns the id of the tool with the name at `idx`.
#[must_use]
pub fn id(idx: usize) -> String {
    format!("answers:tool{idx}")
}

fn schema(name: &Value) -> Value {
    name.get("input").cloned().unwrap_or_else(|| json!({ "type": "object" }))
}

struct Answers {
    schemas: Vec<Value>,
    outcomes: Vec<Value>,
}

impl Backend for Answers {
    fn name(&self) -> &'static str {
        "answers"
    }

    fn kind(&self) -> BackendKind {
        BackendKind::Local
    }

    fn tools(&self) -> BoxFuture<'_, Result<OfferedTools, ToolError>> {
        let tools = self.schemas.iter().enumerate().map(|(idx, schema)| {
            let name = format!("tool{idx}");
            let tool = Tool::builder(name.clone()).description("Returns a chosen result.").input(schema.clone());
            let target = ToolBackend::provider("answers", name).map_err(ToolError::internal)?;
            Ok((tool.build().map_err(ToolError::internal)?, target))
        });
        let tools = tools.collect::<Result<Vec<_>, ToolError>>();
        Box::pin(async { tools.map(OfferedTools::new) })
    }

    fn call<'a>(&'a self, call: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> {
        let index = call.context().get::<CallInfo>().map_or(0, |info| info.index);
        let outcome = self.outcomes.get(index % self.outcomes.len().max(1));
        let outcome = match outcome {
            Some(result @ Value::Object(_)) => BackendResponse::Mcp(result.to_string().into_bytes()),
            _ => BackendResponse::Mcp(br#"{"content":[]}"#.to_vec()),
        };
        Box::pin(async { Ok(outcome) })
    }
}
