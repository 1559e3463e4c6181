//! Tools as authors write them, and the schemas and results derived from them.

mod declared;
mod errors;
mod inputs;
mod keys;
mod sole;
mod tags;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolkit::call::ErrorKind;
use toolkit::catalog::Naming;
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

/// Fails and says why.
#[tool]
fn knows() -> Result<i32, NoCity> {
    Err(NoCity)
}

/// Has everything.
///
/// And more.
#[tool(
    namespace = "kitchen",
    name = "sink",
    version = "v1.2.3",
    title = "Kitchen sink",
    category = "house",
    tags = ["A tag", "b"],
    read_only = false,
    destructive,
    idempotent = true,
    aliases = ["house:sink"],
    deprecated = "use the tap",
    icons = ["https://example.com/a.png", icon(src = "data:,", mime_type = "image/png", sizes = ["48x48"])],
    meta = r#"{"com.example/a": 1}"#,
    examples = [r#"{"n": 1}"#],
    requires(oauth2(id = "google", scopes = ["write"]), secret = "KEY", user_id),
    timeout = "1500ms",
    blocking
)]
fn everything(n: u8) -> u8 {
    n
}

#[derive(Default)]
struct Notebook(Mutex<Vec<String>>);

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
        .state(Notebook::default())
        .state(sole::Store::default())
        .build()
        .unwrap()
}

fn json_of(dispatcher: &Dispatcher, name: &str, arguments: &str) -> Value {
    dispatcher.call_sync(name, arguments).unwrap().value()
}

fn input_of(name: &str) -> Value {
    Catalog::linked().unwrap().resolve(name).unwrap().input().as_value().clone()
}

