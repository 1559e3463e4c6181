//! A server with the explorer, for its tests in a browser. It listens at a free port and prints the address.
//!
//! | variable | effect |
//! |---|---|
//! | `EXPLORER_REAL=1` | also serves the tools of servers that exist, which return their arguments |
//! | `EXPLORER_SCHEMAS=FILE` | also serves a tool for each schema in a JSON array |
//! | `EXPLORER_HOST=HOST` | listens there, and not at 127.0.0.1 |
//! | `EXPLORER_TOKEN=TOKEN` | requires this token |
//! | `EXPLORER_USERS=1` | requires a token such as `user-ann`, and `operator` sees all calls |
//! | `EXPLORER_WITNESS=FILE` | appends the arguments of each call, as they arrived |

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolkit::call::BoxFuture;
use toolkit::dispatch::Call;
use toolkit::resource::Resource;
use toolkit::{Arguments, Catalog, Chunks, Content, Context, Dispatcher, RunResult, Tool, ToolError, tool};
use toolkit_backends::{Backends, LocalBackend};
use toolkit_explorer::{Explorer, RecentCalls};
use toolkit_mcp_server::{Caller, ResourceSet, Server, TokenError, Verify};
use tower::{Service, ServiceExt as _};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let calls = RecentCalls::new();
    let backends = Backends::new();
    if is_set("EXPLORER_REAL") {
        add_real(&backends)?;
    }
    if let Some(path) = std::env::var_os("EXPLORER_SCHEMAS") {
        let schemas: Vec<Value> = serde_json::from_slice(&std::fs::read(path)?)?;
        add_schemas(&backends, &schemas)?;
    }
    let collected = backends.collect(Catalog::linked()?).await;
    let dispatcher = Dispatcher::builder(collected.catalog)
        .routes(collected.routes)
        .layer(calls.clone())
        .layer(tower::layer::layer_fn(Witness::new))
        .build()?;
    let resources = ResourceSet::new().with(Resource::new("notes://welcome", "Notes"), "Read on request.");
    let server = Server::builder(dispatcher).named("fixture", "1.0.0").resources(resources).build()?;
    let explorer = Explorer::new("Workshop").recent_calls(calls).operator_scope("operate");
    let explorer = match std::env::var("EXPLORER_PROGRAM") {
        Ok(path) => explorer.program("toolkit-examples", path),
        Err(_) => explorer,
    };
    let mut http = server.http().route(explorer);
    if let Ok(token) = std::env::var("EXPLORER_TOKEN") {
        http = http.token(token);
    }
    if is_set("EXPLORER_USERS") {
        http = http.verify(Users);
    }
    let host = std::env::var("EXPLORER_HOST").unwrap_or_else(|_| "127.0.0.1".to_owned());
    let listening = http.bind((host, 0)).await?;
    println!("{}", listening.local_addr()?);
    listening.run_until_signal().await;
    Ok(())
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| value == "1")
}

/// Accepts tokens that name their user.
struct Users;

impl Verify for Users {
    fn verify<'v>(&'v self, token: &'v str) -> BoxFuture<'v, Result<Caller, TokenError>> {
        Box::pin(async move {
            match token.strip_prefix("user-") {
                Some("operator") => Ok(Caller::named("operator").with_scopes(["operate"])),
                Some(name) => Ok(Caller::named(name)),
                None => Err(TokenError::Invalid),
            }
        })
    }
}

/// Writes down what arrives.
#[derive(Clone)]
struct Witness<S> {
    inner: S,
    file: Option<PathBuf>,
}

impl<S> Witness<S> {
    fn new(inner: S) -> Self {
        Self { inner, file: std::env::var_os("EXPLORER_WITNESS").map(PathBuf::from) }
    }
}

impl<S> Service<Call> for Witness<S>
where
    S: Service<Call, Response = RunResult> + Clone + Send + 'static,
    S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    S::Future: Send,
{
    type Response = RunResult;
    type Error = ToolError;
    type Future = BoxFuture<'static, Result<RunResult, ToolError>>;

    fn poll_ready(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), ToolError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: Call) -> Self::Future {
        if let (Some(file), Arguments::Json(json)) = (&self.file, call.arguments()) {
            let line = json!({ "tool": call.tool().id(), "arguments": String::from_utf8_lossy(json) });
            let file = OpenOptions::new().create(true).append(true).open(file);
            writeln!(file.expect("the file can be opened"), "{line}").expect("the file can be written to");
        }
        let inner = self.inner.clone();
        Box::pin(async move { inner.oneshot(call).await.map_err(ToolError::internal) })
    }
}

