//! The served tools.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use toolkit::{Catalog, Content, Context, ToolError, catalog, tool};
use toolkit_mcp_server::{Caller, MissingCapability, Request};

/// Returns the tools of the server.
pub fn catalog() -> Catalog {
    catalog![
        add,
        old_add,
        half,
        delete_all,
        content,
        fail,
        fail_inside,
        panics,
        count,
        sleep,
        wait,
        long_text,
        length,
        who,
        whose,
        mail,
        sample,
        query,
        super::faults::wait_in_vain
    ]
    .unwrap()
}

#[derive(Serialize, JsonSchema)]
pub struct Sum {
    sum: i64,
}

/// Adds two integers.
#[tool(namespace = "math", version = "1.0.0", tags = ["arithmetic"], read_only)]
fn add(a: i64, b: i64) -> Sum {
    Sum { sum: a.wrapping_add(b) }
}

/// Adds two integers, as it was done before.
#[tool(name = "add", namespace = "math", version = "0.9.0")]
fn old_add(a: i64, b: i64) -> i64 {
    a - b
}

/// Halves a number.
#[tool(namespace = "math", tags = ["arithmetic"], read_only, idempotent, open_world = false)]
fn half(n: f64) -> f64 {
    n / 2.0
}

/// Deletes everything.
#[tool(namespace = "files", destructive)]
fn delete_all() -> String {
    "gone".to_owned()
}

/// All kinds of content.
#[tool]
fn content() -> Vec<Content> {
    vec![
        Content::text("text"),
        Content::image(b"\x89PNG", "image/png"),
        Content::audio(b"RIFF", "audio/wav"),
        Content::resource_link("file:///a.txt", "a.txt"),
        Content::resource_text("file:///b.txt", "text/plain", "b"),
    ]
}

/// Fails.
#[tool]
fn fail() -> Result<String, ToolError> {
    Err(ToolError::failed("the disk is full"))
}

/// Fails with an error whose text must not be sent.
#[tool]
fn fail_inside() -> Result<String, ToolError> {
    Err(ToolError::internal(std::io::Error::other("the password is hunter2")))
}

/// Panics.
#[tool]
fn panics() -> String {
    panic!("the password is hunter2")
}

/// Reports progress, and one report that does not increase.
#[tool]
async fn count(ctx: &Context) -> u8 {
    for done in [1.0, 1.0, 2.0, 3.0] {
        ctx.progress(done, 3.0, "counting");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    3
}

/// Sleeps.
#[tool]
async fn sleep(
    /// For how many milliseconds.
    ms: u64,
) -> u64 {
    tokio::time::sleep(Duration::from_millis(ms)).await;
    ms
}

/// Reports progress and never returns.
#[tool]
async fn wait(ctx: &Context) -> u64 {
    ctx.progress(1.0, None, "waiting");
    std::future::pending().await
}

/// Returns a long text.
#[tool]
fn long_text(n_bytes: usize) -> String {
    "x".repeat(n_bytes)
}

/// Returns the length of a text.
#[tool]
fn length(text: String) -> usize {
    text.len()
}

/// Returns the properties of the caller.
#[tool]
fn who(ctx: &Context) -> Value {
    let request = ctx.get::<Request>();
    json!({
        "traceparent": request.and_then(Request::traceparent),
        "client": request.and_then(Request::client_info),
        "subject": request.and_then(Request::caller).and_then(Caller::subject),
    })
}

/// Returns the id of the user.
#[tool(requires(user_id))]
fn whose(ctx: &Context) -> String {
    ctx.user_id().unwrap_or_default().to_owned()
}

/// Uses a secret.
#[tool(requires(secret = "MAIL_KEY"))]
fn mail(ctx: &Context) -> bool {
    ctx.secret("MAIL_KEY").is_some()
}

/// Needs a client that samples.
#[tool]
fn sample() -> Result<String, ToolError> {
    Err(ToolError::failed("the client does not sample").caused_by(MissingCapability::new(["sampling"])))
}

/// Runs a query somewhere.
#[tool]
fn query(
    /// Where.
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
    /// How many rows.
    #[schemars(extend("x-mcp-header" = "Limit"))]
    #[serde(default = "ten")]
    limit: i64,
) -> String {
    format!("{limit} rows from {region}")
}

fn ten() -> i64 {
    10
}
