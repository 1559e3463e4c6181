//! The exact errors that a model reads for an invalid call.

mod tools;

use expect_test::{Expect, expect};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolkit::call::{Coercion, ErrorKind};
use toolkit::{Dispatcher, ToolError, catalog, tool};

use self::tools::*;

fn dispatcher() -> Dispatcher {
    let catalog = catalog![order, close, resize, place].unwrap();
    Dispatcher::builder(catalog).coercion(Coercion::Off).build().unwrap()
}

/// A valid order with one value replaced.
fn order_with(pointer: &str, value: Value) -> Value {
    let mut order = json!({
        "items": [{ "name": "door", "size": "small", "amount": 1, "parts": [] }],
        "payment": { "kind": "cash" },
        "delivery": "Pickup",
        "login": { "user": "ann", "password": "abcdef" },
        "days": 3,
    });
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match order.pointer_mut(parent).unwrap() {
        Value::Object(object) => drop(object.insert(key.to_owned(), value)),
        Value::Array(items) => items[key.parse::<usize>().unwrap()] = value,
        other => *other = value,
    }
    order
}

fn refused(tool: &str, arguments: &Value) -> ToolError {
    let error = dispatcher().call_sync(tool, arguments).expect_err("the call is refused");
    assert!(matches!(error.kind(), ErrorKind::InvalidArguments), "{error}");
    assert!(!error.violations().is_empty());
    let text = error.to_string();
    assert!(!text.contains("://") && !text.contains("$defs") && !text.contains("null)"), "noise: {text}");
    if let Some((_, example)) = text.split_once("\nfor example: ") {
        let example: Value = serde_json::from_str(example).expect("the example is JSON");
        let accepted = dispatcher().call_sync(tool, &example);
        assert!(accepted.is_ok(), "the example is refused: {example}");
    }
    error
}

/// Checks the lines of the error, without the common frame.
#[track_caller]
fn check(pointer: &str, value: Value, expect: Expect) {
    let error = refused("shop:order", &order_with(pointer, value));
    let text = error.to_string();
    let lines =
        text.strip_prefix("shop:order: the arguments do not match the schema\n").expect("all refusals begin alike");
    let (lines, _) = lines.split_once("\nfor example: ").expect("all refusals end with an example");
    expect.assert_eq(lines);
}

/// Checks the data of the error, one violation per line.
#[track_caller]
fn check_data(pointer: &str, value: Value, expect: Expect) {
    let error = refused("shop:order", &order_with(pointer, value));
    let lines: Vec<String> =
        error.violations().iter().map(|violation| serde_json::to_string(violation).unwrap()).collect();
    expect.assert_eq(&lines.join("\n"));
}

#[test]
fn the_valid_order_is_valid() {
    assert!(dispatcher().call_sync("shop:order", order_with("/days", json!(3))).is_ok());
}