#[test]
fn the_fields_of_a_sole_struct_are_the_arguments() {
    assert_eq!(json_of(&dispatcher(), "math:add", r#"{"a": 1, "b": 2}"#), json!(3));
    let properties = json!({
        "a": {"type": "integer", "description": "First addend."},
        "b": {"type": "integer", "description": "Second addend."},
    });
    let expect =
        json!({"type": "object", "properties": properties, "required": ["a", "b"], "additionalProperties": false});
    assert_eq!(input_of("math:add"), expect);
}

#[test]
fn parameters_are_arguments_with_the_attributes_of_fields() {
    let dispatcher = dispatcher();
    assert_eq!(json_of(&dispatcher, "plus", r#"{"a": 1}"#), json!(1));
    assert_eq!(json_of(&dispatcher, "plus", r#"{"a": 1, "b": 2}"#), json!(3));
    let days = json!({"type": "integer", "minimum": 1, "maximum": 14, "default": 3});
    assert_eq!(input_of("forecast")["properties"]["days"], days);
    assert_eq!(input_of("forecast")["required"], json!(["city"]));
}

#[test]
fn a_sole_scalar_and_an_argument_with_arg_are_named() {
    let dispatcher = dispatcher();
    assert_eq!(json_of(&dispatcher, "double", r#"{"n": 4}"#), json!(8));
    assert_eq!(json_of(&dispatcher, "mode", r#"{"mode": "Slow"}"#), json!("slow"));
}

#[test]
fn the_function_is_still_the_plain_function() {
    let function: fn(AddArgs) -> i64 = add;
    assert_eq!(function(AddArgs { a: 1, b: 2 }), 3);
    assert_eq!(plus(1, 2), 3);
    assert_eq!(Notebook::default().count(), 0);
}

#[test]
fn nothing_content_and_structured_values_are_results() {
    let dispatcher = dispatcher();
    let nothing = dispatcher.call_sync("nothing", "{}").unwrap();
    assert_eq!((nothing.value(), nothing.content().len()), (Value::Null, 0));
    let picture = dispatcher.call_sync("picture", "{}").unwrap();
    assert_eq!(*picture.content(), [Content::image(b"abc", "image/png")]);
    let both = dispatcher.call_sync("both", "{}").unwrap();
    assert_eq!((both.value(), both.content().into_owned()), (json!(1), vec![Content::text("one")]));
    let text = dispatcher.call_sync("mode", r#"{"mode": "Fast"}"#).unwrap();
    assert_eq!(*text.content(), [Content::text("fast")]);
}

#[test]
fn an_error_with_a_conversion_of_its_own_says_what_its_author_wrote_and_any_other_is_masked() {
    let dispatcher = dispatcher();
    let error = dispatcher.call_sync("knows", "{}").unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Failed, "no such city"));
    let error = dispatcher.call_sync("fails", "{}").unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Internal, "the tool failed with an internal error"));
    assert!(!error.to_string().contains("hunter2"));
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "password=hunter2");
}

#[tokio::test]
async fn an_asynchronous_tool_borrows_its_context_and_state() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&heard);
    let context = Context::new().on_progress(move |progress| hears.lock().unwrap().push(progress.message));
    let forecast = dispatcher().call_with(&context, "weather:forecast", r#"{"city": "Lima"}"#).await.unwrap();
    assert_eq!(forecast.value(), json!({"city": "Lima", "days": 3, "source": "almanac"}));
    assert_eq!(*heard.lock().unwrap(), ["done"]);
}

#[tokio::test]
async fn a_blocking_tool_panics_on_a_thread_of_its_own() {
    let error = dispatcher().call("panics", "{}").await.unwrap_err();
    assert_eq!(error.to_string(), "panics: the tool failed with an internal error");
}

#[tokio::test]
async fn the_methods_of_a_toolset_share_one_instance() {
    let dispatcher = dispatcher();
    dispatcher.call("notes:append", r#"{"text": "x"}"#).await.unwrap();
    dispatcher.call("notes:append", r#"{"text": "y"}"#).await.unwrap();
    assert_eq!(json_of(&dispatcher, "notes:count", "{}"), json!(2));
    let catalog = dispatcher.catalog();
    assert_eq!(catalog.resolve("notes:count").unwrap().tags(), ["notes", "count"]);
    assert_eq!(catalog.resolve("notes:append").unwrap().id().to_string(), "notes:append:0.3.0");
}

#[tokio::test]
async fn a_handle_calls_with_rust_types() {
    let dispatcher = dispatcher();
    let forecast = handle!(forecast).call(&dispatcher, ("Lima".to_owned(), 3)).await.unwrap();
    assert_eq!((forecast.city.as_str(), forecast.days), ("Lima", 3));
    assert_eq!(handle!(add).call(&dispatcher, AddArgs { a: 1, b: 2 }).await.unwrap(), 3);
    assert_eq!(handle!(Notebook::count).call(&dispatcher, ()).await.unwrap(), 0);
    let error = handle!(knows).call(&dispatcher, ()).await.unwrap_err();
    assert_eq!(error.to_string(), "knows: no such city");
}

#[test]
fn every_argument_of_the_attribute_is_in_the_record() {
    let catalog = catalog![everything].unwrap();
    let tool = catalog.resolve("kitchen:sink").unwrap();
    assert_eq!(tool.id().to_string(), "kitchen:sink:1.2.3");
    assert_eq!((tool.title(), tool.category()), (Some("Kitchen sink"), Some("house")));
    assert_eq!(tool.description(), "Has everything.\n\nAnd more.");
    assert_eq!(tool.summary(), "Has everything.");
    assert_eq!(tool.tags(), ["a-tag", "b"]);
    let hints = tool.annotations();
    assert_eq!((hints.read_only, hints.destructive), (Some(false), Some(true)));
    assert_eq!((hints.idempotent, hints.open_world), (Some(true), None));
    assert_eq!(tool.aliases(), ["house:sink"]);
    assert_eq!(tool.deprecated(), Some("use the tap"));
    assert_eq!(tool.icons()[1].mime_type.as_deref(), Some("image/png"));
    assert_eq!(tool.meta(), Some(json!({"com.example/a": 1})));
    assert_eq!(tool.examples(), [json!({"n": 1})]);
    assert_eq!(tool.requirements().authorization[0].scopes[..], ["write"]);
    assert_eq!((&*tool.requirements().secrets[0].id, tool.requirements().user_id), ("KEY", true));
    assert_eq!(tool.timeout(), Some(Duration::from_millis(1500)));
    assert_eq!(tool.location().unwrap().file, file!());
    catalog.check(Naming::Name).unwrap();
}

/** Has a block comment.
 *
 * - with a list
 */
#[tool]
fn block_comment() {}

#[doc = concat!("Is told ", "in parts.")]
#[tool]
fn in_parts() {}

/// Doubles a number.
///
/// ```
/// # let hidden = 1;
/// assert_eq!(doubled(1), 2);
/// ```
#[tool]
fn doubled(
    /** The number,
     *  in cents.
     */
    n: u64,
    /// How often, as in
    ///
    /// ```
    /// # let hidden = 1;
    /// doubled(1, 2);
    /// ```
    times: u64,
) -> u64 {
    n << times
}

const STATED: &str = "Is a constant.";

#[tool(description = STATED)]
fn stated() {}

#[tool(description = concat!("Is ", "joined."))]
fn joined() {}

#[test]
fn a_description_is_a_doc_comment_in_any_form() {
    let catalog = catalog![block_comment, in_parts, doubled, stated, joined].unwrap();
    assert_eq!(catalog.resolve("stated").unwrap().description(), "Is a constant.");
    assert_eq!(catalog.resolve("joined").unwrap().description(), "Is joined.");
    let doubled = catalog.resolve("doubled").unwrap();
    assert_eq!(doubled.description(), "Doubles a number.\n\n```\nassert_eq!(doubled(1), 2);\n```");
    let parameter = |name: &str| doubled.input().as_value()["properties"][name]["description"].clone();
    assert_eq!(parameter("n").as_str().map(str::trim), Some("The number,\n in cents."));
    assert_eq!(parameter("times"), "How often, as in\n\n```\ndoubled(1, 2);\n```");
    let description = |name: &str| catalog.resolve(name).unwrap().description().to_owned();
    assert_eq!(description("block_comment"), "Has a block comment.\n\n- with a list");
    assert_eq!(description("in_parts").trim(), "Is told in parts.");
}
