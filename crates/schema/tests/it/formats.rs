//! Formats are enforced by patterns that agree with the official suite.

use std::fmt::Write as _;

use expect_test::expect;
use serde_json::{Value, json};
use test_support::{ran, shared};
use toolkit_schema::{Schema, enforce_formats};

fn enforced(schema: Value) -> Schema {
    let mut schema = schemars::Schema::try_from(schema).expect("the schema is an object");
    enforce_formats(&mut schema);
    let once = schema.clone();
    enforce_formats(&mut schema);
    assert_eq!(schema, once, "formats that are enforced stay so");
    Schema::from_value(schema.into()).expect("the schema is valid")
}

#[test]
fn texts_match_a_format_exactly_if_the_official_suite_says_so_but_for_a_list() {
    let Some(folder) = shared("data/json-schema-test-suite/tests/draft2020-12/optional/format") else { return };
    let (mut n_cases, mut differences) = (0, String::new());
    for format in ["date", "time", "date-time", "duration", "email", "hostname", "ipv4", "uri", "uuid"] {
        let schema = enforced(json!({ "type": "string", "format": format }));
        let text = std::fs::read_to_string(folder.join(format!("{format}.json"))).expect("the suite has the format");
        let groups: Vec<Value> = serde_json::from_str(&text).expect("the suite is JSON");
        for case in groups.iter().flat_map(|group| group["tests"].as_array().expect("a group has tests")) {
            let (data, is_valid) = (&case["data"], case["valid"] == true);
            // The labels of international names are not decoded.
            if !data.is_string() || data.as_str().is_some_and(|text| text.to_lowercase().starts_with("xn--")) {
                continue;
            }
            n_cases += 1;
            if schema.is_valid(data) != is_valid {
                let _ = writeln!(differences, "{format} {}: {}", if is_valid { "-" } else { "+" }, case["description"]);
            }
        }
    }
    ran(n_cases);
    // `+` is accepted and should not be, `-` the reverse.
    expect![[r#"
        time +: "invalid leap second, Zulu (wrong hour)"
        time +: "invalid leap second, Zulu (wrong minute)"
        time +: "invalid leap second, zero time-offset (wrong hour)"
        time +: "invalid leap second, zero time-offset (wrong minute)"
        time +: "invalid leap second, positive time-offset (wrong hour)"
        time +: "invalid leap second, positive time-offset (wrong minute)"
        time +: "invalid leap second, negative time-offset (wrong hour)"
        time +: "invalid leap second, negative time-offset (wrong minute)"
        time +: "an invalid time string with invalid leap second (wrong hour)"
        time +: "an invalid time string with invalid leap second (wrong minute)"
        date-time +: "an invalid date-time with leap second on a wrong minute, UTC"
        date-time +: "an invalid date-time with leap second on a wrong hour, UTC"
        email -: "a quoted string with a space in the local part is valid"
        email -: "a quoted string with a double dot in the local part is valid"
        email -: "a quoted string with a @ in the local part is valid"
        email -: "an IPv4-address-literal after the @ is valid"
        email -: "an IPv6-address-literal after the @ is valid"
        hostname +: "exceeds maximum overall length (256)"
        uri +: "invalid userinfo"
        uri +: "non-numeric port is invalid"
        uri +: "leading zero in an embedded IPv4 address is invalid"
        uri +: "square brackets are not allowed in a path segment"
    "#]]
    .assert_eq(&differences);
}

#[test]
fn a_format_is_enforced_beside_a_pattern_of_the_author_and_in_each_branch() {
    let schema = enforced(json!({
        "properties": {
            "to": { "type": ["string", "null"], "format": "email", "pattern": "^a" },
            "ids": { "type": "array", "items": { "$ref": "#/$defs/Id" } },
            "on": { "anyOf": [{ "type": "string", "format": "date" }, { "type": "integer" }] },
            "host": { "type": "string", "format": "ipv6" }
        },
        "$defs": { "Id": { "type": "string", "format": "uuid" } }
    }));
    let id = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6";
    for valid in [json!({ "to": null }), json!({ "to": "a@b.c", "ids": [id], "on": 5 }), json!({ "host": "not known" })]
    {
        assert!(schema.is_valid(&valid), "{valid}");
    }
    for invalid in
        [json!({ "to": "b@b.c" }), json!({ "to": "a" }), json!({ "ids": [id, "7"] }), json!({ "on": "2025-02-29" })]
    {
        assert!(!schema.is_valid(&invalid), "{invalid}");
    }
}

#[test]
fn each_enforced_format_has_a_message_with_an_example_that_it_accepts() {
    for format in ["date", "time", "date-time", "duration", "email", "hostname", "ipv4", "uri", "uuid"] {
        let schema = enforced(json!({ "type": "string", "format": format }));
        let example = schema.example().expect("a format has an example");
        let violation = schema.first_violation(&json!("no\nformat")).expect("the text has no format").to_string();
        assert!(violation.contains(&format!(", as in `{}`", example.as_str().unwrap())), "{violation}");
        assert!(!violation.contains("[0-9]"), "{violation}");
    }
}
