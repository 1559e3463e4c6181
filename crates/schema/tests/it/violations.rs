//! Violations: the line of each keyword, and the branch of a choice that was meant.

use serde_json::{Value, json};
use toolkit_schema::{Schema, Violations, declared_pointer};

fn violations(schema: &Value, value: &Value) -> Violations {
    Schema::from_value(schema.clone()).expect("a schema").validate(value).expect_err("the value does not match")
}

/// Checks the lines about a property `it` with this schema.
fn check(schema: Value, value: Value, expected: &[&str]) {
    let object = json!({ "type": "object", "properties": { "it": schema } });
    let lines = violations(&object, &json!({ "it": value })).to_string();
    assert_eq!(lines.lines().collect::<Vec<_>>(), expected, "{value} for {schema}");
}

#[test]
fn each_keyword_states_its_rule_and_the_value_that_violates_it() {
    for (schema, value, line) in [
        (json!({ "type": "integer" }), json!(1.5), "must be an integer, got 1.5"),
        (json!({ "type": "null" }), json!("a"), r#"must be null, got "a""#),
        (json!({ "type": "string" }), json!({ "a": 1 }), "must be a string, not an object"),
        (json!({ "type": ["string", "null"] }), json!(1), "must be a string or null, got 1"),
        (
            json!({ "type": ["string", "array", "object", "null"] }),
            json!(true),
            "must be a string, an object, an array or null, got true",
        ),
        (
            json!({ "enum": ["small", 1] }),
            json!("smal"),
            r#"must be one of "small", 1, got "smal"; did you mean `small`?"#,
        ),
        (json!({ "const": "a" }), json!(2), r#"must be "a", got 2"#),
        (json!({ "maximum": 2 }), json!(3), "must be at most 2, got 3"),
        (json!({ "minimum": 2.5 }), json!(1), "must be at least 2.5, got 1"),
        (json!({ "exclusiveMaximum": 2 }), json!(2), "must be less than 2, got 2"),
        (json!({ "exclusiveMinimum": 2 }), json!(2), "must be more than 2, got 2"),
        (json!({ "maxLength": 1 }), json!("ab"), r#"must have at most 1 character, got "ab""#),
        (json!({ "minLength": 2 }), json!("a"), r#"must have at least 2 characters, got "a""#),
        (json!({ "maxItems": 1 }), json!([1, 2]), "must have at most 1 item"),
        (json!({ "minItems": 2 }), json!([]), "must have at least 2 items, got []"),
        (json!({ "maxProperties": 1 }), json!({ "a": 1, "b": 1 }), "must have at most 1 key"),
        (json!({ "minProperties": 2 }), json!({ "a": 1 }), "must have at least 2 keys"),
        (json!({ "multipleOf": 3 }), json!(4), "must be a multiple of 3, got 4"),
        (json!({ "pattern": "^a$" }), json!("b"), r#"must match `^a$`, got "b""#),
        (json!({ "uniqueItems": true }), json!([1, 1.0]), "must not contain duplicate items"),
        (json!(false), json!(1), "is not allowed, got 1"),
        (json!({ "not": { "type": "null" } }), json!(null), "matches a form that is not allowed, got null"),
        (json!({ "contains": { "const": 1 } }), json!([2]), "must contain matching items, as `contains` requires"),
    ] {
        check(schema, value, &[&format!("/it {line}")]);
    }
}

#[test]
fn a_key_is_named_with_those_that_are_accepted() {
    let closed = |properties: Value| json!({ "properties": properties, "additionalProperties": false });
    let city = closed(json!({ "city": {}, "days": {} }));
    check(city.clone(), json!({ "citi": 1 }), &["/it/citi is not an argument; did you mean `city`?"]);
    check(city.clone(), json!({ "zip": 1 }), &["/it/zip is not an argument; expected `city`, `days`"]);
    // The key that was probably meant is there.
    check(city, json!({ "city": 1, "citi": 1 }), &["/it/citi is not an argument; expected `city`, `days`"]);
    check(closed(json!({})), json!({ "a": 1 }), &["/it/a is not an argument; no arguments are accepted"]);
    let patterns = json!({ "patternProperties": { "^x-": {} }, "additionalProperties": false });
    check(patterns, json!({ "a": 1 }), &["/it/a is not a key of this object; expected a key that matches `^x-`"]);
    let both =
        json!({ "properties": { "name": {} }, "patternProperties": { "^x-": {} }, "additionalProperties": false });
    check(
        both.clone(),
        json!({ "q": 1 }),
        &["/it/q is not a key of this object; expected `name`, or a key that matches `^x-`"],
    );
    check(both, json!({ "nam": 1 }), &["/it/nam is not an argument; did you mean `name`?"]);
    check(json!({ "required": ["a", "b"] }), json!({ "b": 1 }), &["/it/a is required"]);
    check(
        json!({ "propertyNames": { "maxLength": 2 } }),
        json!({ "abc": 1 }),
        &["/it/abc is not a valid key: must have at most 2 characters, got \"abc\""],
    );
    let names: Vec<String> = (0..41).map(|n| format!("name{n:02}")).collect();
    let many = closed(names.iter().map(|name| (name.clone(), json!({}))).collect::<serde_json::Map<_, _>>().into());
    let listed: Vec<String> = names[..40].iter().map(|name| format!("`{name}`")).collect();
    check(many, json!({ "q": 1 }), &[&format!("/it/q is not an argument; expected {}, …", listed.join(", "))]);
}

#[test]
fn of_a_choice_the_branch_that_was_meant_is_explained() {
    let tagged = |tag: &str, more: Value| {
        let mut properties = json!({ "kind": { "const": tag } });
        properties.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "type": "object", "properties": properties, "required": ["kind"] })
    };
    let union = json!({ "oneOf": [tagged("card", json!({ "n": { "type": "integer" } })), tagged("cash", json!({}))] });
    check(union.clone(), json!({ "kind": "card", "n": "x" }), &[r#"/it/n must be an integer, got "x""#]);
    check(union.clone(), json!({}), &[r#"/it/kind is required: one of "card", "cash""#]);
    check(
        union.clone(),
        json!({ "kind": "crad" }),
        &[r#"/it/kind must be one of "card", "cash", got "crad"; did you mean `card`?"#],
    );
    check(union, json!([]), &["/it must be an object, got []"]);

    let keyed = |key: &str| json!({ "type": "object", "properties": { (key): { "type": "integer" } }, "required": [key], "additionalProperties": false });
    let union = json!({ "anyOf": [keyed("circle"), keyed("square")] });
    check(union.clone(), json!({ "circle": "x" }), &[r#"/it/circle must be an integer, got "x""#]);
    check(union.clone(), json!({ "sqare": 1 }), &["/it/sqare is not an argument; did you mean `square`?"]);
    check(union.clone(), json!({}), &["/it must have one of the keys `circle`, `square`"]);
    check(union, json!({ "circle": 1, "square": 1 }), &["/it must have exactly one of the keys `circle`, `square`"]);

    let words = json!({ "anyOf": [{ "const": "on" }, { "enum": ["off", "auto"] }] });
    check(words, json!("of"), &[r#"/it must be one of "on", "off", "auto", got "of"; did you mean `off`?"#]);
    let external = json!({ "oneOf": [{ "const": "none" }, keyed("circle")] });
    check(external.clone(), json!("circle"), &[r#"/it must be the object {"circle": …}, got "circle""#]);
    check(
        external,
        json!("cirle"),
        &[r#"/it must be one of "none", {"circle": …}, got "cirle"; did you mean `circle`?"#],
    );
    let several = json!({ "oneOf": [{ "type": "integer" }, { "minimum": 1 }] });
    check(several, json!(2), &["/it must match exactly one of the allowed forms, but matches several, got 2"]);
    let types = json!({ "anyOf": [{ "type": "integer" }, { "type": "array" }, { "const": null }] });
    check(types, json!("a"), &[r#"/it must be an integer, an array or null, got "a""#]);
    let option = json!({ "anyOf": [{ "type": "object", "required": ["a"] }, { "type": "null" }] });
    check(option.clone(), json!({}), &["/it/a is required"]);
    check(option, json!([1]), &["/it must be an object or null, not an array"]);
}

#[test]
fn what_a_message_repeats_is_short_and_one_line() {
    let text = json!({ "type": "integer" });
    check(text.clone(), json!("é".repeat(80)), &[&format!("/it must be an integer, got \"{}\"", "é".repeat(80))]);
    check(text.clone(), json!("é".repeat(81)), &["/it must be an integer, not a string"]);
    check(text, json!("a\n\u{202e}"), &["/it must be an integer, got \"a\\n\\u{202e}\""]);
    let keys = json!({ "additionalProperties": { "type": "integer" } });
    check(keys.clone(), json!({ "a\nb": "" }), &["/it/a\\u{a}b must be an integer, got \"\""]);
    let cut = format!("/it/{}… must be an integer, got \"\"", "k".repeat(80));
    check(keys, json!({ ("k".repeat(81)): "" }), &[&cut]);
    let pattern = "a".repeat(300);
    check(json!({ "pattern": pattern }), json!("b"), &[&format!("/it must match `{}…`, got \"b\"", "a".repeat(240))]);
    let constant = json!("c".repeat(300));
    check(json!({ "const": constant }), json!(1), &[&format!("/it must be \"{}…, got 1", "c".repeat(239))]);
}

#[test]
fn violations_are_data_in_the_order_of_their_places() {
    let schema = json!({
        "properties": { "b": { "enum": ["x", "y"] }, "a": { "maximum": 2 }, "c": { "type": ["string", "null"] } },
        "required": ["d"],
    });
    let found = violations(&schema, &json!({ "c": 1, "a": 3, "b": "z" }));
    let parts: Vec<_> = found.iter().map(|found| (&*found.pointer, &*found.keyword)).collect();
    assert_eq!(parts, [("/a", "maximum"), ("/b", "enum"), ("/c", "type"), ("/d", "required")]);
    assert_eq!((&found[0].limit, &found[0].sent), (&Some(json!(2)), &Some(json!(3))));
    assert_eq!((&found[1].limit, &found[1].allowed), (&None, &vec![json!("x"), json!("y")]));
    assert_eq!(found[2].allowed, [json!("string"), json!("null")]);
    assert_eq!(found[3].sent, None);
    let items = json!({ "items": { "type": "integer" } });
    let many = violations(&items, &json!(vec!["x"; 300]));
    assert_eq!(many.len(), 256);
    let root = violations(&json!({ "type": "object" }), &json!(1));
    assert_eq!(root.to_string(), "the value must be an object, got 1");
    let words: Vec<String> = (0..300).map(|n| n.to_string()).collect();
    assert_eq!(violations(&json!({ "enum": words }), &json!("x"))[0].allowed.len(), 256);
}

#[test]
fn a_pointer_shows_only_the_names_that_its_schema_declares() {
    let schema = json!({
        "properties": { "list": { "items": { "properties": { "a/b": {} } } } },
        "anyOf": [{ "properties": { "other": {} } }],
    });
    for (pointer, expected) in [
        ("", ""),
        ("/list/0/a~1b", "/list/0/a~1b"),
        ("/other/7", "/other/7"),
        ("/list/secret", "/list/…"),
        ("/secret/a~1b/x", "/…/a~1b/…"),
    ] {
        assert_eq!(declared_pointer(&schema, pointer), expected);
    }
}
