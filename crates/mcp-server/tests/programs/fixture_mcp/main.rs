//! A server with the tools that the conformance suite of the protocol expects, and some slow ones: over stdio, or over
//! HTTP if its argument is an address. It prints its address. It stores its tasks in the directory `TASK_DIR`, if that is
//! set.

mod asks;
mod prompts;
mod tasks;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use toolkit::call::LogLevel;
use toolkit::resource::{Resource, ResourceTemplate};
use toolkit::{Catalog, Content, Context, Dispatcher, ToolError, tool};
use toolkit_mcp_server::{
    MissingCapability, Request, ResourceSet, Server, ServerBuilder, TaskDirectory, TemplateResources, UriTemplateError,
};

/// The server itself, for the tool that changes its list.
pub type ItsServer = Arc<OnceLock<Server>>;

/// Serves until the end of the input, or until a signal.
#[tokio::main]
pub async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let its_server = ItsServer::default();
    let dispatcher = Dispatcher::builder(Catalog::linked()?).state(Arc::clone(&its_server)).build()?;
    let server = Server::builder(dispatcher).named("fixture", "1.0.0");
    let server = match std::env::var_os("TASK_DIR") {
        Some(directory) => server.task_store(TaskDirectory::open(directory)?).task_after(tasks::SOON),
        None => server.task_after(tasks::TASK_AFTER),
    };
    let server = with_resources(server)?.build()?;
    let _ = its_server.set(server.clone());
    match std::env::args().nth(1) {
        None => server.stdio().await?,
        Some(address) => {
            let listening = server.http().bind(address).await?;
            println!("{}", listening.local_addr()?);
            listening.run_until_signal().await;
        }
    }
    Ok(())
}

/// Adds the resources that the conformance suite expects, and those that the tools link to.
fn with_resources(server: ServerBuilder) -> Result<ServerBuilder, UriTemplateError> {
    let text = |name: &str| Resource::new(format!("test://{name}"), name).mime_type("text/plain");
    let set = ResourceSet::new()
        .with(text("static-text"), "This is the content of the static text resource.")
        .with(Resource::new("test://static-binary", "static-binary").mime_type("image/png"), PNG)
        .with(text("watched-resource"), "Watched resource content")
        .with(text("linked-resource"), "linked");
    let template = ResourceTemplate::new("test://template/{id}/data", "template").mime_type("application/json");
    let template = TemplateResources::new(template, |params, _| async move {
        let id = &params["id"];
        Ok(Some(json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") }).to_string()))
    })?;
    Ok(server.resources(set).resources(template))
}

/// A red pixel.
const PNG: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1, 8,
    2, 0, 0, 0, 0x90, 0x77, 0x53, 0xde, 0, 0, 0, 0x0c, 0x49, 0x44, 0x41, 0x54, 0x08, 0xd7, 0x63, 0xf8, 0xcf, 0xc0, 0,
    0, 0, 3, 0, 1, 0x5c, 0xcd, 0xff, 0x69, 0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
];

/// A sound of no length.
const WAV: &[u8] = b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\0\0\0\0";

/// Says something.
#[tool]
fn test_simple_text() -> Content {
    Content::text("This is a simple text response for testing.")
}

/// Shows a picture.
#[tool]
fn test_image_content() -> Content {
    Content::image(PNG, "image/png")
}

/// Plays a sound.
#[tool]
fn test_audio_content() -> Content {
    Content::audio(WAV, "audio/wav")
}

/// Returns an embedded resource.
#[tool]
fn test_embedded_resource() -> Content {
    Content::resource_text("test://embedded-resource", "text/plain", "This is an embedded resource content.")
}

/// Returns a link to a resource.
#[tool]
fn test_resource_link() -> Content {
    Content::resource_link("test://linked-resource", "linked")
}

/// Returns a text and a picture.
#[tool]
fn test_multiple_content_types() -> Vec<Content> {
    vec![
        Content::text("Multiple content types test:"),
        Content::image(PNG, "image/png"),
        Content::resource_text(
            "test://mixed-content-resource",
            "application/json",
            json!({ "test": "data", "value": 123 }).to_string(),
        ),
    ]
}

/// Fails.
#[tool]
fn test_error_handling() -> Result<Content, ToolError> {
    Err(ToolError::failed("This tool intentionally returns an error for testing"))
}

/// Fails with an internal error, whose text is not returned.
#[tool]
fn test_internal_error() -> Result<Content, ToolError> {
    Err(ToolError::internal(std::io::Error::other("the password is hunter2")))
}

/// Panics.
#[tool]
fn test_panic() -> Content {
    panic!("the password is hunter2")
}

/// Reports its progress.
#[tool]
async fn test_tool_with_progress(ctx: &Context) -> Content {
    for done in [0.0, 50.0, 100.0] {
        ctx.progress(done, 100.0, &format!("Completed step {done} of 100"));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Content::text("done")
}

/// Logs what it does.
#[tool]
async fn test_tool_with_logging(ctx: &Context) -> Content {
    for text in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        ctx.log(LogLevel::Info, text);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Content::text("done")
}

/// A type whose schema has keywords of every kind, which must be listed unchanged.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Person {
    name: Option<String>,
    address: Option<Value>,
    contact_method: Option<String>,
    phone: Option<String>,
    email: Option<String>,
}

impl JsonSchema for Person {
    fn schema_name() -> Cow<'static, str> {
        "Person".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {
                "address": {
                    "$anchor": "addressDef",
                    "type": "object",
                    "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
                },
            },
            "properties": {
                "name": { "type": "string" },
                "address": { "$ref": "#/$defs/address" },
                "contactMethod": { "type": "string", "enum": ["phone", "email"] },
                "phone": { "type": "string" },
                "email": { "type": "string" },
            },
            "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
            "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
            "then": { "required": ["phone"] },
            "else": { "required": ["email"] },
            "additionalProperties": false,
        })
    }
}

