//! An MCP client that logs in: `fixture_login URL`. It lists the tools of a server and calls each of them, and logs in
//! whenever the server requires it. `CONTEXT`, or that of the conformance suite, contains the settings as JSON.

use std::error::Error;
use std::time::Duration;

use serde_json::{Map, Value, json};
use test_support::browser;
use toolkit::backend::Backend;
use toolkit::call::ErrorKind;
use toolkit::call::ask::{Answer, Asker, Mode, Question};
use toolkit::dispatch::BoxFuture;
use toolkit::{Catalog, Context, Dispatcher, Tool, ToolError};
use toolkit_backends::Backends;
use toolkit_mcp_client::{Endpoint, McpBackend, OAuth};

const METADATA: &str = "https://conformance-test.local/client-metadata.json";

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let url = std::env::args().next_back().ok_or("usage: fixture_login URL")?;
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_else(|_| "{}".to_owned());
    let context: Value = serde_json::from_str(&context)?;
    let text = |key: &str| context[key].as_str().map(str::to_owned);
    let mut settings = OAuth::new().client_name("tests").client_metadata_url(METADATA);
    if let (Some(id), Some(issuer)) = (text("client_id"), text("issuer")) {
        settings = settings.client_id(id).issuer(issuer);
        if let Some(secret) = text("client_secret") {
            settings = settings.client_secret(secret);
        }
    }
    let endpoint = Endpoint::new(&url)?.oauth(settings);
    let backend = McpBackend::http("server", endpoint.clone()).may_ask();

    while let Err(error) = backend.tools().await {
        login(&endpoint, error).await?;
        backend.start().await.or_else(|error| if is_login(&error) { Ok(()) } else { Err(error) })?;
    }
    let backends = Backends::new();
    backends.register(backend)?;
    let collected = backends.collect(Catalog::new([])?).await;
    let tools: Vec<Tool> = collected.catalog.iter().cloned().collect();
    let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build()?;
    let called = context["toolCalls"].as_array().cloned().unwrap_or_else(|| {
        let call = |tool: &Tool| json!({ "name": tool.name(), "arguments": arguments_of(tool, &tools) });
        tools.iter().map(call).collect()
    });
    for call in called {
        let (name, arguments) = (format!("server:{}", call["name"].as_str().unwrap_or_default()), &call["arguments"]);
        let context = Context::new().with_asker(Defaults);
        while let Err(error) = dispatcher.call_with(&context, &name, arguments.clone()).await {
            if !is_login(&error) {
                eprintln!("{name}: {error}");
                break;
            }
            login(&endpoint, error).await?;
        }
    }
    Ok(())
}

/// Returns a value for each required argument. One that is an object is the schema of the first tool.
fn arguments_of(tool: &Tool, all: &[Tool]) -> Value {
    let schema = |tool: &Tool| tool.input().as_value().clone();
    let wanted = schema(tool);
    let required = wanted["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let value = |name: &str| match wanted["properties"][name]["type"].as_str() {
        Some("number" | "integer") => json!(1),
        Some("boolean") => json!(true),
        Some("object") => schema(&all[0]),
        _ => json!("text"),
    };
    required.map(|name| (name.to_owned(), value(name))).collect::<Map<_, _>>().into()
}

/// A user who accepts each form as it is. A field without a default is a box to check.
struct Defaults;

impl Asker for Defaults {
    fn can_ask(&self, mode: Mode) -> bool {
        mode == Mode::Form
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, ToolError>> {
        let schema = question.form().map(|form| form.schema().clone()).unwrap_or_default();
        let fields = schema["properties"].as_object().into_iter().flatten();
        let value = |field: &Value| field.get("default").cloned().unwrap_or_else(|| json!(true));
        let content: Map<String, Value> = fields.map(|(name, field)| (name.clone(), value(field))).collect();
        Box::pin(async move { Ok(Answer::Accepted(content.into())) })
    }
}

/// Logs in if the error requires it. A browser approves at once.
async fn login(endpoint: &Endpoint, error: ToolError) -> Result<(), Failure> {
    if !is_login(&error) {
        return Err(error.into());
    }
    eprintln!("{error}: {:?}", error.source().map(ToString::to_string));
    let login = endpoint.login().await?;
    let url = login.url().to_owned();
    let waiting = tokio::spawn(login.wait(Duration::from_secs(20)));
    let redirect = browser::follow(&url, "http://127.0.0.1:").await?;
    let page = browser::get(&redirect, &Default::default()).await?;
    eprintln!("{}", page.lines().last().unwrap_or_default());
    eprintln!("{:?}", waiting.await??);
    Ok(())
}

fn is_login(error: &ToolError) -> bool {
    error.kind() == ErrorKind::Unauthorized
}
