//! Coercion of arguments that almost match their schema.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use test_support::{ran, shared_text};
use toolkit::call::{Coercion, ErrorKind};
use toolkit::schema::Schema;
use toolkit::{Dispatcher, ToolError, catalog, tool};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Page {
    #[schemars(range(min = 1, max = 50))]
    limit: u8,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    cursor: String,
}

#[derive(Serialize, Deserialize, JsonSchema, Default)]
#[serde(default)]
struct Search {
    #[serde(skip_serializing_if = "String::is_empty")]
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<Page>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pages: Vec<Page>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(skip_serializing_if = "is_false")]
    exact: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    weights: BTreeMap<String, i32>,
    #[serde(skip_serializing_if = "Value::is_null")]
    anything: Value,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_false(value: &bool) -> bool {
    !*value
}

/// Echoes its arguments.
#[tool]
fn search(search: Search) -> Search {
    search
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Tree {
    Leaf(bool),
    Branches(Vec<Tree>),
}

/// Echoes a tree.
#[tool]
fn tree(#[arg] tree: Tree) -> Tree {
    tree
}

/// Echoes a wide number.
#[tool]
fn wide(n: i128) -> String {
    n.to_string()
}

/// Counts words.
#[tool]
fn count(words: Vec<String>) -> usize {
    words.len()
}

/// Echoes numbers.
#[tool]
fn number(n: u8, maybe: Option<u8>) -> (u8, Option<u8>) {
    (n, maybe)
}

fn call(coercion: Coercion, tool: &str, arguments: &Value) -> Result<(Value, Vec<String>), ToolError> {
    let catalog = catalog![count, search, number, tree, wide].unwrap();
    let dispatcher = Dispatcher::builder(catalog).coercion(coercion).build().unwrap();
    let from_tree = dispatcher.call_sync(tool, arguments);
    let from_text = dispatcher.call_sync(tool, arguments.to_string());
    assert_eq!(from_tree.is_ok(), from_text.is_ok(), "text and tree differ: {arguments}");
    let result = from_text?;
    Ok((result.value(), result.changes().iter().map(ToString::to_string).collect()))
}

#[track_caller]
fn becomes(coercion: Coercion, arguments: Value, expected: Value, changes: &[&str]) {
    let (value, changed) = call(coercion, "search", &arguments).unwrap();
    assert_eq!((value, changed.iter().map(String::as_str).collect::<Vec<_>>()), (expected, changes.to_vec()));
    if !changes.is_empty() {
        let error = call(Coercion::Off, "search", &arguments).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArguments);
    }
}

#[track_caller]
fn is_refused(coercion: Coercion, arguments: &Value) {
    let error = call(coercion, "search", arguments).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArguments, "{error}");
}

#[test]
fn a_value_at_the_end_of_a_large_list_is_coerced() {
    let mut words = vec![json!("a"); 25_000];
    words.push(json!(7));
    let (length, changes) = call(Coercion::Lenient, "count", &json!({ "words": words })).unwrap();
    assert_eq!((length, changes), (json!(25_001), vec!["/words/25000: a number taken as text".to_owned()]));
}

#[test]
fn by_default_only_null_is_coerced() {
    let default = Coercion::default();
    becomes(
        default,
        json!({ "text": null, "tags": null }),
        json!({}),
        &["/tags: null taken as absent", "/text: null taken as absent"],
    );
    for arguments in [
        json!({ "exact": "true" }),
        json!({ "tags": "[]" }),
        json!({ "tags": "one" }),
        json!({ "page": "{\"limit\":3}" }),
        json!({ "page": { "limit": "3" } }),
        json!({ "text": 3 }),
    ] {
        is_refused(default, &arguments);
    }
}

#[test]
fn null_is_absent_at_every_level_and_through_options() {
    becomes(
        Coercion::NullAsAbsent,
        json!({ "page": { "limit": 3, "cursor": null }, "pages": [{ "limit": 1 }, { "limit": 2, "cursor": null }] }),
        json!({ "page": { "limit": 3 }, "pages": [{ "limit": 1 }, { "limit": 2 }] }),
        &["/page/cursor: null taken as absent", "/pages/1/cursor: null taken as absent"],
    );
}

#[test]
fn null_inside_text_that_is_parsed_is_found() {
    becomes(
        Coercion::Lenient,
        json!({ "page": "{\"limit\":\"3\",\"cursor\":null}" }),
        json!({ "page": { "limit": 3 } }),
        &[
            "/page: text read as an object",
            "/page/cursor: null taken as absent",
            "/page/limit: text read as an integer",
        ],
    );
}

