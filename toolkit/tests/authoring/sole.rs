//! A tool with one owned parameter: of any type that has a schema.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::marker::PhantomData;

use chrono::NaiveDate;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolkit::schema::CheckPath;
use toolkit::{Catalog, Coercion, Dispatcher, catalog, handle, tool, toolset};
use url::Url;
use uuid::Uuid;

/// Declares one tool per type, which gives back what it was given, and lists them.
macro_rules! echoes {
    ($($name:ident($argument:ident: $ty:ty);)*) => {
        $(
            /// Gives back what it was given.
            #[tool(namespace = "sole")]
            fn $name($argument: $ty) -> Value {
                serde_json::to_value(&$argument).expect("it was read from JSON")
            }
        )*

        fn all() -> Catalog {
            catalog![$($name),*].expect("each of them is a tool")
        }
    };
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Id(String);

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
struct Transparent {
    id: Id,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Pair(u8, u8);

#[derive(Serialize, Deserialize, JsonSchema)]
struct Labels(HashMap<String, u8>);

#[derive(Serialize, Deserialize, JsonSchema)]
struct ById(BTreeMap<u32, String>);

#[derive(Serialize, Deserialize, JsonSchema)]
struct Maybe(Option<u8>);

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
struct Limit {
    max: Option<u8>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Nothing;

#[derive(Serialize, Deserialize, JsonSchema)]
struct NoFields {}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Mode {
    Fast,
    Slow,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Job {
    Stop,
    Run { n: u8 },
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Key {
    Number(u32),
    Text(String),
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
enum Shape {
    Circle { radius: u8 },
    Square { side: u8 },
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Expr {
    Value(i64),
    Negate(Box<Expr>),
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Node {
    value: i64,
    #[serde(default)]
    next: Option<Box<Node>>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Query {
    /// Has the name of the parameter.
    query: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Page<T> {
    item: T,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
struct Even(u8);

impl TryFrom<String> for Even {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().ok().filter(|n| n % 2 == 0).map(Even).ok_or_else(|| "it is odd".to_owned())
    }
}

impl From<Even> for String {
    fn from(even: Even) -> Self {
        even.0.to_string()
    }
}

impl Clone for Even {
    fn clone(&self) -> Self {
        Even(self.0)
    }
}

/// As `rust_decimal` has it: text or number, with a schema by hand.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct Decimal(Value);

impl JsonSchema for Decimal {
    fn schema_name() -> Cow<'static, str> {
        "Decimal".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number"], "pattern": r"^-?\d+(\.\d+)?$" })
    }
}

/// A type parameter that no value holds.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
struct Typed<T> {
    id: u64,
    #[serde(skip)]
    of: PhantomData<T>,
}

type Alias = Uuid;

echoes! {
    uuid(id: Uuid);
    alias(id: Alias);
    boxed(id: Box<Uuid>);
    date(on: NaiveDate);
    url(page: Url);
    decimal(amount: Decimal);
    newtype(id: Id);
    transparent(id: Transparent);
    pair(pair: Pair);
    labels(labels: Labels);
    by_id(names: ById);
    maybe(n: Maybe);
    limit(limit: Limit);
    nothing(nothing: Nothing);
    no_fields(none: NoFields);
    mode(mode: Mode);
    job(job: Job);
    key(key: Key);
    shape(shape: Shape);
    expr(expr: Expr);
    node(node: Node);
    same_name(query: Query);
    generic_struct(page: Page<Uuid>);
    generic_newtype(of: Typed<Uuid>);
    even(even: Even);
    list(ids: Vec<Uuid>);
    option(id: Option<Uuid>);
    option_of_struct(query: Option<Query>);
    map(ids: HashMap<String, Uuid>);
    value(value: Value);
    array(pair: [u8; 2]);
    tuple(pair: (u8, String));
    date_of_options(on: Option<Vec<NaiveDate>>);
}

const ID: &str = "67e55044-10b1-426f-9247-bb680e5f0c8d";

/// The arguments of a call of each tool.
fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("uuid", json!({ "id": ID })),
        ("alias", json!({ "id": ID })),
        ("boxed", json!({ "id": ID })),
        ("date", json!({ "on": "2026-02-28" })),
        ("url", json!({ "page": "https://example.com/a" })),
        ("decimal", json!({ "amount": "12.50" })),
        ("newtype", json!({ "id": "a" })),
        ("transparent", json!({ "id": "a" })),
        ("pair", json!({ "pair": [1, 2] })),
        ("labels", json!({ "labels": { "a": 1 } })),
        ("by_id", json!({ "names": { "7": "a" } })),
        ("maybe", json!({ "n": 3 })),
        ("limit", json!({ "limit": 3 })),
        ("nothing", json!({ "nothing": null })),
        ("no_fields", json!({})),
        ("mode", json!({ "mode": "Slow" })),
        ("job", json!({ "job": { "Run": { "n": 1 } } })),
        ("key", json!({ "key": "a" })),
        ("shape", json!({ "kind": "Circle", "radius": 2 })),
        ("expr", json!({ "expr": { "Negate": { "Value": 1 } } })),
        ("node", json!({ "value": 1, "next": { "value": 2, "next": null } })),
        ("same_name", json!({ "query": "a" })),
        ("generic_struct", json!({ "item": ID })),
        ("generic_newtype", json!({ "of": 3 })),
        ("even", json!({ "even": "4" })),
        ("list", json!({ "ids": [ID] })),
        ("option", json!({ "id": ID })),
        ("option_of_struct", json!({ "query": { "query": "a" } })),
        ("map", json!({ "ids": { "a": ID } })),
        ("value", json!({ "value": { "a": [1] } })),
        ("array", json!({ "pair": [1, 2] })),
        ("tuple", json!({ "pair": [1, "a"] })),
        ("date_of_options", json!({ "on": ["2026-02-28"] })),
    ]
}

/// The tools whose argument is a struct: its fields are the arguments.
const STRUCTS: [&str; 5] = ["no_fields", "shape", "node", "same_name", "generic_struct"];

#[test]
fn any_type_with_a_schema_can_be_the_only_argument() {
    let dispatcher = Dispatcher::new(all()).unwrap();
    all().check(Default::default()).unwrap();
    assert_eq!(calls().len(), all().len(), "every tool has a call");
    for (name, arguments) in calls() {
        let result = dispatcher.call_sync(name, arguments.to_string()).unwrap_or_else(|error| panic!("{error:?}"));
        let expect = match STRUCTS.contains(&name) {
            true => arguments,
            false => arguments.as_object().unwrap().values().next().unwrap().clone(),
        };
        assert_eq!(result.value(), expect, "{name}");
        let other = dispatcher.call_sync(name, r#"{"other": 1}"#).unwrap_err();
        assert!(!other.violations().is_empty(), "{name}: {other}");
    }
}

#[test]
fn the_form_is_the_same_without_a_schema_and_from_a_tree() {
    let unchecked = Dispatcher::builder(all()).validate_input(false).build().unwrap();
    let checked = Dispatcher::builder(all()).coercion(Coercion::Lenient).build().unwrap();
    for (name, arguments) in calls() {
        let text = arguments.to_string();
        let expect = checked.call_sync(name, &text).unwrap().value();
        assert_eq!(unchecked.call_sync(name, &text).unwrap().value(), expect, "{name}");
        assert_eq!(checked.call_sync(name, &arguments).unwrap().value(), expect, "{name}");
    }
}

#[test]
fn without_validation_a_named_argument_is_found_among_other_properties() {
    let unchecked = Dispatcher::builder(all()).validate_input(false).build().unwrap();
    let read = |name: &str, arguments: &str| unchecked.call_sync(name, arguments).map(|result| result.value());
    let error = |name: &str, arguments: &str| read(name, arguments).unwrap_err().to_string();
    assert_eq!(read("pair", r#"{"a": [{"pair": 0}], "pair": [1, 2], "b": {"pair": 0}}"#).unwrap(), json!([1, 2]));
    assert_eq!(read("mode", r#"{"a\u0062": 1, "\u006dode": "Fast", "\"": {}}"#).unwrap(), json!("Fast"));
    assert_eq!(
        error("pair", r#"{"pair": [1, 2], "pair": [1, 2]}"#),
        "sole:pair: not valid JSON: duplicate key `pair` in an object at line 1 column 23"
    );
    assert_eq!(
        error("newtype", r#"{"pair": "a"}"#),
        "sole:newtype: the arguments do not match the schema\n- the value is not a valid value: missing field `id`\nfor example: {\"id\":\"a\"}"
    );
    assert_eq!(
        error("newtype", r#"["a"]"#),
        "sole:newtype: the arguments do not match the schema\n- the value is not a valid value: invalid type: sequence, expected an object with the key `id`\nfor example: {\"id\":\"a\"}"
    );
    assert_eq!(
        error("newtype", r#"{"id": 5}"#),
        "sole:newtype: the arguments do not match the schema\n- /id is not a valid value: invalid type: integer `5`, expected a string\nfor example: {\"id\":\"a\"}"
    );
    assert_eq!(
        error("newtype", r#"{"id": "a", 5}"#),
        "sole:newtype: not valid JSON: key must be a string at line 1 column 13"
    );
}

#[test]
fn an_argument_that_is_read_as_an_option_may_be_absent() {
    let required = |name: &str| all().resolve(name).unwrap().input().as_value().get("required").cloned();
    let checked = Dispatcher::new(all()).unwrap();
    let unchecked = Dispatcher::builder(all()).validate_input(false).build().unwrap();
    for name in ["limit", "option", "option_of_struct"] {
        assert_eq!(required(name), None, "{name}");
        for dispatcher in [&checked, &unchecked] {
            assert_eq!(dispatcher.call_sync(name, "{}").unwrap().value(), Value::Null, "{name}");
        }
    }
    // serde does not read a newtype where its value is absent, or a unit.
    for (name, argument) in [("maybe", "n"), ("nothing", "nothing"), ("value", "value")] {
        assert_eq!(required(name), Some(json!([argument])), "{name}");
        for dispatcher in [&checked, &unchecked] {
            assert!(dispatcher.call_sync(name, "{}").is_err(), "{name}");
        }
    }
}

#[test]
fn a_violation_names_the_argument() {
    let dispatcher = Dispatcher::new(all()).unwrap();
    let pointer = |name: &str, arguments: &str| {
        let error = dispatcher.call_sync(name, arguments).unwrap_err();
        error.violations().iter().map(|violation| violation.pointer.clone()).collect::<Vec<_>>()
    };
    assert_eq!(pointer("uuid", r#"{"id": 7}"#), ["/id"]);
    assert_eq!(pointer("even", r#"{"even": "3"}"#), ["/even"]);
    assert_eq!(pointer("node", r#"{"value": "x"}"#), ["/value"]);
}

#[test]
fn a_named_argument_has_the_schema_of_its_type() {
    let schema = |name: &str| all().resolve(name).unwrap().input().as_value().clone();
    let id = json!({ "type": "string", "format": "uuid" });
    let object = |name: &str, schema: &Value| json!({ "type": "object", "properties": { name: schema }, "required": [name], "additionalProperties": false });
    assert_eq!(schema("uuid"), object("id", &id));
    assert_eq!(schema("generic_struct"), object("item", &id));
    let query = json!({ "type": "string", "description": "Has the name of the parameter." });
    assert_eq!(schema("same_name"), object("query", &query));
}

#[test]
fn the_common_case_of_each_has_a_plan() {
    // A choice of several types needs the whole value.
    let slow = ["decimal", "by_id"];
    for tool in &all() {
        let path = tool.input().path();
        assert!(path == CheckPath::Plan || slow.contains(&tool.id().name()), "{} is checked {path}", tool.id());
    }
}

#[derive(Default)]
pub(super) struct Store(Uuid);

#[toolset(namespace = "sole-store")]
impl Store {
    /// Whether it is that one.
    #[tool]
    fn is(&self, id: Uuid) -> bool {
        self.0 == id
    }

    /// Whether it is that one, later.
    #[tool]
    async fn is_later(
        &self,
        /** The date. */
        on: NaiveDate,
        store: &Store,
    ) -> bool {
        store.0 == self.0 && on > NaiveDate::MIN
    }
}

#[tokio::test]
async fn methods_and_handles_take_any_type() {
    let catalog = catalog![Store::is, Store::is_later, uuid, same_name].unwrap();
    let id: Uuid = ID.parse().unwrap();
    let dispatcher = Dispatcher::builder(catalog).state(Store(id)).build().unwrap();
    assert_eq!(dispatcher.call("is", json!({ "id": ID })).await.unwrap().value(), json!(true));
    assert_eq!(dispatcher.call("is_later", r#"{"on": "2026-01-01"}"#).await.unwrap().value(), json!(true));
    let described = dispatcher.catalog().resolve("is_later").unwrap().input().as_value()["properties"]["on"].clone();
    assert_eq!(described["description"], json!("The date."));
    assert!(handle!(Store::is).call(&dispatcher, id).await.unwrap());
    assert_eq!(handle!(uuid).call(&dispatcher, id).await.unwrap(), json!(ID));
    let query = Query { query: "a".to_owned() };
    assert_eq!(handle!(same_name).call(&dispatcher, query).await.unwrap(), json!({ "query": "a" }));
}
