//! Schemas and values that are made to exhaust time, memory or stack.
//!
//! No test asserts a duration: an unbounded computation is a test that does not end. Tests that might exhaust the stack
//! run on the usual two megabytes of a thread, without optimization.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use toolkit_schema::plan::Plan;
use toolkit_schema::portable;
use toolkit_schema::{Schema, SchemaError, SchemaErrorKind, close, inline};

fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(2 << 20).spawn(test).unwrap().join().unwrap();
}

/// `depth` nested arrays.
fn lists(depth: usize) -> Value {
    (0..depth).fold(json!(1), |inner, _| Value::Array(vec![inner]))
}

/// `inner` nested `depth` times under `key`.
fn under(key: &str, depth: usize, inner: Value) -> Value {
    (0..depth).fold(inner, |inner, _| Value::Object(Map::from_iter([(key.to_owned(), inner)])))
}

/// The definitions `a0` to `a{n}`, each of which is `body` with a reference to the next.
fn row(n: usize, body: impl Fn(Value) -> Value) -> Value {
    let mut definitions = Map::new();
    for i in 0..n {
        definitions.insert(format!("a{i}"), body(json!({ "$ref": format!("#/$defs/a{}", i + 1) })));
    }
    definitions.insert(format!("a{n}"), json!({ "type": "string" }));
    json!({ "$ref": "#/$defs/a0", "$defs": definitions })
}

/// Returns the error, and checks that it is short for every schema.
#[track_caller]
fn refused(schema: Value) -> SchemaError {
    let Err(error) = Schema::from_value(schema) else {
        panic!("the schema is taken");
    };
    assert!(error.to_string().len() < 16 << 10, "{} bytes of error", error.to_string().len());
    assert!(!error.to_string().contains(char::is_control));
    error
}

#[track_caller]
fn assert_refused(schema: Value, kind: SchemaErrorKind, message: &str) {
    let error = refused(schema);
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(message), "{error}");
}

/// Validates a value in all available ways, and checks that they agree.
#[track_caller]
fn verdict(schema: &Schema, value: &Value) -> bool {
    let verdict = schema.is_valid(value);
    let violations = schema.validate(value);
    assert_eq!(violations.is_ok(), verdict);
    assert_eq!(schema.first_violation(value).is_none(), verdict);
    if let Err(violations) = violations {
        assert!(!violations.is_empty() && violations.len() <= 256);
        assert!(violations.to_string().len() < 1 << 20);
    }
    verdict
}

/// Returns the only violation of a value that is not visited.
#[track_caller]
fn rule(schema: &Schema, value: &Value) -> String {
    assert!(!verdict(schema, value));
    let violations = schema.validate(value).unwrap_err();
    assert_eq!((violations.len(), violations[0].keyword.as_str()), (1, "size"));
    violations.to_string()
}

fn rewrite(mut schema: Value) {
    let _ = Plan::compile(&schema);
    portable::make(&mut schema);
    close::close(&mut schema);
    inline::inline(&mut schema);
}

#[test]
fn a_schema_of_ten_thousand_levels_is_rejected_and_dropped() {
    on_a_small_stack(|| {
        let places = [
            (under("items", 10_000, json!({})), "as schemas"),
            (under("x", 10_000, json!({})), "under a keyword that nobody knows"),
            (json!({ "default": 1 }), "as a value"),
        ];
        for (mut schema, place) in places {
            if let Some(default) = schema.get_mut("default") {
                *default = lists(10_000);
            }
            // The rewrites do not change it, and a plan does not exist or does not visit that part.
            let _ = Plan::compile(&schema);
            portable::make(&mut schema);
            close::close(&mut schema);
            inline::inline(&mut schema);
            assert_eq!(refused(schema).kind(), SchemaErrorKind::TooComplex, "{place}");
        }
    });
}