#[test]
fn null_where_it_is_allowed_is_kept() {
    becomes(Coercion::Lenient, json!({ "page": null, "score": null, "anything": null }), json!({}), &[]);
    becomes(
        Coercion::Lenient,
        json!({ "anything": [null, { "a": null }] }),
        json!({ "anything": [null, { "a": null }] }),
        &[],
    );
}

#[test]
fn null_for_a_required_value_is_rejected() {
    for coercion in [Coercion::Off, Coercion::NullAsAbsent, Coercion::Lenient] {
        is_refused(coercion, &json!({ "page": { "limit": null } }));
        is_refused(coercion, &json!({ "tags": [null] }));
        is_refused(coercion, &json!({ "weights": { "a": null } }));
        is_refused(coercion, &json!({ "unknown": null }));
        let error = call(coercion, "number", &json!({ "n": null })).unwrap_err();
        assert!(error.message().contains("/n must be an integer, got null"), "{error}");
    }
}

#[test]
fn off_changes_nothing() {
    is_refused(Coercion::Off, &json!({ "text": null }));
    is_refused(Coercion::Off, &json!({ "page": { "limit": 3, "cursor": null } }));
}

#[test]
fn text_is_parsed_as_the_requested_type() {
    let lenient = Coercion::Lenient;
    becomes(lenient, json!({ "exact": "true" }), json!({ "exact": true }), &["/exact: text read as a boolean"]);
    becomes(lenient, json!({ "score": "1.5" }), json!({ "score": 1.5 }), &["/score: text read as a number"]);
    becomes(lenient, json!({ "score": " 2 " }), json!({ "score": 2.0 }), &["/score: text read as a number"]);
    becomes(
        lenient,
        json!({ "tags": "[\"a\",\"b\"]" }),
        json!({ "tags": ["a", "b"] }),
        &["/tags: text read as a list"],
    );
    becomes(
        lenient,
        json!({ "pages": [{ "limit": "3" }] }),
        json!({ "pages": [{ "limit": 3 }] }),
        &["/pages/0/limit: text read as an integer"],
    );
    becomes(
        lenient,
        json!({ "weights": { "a/b": "3" } }),
        json!({ "weights": { "a/b": 3 } }),
        &["/weights/a~1b: text read as an integer"],
    );
}

#[test]
fn a_number_is_converted_to_text() {
    becomes(Coercion::Lenient, json!({ "text": 3 }), json!({ "text": "3" }), &["/text: a number taken as text"]);
    becomes(Coercion::Lenient, json!({ "tags": [1] }), json!({ "tags": ["1"] }), &["/tags/0: a number taken as text"]);
}

#[test]
fn a_single_value_is_wrapped_in_a_list() {
    let one = "/tags: taken as a list of one";
    becomes(Coercion::Lenient, json!({ "tags": "red" }), json!({ "tags": ["red"] }), &[one]);
    becomes(
        Coercion::Lenient,
        json!({ "tags": 3 }),
        json!({ "tags": ["3"] }),
        &[one, "/tags/0: a number taken as text"],
    );
    becomes(Coercion::Lenient, json!({ "tags": "3" }), json!({ "tags": ["3"] }), &[one]);
    becomes(
        Coercion::Lenient,
        json!({ "pages": { "limit": 3 } }),
        json!({ "pages": [{ "limit": 3 }] }),
        &["/pages: taken as a list of one"],
    );
}

#[test]
fn lossless_coercion_converts_everything_but_numbers_to_text() {
    let lossless = Coercion::Lossless;
    becomes(lossless, json!({ "exact": "false" }), json!({}), &["/exact: text read as a boolean"]);
    becomes(lossless, json!({ "score": "-1.5e3" }), json!({ "score": -1500.0 }), &["/score: text read as a number"]);
    becomes(lossless, json!({ "score": "null" }), json!({}), &["/score: text read as null"]);
    becomes(
        lossless,
        json!({ "pages": { "limit": "7" }, "tags": null }),
        json!({ "pages": [{ "limit": 7 }] }),
        &["/pages: taken as a list of one", "/tags: null taken as absent", "/pages/0/limit: text read as an integer"],
    );
    becomes(
        lossless,
        json!({ "weights": "{\"a\": \"3\"}" }),
        json!({ "weights": { "a": 3 } }),
        &["/weights: text read as an object", "/weights/a: text read as an integer"],
    );
    is_refused(lossless, &json!({ "text": 3 }));
    is_refused(lossless, &json!({ "tags": [3] }));
    is_refused(lossless, &json!({ "exact": 1 }));
}