fn add_real(backends: &Backends) -> Result<(), Box<dyn std::error::Error>> {
    let mut by_namespace: BTreeMap<String, Vec<Tool>> = BTreeMap::new();
    for tool in test_support::real_catalog().iter() {
        let namespace = tool.id().namespace().unwrap_or("tools").to_owned();
        by_namespace.entry(namespace).or_default().push(tool.clone());
    }
    for (namespace, tools) in by_namespace {
        let backend = LocalBackend::new(&namespace);
        for tool in tools {
            add(&backend, tool.to_mcp_json())?;
        }
        backends.register(backend)?;
    }
    Ok(())
}

fn add_schemas(backends: &Backends, schemas: &[Value]) -> Result<(), Box<dyn std::error::Error>> {
    let backend = LocalBackend::new("generated");
    for (idx, schema) in schemas.iter().enumerate() {
        add(&backend, json!({ "name": format!("g{idx}"), "description": "Generated.", "inputSchema": schema }))?;
    }
    backends.register(backend)?;
    Ok(())
}

/// Adds a tool that returns nothing, whatever it gets.
fn add(backend: &LocalBackend, mut definition: Value) -> Result<(), Box<dyn std::error::Error>> {
    if let Some(fields) = definition.as_object_mut() {
        fields.shift_remove("outputSchema");
        fields.shift_remove("_meta");
    }
    if let Ok(tool) = Tool::from_json(definition) {
        backend.add(tool, |_: Value, _: Context| async move { Ok(json!("received")) });
    }
    Ok(())
}

/// An address.
#[derive(Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct Address {
    street: String,
    /// The city, without the postal code.
    city: String,
    #[serde(default)]
    country: Option<String>,
}

/// A line of an order.
#[derive(Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
struct Line {
    /// The number of the article.
    article: String,
    #[schemars(range(min = 1, max = 99))]
    count: u32,
}

/// The speed of delivery.
#[derive(Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
enum Speed {
    Slow,
    Normal,
    Express,
}

/// The payment of an order.
#[derive(Deserialize, JsonSchema, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Payment {
    /// By card.
    Card {
        /// The token of the card.
        #[schemars(extend("writeOnly" = true))]
        token: String,
    },
    /// By invoice.
    Invoice {
        /// The days until it is due.
        days: u8,
    },
}

#[derive(Deserialize, JsonSchema, Serialize)]
struct Order {
    number: u64,
    lines: usize,
    city: String,
}

fn normal() -> Speed {
    Speed::Normal
}

/// Places an order.
///
/// The goods are sent to one address. Use `speed` to choose how:
///
/// - `slow` takes a week,
/// - `express` a day, and costs **extra**.
#[tool(namespace = "shop", version = "1.2.0", tags = ["orders"])]
fn place_order(
    /// The address of delivery.
    address: Address,
    /// The articles, at least one.
    #[schemars(length(min = 1))]
    lines: Vec<Line>,
    payment: Payment,
    #[serde(default = "normal")] speed: Speed,
    /// A note for the courier.
    note: Option<String>,
    /// True if it is a present.
    #[serde(default)]
    present: bool,
    /// Any labels.
    #[serde(default)]
    labels: BTreeMap<String, String>,
) -> Order {
    let _ = (&payment, &speed, &note, present, &labels);
    Order { number: 9_007_199_254_740_993, lines: lines.len(), city: address.city }
}

/// Finds orders.
#[tool(namespace = "shop", version = "1.0.0", read_only, tags = ["orders"])]
fn find_orders(
    /// A part of the name of a customer.
    query: String,
    /// The number of orders.
    #[schemars(range(min = 1, max = 50))]
    limit: Option<u8>,
) -> Vec<Order> {
    (0..u64::from(limit.unwrap_or(3))).map(|number| Order { number, lines: 1, city: query.clone() }).collect()
}

/// Finds articles in the catalog of the shop, by any combination of their properties.
///
/// All conditions must hold. Without a condition, the newest articles are returned. Texts are compared without regard to
/// case and accents, and a word also finds its inflected forms, as in the search of the shop itself.
///
/// # Prices
///
/// Prices are those of the country of the caller, with taxes, in the currency of that country. A price that has changed
/// within the last hour may still be the old one, since prices are distributed once an hour. Reduced prices count as prices;
/// the price before the reduction is part of the result and is not searched.
///
/// # Order
///
/// - `newest` sorts by the day on which the article was added.
/// - `cheapest` sorts by price, and by name where prices are equal.
/// - `popular` sorts by the sales of the last four weeks, so that the order of two calls may differ.
///
/// # Limits
///
/// At most 100 articles are returned. Narrow the search with more conditions instead of asking for more articles, since a
/// model reads all of them. The number of articles that match is part of the result.
#[tool(
    namespace = "shop",
    version = "1.0.0",
    read_only,
    tags = ["articles", "catalog", "prices", "stock", "suppliers", "colors", "sizes", "brands", "ratings", "reductions"]
)]
#[expect(clippy::too_many_arguments, reason = "a form with many optional fields")]
fn find_articles(
    /// Words of the name or the description.
    text: String,
    /// Only articles of this brand.
    brand: Option<String>,
    /// Only articles in this color.
    color: Option<String>,
    /// The lowest price.
    min_price: Option<f64>,
    /// The highest price.
    max_price: Option<f64>,
    /// Only articles that are in stock.
    in_stock: Option<bool>,
    /// Only articles that were added since this day.
    #[schemars(extend("format" = "date"))]
    since: Option<String>,
    /// The order of the articles.
    order: Option<String>,
) -> Vec<String> {
    let _ = (brand, color, min_price, max_price, in_stock, since, order);
    vec![text]
}