#[test]
fn the_deepest_schema_is_checked_on_any_stack() {
    on_a_small_stack(|| {
        let deepest = under("items", Schema::MAX_DEPTH, json!({}));
        assert!(verdict(&Schema::from_value(deepest).unwrap(), &lists(Schema::MAX_DEPTH)));
        assert_refused(
            under("items", Schema::MAX_DEPTH + 1, json!({})),
            SchemaErrorKind::TooComplex,
            "the schema is nested deeper than 127 levels",
        );
        // Definitions that refer to one another from deep inside, so that compiling one leads to the next.
        let mut definitions = Map::new();
        for i in 0..20 {
            let next = json!({ "$ref": format!("#/$defs/n{}", (i + 1) % 20) });
            let nested = (0..40).fold(next, |inner, _| json!({ "properties": { "x": inner }, "anyOf": [{}] }));
            definitions.insert(format!("n{i}"), nested);
        }
        let schema = json!({ "$ref": "#/$defs/n0", "$defs": definitions });
        rewrite(schema.clone());
        let schema = Schema::from_value(schema).unwrap();
        assert!(verdict(&schema, &under("x", 20, json!(1))));
        let _ = schema.example();
    });
}

#[test]
fn a_schema_that_refers_to_itself_for_the_same_value_is_rejected() {
    for schema in [
        json!({ "$ref": "#" }),
        json!({ "allOf": [{ "$ref": "#" }] }),
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } }),
        json!({ "$defs": { "a": { "anyOf": [{}, { "not": { "$ref": "#/$defs/a" } }] } } }),
        json!({ "$dynamicAnchor": "a", "if": { "$dynamicRef": "#a" } }),
        json!({ "$schema": "http://json-schema.org/draft-07/schema#", "dependencies": { "a": { "$ref": "#" } } }),
    ] {
        rewrite(schema.clone());
        assert_refused(schema, SchemaErrorKind::InvalidSchema, "refers to itself for the same value");
    }
    // References for the values inside, and references that draft-07 ignores.
    for schema in [
        json!({ "items": { "$ref": "#" } }),
        json!({ "properties": { "a": { "allOf": [{ "$ref": "#" }] } } }),
        json!({ "$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "allOf": [{ "$ref": "#" }], "definitions": { "a": {} } }),
    ] {
        rewrite(schema.clone());
        assert!(verdict(&Schema::from_value(schema).unwrap(), &json!({ "a": { "a": [] } })));
    }
}

#[test]
fn references_that_multiply_for_one_value_are_rejected() {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let schema = row(40, |next| json!({ keyword: [next, next] }));
        rewrite(schema.clone());
        assert_refused(schema, SchemaErrorKind::TooComplex, "more than 65536 schemas apply to one value");
    }
    let conditions = row(40, |next| json!({ "if": next, "then": next, "else": next }));
    assert_refused(conditions, SchemaErrorKind::TooComplex, "apply to one value");
    // For unevaluated keywords, each schema evaluates the adjacent ones again.
    let nested = (0..60).fold(json!({}), |inner, _| json!({ "allOf": [inner], "unevaluatedProperties": false }));
    assert_refused(nested, SchemaErrorKind::TooComplex, "apply to one value");
}

#[test]
fn schemas_that_multiply_from_level_to_level_bound_the_value() {
    let both = |next: Value| json!({ "allOf": [{ "properties": { "p": next } }, { "properties": { "p": next } }] });
    let schema = row(40, both);
    rewrite(schema.clone());
    let schema = Schema::from_value(schema).unwrap();
    assert!(verdict(&schema, &under("p", 8, json!({}))));
    assert!(rule(&schema, &under("p", 40, json!(1))).contains("is too expensive to validate"));

    let asks = json!({
        "$ref": "#/$defs/node",
        "$defs": { "node": {
            "anyOf": [{ "properties": { "next": { "$ref": "#/$defs/node" } } }, { "required": ["end"] }],
            "unevaluatedProperties": false,
        } },
    });
    let schema = Schema::from_value(asks).unwrap();
    assert!(verdict(&schema, &under("next", 5, json!({}))));
    assert!(rule(&schema, &under("next", 100, json!({}))).contains("is too expensive to validate"));
}

#[test]
fn schemas_for_different_keys_do_not_multiply() {
    let parts: Vec<Value> = (0..5).map(|i| json!({ "properties": { format!("p{i}"): { "$ref": "#" } } })).collect();
    let schema = Schema::from_value(json!({ "type": "object", "allOf": parts })).unwrap();
    assert!(verdict(&schema, &under("p3", 60, json!({}))));
    assert!(!verdict(&schema, &under("p3", 60, json!(1))));
}

