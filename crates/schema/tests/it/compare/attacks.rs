//! Small schemas whose comparison would not end without a budget.

use super::*;

/// Pairs of schemas that differ, in a way that no rule detects directly.
fn attacks() -> Vec<(&'static str, Value, Value)> {
    let with = |mut schema: Value, more: Value| {
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        schema
    };
    let argument = |it: Value| json!({ "type": "object", "properties": { "it": it } });
    let edited = |it: Value, more: Value| (argument(it.clone()), argument(with(it, more)));
    let key = |n: usize| format!("k{n}");
    let list = |n: usize, schema: &dyn Fn(usize) -> Value| (0..n).map(schema).collect::<Value>();

    let conditions = |n: usize| {
        let condition = |i: usize| {
            json!({
                "if": { "properties": { (key(i)): { "const": i } }, "required": [key(i)] },
                "then": { "properties": { (key(i + 1)): { "minimum": i } } },
                "else": { "required": [key(i + 2)] }
            })
        };
        json!({ "type": "object", "allOf": list(n, &condition) })
    };
    let product = |n: usize, of: usize, keyword: &str| {
        let branch = |i: usize, j: usize| json!({ "properties": { (key(i)): { "minimum": j, "maximum": j * 2 + i } } });
        json!({ "type": "object", "allOf": list(n, &|i| json!({ keyword: list(of, &|j| branch(i, j)) })) })
    };
    let nested = |n: usize| {
        (0..n).fold(json!({ "type": "integer" }), |inner, i| {
            json!({ "anyOf": [inner, { "type": "array", "items": inner, "minItems": i }, { "minimum": i }] })
        })
    };
    let doubling = |n: usize| {
        let definition = |i: usize| {
            let next = json!({ "$ref": format!("#/$defs/{}", key(i + 1)) });
            json!({ "anyOf": [{ "properties": { "l": next } }, { "properties": { "r": next, "l": next } }] })
        };
        let mut definitions: serde_json::Map<String, Value> = (0..n).map(|i| (key(i), definition(i))).collect();
        definitions.insert(key(n), json!({ "type": "integer" }));
        json!({ "type": "object", "properties": { "it": { "$ref": "#/$defs/k0" } }, "$defs": definitions })
    };
    let doubled = |n: usize| {
        let mut new = doubling(n);
        new["$defs"][key(n)]["minimum"] = json!(0);
        (doubling(n), new)
    };
    let recursive = |last: Value| {
        let next =
            |name: &str| json!({ "anyOf": [{ "$ref": "#/$defs/a" }, { "$ref": "#/$defs/b" }, { "type": name }] });
        let tree =
            |name: &str| json!({ "properties": { "l": next(name), "r": next("null") }, "items": next("string") });
        json!({
            "type": "object",
            "properties": { "it": { "$ref": "#/$defs/a" } },
            "$defs": { "a": tree("integer"), "b": tree("boolean"), "c": last }
        })
    };
    let mut wilder = recursive(json!({}));
    wilder["$defs"]["b"]["properties"]["r"]["anyOf"][2] = json!({ "type": ["null", "string"], "maxLength": 2 });

    let mut attacks: Vec<(&'static str, (Value, Value))> = vec![
        ("conditions in allOf", edited(conditions(8), json!({ "maxProperties": 5 }))),
        ("many conditions in allOf", edited(conditions(60), json!({ "maxProperties": 5 }))),
        ("5 of 10", edited(product(5, 10, "anyOf"), json!({ "minProperties": 1 }))),
        ("12 of 20", edited(product(12, 20, "anyOf"), json!({ "not": { "required": ["z"] } }))),
        ("5 of 10, one of them", edited(product(5, 10, "oneOf"), json!({ "maxProperties": 9 }))),
        ("product by another product", (argument(product(5, 10, "anyOf")), argument(product(6, 9, "oneOf")))),
        ("nested anyOf", edited(nested(9), json!({ "not": { "const": 7 } }))),
        ("definitions that join the next one twice", doubled(20)),
        ("recursion in many branches", (recursive(json!({})), wilder)),
        (
            "dependent schemas",
            edited(
                json!({
                    "type": "object",
                    "dependentSchemas": (0..30).map(|i| (key(i), json!({ "required": [key(i * 7 % 30)], "maxProperties": 40 - i }))).collect::<serde_json::Map<_, _>>()
                }),
                json!({ "minProperties": 2 }),
            ),
        ),
        (
            "large enums and patterns",
            edited(
                json!({ "enum": list(3000, &|i| json!(format!("word{i}"))), "pattern": "^(word|(a|b|ab)*c)+[0-9]*$" }),
                json!({ "allOf": list(40, &|i| json!({ "pattern": format!("^(?=.*{i})word|^wor") })) }),
            ),
        ),
        (
            "two large enums",
            (
                argument(json!({ "enum": list(8000, &|i| json!([i, { "n": i }])) })),
                argument(json!({ "anyOf": list(900, &|i| json!({ "enum": [[i, { "n": i }], i] })) })),
            ),
        ),
        (
            "long patterns",
            edited(json!({ "pattern": "(a|b|ab){1,50}".repeat(20) }), json!({ "pattern": "(b|c?){1,40}".repeat(30) })),
        ),
        (
            "pattern properties",
            edited(
                json!({
                    "type": "object",
                    "patternProperties": (0..200).map(|i| (format!("^[a-z]*{i}"), json!({ "minimum": i }))).collect::<serde_json::Map<_, _>>(),
                    "properties": (0..300).map(|i| (key(i), json!({ "maximum": i * 3 }))).collect::<serde_json::Map<_, _>>()
                }),
                json!({ "additionalProperties": { "type": "integer" } }),
            ),
        ),
        (
            "many properties",
            (
                argument(
                    json!({ "type": "object", "properties": (0..2000).map(|i| (key(i), json!({ "minimum": i }))).collect::<serde_json::Map<_, _>>() }),
                ),
                argument(
                    json!({ "type": "object", "properties": (0..2000).map(|i| (key(i), json!({ "minimum": i + 1 }))).collect::<serde_json::Map<_, _>>() }),
                ),
            ),
        ),
        (
            "not of unions",
            edited(
                json!({ "not": { "anyOf": list(12, &|i| json!({ "not": { "anyOf": list(12, &|j| json!({ "minimum": i * j, "maximum": i + j })) } })) } }),
                json!({ "not": { "oneOf": list(12, &|i| json!({ "not": { "multipleOf": i + 2 } })) } }),
            ),
        ),
        (
            "huge numbers",
            edited(
                json!({ "minItems": 1_000_000_000, "maxItems": 1e18, "minLength": u64::MAX, "minimum": -1e308, "multipleOf": 1e-300 }),
                json!({ "maximum": 1e308, "minContains": 1_000_000_000, "contains": { "minProperties": 1_000_000_000 }, "prefixItems": [{ "maximum": i64::MIN }] }),
            ),
        ),
        ("deep nesting", {
            let deep = |last: Value| (0..50).fold(last, |inner, _| json!({ "items": inner, "minItems": 1 }));
            (argument(deep(json!({ "minimum": 1 }))), argument(deep(json!({ "minimum": 2 }))))
        }),
        (
            "one of many, unlike by value only",
            edited(
                json!({ "oneOf": list(60, &|i| json!({ "required": [key(i)], "properties": { (key(i)): { "minimum": i } }, "maxProperties": 3 })) }),
                json!({ "oneOf": list(59, &|i| json!({ "required": [key(i + 1)], "maxProperties": 3, "properties": { (key(i + 1)): { "minimum": i } } })) }),
            ),
        ),
        (
            "contains and unique items",
            edited(
                json!({ "allOf": list(20, &|i| json!({ "contains": { "anyOf": [{ "const": i }, { "minimum": i }] }, "minContains": i })), "uniqueItems": true }),
                json!({ "contains": { "oneOf": list(30, &|i| json!({ "multipleOf": i + 1 })) }, "maxContains": 7 }),
            ),
        ),
    ];
    attacks.push(("everything evaluated", {
        let parts = list(15, &|i| json!({ "anyOf": [{ "properties": { (key(i)): true } }, { "patternProperties": { (format!("^{i}")): { "type": "null" } } }] }));
        edited(json!({ "type": "object", "allOf": parts, "unevaluatedProperties": false }), json!({ "maxProperties": 3 }))
    }));
    let values = |n: usize, step: usize| -> Value { (0..n).map(|i| format!("v{}", i * step % n)).collect() };
    attacks.push(("values", edited(json!({ "enum": values(64_000, 1) }), json!({ "enum": values(64_000, 7) }))));
    attacks.into_iter().map(|(name, (old, new))| (name, old, new)).collect()
}

