//! The tools of these tests. Some follow a script in the context.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolkit::{CancelToken, Catalog, Context, Dispatcher, ToolError, catalog, tool};

/// The script of the tools, and the calls that they received.
#[derive(Clone, Default)]
pub struct Script {
    pub handlers: Arc<HashMap<String, Value>>,
    pub received: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Script {
    pub fn new(handlers: &Value) -> Self {
        let handlers = handlers.as_object().into_iter().flatten().map(|(name, does)| (name.clone(), does.clone()));
        Self { handlers: Arc::new(handlers.collect()), received: Arc::default() }
    }

    pub fn received(&self) -> Vec<Value> {
        self.received.lock().unwrap().iter().map(|(_, args)| args.clone()).collect()
    }

    fn act(&self, name: &str, args: Map<String, Value>) -> Result<Value, ToolError> {
        let does = self.handlers.get(name).cloned().unwrap_or_default();
        let text = |template: &str| {
            let value = |text: String, (key, value): (&String, &Value)| {
                text.replace(&format!("{{{key}}}"), value.as_str().unwrap_or_default())
            };
            args.iter().fold(template.to_owned(), value)
        };
        let returned = match (&does["error"], &does["returns"], does.get("format").is_some()) {
            (Value::String(error), _, _) => Err(ToolError::failed(error)),
            (_, Value::String(template), true) => Ok(text(template).into()),
            (_, returns, _) => Ok(returns.clone()),
        };
        self.received.lock().unwrap().push((name.to_owned(), args.into()));
        returned
    }
}

/// Arbitrary arguments. A struct without declared properties would be a map, which is a single argument.
#[derive(Deserialize, JsonSchema)]
struct Anything {
    #[serde(default, rename = "_")]
    _declared: Option<Value>,
    #[serde(flatten)]
    args: Map<String, Value>,
}

macro_rules! scripted {
    ($($function:ident $id:literal $($namespace:literal)?;)*) => {$(
        #[tool(description = "Does what the script says.", name = $id $(, namespace = $namespace)?)]
        fn $function(anything: Anything, ctx: &Context) -> Result<Value, ToolError> {
            let id = [$($namespace, ":",)? $id].concat();
            ctx.get::<Script>().cloned().unwrap_or_default().act(&id, anything.args)
        }
    )*};
}

scripted! {
    step1 "step1";
    step2 "step2";
    step3 "step3";
    producer "producer";
    consumer "consumer";
    tool1 "tool1";
    tool2 "tool2";
    greet "greet" "test";
    mytool "mytool";
    a "a";
    b "b";
    c "c";
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    pub name: String,
    pub position: (f64, f64),
    pub tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub within: Option<Box<Place>>,
}

/// Finds a place.
#[tool(namespace = "geo")]
pub fn find(name: String) -> Result<Place, ToolError> {
    if name == "Atlantis" {
        return Err(ToolError::failed("it has sunk"));
    }
    Ok(Place { name, position: (-12.0, -77.0), tags: vec!["coast".to_owned()], note: None, within: None })
}

/// Forecast for a city.
#[tool(namespace = "weather")]
pub fn forecast(
    city: String,
    #[serde(default)]
    #[schemars(range(max = 14))]
    days: u8,
    hint: Option<String>,
    ctx: &Context,
) -> String {
    ctx.progress(1.0, 2.0, "half");
    format!("{city}, {days}, {}", hint.unwrap_or_default())
}

/// Returns what it is given.
#[tool(namespace = "run")]
fn echo(a: Value, b: Value) -> Map<String, Value> {
    Map::from_iter([("a".to_owned(), a), ("b".to_owned(), b)])
}

/// Returns a list in a list in a list.
#[tool(namespace = "run")]
fn nest(levels: u8) -> Value {
    (0..levels).fold(Value::Null, |inner, _| vec![inner].into())
}

/// Returns nothing.
#[tool(namespace = "run")]
pub fn nothing() {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mixed {
    pub sum: i64,
    pub terms: Vec<i64>,
}

/// Adds two numbers and what came before.
#[tool(namespace = "run")]
pub fn mix(a: i64, b: i64, previous: Option<Mixed>, ctx: &Context) -> Mixed {
    if let Some(script) = ctx.get::<Script>() {
        script.received.lock().unwrap().push(("mix".to_owned(), a.into()));
    }
    let before = previous.map_or(0, |previous| previous.sum);
    Mixed { sum: a.wrapping_add(b).wrapping_add(before), terms: vec![a, b] }
}

/// The sum of what came before.
#[tool(namespace = "run")]
pub fn sum(#[arg] previous: Mixed) -> i64 {
    previous.sum
}

/// Cancels whatever carries the token.
#[tool(namespace = "run")]
pub fn give_up(ctx: &Context) -> bool {
    if let Some(token) = ctx.get::<CancelToken>() {
        token.cancel();
    }
    true
}

/// Never completes.
#[tool(namespace = "run")]
pub async fn wait() -> bool {
    std::future::pending().await
}

/// A barrier for two steps.
pub struct Door(pub tokio::sync::Barrier);

/// Waits for another step that waits too.
#[tool(namespace = "run", timeout = "20s")]
pub async fn meet(n: u8, ctx: &Context) -> u8 {
    if let Some(door) = ctx.get::<Door>() {
        door.0.wait().await;
    }
    n
}

/// Comes back once, and says how it went.
#[tool(namespace = "run")]
pub async fn slow(n: u8, #[serde(default)] fails: bool, ctx: &Context) -> Result<u8, ToolError> {
    let mut yielded = false;
    std::future::poll_fn(|cx| {
        cx.waker().wake_by_ref();
        if std::mem::replace(&mut yielded, true) { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    if let Some(script) = ctx.get::<Script>() {
        script.received.lock().unwrap().push(("slow".to_owned(), n.into()));
    }
    if fails { Err(ToolError::failed(format!("{n} failed"))) } else { Ok(n) }
}

/// Length of a text.
#[tool(namespace = "text")]
pub fn length(text: String) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}

/// Half of a number.
#[tool(namespace = "text")]
pub async fn half(n: f64) -> Result<f64, ToolError> {
    if n == 0.0 { Err(ToolError::failed("there is nothing to halve")) } else { Ok(n / 2.0) }
}

pub fn catalog() -> Catalog {
    catalog![
        step1, step2, step3, producer, consumer, tool1, tool2, greet, mytool, a, b, c, find, forecast, echo, nest,
        nothing, mix, sum, give_up, wait, meet, slow, length, half
    ]
    .unwrap()
}

pub fn dispatcher() -> Dispatcher {
    Dispatcher::new(catalog()).unwrap()
}
