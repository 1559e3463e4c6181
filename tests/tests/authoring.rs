//! What an author writes, and what becomes of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolkit::{Catalog, Content, Context, Dispatcher, Structured, ToolError, catalog, handle, tool, toolset};

#[derive(Deserialize, JsonSchema)]
struct AddArgs {
    /// First addend.
    a: i64,
    /// Second addend.
    b: i64,
}

/// Adds two integers.
#[tool(namespace = "math", version = "1.0.0", tags = ["arithmetic"], read_only, idempotent)]
fn add(args: AddArgs) -> i64 {
    args.a + args.b
}

/// Adds two integers, given as parameters.
#[tool(namespace = "math", version = "1.0.0")]
fn plus(
    /// First addend.
    a: i64,
    /// Second addend.
    #[serde(default)]
    b: i64,
) -> i64 {
    a + b
}

#[derive(Debug)]
struct NoCity;
impl From<NoCity> for ToolError {
    fn from(_: NoCity) -> Self {
        ToolError::failed("no such city")
    }
}

struct Db(&'static str);

#[derive(Serialize, JsonSchema)]
struct Forecast {
    city: String,
    days: u8,
    source: String,
}

/// Forecast for a city.
#[tool(namespace = "weather", version = "1.2.0", open_world)]
async fn forecast(
    /// City name, as in "Lima".
    city: String,
    #[schemars(range(min = 1, max = 14))]
    #[serde(default = "three")]
    days: u8,
    ctx: &Context,
    db: &Db,
) -> Result<Forecast, NoCity> {
    ctx.progress(1.0, 1.0, "done");
    if city == "Atlantis" {
        return Err(NoCity);
    }
    Ok(Forecast { city, days, source: db.0.to_owned() })
}

fn three() -> u8 {
    3
}

/// Doubles a number.
#[tool]
fn double(n: u8) -> u8 {
    n * 2
}

#[derive(Deserialize, JsonSchema)]
enum Mode {
    Fast,
    Slow,
}

/// Says a mode.
#[tool]
fn mode(#[arg] mode: Mode) -> &'static str {
    match mode {
        Mode::Fast => "fast",
        Mode::Slow => "slow",
    }
}

/// Does nothing.
#[tool]
fn nothing() {}

/// A picture.
#[tool]
fn picture() -> Content {
    Content::image(b"abc", "image/png")
}

/// Both.
#[tool]
fn both() -> Result<Structured<i32>, std::io::Error> {
    Ok(Structured::new(1, [Content::text("one")]))
}

/// Fails badly.
#[tool]
fn fails() -> Result<i32, std::io::Error> {
    Err(std::io::Error::other("password=hunter2"))
}

/// Panics.
#[tool(blocking, timeout = "5s")]
fn panics() -> i32 {
    panic!("password=hunter2")
}

struct Notebook(std::sync::Mutex<Vec<String>>);

#[toolset(namespace = "notes", version = "0.3.0", tags = ["notes"])]
impl Notebook {
    /// Appends a note.
    #[tool]
    async fn append(&self, text: String) -> Result<usize, ToolError> {
        let mut notes = self.0.lock().unwrap();
        notes.push(text);
        Ok(notes.len())
    }

    /// How many notes there are.
    #[tool(tags = ["count"])]
    fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

fn dispatcher() -> Dispatcher {
    Dispatcher::builder(Catalog::linked().unwrap())
        .state(Db("almanac"))
        .state(Notebook(std::sync::Mutex::default()))
        .build()
        .unwrap()
}

#[test]
fn first() {
    let d = dispatcher();
    for tool in d.catalog() {
        println!(
            "{} {} {}",
            tool.id(),
            tool.input().as_value(),
            tool.output().map_or(Value::Null, |s| s.as_value().clone())
        );
    }
    assert_eq!(add(AddArgs { a: 1, b: 2 }), 3);
    assert_eq!(d.call_sync("math:add", r#"{"a":1,"b":2}"#).unwrap().value(), json!(3));
    println!("{}", d.call_sync("math:add", r#"{"a":"x","c":2}"#).unwrap_err());
    println!("{}", d.call_sync("math:ad", r#"{"a":"x","c":2}"#).unwrap_err());
    println!("{:?}", d.call_sync("fails", r#"{}"#).unwrap_err());
    assert_eq!(d.call_sync("plus", r#"{"a":1}"#).unwrap().value(), json!(1));
    assert_eq!(d.call_sync("mode", r#"{"mode":"Fast"}"#).unwrap().value(), json!("fast"));
    assert_eq!(d.call_sync("double", r#"{"n":4}"#).unwrap().value(), json!(8));
}

#[tokio::test]
async fn second() {
    let d = dispatcher();
    println!("{:?}", d.call("weather:forecast", r#"{"city":"Lima"}"#).await.unwrap().value());
    println!("{:?}", d.call("weather:forecast", r#"{"city":"Atlantis"}"#).await.unwrap_err());
    println!("{:?}", d.call("weather:forecast", r#"{"days": 99}"#).await.unwrap_err());
    println!("{:?}", d.call("panics", r#"{}"#).await.unwrap_err());
    println!("{:?}", d.call("append", r#"{"text":"x"}"#).await.unwrap());
    let h = handle!(forecast);
    let f = h.call(&d, ("Lima".to_owned(), 3)).await.unwrap();
    assert_eq!(f.city, "Lima");
    assert_eq!(handle!(add).call(&d, AddArgs { a: 1, b: 2 }).await.unwrap(), 3);
    assert_eq!(handle!(Notebook::count).call(&d, ()).await.unwrap(), 1);
    let c = catalog![add, Notebook::append].unwrap();
    assert_eq!(c.len(), 2);
}