#[test]
fn text_inside_text_is_read() {
    let page = json!({ "limit": "3" }).to_string();
    becomes(
        Coercion::Lossless,
        json!({ "pages": json!([page, { "limit": 4 }]).to_string() }),
        json!({ "pages": [{ "limit": 3 }, { "limit": 4 }] }),
        &["/pages: text read as a list", "/pages/0: text read as an object", "/pages/0/limit: text read as an integer"],
    );
}

#[test]
fn text_is_a_number_if_it_is_the_json_of_one() {
    let read =
        |text: &str| call(Coercion::Lossless, "number", &json!({ "n": text })).map(|(value, _)| value[0].clone());
    for text in ["3", " 3", "3\n", "3.0", "3e0", "30e-1"] {
        assert_eq!(read(text).unwrap(), 3, "{text:?}");
    }
    for text in ["03", "+3", "3.", "0x3", "3u", "\u{a0}3", "\u{663}", "3.5", "1e400", "NaN", "True", "", "[3]", "\"3\""]
    {
        assert_eq!(read(text).unwrap_err().kind(), ErrorKind::InvalidArguments, "{text:?}");
    }
    let wide = |text: &str| call(Coercion::Lossless, "wide", &json!({ "n": text })).map(|(value, _)| value);
    for text in ["9007199254740993", "-170141183460469231731687303715884105728"] {
        assert_eq!(wide(text).unwrap(), text);
    }
    assert_eq!(wide("9007199254740993.0").unwrap(), "9007199254740993");
    assert!(wide("9007199254740993.5").is_err());
}

/// Echoes an action.
#[tool]
fn act(#[arg] action: Action) -> Action {
    action
}