#[test]
fn the_order_of_values_is_cosmetic() {
    let with = |values: Vec<usize>| json!({ "type": "object", "properties": { "a": { "enum": values }, "b": { "type": ["string", "null"] } } });
    let mut new = with((0..16_000).rev().collect());
    new["properties"]["b"]["type"] = json!(["null", "string"]);
    assert_eq!(verdict(&inputs(&with((0..16_000).collect()), &new)), Some(Verdict::Cosmetic));
}

#[test]
fn a_comparison_ends_for_all_schemas() {
    for (name, old, new) in attacks() {
        for (old, new) in [(&old, &new), (&new, &old)] {
            let differences = inputs(old, new);
            println!("{name}: {:?}", verdict(&differences));
            assert!(!differences.is_empty(), "{name} is a change");
            for difference in differences.iter().filter(|difference| difference.verdict == Verdict::Unknown) {
                assert!(difference.what.starts_with("undecided: "), "{name}: {difference}");
            }
        }
    }
}

#[test]
fn the_reason_names_the_budget() {
    let branch = |i: usize, j: usize| json!({ "required": [format!("k{i}{j}")] });
    let choice = |i: usize| json!({ "anyOf": (0..10).map(|j| branch(i, j)).collect::<Value>() });
    let old: Value = (0..8).map(choice).collect();
    // Each of a hundred million cases has as many keys as there are choices.
    let old = json!({ "type": "object", "properties": { "it": { "type": "object", "allOf": old } } });
    let mut new = old.clone();
    new["properties"]["it"] = json!({ "type": "object", "minProperties": 8 });
    let differences = inputs(&old, &new);
    let undecided = differences.iter().find(|difference| difference.verdict == Verdict::Unknown).unwrap();
    assert_eq!(undecided.what, "undecided: comparing these schemas exceeds the budget of 250000 steps");
}
