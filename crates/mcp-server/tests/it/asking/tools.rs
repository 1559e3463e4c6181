//! The tools, which record what they do.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolkit::call::ask::Answer;
use toolkit::{Context, Dispatcher, ToolError, catalog, tool};
use toolkit_mcp_server::{Server, ServerBuilder};
use toolkit_tower::Approval;

/// The effects of the tools of a server.
#[derive(Clone, Default)]
pub struct Effects(Arc<Mutex<Vec<String>>>);

impl Effects {
    pub fn add(&self, effect: impl Into<String>) {
        self.0.lock().unwrap().push(effect.into());
    }

    pub fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

#[derive(Debug, Deserialize, JsonSchema, Serialize)]
pub struct Deletion {
    /// Delete the branch even if it is not merged.
    #[serde(default)]
    pub force: bool,
    /// The reason for the log.
    #[schemars(length(min = 3))]
    pub reason: String,
}

/// Deletes a branch.
#[tool]
async fn delete_branch(branch: String, ctx: &Context, effects: &Effects) -> Result<String, ToolError> {
    let deletion: Deletion = ctx.ask(format!("Delete `{branch}`?")).await?;
    effects.add(format!("deleted {branch}"));
    Ok(format!("{branch}: {}, {}", deletion.reason, deletion.force))
}

/// Books a table.
#[tool]
async fn book(ctx: &Context) -> Result<String, ToolError> {
    Ok(match ctx.try_ask::<u8>("How many?").await? {
        Answer::Accepted(n) => format!("accepted {n}"),
        Answer::Declined => "declined".to_owned(),
        Answer::Cancelled => "cancelled".to_owned(),
        Answer::Unsupported => "unsupported".to_owned(),
    })
}

/// Connects a calendar.
#[tool]
async fn connect(ctx: &Context) -> Result<String, ToolError> {
    Ok(format!("{:?}", ctx.ask_url("Connect the calendar.", "https://calendar.example/connect").await?))
}

/// Plans a trip in three questions, the last two of which are asked together.
#[tool]
async fn plan(ctx: &Context, effects: &Effects) -> Result<String, ToolError> {
    effects.add("started");
    let city: String = ctx.ask("Where?").await?;
    let (days, hotel) =
        tokio::join!(ctx.ask::<u8>(format!("How many days in {city}?")), ctx.ask::<bool>("With a hotel?"));
    effects.add("planned");
    Ok(format!("{} days in {city}, hotel: {}", days?, hotel?))
}

/// Asks a new question in each round.
#[tool]
async fn endless(ctx: &Context, effects: &Effects) -> Result<String, ToolError> {
    loop {
        effects.add("asked");
        ctx.ask::<bool>(format!("Again after {}?", effects.all().len())).await?;
    }
}

/// Asks from a task of its own.
#[tool]
async fn from_a_task(ctx: &Context) -> Result<String, ToolError> {
    let ctx = ctx.clone();
    let answer = tokio::spawn(async move { ctx.ask::<String>("Name?").await });
    answer.await.map_err(ToolError::internal)?
}

/// Deletes a file. Its call must be approved.
#[tool(destructive)]
fn delete_file(path: String, effects: &Effects) -> String {
    effects.add(format!("deleted {path}"));
    "deleted".to_owned()
}

/// Deletes a content from a file. Its call must be approved.
#[tool(destructive)]
fn delete_content(content: String, path: String, effects: &Effects) -> usize {
    effects.add(format!("deleted {path}"));
    content.len()
}

/// Takes a while after its question, within a time limit that is shorter than the user's.
#[tool(timeout = "500ms")]
async fn slow_user(ctx: &Context) -> Result<String, ToolError> {
    let name: String = ctx.ask("Name?").await?;
    tokio::time::sleep(Duration::from_millis(10)).await;
    Ok(name)
}

/// Asks with a text of its caller.
#[tool]
async fn repeat(question: String, ctx: &Context) -> Result<bool, ToolError> {
    ctx.ask(question).await
}

/// The urgency of an order.
#[derive(Debug, Deserialize, JsonSchema)]
pub enum Urgency {
    /// Today.
    High,
    /// Some day.
    Low,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub struct Order {
    urgency: Urgency,
    /// The number of copies.
    #[serde(default = "seven")]
    copies: u8,
    #[serde(default)]
    gift: bool,
}

fn seven() -> u8 {
    7
}

/// Orders a book.
#[tool]
async fn order(ctx: &Context) -> Result<String, ToolError> {
    let Order { urgency, copies, gift } = ctx.ask("How?").await?;
    Ok(format!("{urgency:?}, {copies}, {gift}"))
}

/// Selects several of the given choices.
#[tool]
async fn select(ctx: &Context) -> Result<String, ToolError> {
    Ok(format!("{:?}", ctx.try_ask::<Vec<Urgency>>("Which?").await?))
}

/// Pays an amount.
#[tool]
async fn pay(amount: u128, ctx: &Context, effects: &Effects) -> Result<String, ToolError> {
    ctx.ask::<bool>("Pay it?").await?;
    effects.add(format!("paid {amount}"));
    Ok("paid".to_owned())
}

/// Adds two integers.
#[tool(read_only)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Returns a server for the tools, and their effects.
pub fn server() -> (Server, Effects) {
    server_with(|builder| builder)
}

pub fn server_with(configure: impl FnOnce(ServerBuilder) -> ServerBuilder) -> (Server, Effects) {
    let effects = Effects::default();
    let catalog = catalog![
        delete_branch,
        book,
        connect,
        plan,
        endless,
        from_a_task,
        delete_file,
        delete_content,
        slow_user,
        repeat,
        order,
        select,
        pay,
        add
    ]
    .unwrap();
    let approval =
        Approval::ask_caller().when(|tool| tool.name().starts_with("delete_") && tool.name() != "delete_branch");
    let dispatcher = Dispatcher::builder(catalog).state(effects.clone()).layer(approval).build().unwrap();
    (configure(Server::builder(dispatcher).named("asking", "1.0.0")).build().unwrap(), effects)
}