/// Deletes an order. It asks for a reason.
#[tool(namespace = "shop", version = "1.0.0", destructive)]
async fn delete_order(number: u64, ctx: &Context) -> Result<String, ToolError> {
    #[derive(Deserialize, JsonSchema, Serialize)]
    struct Reason {
        /// The reason.
        reason: String,
    }
    let answer: Reason = ctx.ask(format!("Why is order {number} deleted?")).await?;
    Ok(format!("order {number} is deleted: {}", answer.reason))
}

/// A red pixel.
const PNG: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1, 8,
    2, 0, 0, 0, 0x90, 0x77, 0x53, 0xde, 0, 0, 0, 0x0c, 0x49, 0x44, 0x41, 0x54, 0x08, 0xd7, 0x63, 0xf8, 0xcf, 0xc0, 0,
    0, 0, 3, 0, 1, 0x5c, 0xcd, 0xff, 0x69, 0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
];

/// A picture whose scripts must not run.
const SVG: &str = "<svg xmlns='http://www.w3.org/2000/svg' width='320' height='160' viewBox='0 0 320 160'>\
    <script>parent.document.title='hacked'</script><rect width='320' height='160' rx='12' fill='#3451b2'/>\
    <path d='M20 130 L80 80 L140 105 L210 40 L300 65' stroke='#fff' stroke-width='6' fill='none'/></svg>";

/// A sound of no length.
const WAV: &[u8] = b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\0\0\0\0";

/// Shows content of each kind.
#[tool(namespace = "media", version = "1.0.0", read_only)]
fn show_everything() -> Vec<Content> {
    vec![
        Content::text("Sales of the last five weeks, with a sound and the notes."),
        Content::image(SVG.as_bytes(), "image/svg+xml"),
        Content::image(PNG, "image/png"),
        Content::audio(WAV, "audio/wav"),
        Content::resource_text("notes://today", "text/markdown", "# Today\n\nNothing happened."),
        Content::resource_link("notes://welcome", "welcome"),
        Content::resource_link("javascript:alert(1)", "hostile"),
    ]
}

/// Counts, slowly, and reports its progress.
#[tool(namespace = "slow", version = "1.0.0", read_only)]
async fn count_up(
    /// The last number.
    to: u32,
    /// The time between two numbers, in milliseconds.
    #[serde(default = "pause")]
    pause: u64,
    ctx: &Context,
) -> String {
    for done in 1..=to {
        ctx.progress(done.into(), f64::from(to), &format!("counted to {done}"));
        tokio::time::sleep(Duration::from_millis(pause)).await;
    }
    format!("counted to {to}")
}

fn pause() -> u64 {
    50
}

/// Builds something, as a task.
#[tool(namespace = "slow", version = "1.0.0", task = "required")]
async fn build(ms: u64, ctx: &Context) -> String {
    ctx.progress(0.0, None, "building");
    tokio::time::sleep(Duration::from_millis(ms)).await;
    "built".to_owned()
}

/// Opens a page of the user.
#[tool(namespace = "shop", version = "1.0.0", deprecated = "place_order has a payment")]
async fn pay(ctx: &Context) -> Result<String, ToolError> {
    let consent = ctx.ask_url("Pay on this page.", "https://example.com/pay").await?;
    Ok(format!("{consent:?}"))
}

/// Returns letters, one after the other.
#[tool(namespace = "slow", version = "1.0.0", read_only)]
fn spell(word: String) -> Chunks<char> {
    Chunks::from_items(word.chars().collect::<Vec<_>>())
}

/// Fails with a message.
#[tool(namespace = "slow", version = "1.0.0")]
fn fail(why: String) -> Result<String, ToolError> {
    Err(ToolError::failed(why))
}

/// Returns its arguments, of any kind.
#[tool(namespace = "json", version = "1.0.0", read_only)]
fn echo(
    /// Any value.
    value: Value,
    /// Any value, which may be absent.
    #[serde(default)]
    optional: Option<Value>,
) -> Value {
    json!({ "value": value, "optional": optional })
}

/// Signs in.
#[tool(namespace = "json", version = "1.0.0")]
fn sign_in(
    user: String,
    /// Never shown.
    #[schemars(extend("writeOnly" = true, "format" = "password"))]
    password: String,
) -> String {
    format!("{user} signed in with {} characters", password.chars().count())
}
