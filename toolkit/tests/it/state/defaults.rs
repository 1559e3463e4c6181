//! Defaults of arguments in the signature.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolkit::{Dispatcher, Tool, catalog, handle, tool, toolset};

#[derive(Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
enum Order {
    #[default]
    Ascending,
    Descending,
}

#[derive(Deserialize, JsonSchema)]
struct NotSerialize(u8);

const LIMIT: u32 = 40 + 2;

/// Returns its arguments.
#[tool(namespace = "defaults")]
#[allow(clippy::too_many_arguments)]
fn echo(
    /// The first number.
    #[arg(default = 3)]
    number: u8,
    #[arg(default = -1.5)] float: f64,
    #[arg(default = "all")] text: String,
    #[arg(default = "src")] path: PathBuf,
    #[arg(default = 7)] some: Option<u32>,
    #[arg(default = "x")] some_text: Option<String>,
    #[arg(default = None)] none: Option<bool>,
    #[arg(default = LIMIT * 2)] expression: u32,
    #[arg(default = Order::Descending)] order: Order,
    #[arg(default)] of_type: Order,
    #[arg(default = vec!["a".to_owned()])] list: Vec<String>,
    #[arg(default = NotSerialize(9))] silent: NotSerialize,
    #[serde(default = "three")] by_serde: u8,
) -> Value {
    json!([number, float, text, path, some, some_text, none, expression, order, of_type, list, silent.0, by_serde])
}

fn three() -> u8 {
    3
}

/// Returns its only argument.
#[tool(namespace = "defaults")]
fn only(#[arg(default = 3)] r#type: u8) -> u8 {
    r#type
}

struct Pages;

impl Pages {
    const SIZE: usize = 20;
}

#[toolset(namespace = "defaults")]
impl Pages {
    /// Returns the size of a page.
    #[tool]
    fn size(#[arg(default = Self::SIZE)] size: usize, #[arg(default = true)] _exact: bool) -> usize {
        size
    }
}

fn dispatcher() -> Dispatcher {
    Dispatcher::new(catalog![echo, only, Pages::size].unwrap()).unwrap()
}

#[test]
fn an_argument_that_is_left_out_has_its_default() {
    let dispatcher = dispatcher();
    let expect = json!([3, -1.5, "all", "src", 7, "x", null, 84, "Descending", "Ascending", ["a"], 9, 3]);
    assert_eq!(dispatcher.call_sync("echo", "{}").unwrap().value(), expect);
    assert_eq!(dispatcher.call_sync("echo", r#"{"number": 4}"#).unwrap().value()[0], 4);
    // `null` stands for a missing argument.
    assert_eq!(dispatcher.call_sync("echo", r#"{"number": null}"#).unwrap().value()[0], 3);
    assert_eq!(dispatcher.call_sync("only", "{}").unwrap().value(), 3);
    assert_eq!(dispatcher.call_sync("size", r#"{"_exact": false}"#).unwrap().value(), 20);
    // A typed call passes every argument.
    assert_eq!(handle!(only).id(), "defaults:only");
}

#[test]
fn the_schema_has_the_default_and_no_required_argument() {
    let dispatcher = dispatcher();
    let tool: &Tool = dispatcher.catalog().resolve("echo").unwrap();
    let schema = tool.input().as_value();
    assert!(schema.get("required").is_none(), "{schema}");
    let default = |name: &str| schema["properties"][name].get("default").cloned();
    assert_eq!(schema["properties"]["number"]["description"], "The first number.");
    for (name, expect) in [
        ("number", json!(3)),
        ("float", json!(-1.5)),
        ("text", json!("all")),
        ("some", json!(7)),
        ("expression", json!(84)),
        ("order", json!("Descending")),
        ("list", json!(["a"])),
    ] {
        assert_eq!(default(name), Some(expect), "{name}");
    }
    // A value that cannot be serialized is not shown.
    assert_eq!(default("silent"), None);
    dispatcher.catalog().check(Default::default()).unwrap();
}
