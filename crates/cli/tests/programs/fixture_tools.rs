//! A program whose tools have arguments and results of every kind, for the tests of the command line.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolkit::call::LogLevel;
use toolkit::resource::Resource;
use toolkit::{Chunks, Content, Context, Structured, ToolError, prompt, tool, toolset};
use toolkit_mcp_server::ResourceSet;

fn main() -> ExitCode {
    let program = toolkit_cli::program!().dispatcher_async(async |dispatcher| {
        // Shows a test which commands reach this line.
        if std::env::var_os("FIXTURE_NO_SETUP").is_some() {
            panic!("the setup was called");
        }
        if std::env::var_os("FIXTURE_FAILS_TO_SET_UP").is_some() {
            return Err("the almanac cannot be reached".into());
        }
        // Time passes, as for a connection.
        tokio::time::sleep(Duration::from_millis(1)).await;
        let dispatcher = dispatcher.state(Counter(AtomicI64::new(40)));
        Ok(match std::env::var_os("FIXTURE_APPROVES").is_some() {
            true => dispatcher.layer(toolkit_tower::Approval::ask_caller()),
            false => dispatcher,
        })
    });
    let units = Resource::new("help://units", "units").description("The units of all numbers").mime_type("text/plain");
    let help = ResourceSet::new().with(units, "All lengths are in millimeters.");
    program.server(|server| Ok(server.instructions("A fixture.").resources(help))).main()
}

/// Adds two integers.
///
/// Overflow wraps around.
#[tool(namespace = "math", version = "1.0.0", tags = ["arithmetic"], read_only, idempotent)]
fn add(
    /// First addend.
    a: i64,
    /// Second addend.
    #[serde(default = "one")]
    b: i64,
) -> i64 {
    a.wrapping_add(b)
}

fn one() -> i64 {
    1
}

/// Counts down, and optionally fails at the end.
#[tool(namespace = "time")]
fn countdown(from: u8, #[serde(default)] fails: bool, ctx: &Context) -> Chunks<u8> {
    let ctx = ctx.clone();
    Chunks::emit(async move |numbers| {
        for number in (1..=from).rev() {
            ctx.progress((from - number).into(), f64::from(from), "");
            numbers.send(number).await?;
        }
        if fails { Err("the fuse was wet".into()) } else { Ok(()) }
    })
}

/// Adds two integers, and returns the sum as data and as text.
#[tool(name = "add", namespace = "math", version = "0.9.0", tags = ["arithmetic"])]
fn old_add(a: i64, b: i64) -> String {
    format!("{a} + {b} = {}", a + b)
}

/// Adds all numbers.
#[tool(namespace = "math", version = "1.0.0", deprecated = "use math:add", aliases = ["total"])]
fn sum(
    /// The numbers.
    numbers: Vec<f64>,
) -> f64 {
    numbers.iter().sum()
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Unit {
    /// Degrees Celsius.
    Celsius,
    /// Degrees Fahrenheit.
    Fahrenheit,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Place {
    /// Degrees north.
    #[schemars(range(min = -90, max = 90))]
    latitude: f64,
    /// Degrees east.
    longitude: f64,
    /// Its common name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Forecast {
    /// The place.
    place: Place,
    unit: Unit,
    days: u8,
    labels: Vec<String>,
    verbose: bool,
}

/// Forecast for a place.
#[tool(
    namespace = "weather",
    version = "1.2.0",
    title = "Weather forecast",
    category = "science",
    tags = ["weather", "outdoors"],
    open_world,
    timeout = "5s",
    requires(oauth2(id = "almanac", scopes = ["read"]), secret = "ALMANAC_KEY", user_id)
)]
async fn forecast(
    /// The place.
    place: Place,
    /// The unit of the temperatures.
    unit: Option<Unit>,
    /// How many days ahead.
    #[schemars(range(min = 1, max = 14))]
    #[serde(default = "three")]
    days: u8,
    /// Labels that come back unchanged.
    #[serde(default)]
    labels: Vec<String>,
    /// Include more details.
    #[serde(default)]
    verbose_output: bool,
) -> Forecast {
    tokio::time::sleep(Duration::from_millis(1)).await;
    Forecast { place, unit: unit.unwrap_or(Unit::Celsius), days, labels, verbose: verbose_output }
}

fn three() -> u8 {
    3
}

/// Arguments with the names of the program's own flags.
#[tool(namespace = "odd", version = "1.0.0")]
fn collide(json: String, help: bool, timeout: u8, #[serde(rename = "dry-run")] kebab: u8, dry_run: u8) -> String {
    format!("{json} {help} {timeout} {kebab} {dry_run}")
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "shape", rename_all = "snake_case")]
enum Figure {
    /// A circle.
    Circle { radius: f64 },
    /// A rectangle.
    Rectangle { width: f64, height: f64 },
}

/// The area of a figure.
#[tool(namespace = "odd", version = "1.0.0")]
fn area(figure: Figure) -> f64 {
    match figure {
        Figure::Circle { radius } => radius * radius * std::f64::consts::PI,
        Figure::Rectangle { width, height } => width * height,
    }
}