#[test]
fn an_error_has_every_violation_and_a_valid_call() {
    let arguments =
        json!({ "items": [{ "name": "x", "size": "tiny" }], "payment": { "kind": "card" }, "dayz": 3, "days": 99 });
    expect![[r#"
        shop:order: the arguments do not match the schema
        - /days must be at most 14, got 99
        - /dayz is not an argument; expected `items`, `payment`, `delivery`, `colors`, `prices`, `days`, `login`
        - /items/0/name must have at least 2 characters, got "x"
        - /items/0/size must be one of "small", "medium", "large", got "tiny"
        - /payment/last_digits is required
        for example: {"items":[],"payment":{"kind":"card","last_digits":"1111"}}"#]]
    .assert_eq(&refused("shop:order", &arguments).to_string());
}

#[test]
fn a_list_instead_of_an_object_is_reported() {
    expect![[r#"
        shop:order: the arguments do not match the schema
        - the value must be an object, not an array
        for example: {"items":[],"payment":{"kind":"card","last_digits":"1111"}}"#]]
    .assert_eq(&refused("shop:order", &json!([1, 2])).to_string());
    expect![[r#"
        shop:order: the arguments do not match the schema
        - the value must be an object, not a string
        for example: {"items":[],"payment":{"kind":"card","last_digits":"1111"}}"#]]
    .assert_eq(&refused("shop:order", &json!("{}")).to_string());
}

#[test]
fn a_tool_without_arguments_is_reported_as_such() {
    expect![[r#"
        shop:close: the arguments do not match the schema
        - /force is not an argument; no arguments are accepted
        for example: {}"#]]
    .assert_eq(&refused("shop:close", &json!({ "force": true })).to_string());
}

#[test]
fn the_authors_example_comes_first() {
    expect![[r#"
        shop:resize: the arguments do not match the schema
        - /note is required
        - /size must be one of "small", "medium", "large", got "LARGE"; did you mean `large`?
        for example: {"size":"large","note":"as an example"}"#]]
    .assert_eq(&refused("shop:resize", &json!({ "size": "LARGE" })).to_string());
}

#[test]
fn expected_keys_are_those_of_the_object() {
    let said = |arguments: Value| {
        let lines: Vec<String> =
            refused("shop:place", &arguments).violations().iter().map(|v| format!("- {v}")).collect();
        lines.join("\n")
    };
    expect!["- /origin/orign is not an argument; expected `x`, `y`"]
        .assert_eq(&said(json!({ "origin": { "x": 1, "y": 2, "orign": 1 } })));
    expect!["- /path/0/orign is not an argument; expected `x`, `y`"]
        .assert_eq(&said(json!({ "path": [{ "x": 1, "y": 2, "orign": 1 }] })));
    expect![[r#"- /floors/origin is not a key of this object; expected a key that matches `^\d+$`"#]]
        .assert_eq(&said(json!({ "floors": { "1": "hall", "origin": "x" } })));
    expect!["- /shape/Circle/orign is not an argument; expected `center`, `radius`"]
        .assert_eq(&said(json!({ "shape": { "Circle": { "center": { "x": 1, "y": 2 }, "radius": 1, "orign": 0 } } })));
    expect!["- /shape/Circle/center/radus is not an argument; expected `x`, `y`"]
        .assert_eq(&said(json!({ "shape": { "Circle": { "center": { "x": 1, "y": 2, "radus": 1 }, "radius": 1 } } })));
    expect!["- /nothing/origin is not an argument; no arguments are accepted"]
        .assert_eq(&said(json!({ "nothing": { "origin": 1 } })));
}

// Schemas of other servers and of authors describe the accepted keys in more ways than derived ones.
#[test]
fn expected_keys_come_from_the_schema_that_rejects() {
    let nested = |inner: Value, sent: Value| {
        let schema = json!({
            "type": "object",
            "properties": { "origin": { "type": "integer" }, "inner": inner },
            "additionalProperties": false,
            "$defs": { "Search Filter": { "properties": { "text": {} } } },
        });
        let schema = toolkit::schema::Schema::from_value(schema).unwrap();
        let violations = schema.validate(&json!({ "inner": sent })).unwrap_err();
        violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let sent = json!({ "orign": 1 });
    for (inner, expected) in [
        (json!({ "additionalProperties": false }), "no arguments are accepted"),
        (
            json!({ "patternProperties": { "^x-": {} }, "additionalProperties": false }),
            "expected a key that matches `^x-`",
        ),
        (
            json!({ "properties": { "a": {} }, "patternProperties": { "^x-": {} }, "additionalProperties": false }),
            "expected `a`, or a key that matches `^x-`",
        ),
        (json!({ "properties": { "a": {} }, "unevaluatedProperties": false }), "expected `a`"),
        (
            json!({ "properties": { "a": {} }, "allOf": [{ "properties": { "b": {} } }], "unevaluatedProperties": false }),
            "expected `a`, `b`",
        ),
        (json!({ "$ref": "#/$defs/Search%20Filter", "unevaluatedProperties": false }), "expected `text`"),
        (json!({ "allOf": [{ "additionalProperties": false }] }), "no arguments are accepted"),
        (
            json!({ "properties": { "a": {} }, "propertyNames": { "enum": ["a", "b"] } }),
            "is not a valid key: must be one of \"a\", \"b\", got \"orign\"",
        ),
    ] {
        let said = nested(inner.clone(), sent.clone());
        assert!(said.starts_with("/inner/orign ") && said.ends_with(expected), "{inner}: {said}");
    }
}

#[test]
fn keys_are_suggested_at_every_level() {
    check(
        "/item",
        json!([]),
        expect![
            "- /item is not an argument; expected `items`, `payment`, `delivery`, `colors`, `prices`, `days`, `login`"
        ],
    );
    check(
        "/items/0/nmae",
        json!("x"),
        expect!["- /items/0/nmae is not an argument; expected `name`, `size`, `amount`, `parts`"],
    );
    check(
        "/items/0/parts",
        json!([{ "name": "hinge", "size": "small", "parst": [] }]),
        expect!["- /items/0/parts/0/parst is not an argument; did you mean `parts`?"],
    );
    check(
        "/items/0/amount",
        json!({ "least": 1, "moost": 2 }),
        expect![[r#"
        - /items/0/amount/moost is not an argument; did you mean `most`?
        - /items/0/amount/most is required"#]],
    );
    check("/login/usr", json!("x"), expect!["- /login/usr is not an argument; expected `user`, `password`"]);
    check(
        "/payment",
        json!({ "kind": "card", "lastDigits": "1234" }),
        expect![[r#"
        - /payment/lastDigits is not an argument; did you mean `last_digits`?
        - /payment/last_digits is required"#]],
    );
    check(
        "/delivery",
        json!({ "Courier": { "stret": "x" } }),
        expect![[r#"
        - /delivery/Courier/street is required
        - /delivery/Courier/stret is not an argument; did you mean `street`?"#]],
    );
    check(
        "/zzzzzzzz",
        json!(1),
        expect![
            "- /zzzzzzzz is not an argument; expected `items`, `payment`, `delivery`, `colors`, `prices`, `days`, `login`"
        ],
    );
}

#[test]
fn values_of_an_enum_are_listed_and_suggested() {
    check(
        "/items/0/size",
        json!("smal"),
        expect![[r#"- /items/0/size must be one of "small", "medium", "large", got "smal"; did you mean `small`?"#]],
    );
    check(
        "/items/0/size",
        json!("SMALL"),
        expect![[r#"- /items/0/size must be one of "small", "medium", "large", got "SMALL"; did you mean `small`?"#]],
    );
    check(
        "/items/0/size",
        json!("gigantic"),
        expect![[r#"- /items/0/size must be one of "small", "medium", "large", got "gigantic""#]],
    );
    check("/items/0/size", json!(3), expect![[r#"- /items/0/size must be one of "small", "medium", "large", got 3"#]]);
    check(
        "/items/0/parts",
        json!([{ "name": "hinge", "size": "larg" }]),
        expect![[
            r#"- /items/0/parts/0/size must be one of "small", "medium", "large", got "larg"; did you mean `large`?"#
        ]],
    );
}

#[test]
fn a_wrong_tag_lists_the_tags_and_a_right_one_explains_the_body() {
    check(
        "/payment",
        json!({ "kind": "crad", "last_digits": "1234" }),
        expect![[r#"- /payment/kind must be one of "card", "invoice", "cash", got "crad"; did you mean `card`?"#]],
    );
    check(
        "/payment",
        json!({ "kind": 3 }),
        expect![[r#"- /payment/kind must be one of "card", "invoice", "cash", got 3"#]],
    );
    check(
        "/payment",
        json!({ "last_digits": "1234" }),
        expect![[r#"- /payment/kind is required: one of "card", "invoice", "cash""#]],
    );
    check("/payment", json!({}), expect![[r#"- /payment/kind is required: one of "card", "invoice", "cash""#]]);
    check(
        "/payment",
        json!({ "kind": "card", "last_digits": "12" }),
        expect![[r#"- /payment/last_digits must match `^[0-9]{4}$`, got "12""#]],
    );
    check(
        "/payment",
        json!({ "kind": "invoice", "days": "x" }),
        expect![[r#"- /payment/days must be an integer, got "x""#]],
    );
    check("/payment", json!({ "kind": "invoice" }), expect!["- /payment/days is required"]);
    check(
        "/payment",
        json!({ "kind": "cash", "days": 3 }),
        expect!["- /payment/days is not an argument; expected `kind`"],
    );
    check("/payment", json!("cash"), expect![[r#"- /payment must be an object, got "cash""#]]);
    check("/payment", json!(["cash"]), expect!["- /payment must be an object, not an array"]);
    check("/payment", json!(null), expect!["- /payment must be an object, got null"]);
}

#[test]
fn variants_with_and_without_content_are_suggested() {
    check(
        "/delivery",
        json!("pickup"),
        expect![[
            r#"- /delivery must be one of "Pickup", {"Courier": …}, {"Locker": …}, got "pickup"; did you mean `Pickup`?"#
        ]],
    );
    check("/delivery", json!("Courier"), expect![[r#"- /delivery must be the object {"Courier": …}, got "Courier""#]]);
    check(
        "/delivery",
        json!("Rocket"),
        expect![[
            r#"- /delivery must be one of "Pickup", {"Courier": …}, {"Locker": …}, got "Rocket"; did you mean `Locker`?"#
        ]],
    );
    check(
        "/delivery",
        json!({ "courier": { "street": "x" } }),
        expect!["- /delivery/courier is not an argument; did you mean `Courier`?"],
    );
    check(
        "/delivery",
        json!({ "Rocket": 3 }),
        expect!["- /delivery/Rocket is not an argument; did you mean `Locker`?"],
    );
    check("/delivery", json!({}), expect!["- /delivery must have one of the keys `Courier`, `Locker`"]);
    check(
        "/delivery",
        json!({ "Courier": { "floor": 300 } }),
        expect![[r#"
        - /delivery/Courier/floor must be at most 127, got 300
        - /delivery/Courier/street is required"#]],
    );
    check("/delivery", json!({ "Courier": "x" }), expect![[r#"- /delivery/Courier must be an object, got "x""#]]);
    check("/delivery", json!({ "Locker": -1 }), expect!["- /delivery/Locker must be at least 0, got -1"]);
    check(
        "/delivery",
        json!({ "Locker": 1, "Courier": { "street": "x" } }),
        expect!["- /delivery must have exactly one of the keys `Courier`, `Locker`"],
    );
    check("/delivery", json!(7), expect!["- /delivery must be a string, an object or null, got 7"]);
}

#[test]
fn an_untagged_value_is_explained_by_the_intended_variant() {
    check(
        "/items/0/amount",
        json!("x"),
        expect![[r#"- /items/0/amount must be an integer, an object or null, got "x""#]],
    );
    check("/items/0/amount", json!(-1), expect!["- /items/0/amount must be at least 0, got -1"]);
    check("/items/0/amount", json!({ "least": 1 }), expect!["- /items/0/amount/most is required"]);
    check(
        "/items/0/amount",
        json!({ "least": "x", "most": 2 }),
        expect![[r#"- /items/0/amount/least must be an integer, got "x""#]],
    );
}

#[test]
fn an_option_is_explained_by_its_inner_type() {
    check("/login", json!([]), expect!["- /login must be an object or null, not an array"]);
    check("/login", json!([1]), expect!["- /login must be an object or null, not an array"]);
    check(
        "/login",
        json!({ "user": 3 }),
        expect![[r#"
        - /login/password is required
        - /login/user must be a string, got 3"#]],
    );
}

#[test]
fn limits_are_stated() {
    check("/days", json!(15), expect!["- /days must be at most 14, got 15"]);
    check("/days", json!(0), expect!["- /days must be at least 1, got 0"]);
    check("/days", json!(1.5), expect!["- /days must be an integer, got 1.5"]);
    check("/items/0/name", json!("x"), expect![[r#"- /items/0/name must have at least 2 characters, got "x""#]]);
    check(
        "/items/0/name",
        json!("abcdef"),
        expect![[r#"- /items/0/name must have at most 5 characters, got "abcdef""#]],
    );
    check("/items/0/name", json!("é".repeat(100)), expect!["- /items/0/name must have at most 5 characters"]);
    check("/colors", json!(["red", "red"]), expect!["- /colors must not contain duplicate items"]);
    check("/prices", json!({ "a/b~c": "cheap" }), expect![[r#"- /prices/a~1b~0c must be a number, got "cheap""#]]);
    check("/items", json!({}), expect!["- /items must be an array, not an object"]);
    check("/items", json!({ "name": "door" }), expect!["- /items must be an array, not an object"]);
    check("/items", json!([[]]), expect!["- /items/0 must be an object, got []"]);
}

#[test]
fn secrets_are_masked() {
    check("/login/password", json!("12345"), expect!["- /login/password must have at least 6 characters"]);
    check("/login/password", json!(12345), expect!["- /login/password must be a string, not a number"]);
    check("/login", json!("hunter2"), expect!["- /login must be an object or null, not a string"]);
    check(
        "/login",
        json!({ "user": "ann", "password": ["hunter2"] }),
        expect!["- /login/password must be a string, not an array"],
    );
}

#[test]
fn the_data_has_the_pointer_the_rule_and_the_accepted_values() {
    check_data(
        "/days",
        json!(15),
        expect![[r#"{"pointer":"/days","keyword":"maximum","rule":"must be at most 14","limit":14,"sent":15}"#]],
    );
    check_data(
        "/items/0/size",
        json!("smal"),
        expect![[
            r#"{"pointer":"/items/0/size","keyword":"enum","rule":"must be one of \"small\", \"medium\", \"large\"","sent":"smal","allowed":["small","medium","large"],"suggestion":"small"}"#
        ]],
    );
    check_data(
        "/item",
        json!([]),
        expect![[
            r#"{"pointer":"/item","keyword":"additionalProperties","rule":"is not an argument; expected `items`, `payment`, `delivery`, `colors`, `prices`, `days`, `login`","allowed":["items","payment","delivery","colors","prices","days","login"]}"#
        ]],
    );
    check_data(
        "/payment",
        json!({ "kind": "crad" }),
        expect![[
            r#"{"pointer":"/payment/kind","keyword":"enum","rule":"must be one of \"card\", \"invoice\", \"cash\"","sent":"crad","allowed":["card","invoice","cash"],"suggestion":"card"}"#
        ]],
    );
    check_data(
        "/payment",
        json!({ "kind": "card", "last_digits": "12" }),
        expect![[
            r#"{"pointer":"/payment/last_digits","keyword":"pattern","rule":"must match `^[0-9]{4}$`","limit":"^[0-9]{4}$","sent":"12"}"#
        ]],
    );
    check_data(
        "/delivery",
        json!({ "courier": {} }),
        expect![[
            r#"{"pointer":"/delivery/courier","keyword":"additionalProperties","rule":"is not an argument","allowed":["Courier","Locker"],"suggestion":"Courier"}"#
        ]],
    );
    check_data(
        "/login/password",
        json!("12345"),
        expect![[
            r#"{"pointer":"/login/password","keyword":"minLength","rule":"must have at least 6 characters","limit":6}"#
        ]],
    );
    check_data(
        "/login",
        json!([1]),
        expect![[
            r#"{"pointer":"/login","keyword":"type","rule":"must be an object or null, not an array","allowed":["object","null"]}"#
        ]],
    );
    check_data(
        "/items/0/name",
        json!("é".repeat(100)),
        expect![[
            r#"{"pointer":"/items/0/name","keyword":"maxLength","rule":"must have at most 5 characters","limit":5}"#
        ]],
    );
}

#[test]
fn tools_are_suggested() {
    let unknown = |name: &str| dispatcher().call_sync(name, "{}").unwrap_err().to_string();
    expect!["no tool is named `shop:ordr`; did you mean `shop:order`?"].assert_eq(&unknown("shop:ordr"));
    expect!["no tool is named `Order`; did you mean `order`?"].assert_eq(&unknown("Order"));
    expect!["no tool is named `re-size`; did you mean `resize`?"].assert_eq(&unknown("re-size"));
    expect!["no tool is named `weather`"].assert_eq(&unknown("weather"));
    expect!["no tool is named ``: not a tool id: name must not be empty"].assert_eq(&unknown(""));
    expect!["no tool is named `a:b:c:d`: not a tool id: has more than two colons; an id is `namespace:name:version`"]
        .assert_eq(&unknown("a:b:c:d"));
}

/// Pings a host.
#[tool]
fn ping(address: std::net::IpAddr, network: std::net::Ipv6Addr) -> String {
    format!("{network} {address}")
}

#[test]
fn the_example_of_a_string_has_the_format_of_its_type() {
    let dispatcher = Dispatcher::new(catalog![ping].unwrap()).unwrap();
    let error = dispatcher.call_sync("ping", r#"{"address": 1}"#).unwrap_err();
    let example = error.message().split_once("for example: ").unwrap().1.to_owned();
    assert_eq!(dispatcher.call_sync("ping", example).unwrap().tool(), "ping");
}

/// Two flattened enums, whose schema cannot be closed branch by branch.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Trip {
    #[serde(flatten)]
    vehicle: Vehicle,
    #[serde(flatten)]
    speed: Speed,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "vehicle", rename_all = "snake_case")]
enum Vehicle {
    Bike { gears: u8 },
    Train { line: String },
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "speed", rename_all = "snake_case")]
enum Speed {
    Fast,
    Slow { reason: String },
}

/// Plans a trip.
#[tool]
fn travel(trip: Trip) -> String {
    serde_json::to_string(&trip).unwrap()
}

#[test]
fn a_declared_argument_is_not_called_unknown_because_another_is_wrong() {
    let dispatcher = Dispatcher::new(catalog![travel].unwrap()).unwrap();
    let refused = |arguments: Value| {
        let error = dispatcher.call_sync("travel", &arguments).unwrap_err();
        error.violations().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        refused(json!({ "vehicle": "bike", "gears": 7, "speed": "fas" })),
        [r#"/speed must be one of "fast", "slow", got "fas"; did you mean `fast`?"#]
    );
    assert_eq!(
        refused(json!({ "vehicle": "bike", "gear": 7, "speed": "fast" })),
        ["/gear is not an argument; did you mean `gears`?", "/gears is required"]
    );
    assert_eq!(
        refused(json!({ "gears": 7 })),
        [r#"/speed is required: one of "fast", "slow""#, r#"/vehicle is required: one of "bike", "train""#]
    );
    assert_eq!(
        refused(json!({ "vehicle": "bike", "gears": 7, "speed": "fast", "line": "7" })),
        ["/line is not allowed beside the other arguments"]
    );
}

/// Starts a job.
#[tool]
fn start(#[schemars(extend("pattern" = "^(job$"))] job: String) -> String {
    job
}

#[test]
fn a_pattern_that_does_not_compile_is_not_the_fault_of_the_model() {
    let dispatcher = Dispatcher::new(catalog![start].unwrap()).unwrap();
    let error = dispatcher.call_sync("start", json!({ "job": "job" })).unwrap_err();
    assert_eq!((error.kind(), error.violations().len()), (ErrorKind::Internal, 0));
    assert!(!error.message().contains("job$"), "{error}");
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("at /properties/job/pattern: the pattern `^(job$` is invalid"), "{cause}");
}
