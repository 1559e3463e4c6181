//! Arguments that a function borrows.

use serde_json::json;
use toolkit::{Context, Dispatcher, ToolError, catalog, handle, tool, toolset};

/// Repeats a text.
#[tool(namespace = "borrowed", examples = [{ "text": "a" }])]
fn repeat(
    /// What to repeat.
    #[schemars(length(max = 5))]
    text: &str,
    #[arg(default = "-")] between: &str,
    times: Option<usize>,
) -> String {
    vec![text; times.unwrap_or(2)].join(between)
}

/// Counts the bytes of a text.
#[tool(namespace = "borrowed")]
fn count(text: &str) -> usize {
    text.len()
}

/// Joins texts.
#[tool(namespace = "borrowed")]
async fn join(texts: &[String], end: Option<&str>, more: Option<&[u8]>, ctx: &Context) -> Result<String, ToolError> {
    std::future::ready(ctx.is_cancelled()).await;
    Ok(format!("{}{} {more:?}", texts.concat(), end.unwrap_or(".")))
}

struct Shelf(&'static str);

#[toolset(namespace = "borrowed")]
impl Shelf {
    /// Labels a book.
    #[tool]
    fn label(&self, title: &str) -> String {
        format!("{} {title}", self.0)
    }
}

fn dispatcher() -> Dispatcher {
    Dispatcher::builder(catalog![repeat, count, join, Shelf::label].unwrap()).state(Shelf("A")).build().unwrap()
}

#[tokio::test]
async fn a_function_borrows_text_and_lists() {
    let dispatcher = dispatcher();
    for (name, arguments, expect) in [
        ("repeat", json!({ "text": "ab" }), json!("ab-ab")),
        ("repeat", json!({ "text": "ab", "between": "\n", "times": 1 }), json!("ab")),
        ("count", json!({ "text": "\u{1F600}" }), json!(4)),
        ("join", json!({ "texts": ["a", "b"] }), json!("ab. None")),
        ("join", json!({ "texts": [], "end": "!", "more": [1] }), json!("! Some([1])")),
        ("label", json!({ "title": "Emma" }), json!("A Emma")),
    ] {
        assert_eq!(dispatcher.call(name, arguments).await.unwrap().value(), expect, "{name}");
    }
}

#[test]
fn a_borrowed_argument_has_the_schema_of_the_owned_type() {
    let catalog = catalog![repeat, join].unwrap();
    let schema = |name: &str| catalog.resolve(name).unwrap().input().as_value().clone();
    let text = json!({ "type": "string", "description": "What to repeat.", "maxLength": 5 });
    assert_eq!(schema("repeat")["properties"]["text"], text);
    assert_eq!(schema("repeat")["required"], json!(["text"]));
    assert_eq!(schema("join")["properties"]["texts"], json!({ "type": "array", "items": { "type": "string" } }));
    assert_eq!(schema("join")["required"], json!(["texts"]));
    let error = dispatcher().call_sync("repeat", r#"{"text": "abcdef"}"#).unwrap_err();
    assert_eq!(error.violations()[0].pointer, "/text");
}

#[tokio::test]
async fn a_handle_takes_the_owned_type() {
    let length = handle!(count).call(&dispatcher(), "Lima".to_owned()).await.unwrap();
    assert_eq!(length, 4);
}