/// Takes a person.
#[tool]
fn json_schema_2020_12_tool(args: Person) -> Content {
    let _ = args;
    Content::text("a person")
}

/// Runs a query somewhere.
#[tool]
fn test_x_mcp_header(
    /// The region that runs it.
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
    /// The maximum number of rows.
    #[schemars(extend("x-mcp-header" = "Limit"))]
    #[serde(default = "ten")]
    limit: i64,
) -> String {
    format!("{limit} rows from {region}")
}

fn ten() -> i64 {
    10
}

/// Needs a client that samples.
#[tool]
fn test_missing_capability(ctx: &Context) -> Result<Content, ToolError> {
    let declared = ctx.get::<Request>().and_then(Request::client_capabilities).unwrap_or_default();
    if declared.get("sampling").is_none() {
        let missing = MissingCapability::new(["sampling"]);
        return Err(ToolError::failed("the client does not sample").caused_by(missing));
    }
    Ok(Content::text("the client samples"))
}

/// Returns a text without asking the user.
#[tool]
fn test_streaming_elicitation() -> Content {
    Content::text("nothing was asked")
}

/// Returns a text without logging.
#[tool]
fn test_logging_tool() -> Content {
    Content::text("nothing was logged")
}

/// Notifies all clients that the list has changed.
#[tool]
fn test_trigger_tool_change(its_server: &ItsServer) -> Content {
    if let Some(server) = its_server.get() {
        server.announce();
    }
    Content::text("announced")
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

/// Adds two integers.
#[tool(namespace = "math", version = "1.0.0", tags = ["arithmetic"], read_only)]
fn add(a: i64, b: i64) -> Sum {
    Sum { sum: a.wrapping_add(b) }
}

/// Gives back what it is given.
#[tool(read_only)]
fn echo(message: String) -> Map<String, Value> {
    Map::from_iter([("echo".to_owned(), message.into())])
}

/// Sleeps.
#[tool]
async fn sleep(
    /// The duration in milliseconds.
    ms: u64,
) -> u64 {
    tokio::time::sleep(Duration::from_millis(ms)).await;
    ms
}

/// Returns a long text.
#[tool]
fn long_text(
    /// The length in bytes.
    n_bytes: usize,
) -> String {
    "x".repeat(n_bytes.min(16 << 20))
}

/// Writes to stdout, which a tool should not do.
#[tool]
fn prints() -> u8 {
    println!("a tool prints this");
    1
}

/// Reads what is left on stdin.
#[tool]
fn reads_stdin() -> Result<String, ToolError> {
    std::io::read_to_string(std::io::stdin()).map_err(ToolError::internal)
}

/// Starts a process that reads what is left on stdin.
#[tool]
async fn starts_a_reader() -> Result<String, ToolError> {
    let cat = tokio::process::Command::new("cat").stdout(std::process::Stdio::piped()).spawn();
    let output = cat.map_err(ToolError::internal)?.wait_with_output().await.map_err(ToolError::internal)?;
    String::from_utf8(output.stdout).map_err(ToolError::internal)
}