/// Returns its argument.
#[tool(namespace = "odd", version = "1.0.0")]
fn echo(#[arg] value: serde_json::Value, #[serde(default)] map: BTreeMap<String, i64>) -> serde_json::Value {
    serde_json::json!([value, map])
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
enum Either {
    Count(i64),
    Word(String),
    Flags { on: bool },
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Tree {
    leaf: i64,
    branches: Vec<Tree>,
}

/// Types that are difficult to express as flags.
#[tool(namespace = "odd", version = "1.0.0")]
fn shapes(
    either: Vec<Either>,
    matrix: Vec<Vec<i64>>,
    tree: Option<Tree>,
    #[serde(rename = "two words")] spaced: Option<u8>,
    #[serde(rename = "tree/leaf")]
    #[schemars(extend("not" = { "const": 255 }))]
    slashed: Option<u8>,
) -> serde_json::Value {
    serde_json::json!([either, matrix, tree, spaced, slashed])
}

struct Counter(AtomicI64);

#[toolset(namespace = "counter", version = "1.0.0")]
impl Counter {
    /// Counts up.
    #[tool]
    fn up(&self, #[serde(default = "one")] by: i64) -> i64 {
        self.0.fetch_add(by, Ordering::Relaxed) + by
    }
}

/// Notifies the test that the tool is running.
fn begun() {
    if std::env::var_os("FIXTURE_TELLS").is_some() {
        eprintln!("begun");
    }
}

/// Runs slowly, and reports its progress.
#[tool(namespace = "slow", version = "1.0.0")]
async fn walk(
    /// The number of steps, each of 10 ms.
    #[serde(default = "three")]
    steps: u8,
    ctx: &Context,
) -> Result<String, ToolError> {
    begun();
    if steps == 0 {
        ctx.log(LogLevel::Debug, "no steps");
        ctx.log(LogLevel::Info, serde_json::json!({ "steps": steps }));
        ctx.log(LogLevel::Warning, "nothing to walk\u{1b}[2J");
        ctx.log(LogLevel::Critical, "the feet are still");
    }
    for step in 0..steps {
        ctx.progress(f64::from(step), f64::from(steps), "walking");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok("arrived".to_owned())
}

/// Sleeps, and checks for cancellation only occasionally.
#[tool(namespace = "slow", version = "1.0.0")]
fn sleep(ms: u64, ctx: &Context) -> bool {
    begun();
    let end = std::time::Instant::now() + Duration::from_millis(ms);
    while std::time::Instant::now() < end && !ctx.is_cancelled() {
        std::thread::sleep(Duration::from_millis(10));
    }
    ctx.is_cancelled()
}

/// Blocks its thread, and does not check for cancellation.
#[tool(namespace = "slow", version = "1.0.0", timeout = "3s")]
fn deaf(ms: u64) {
    begun();
    std::thread::sleep(Duration::from_millis(ms));
}

/// Sleeps, and does not check for cancellation.
#[tool(namespace = "slow", version = "1.0.0", blocking)]
fn stubborn(ms: u64) {
    begun();
    std::thread::sleep(Duration::from_millis(ms));
}

/// Fails with a message.
#[tool(namespace = "bad", version = "1.0.0")]
fn refuse() -> Result<i64, ToolError> {
    Err(ToolError::shown("the moon is not full").with_data(serde_json::json!({ "phase": "new" })))
}

/// Fails with an internal error.
#[tool(namespace = "bad", version = "1.0.0")]
fn broken() -> Result<i64, std::io::Error> {
    // With the number of the operating system, as libraries quote it.
    Err(std::io::Error::other("disk on fire (os error 5)"))
}

/// Panics.
#[tool(namespace = "bad", version = "1.0.0", destructive)]
async fn panics() -> i64 {
    panic!("index out of sorts")
}

/// Returns a text with terminal escape sequences.
#[tool(namespace = "media", version = "1.0.0")]
fn escape() -> &'static str {
    "before\u{1b}[2Jafter"
}

/// Returns the same text within JSON, which does not escape it.
#[tool(namespace = "media", version = "1.0.0")]
fn escapes() -> Vec<&'static str> {
    vec!["before\u{9b}2Jafter"]
}

/// A picture and a sound.
#[tool(namespace = "media", version = "1.0.0")]
fn show() -> Vec<Content> {
    vec![Content::text("look"), Content::image(b"abc", "image/png"), Content::audio(&[0; 3000], "audio/wav")]
}

/// A number, with a picture of it.
#[tool(namespace = "media", version = "1.0.0")]
fn plot() -> Structured<i64> {
    Structured::new(7, [Content::image(b"seven", "image/png")])
}

/// Asks for an explanation of a sum.
#[prompt(namespace = "math", tags = ["arithmetic"])]
fn explain(a: i64, b: Option<i64>) -> String {
    format!("Explain the sum of {a} and {b:?}.")
}