/// Echoes what is drawn.
#[tool]
fn draw(shape: Shape, edges: Option<Edges>, mode: Mode) -> (Shape, Option<Edges>, Mode) {
    (shape, edges, mode)
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Action {
    Move { by: Vec<i32> },
    Turn { degrees: f64 },
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Shape {
    Empty,
    Circle { radius: u8 },
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Edges {
    Count(u8),
    Lengths(Vec<u8>),
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Mode {
    Name(String),
    Level(u8),
}

#[test]
fn choices_are_read_where_one_alternative_accepts_the_value() {
    let dispatcher = Dispatcher::builder(catalog![act, draw].unwrap()).coercion(Coercion::Lossless).build().unwrap();
    let called = |tool: &str, arguments: Value| dispatcher.call_sync(tool, arguments).map(|result| result.value());
    assert_eq!(
        called("act", json!({ "action": { "kind": "move", "by": "[1, \"2\"]" } })).unwrap()["by"],
        json!([1, 2])
    );
    assert_eq!(called("act", json!({ "action": { "kind": "turn", "degrees": "90" } })).unwrap()["degrees"], 90.0);
    let text = json!({ "kind": "move", "by": 4 }).to_string();
    assert_eq!(called("act", json!({ "action": text })).unwrap(), json!({ "kind": "move", "by": [4] }));

    let drawn = |shape: Value, edges: Value, mode: Value| {
        called("draw", json!({ "shape": shape, "edges": edges, "mode": mode }))
    };
    // A choice with constants accepts no other text.
    let shape = json!({ "circle": { "radius": 2 } });
    assert_eq!(drawn(shape.to_string().into(), json!("3"), json!("3")).unwrap(), json!([shape, 3, "3"]));
    assert_eq!(
        drawn(json!({ "circle": "{\"radius\":\"2\"}" }), json!("[3]"), json!(3)).unwrap(),
        json!([shape, [3], 3])
    );
    assert_eq!(drawn(json!("empty"), json!("null"), json!("[3]")).unwrap(), json!(["empty", null, "[3]"]));
    for coercion in [Coercion::Off, Coercion::NullAsAbsent] {
        let dispatcher = Dispatcher::builder(catalog![draw].unwrap()).coercion(coercion).build().unwrap();
        for (shape, edges) in [(shape.to_string().into(), json!(3)), (json!("empty"), json!("3"))] {
            let arguments = json!({ "shape": shape, "edges": edges, "mode": 3 });
            assert_eq!(dispatcher.call_sync("draw", arguments).unwrap_err().kind(), ErrorKind::InvalidArguments);
        }
    }
    let error = drawn(json!("empty_"), json!(null), json!([3])).unwrap_err();
    let texts: Vec<String> = error.violations().iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "/mode must be a string or an integer, not an array",
            "/shape must be one of \"empty\", {\"circle\": …}, got \"empty_\"; did you mean `empty`?",
        ]
    );
}

#[test]
fn a_message_is_about_what_was_sent() {
    let message = |arguments: Value| call(Coercion::Lossless, "search", &arguments).unwrap_err().message().to_owned();
    // The caller sent no list.
    let text = message(json!({ "pages": "first", "score": "2" }));
    assert!(text.contains("\n- /pages must be an array, got \"first\"\n"), "{text}");
    assert!(!text.contains("/score") && !text.contains("/pages/0"), "{text}");
    // The caller sent a list, as text.
    let text = message(json!({ "pages": "[{\"limit\":1},{\"limit\":\"99\"}]" }));
    assert!(text.contains("\n- /pages/1/limit must be at most 50, got 99\n"), "{text}");
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Nested(Vec<Nested>);

/// Measures the depth of a value.
#[tool]
fn depth(nested: Nested) -> usize {
    nested.0.into_iter().next().map_or(0, |inner| 1 + depth(inner))
}

/// Counts the keys of an object with any values.
#[tool]
fn keys(object: serde_json::Map<String, Value>) -> usize {
    object.len()
}

#[test]
fn coerced_arguments_are_as_deep_and_as_large_as_others() {
    let dispatcher = Dispatcher::builder(catalog![depth, keys].unwrap()).coercion(Coercion::Lossless).build().unwrap();
    let lists = |n: usize, inner: &str| format!("{}{inner}{}", "[".repeat(n), "]".repeat(n));
    let called = |nested: String| dispatcher.call_sync("depth", format!(r#"{{"nested":{nested}}}"#));
    let text = |json: &str| Value::from(json).to_string();
    called(text(&lists(100, ""))).unwrap();
    called(lists(60, &text(&lists(60, "")))).unwrap();
    for nested in
        [text(&lists(127, "")), lists(60, &text(&lists(90, ""))), lists(2, &text(&lists(60, &text(&lists(80, "")))))]
    {
        let error = called(nested).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArguments);
    }
    for (n_levels, fits) in [(125, true), (126, false)] {
        let object = format!(r#"{{"a":{}}}"#, lists(n_levels, ""));
        let sent = dispatcher.call_sync("keys", format!(r#"{{"object":{object}}}"#));
        let read = dispatcher.call_sync("keys", json!({ "object": object }));
        assert_eq!((sent.is_ok(), read.is_ok()), (fits, fits), "{sent:?} {read:?}");
        let unfit = read.err().map(|error| error.violations()[0].to_string());
        assert!(unfit.is_none_or(|unfit| unfit == "/object must be an object, not a string"));
    }
    for hostile in ["[".repeat(15 << 20), "[[],".repeat(3 << 20), "{\"a\":".repeat(2 << 20)] {
        let error = called(text(&hostile)).unwrap_err();
        assert_eq!(error.violations()[0].to_string(), "/nested must be an array, not a string");
    }
}

#[test]
fn coerced_arguments_are_validated_again() {
    is_refused(Coercion::Lenient, &json!({ "page": { "limit": "99" } }));
    is_refused(Coercion::Lenient, &json!({ "page": "{\"limit\":99}" }));
    is_refused(Coercion::Lenient, &json!({ "page": "{\"limt\":9}" }));
    is_refused(Coercion::Lenient, &json!({ "exact": "yes" }));
    is_refused(Coercion::Lenient, &json!({ "page": { "limit": "3.5" } }));
    is_refused(Coercion::Lenient, &json!({ "page": { "limit": "" } }));
    is_refused(Coercion::Lenient, &json!({ "text": { "a": 1 } }));
    is_refused(Coercion::Lenient, &json!({ "weights": "{\"a\":1,\"a\":2}" }));
}

#[test]
fn valid_arguments_are_not_changed() {
    for arguments in [json!({ "text": "3" }), json!({ "tags": ["[1]", "true"] }), json!({ "anything": "3" })] {
        becomes(Coercion::Lenient, arguments.clone(), arguments, &[]);
    }
}

#[test]
fn a_whole_number_is_an_integer_in_any_notation() {
    for coercion in [Coercion::Off, Coercion::Lenient] {
        let (value, mut changes) = call(coercion, "number", &json!({ "n": 3.0, "maybe": 4.0 })).unwrap();
        changes.sort_unstable();
        let changed = |name: &str| format!("/{name}: a whole number read as an integer");
        assert_eq!((value, changes), (json!([3, 4]), vec![changed("maybe"), changed("n")]));
    }
}

#[test]
fn an_integer_past_64_bits_reaches_a_type_that_holds_it() {
    let dispatcher = Dispatcher::new(catalog![wide].unwrap()).unwrap();
    for n in [
        "-9223372036854775808",
        "18446744073709551615",
        "-1",
        "-170141183460469231731687303715884105728",
        "18446744073709551617",
    ] {
        assert_eq!(dispatcher.call_sync("wide", format!(r#"{{"n":{n}}}"#)).unwrap().value(), json!(n));
    }
    for n in ["-170141183460469231731687303715884105729", "170141183460469231731687303715884105728", "1e39"] {
        let error = dispatcher.call_sync("wide", format!(r#"{{"n":{n}}}"#)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArguments, "{n}");
        assert_eq!(error.violations()[0].pointer, "/n", "{n}");
    }
}

#[test]
fn a_value_is_wrapped_in_a_list_once() {
    let error = call(Coercion::Lenient, "tree", &json!({ "tree": "x" })).unwrap_err();
    assert_eq!(error.violations()[0].to_string(), "/tree must be a boolean or an array, got \"x\"");
    let (value, changes) = call(Coercion::Lenient, "tree", &json!({ "tree": "[\"true\", false]" })).unwrap();
    assert_eq!(value, json!([true, false]));
    assert_eq!(changes, ["/tree: text read as a list", "/tree/0: text read as a boolean"]);
}

#[test]
fn thousands_of_nulls_are_rejected() {
    let pages = vec![json!({ "limit": 3, "cursor": null }); 20_000];
    is_refused(Coercion::Lenient, &json!({ "pages": pages }));
}

/// The share of real calls that are valid as sent, and of those that are valid only after nulls for optional arguments
/// are removed.
///
/// A dispatcher only coerces against the schema of a linked tool, so the rule is reimplemented here.
#[test]
fn a_quarter_of_real_calls_is_valid_only_without_its_nulls() {
    let Some(text) = shared_text("data/calls-arcade.jsonl") else {
        return;
    };
    let (mut n_calls, mut n_valid, mut n_without_nulls) = (0, 0, 0);
    for line in text.lines() {
        let call: Value = serde_json::from_str(line).unwrap();
        let schema = Schema::from_value(call["inputSchema"].clone()).unwrap();
        let optional = |name: &String| {
            let required = call["inputSchema"]["required"].as_array();
            call["inputSchema"]["properties"].get(name).is_some()
                && !required.is_some_and(|names| names.contains(&name.as_str().into()))
        };
        let mut arguments = call["args"].clone();
        n_calls += 1;
        if schema.is_valid(&arguments) {
            n_valid += 1;
            continue;
        }
        arguments.as_object_mut().unwrap().retain(|name, value| !(value.is_null() && optional(name)));
        n_without_nulls += usize::from(schema.is_valid(&arguments));
    }
    ran(n_calls);
    assert_eq!((n_calls, n_valid, n_without_nulls), (244, 122, 66));
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Search Filter")]
struct Filter {
    text: String,
    #[serde(default)]
    limit: u8,
    #[serde(default)]
    nested: Vec<Filter>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Partial<{T}>")]
struct Partial<T: Default> {
    #[serde(default)]
    value: T,
    #[serde(default)]
    note: String,
}

#[derive(Serialize, Deserialize, JsonSchema, Default)]
#[schemars(rename = "a/b~c%25 é")]
struct Odd {
    #[serde(default)]
    n: u8,
    #[serde(default)]
    next: Vec<Odd>,
}

/// Counts filters.
#[tool]
fn filter(filter: Filter, partial: Option<Partial<Odd>>) -> usize {
    let partial =
        partial.map_or(0, |partial| partial.note.len() + usize::from(partial.value.n) + partial.value.next.len());
    filter.text.len() + usize::from(filter.limit) + filter.nested.len() + partial
}

// schemars percent-encodes such names in references.
#[test]
fn null_is_absent_in_a_type_whose_name_is_percent_encoded() {
    let dispatcher = Dispatcher::new(catalog![filter].unwrap()).unwrap();
    let sent = json!({
        "filter": { "text": "a", "limit": null, "nested": [{ "text": "b", "limit": null, "nested": null }] },
        "partial": { "note": null, "value": { "n": null, "next": [{ "n": null, "next": null }] } },
    });
    let result = dispatcher.call_sync("filter", &sent).unwrap();
    assert_eq!(result.value(), json!(3));
}
