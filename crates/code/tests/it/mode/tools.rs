//! The tools that the programs call.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolkit::{Catalog, Content, Context, ToolError, tool};

/// Adds two integers.
#[tool(namespace = "math", read_only)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Size {
    Small,
    Large,
}

/// Orders a drink.
#[tool(namespace = "shop")]
fn order(
    drink: String,
    size: Size,
    /// From 1 to 10.
    #[schemars(range(min = 1, max = 10))]
    count: u32,
) -> String {
    format!("{count} {} {drink}", serde_json::to_value(size).unwrap())
}

/// Fails.
#[tool(namespace = "shop", read_only)]
fn fail(reason: String) -> Result<(), ToolError> {
    Err(ToolError::failed(reason))
}

/// Waits, and returns the number of calls that waited at the same time.
#[tool(namespace = "time", read_only)]
async fn wait(milliseconds: u64) -> usize {
    static N_WAITING: AtomicUsize = AtomicUsize::new(0);
    static MAX: AtomicUsize = AtomicUsize::new(0);
    let n_waiting = N_WAITING.fetch_add(1, Ordering::SeqCst) + 1;
    MAX.fetch_max(n_waiting, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    N_WAITING.fetch_sub(1, Ordering::SeqCst);
    MAX.load(Ordering::SeqCst)
}

/// Never ends.
#[tool(namespace = "time", read_only)]
async fn hang() {
    std::future::pending().await
}

/// Draws a dot.
#[tool(namespace = "images", read_only)]
fn dot(color: String) -> Vec<Content> {
    vec![Content::text(format!("a {color} dot")), Content::image(color.as_bytes(), "image/png")]
}

/// Returns the user.
#[tool(namespace = "users", read_only, requires(user_id))]
fn who(ctx: &Context) -> String {
    ctx.user_id().unwrap_or_default().to_owned()
}

/// Returns a text of this length.
#[tool(namespace = "text", read_only)]
fn long(length: usize) -> String {
    "x".repeat(length)
}

/// Returns the arguments.
#[tool(namespace = "text", read_only)]
fn echo(value: serde_json::Value) -> serde_json::Value {
    value
}

/// Returns the catalog of these tools.
pub fn catalog() -> Catalog {
    toolkit::catalog![add, order, fail, wait, hang, dot, who, long, echo].unwrap()
}