#[test]
fn a_chain_of_references_is_rejected_before_the_stack_overflows() {
    on_a_small_stack(|| {
        assert!(verdict(&Schema::from_value(row(80, |next| next)).unwrap(), &json!("")));
        let chain = row(2000, |next| json!({ "allOf": [next] }));
        rewrite(chain.clone());
        assert_refused(chain, SchemaErrorKind::TooComplex, "refer to or combine one another in a chain");
        // From level to level, the finite value ends the recursion.
        let levels = row(2000, |next| json!({ "properties": { "p": next } }));
        assert!(verdict(&Schema::from_value(levels).unwrap(), &under("p", 100, json!({}))));
    });
}

#[test]
fn the_depth_of_a_value_is_limited_by_the_stack() {
    on_a_small_stack(|| {
        let recursive = Schema::from_value(json!({ "items": { "$ref": "#" } })).unwrap();
        assert!(verdict(&recursive, &lists(Schema::MAX_DEPTH)));
        let deep = lists(2_000);
        assert_eq!(rule(&recursive, &deep), "the value is nested too deep: this schema accepts at most 127 levels");
        let unique = Schema::from_value(json!({ "uniqueItems": true })).unwrap();
        assert!(verdict(&unique, &json!([lists(100), lists(101)])));
        assert!(rule(&unique, &deep).contains("nested too deep"));
        // Parts that are not visited may be nested arbitrarily deep.
        let shallow = Schema::from_value(json!({ "type": "array" })).unwrap();
        assert!(verdict(&shallow, &deep));
        let other = Schema::from_value(json!({ "type": "object" })).unwrap();
        assert!(!verdict(&other, &deep));

        // With many schemas for each level, fewer levels are allowed.
        let level = json!({ "type": ["array", "null"], "items": { "$ref": "#" } });
        let high = (0..20).fold(level, |inner, _| json!({ "anyOf": [inner] }));
        let high = Schema::from_value(high).unwrap();
        assert!(verdict(&high, &json!([[[[[[[[[[null]]]]]]]]]])));
        assert!(!verdict(&high, &lists(16)));
        assert!(rule(&high, &lists(100)).contains("nested too deep: this schema accepts at most"));
    });
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "op", rename_all = "lowercase")]
enum Tagged {
    Number { value: f64 },
    Add { left: Box<Tagged>, right: Box<Tagged> },
    Subtract { left: Box<Tagged>, right: Box<Tagged> },
    Multiply { left: Box<Tagged>, right: Box<Tagged> },
    Divide { left: Box<Tagged>, right: Box<Tagged> },
    Negate { of: Box<Tagged> },
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Untagged {
    Number(f64),
    Add { left: Box<Untagged>, plus: Box<Untagged> },
    Multiply { left: Box<Untagged>, times: Box<Untagged> },
    Negate { minus: Box<Untagged> },
}

/// A full tree of `depth` levels.
fn tree(depth: usize, leaf: &Value, node: fn(Value) -> Value) -> Value {
    (0..depth).fold(leaf.clone(), |inner, _| node(inner))
}

#[test]
fn a_recursive_enum_is_checked_and_explained_at_ordinary_depths() {
    on_a_small_stack(|| {
        let tagged = Schema::input::<Tagged>().unwrap();
        let add = |inner: Value| json!({ "op": "add", "left": inner, "right": inner });
        let number = json!({ "op": "number", "value": 1 });
        assert!(verdict(&tagged, &tree(8, &number, add)));
        let violations = tagged.validate(&tree(8, &json!("x"), add)).unwrap_err();
        assert_eq!(violations.len(), 256);
        assert_eq!(violations[0].to_string(), format!("{} must be an object, got \"x\"", "/left".repeat(8)));
        // The tag is visited first, so depth alone is cheap.
        let negated = (0..100).fold(number, |inner, _| json!({ "op": "negate", "of": inner }));
        assert!(verdict(&tagged, &negated));
        let misspelt = (0..30).fold(json!({ "op": "nmber" }), |inner, _| json!({ "op": "negate", "of": inner }));
        let violation = tagged.first_violation(&misspelt).unwrap();
        assert!(violation.to_string().ends_with("got \"nmber\"; did you mean `number`?"), "{violation}");

        let untagged = Schema::input::<Untagged>().unwrap();
        let add = |inner: Value| json!({ "left": inner, "plus": 1 });
        assert!(verdict(&untagged, &tree(8, &json!(1), add)));
        assert!(!verdict(&untagged, &tree(8, &json!("x"), add)));
        assert!(rule(&untagged, &tree(100, &json!("x"), add)).contains("is too expensive to validate"));
    });
}

#[test]
fn a_recursive_schema_without_a_tag_bounds_the_value() {
    let branch = |name: &str| {
        json!({ "type": "object", "required": ["op"], "properties": {
            "op": { "const": name }, "lhs": { "$ref": "#" }, "rhs": { "$ref": "#" }, "then": { "$ref": "#" },
        } })
    };
    // A number among the objects disables the validator's use of the tag.
    let schema = json!({ "oneOf": [branch("add"), branch("sub"), branch("mul"), { "type": "number" }] });
    let schema = Schema::from_value(schema).unwrap();
    let add = |inner: Value| json!({ "op": "add", "lhs": inner, "rhs": 1 });
    assert!(verdict(&schema, &tree(8, &json!(1), add)));
    assert!(!verdict(&schema, &tree(8, &json!("x"), add)));
    assert!(rule(&schema, &tree(100, &json!("x"), add)).contains("is too expensive to validate"));

    // If the plan is certain, it visits the value once.
    let schema = json!({ "oneOf": [branch("add"), branch("sub")], "$comment": "add or subtract" });
    let schema = Schema::from_value(schema).unwrap();
    let leaf = json!({ "op": "sub" });
    let add = |inner: Value| json!({ "op": "add", "then": inner });
    assert!(verdict(&schema, &tree(100, &leaf, add)));
    assert!(rule(&schema, &tree(100, &json!(1), add)).contains("is too expensive to validate"));
}

#[test]
fn matching_a_pattern_ends_for_every_text() {
    let text = |len: usize, end: &str| json!([format!("{}{end}", "a".repeat(len))]);
    for (pattern, fits) in [
        ("^(a+)+$", "a"),
        ("^(a|aa)+$", "a"),
        ("(x+x+)+y", "xxy"),
        (r"^(?=(a+)+$)(a|aa)+$", "a"),
        (r"^(?!.*b)(a|a)*$", "a"),
        (r"^(a|aa)+\1b$", "aab"),
        (r"(?<=(a+)+)b$", "ab"),
    ] {
        let Ok(schema) = Schema::from_value(json!({ "items": { "pattern": pattern } })) else {
            panic!("{pattern}");
        };
        assert!(verdict(&schema, &json!([fits])), "{pattern}");
        for len in [30, 1_000, 20_000] {
            assert!(!verdict(&schema, &text(len, "!")), "{pattern}");
        }
        let names = Schema::from_value(json!({ "propertyNames": { "pattern": pattern } })).unwrap();
        assert!(!verdict(&names, &under(&format!("{}!", "a".repeat(1_000)), 1, json!(1))), "{pattern}");
    }
    // The engine reports that it cannot decide.
    let schema = Schema::from_value(json!({ "pattern": r"^(a|aa)+\1b$" })).unwrap();
    let violation = schema.first_violation(&json!("a".repeat(5_000))).unwrap();
    assert_eq!(violation.to_string(), "the value is too expensive to match against a pattern");
}

#[test]
fn a_pattern_that_is_too_expensive_to_compile_is_rejected() {
    let nested = format!("{}a{}", "(".repeat(100_000), ")".repeat(100_000));
    for pattern in [r"((\w{200}){200}){200}", r"(?=((\p{L}{100}){100}){100})x", &nested] {
        let error = refused(json!({ "properties": { "a": { "pattern": pattern } } }));
        assert_eq!(
            (error.kind(), error.pointer()),
            (SchemaErrorKind::InvalidSchema, "/properties/a/pattern"),
            "{error}"
        );
    }
    // Together they are limited to what a single one may take.
    let many = |n: usize| {
        let patterns: Map<String, Value> = (0..n).map(|i| (format!(r"^x{i}\p{{L}}{{20}}$"), json!({}))).collect();
        json!({ "patternProperties": patterns })
    };
    assert!(Schema::from_value(many(10)).is_ok());
    refused(many(1000));
    assert_refused(many(2000), SchemaErrorKind::TooComplex, "distinct patterns");
    let long = json!({ "properties": { "a": { "pattern": "a".repeat(1_000_000) } } });
    assert_refused(long, SchemaErrorKind::TooComplex, "262144 bytes");
}

#[test]
fn a_large_schema_is_accepted_and_a_larger_one_rejected() {
    let enumeration: Vec<String> = (0..20_000).map(|i| format!("{}{i}", "value ".repeat(10))).collect();
    let schema = json!({ "enum": enumeration });
    assert!(schema.to_string().len() > 1 << 20);
    rewrite(schema.clone());
    let schema = Schema::from_value(schema).unwrap();
    assert!(verdict(&schema, &json!(enumeration[7777])) && !verdict(&schema, &json!("value")));

    let properties = |n: usize| -> Value {
        let properties: Map<String, Value> = (0..n).map(|i| (format!("p{i}"), json!({ "type": "string" }))).collect();
        json!({ "properties": properties })
    };
    let schema = Schema::from_value(properties(60_000)).unwrap();
    assert!(verdict(&schema, &json!({ "p7": "" })) && !verdict(&schema, &json!({ "p7": 7 })));
    let too_many = properties(66_000);
    rewrite(too_many.clone());
    assert_refused(too_many, SchemaErrorKind::TooComplex, "more than 65536 subschemas");
    // If it is combined many times, its keys would be merged as often.
    let joined = (0..60).fold(properties(50_000), |inner, _| {
        // Not a part of `json!`, which would copy it.
        Value::Object(Map::from_iter([("allOf".to_owned(), Value::Array(vec![inner, json!({})]))]))
    });
    assert_refused(joined, SchemaErrorKind::TooComplex, "too many properties");

    let constants: Vec<Value> = (0..20_000).map(|i| json!({ "const": i })).collect();
    let schema = Schema::from_value(json!({ "items": { "oneOf": constants } })).unwrap();
    assert!(verdict(&schema, &json!([7])) && !verdict(&schema, &json!([-7])));
    rule(&schema, &json!(vec![-7; 200]));
}

#[test]
fn names_with_all_kinds_of_references_are_resolved() {
    let schemas = |n: usize, keyword: &str| -> Value {
        let refer = |j: usize| json!({ keyword: format!("s{j}#a") });
        let all = (0..n).map(|i| {
            let properties: Map<String, Value> = (0..n).map(|j| (format!("p{j}"), refer(j))).collect();
            (format!("s{i}"), json!({ "$id": format!("s{i}"), "$dynamicAnchor": "a", "properties": properties }))
        });
        let definitions: Map<String, Value> = all.collect();
        json!({ "$id": "https://example.com/root", "$ref": "s0", "$defs": definitions })
    };
    for keyword in ["$ref", "$dynamicRef"] {
        let schema = Schema::from_value(schemas(4, keyword)).unwrap();
        assert!(verdict(&schema, &json!({ "p1": { "p2": { "p3": {} } } })));
    }
    assert_refused(schemas(60, "$dynamicRef"), SchemaErrorKind::TooComplex, "too many possible targets");
}

#[test]
fn countless_mistakes_are_reported_in_a_few_lines() {
    let all = |schema: Value| -> Value {
        let properties: Map<String, Value> = (0..5_000).map(|i| (format!("p{i}"), schema.clone())).collect();
        json!({ "properties": properties })
    };
    for (schema, kind) in [
        (json!({ "$ref": "#/$defs/none" }), SchemaErrorKind::UnresolvedReference),
        (json!({ "$ref": "https://example.com/" }), SchemaErrorKind::ExternalReference),
        (json!({ "$schema": "urn:other" }), SchemaErrorKind::UnsupportedDialect),
        (json!({ "type": "strin" }), SchemaErrorKind::InvalidSchema),
    ] {
        let error = refused(all(schema));
        assert_eq!(error.kind(), kind);
        assert!(error.diagnostics().len() <= 16);
    }
    // Each of many diagnostics is deep inside, below long names, and has many candidates for a suggestion.
    let names: Map<String, Value> = (0..5_000).map(|i| (format!("name{i}"), json!({}))).collect();
    let inside = under("properties", 1, under(&"k".repeat(1 << 16), 1, all(json!({ "$ref": "#/$defs/nam" }))));
    let mut schema = inside;
    schema["$defs"] = Value::Object(names);
    let error = Schema::from_value(schema).unwrap_err();
    assert_eq!(error.kind(), SchemaErrorKind::UnresolvedReference);
    assert!(error.to_string().len() < 16 << 10);
    refused(all(json!({ "pattern": "(" })));

    let long = "\u{202e}\n".repeat(20_000);
    for schema in [
        json!({ "$ref": long }),
        json!({ "$schema": long }),
        json!({ "type": long }),
        json!({ "pattern": format!("({long}") }),
        json!({ "properties": { long.clone(): { "type": 3 } } }),
        json!({ "$id": long }),
        json!({ "$anchor": "a", "$ref": long }),
    ] {
        refused(schema);
    }
    let text = format!("{{\"{}", "a\u{7f}".repeat(20_000));
    assert!(text.parse::<Schema>().unwrap_err().to_string().len() < 1000);
}

#[test]
fn long_lists_and_huge_numbers_are_compared() {
    let unique = Schema::from_value(json!({ "uniqueItems": true })).unwrap();
    let numbers: Vec<u32> = (0..50_000).collect();
    assert!(verdict(&unique, &json!(numbers)));
    let objects: Vec<Value> = (0..25_000).map(|i| json!({ "a": [i] })).collect();
    assert!(verdict(&unique, &json!(objects)));
    assert!(!verdict(&unique, &json!(vec![lists(100); 100])));

    let huge = json!({ "minLength": u64::MAX, "multipleOf": 1e-300, "maxItems": 1e300, "minimum": -1e308, "minContains": u64::MAX });
    let huge = Schema::from_value(huge).unwrap();
    assert!(!verdict(&huge, &json!("")));
    assert!(verdict(&huge, &json!([])));
    let _ = (verdict(&huge, &json!(1e300)), verdict(&huge, &json!(0.1)));
    assert!(!verdict(&Schema::from_value(json!({ "multipleOf": 1e308 })).unwrap(), &json!(0.1)));

    let nested = json!({ "contains": { "contains": { "contains": { "const": 1 } } }, "minContains": 3 });
    let nested = Schema::from_value(nested).unwrap();
    assert!(!verdict(&nested, &json!(vec![vec![vec![2; 60]; 60]; 60])));
}

#[test]
fn excerpts_of_the_schema_in_messages_are_short() {
    let long = "x".repeat(1_000_000);
    for property in [
        serde_json::json!({ "enum": [long] }),
        serde_json::json!({ "enum": [long, 1] }),
        serde_json::json!({ "const": long }),
        serde_json::json!({ "type": "string", "pattern": format!("^{}$", "x".repeat(100_000)) }),
    ] {
        let schema = Schema::from_value(serde_json::json!({ "properties": { "a": property } })).unwrap();
        let told = schema.validate(&serde_json::json!({ "a": "b" })).unwrap_err().to_string();
        assert!(told.len() < 2_000, "{} bytes", told.len());
    }
    let names: serde_json::Map<String, serde_json::Value> =
        (0..20_000).map(|nth| (format!("p{nth}"), serde_json::json!(true))).collect();
    let schema = serde_json::json!({ "properties": names, "additionalProperties": false });
    let schema = Schema::from_value(schema).unwrap();
    let keys: serde_json::Map<String, serde_json::Value> =
        (0..20_000).map(|nth| (format!("q{nth}"), serde_json::json!(1))).collect();
    assert!(schema.validate(&keys.into()).unwrap_err().to_string().len() < 1 << 20);
}

/// A value is compared with the values of a long `enum` by a search, and not one after the other: that would take minutes here.
#[test]
fn a_long_list_of_values_is_searched() {
    let options: Vec<Value> = (0..8_000).flat_map(|n| [json!(2 * n), json!(format!("a{n}"))]).collect();
    for more in [json!({}), json!({ "not": { "const": 7 } })] {
        let mut item = json!({ "enum": options });
        item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let schema = Schema::from_value(json!({ "type": "array", "items": item })).unwrap();
        let values: Vec<Value> = (0..200_000).map(|n| json!(2 * (n % 8_000))).collect();
        assert!(schema.is_valid(&values.clone().into()));
        let text = serde_json::to_vec(&values).unwrap();
        assert!(schema.plan().is_none_or(|plan| plan.decode::<serde::de::IgnoredAny>(&text).is_ok()));
        for (value, is_valid) in [
            (json!(["a7999", 15_998.0, 0]), true),
            (json!(["a8000"]), false),
            (json!([3]), false),
            (json!(["0"]), false),
        ] {
            assert_eq!(schema.is_valid(&value), is_valid, "{value}");
        }
    }
}
