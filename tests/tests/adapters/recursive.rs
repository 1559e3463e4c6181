//! The law of lowering, over random schemas that refer to themselves and to one another.
//!
//! Without a loss that widens, what the lowered schema accepts is accepted by the original, once it is mapped back.
//! Without one that narrows, there is a way to say in the lowered schema what the original accepts.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::Map;
use toolkit::adapter::restore;

use super::mutate::{Dice, mutate};
use super::*;

/// Few names and values, so that chance finds what meets.
const NAMES: &[&str] = &["a", "b", "c", "1"];
const PATTERNS: &[&str] = &["^\\d+$", "^[ab]$", "^x"];
const KEYS: &[&str] = &["a", "b", "c", "1", "2", "xy", "z"];

const PLACES: &[&str] =
    &["#/$defs/A", "#/$defs/B", "#/$defs/C%20D", "#/%24defs/A", "#", "#/properties/it", "#/$defs/B/not"];

fn any_reference() -> impl Strategy<Value = Value> {
    (prop::sample::select(PLACES), any::<bool>()).prop_map(|(place, described)| match described {
        true => json!({ "$ref": place, "description": "again" }),
        false => json!({ "$ref": place }),
    })
}

fn leaf() -> impl Strategy<Value = Value> {
    let types = &["null", "boolean", "integer", "number", "string", "array", "object"][..];
    prop_oneof![
        6 => any_reference(),
        3 => prop::sample::select(types).prop_map(|name| json!({ "type": name })),
        2 => prop::sample::subsequence(types, 1..4).prop_map(|names| json!({ "type": names })),
        1 => any::<bool>().prop_map(Value::Bool),
        1 => Just(json!({})),
        1 => prop::sample::subsequence(NAMES, 1..3).prop_map(|names| json!({ "required": names })),
        1 => (0..3_u64).prop_map(|n| json!({ "minLength": n })),
        1 => (0..3_u64, 0..3_u64).prop_map(|(least, more)| json!({ "type": "array", "minItems": least, "maxItems": least + more })),
        1 => (-1..3_i64).prop_map(|n| json!({ "type": "integer", "exclusiveMinimum": n })),
        1 => (0..2_i64).prop_map(|n| json!({ "type": ["integer", "null"], "minimum": n, "maximum": n + 1 })),
        1 => prop::sample::subsequence(vec![json!("a"), json!("b"), json!(1), json!(1.0), json!(null), json!({ "a": 1 })], 1..4)
            .prop_map(|values| json!({ "enum": values })),
        1 => prop::sample::select(vec![json!("a"), json!(1), json!(null), json!([1]), json!({ "a": 1 })])
            .prop_map(|value| json!({ "const": value })),
        1 => Just(json!({ "type": ["string", "null"], "enum": ["a", "b"] })),
        1 => Just(json!({ "type": "string", "const": "a", "enum": ["a", "b"] })),
    ]
}

fn node() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(4, 20, 4, |inner| {
        prop_oneof![
            6 => object(inner.clone()),
            2 => array(inner.clone()),
            2 => (any_choice(), prop::collection::vec(inner.clone(), 1..4)).prop_map(|(choice, parts)| json!({ choice: parts })),
            3 => (any_choice(), prop::collection::vec(inner.clone(), 1..3), inner.clone()).prop_map(|(choice, parts, beside)| {
                merged(json!({ choice: parts }), beside)
            }),
            1 => (inner.clone(), inner.clone(), prop::option::of(inner.clone()), inner.clone()).prop_map(|(test, then, other, beside)| {
                let mut schema = json!({ "if": test, "then": then });
                if let Some(other) = other {
                    schema["else"] = other;
                }
                merged(schema, beside)
            }),
            1 => (inner.clone(), inner.clone()).prop_map(|(excluded, beside)| merged(json!({ "not": excluded }), beside)),
            2 => (inner.clone(), inner.clone()).prop_map(|(one, beside)| merged(one, beside)),
            1 => (inner.clone(), any::<bool>()).prop_map(|(schema, closed)| merged(json!({ "unevaluatedProperties": !closed }), schema)),
            1 => inner.clone().prop_map(|schema| json!({ "anyOf": [schema, { "type": "null" }] })),
        ]
    })
}

fn any_choice() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&["anyOf", "oneOf", "allOf"][..])
}

/// Keywords of one schema beside those of another.
fn merged(schema: Value, beside: Value) -> Value {
    match (schema, beside) {
        (Value::Object(mut schema), Value::Object(beside)) => {
            for (keyword, value) in beside {
                schema.entry(keyword).or_insert(value);
            }
            schema.into()
        }
        (schema, _) => schema,
    }
}

fn object(inner: impl Strategy<Value = Value> + Clone + 'static) -> impl Strategy<Value = Value> {
    let properties = prop::collection::vec(inner.clone(), 4);
    let names = prop::sample::subsequence(NAMES, 0..4);
    let required = prop::sample::subsequence(NAMES, 0..3);
    let others = prop::option::of(prop_oneof![4 => Just(json!(false)), 1 => Just(json!(true)), 1 => inner.clone()]);
    let patterns = prop::option::weighted(0.2, (prop::sample::select(PATTERNS), inner.clone()));
    let extra = prop_oneof![
        12 => Just(json!({})),
        1 => Just(json!({ "unevaluatedProperties": false })),
        1 => inner.clone().prop_map(|schema| json!({ "unevaluatedProperties": schema })),
        1 => (prop::sample::select(NAMES), inner.clone()).prop_map(|(name, schema)| json!({ "dependentSchemas": { name: schema } })),
        1 => Just(json!({ "dependentRequired": { "a": ["b"] } })),
        1 => Just(json!({ "minProperties": 1, "maxProperties": 2 })),
        1 => inner.clone().prop_map(|schema| json!({ "propertyNames": schema })),
    ];
    let typed =
        prop::sample::select(vec![json!({ "type": "object" }), json!({ "type": ["object", "null"] }), json!({})]);
    (properties, names, required, others, patterns, extra, typed).prop_map(
        |(schemas, names, required, others, patterns, extra, typed)| {
            let properties: Map<String, Value> = names.iter().map(|name| (*name).to_owned()).zip(schemas).collect();
            let mut schema = merged(typed, extra);
            if !properties.is_empty() {
                schema["properties"] = properties.into();
            }
            if !required.is_empty() {
                schema["required"] = json!(required);
            }
            if let Some(others) = others {
                schema["additionalProperties"] = others;
            }
            if let Some((pattern, value)) = patterns {
                schema["patternProperties"] = json!({ pattern: value });
            }
            schema
        },
    )
}

fn array(inner: impl Strategy<Value = Value> + Clone + 'static) -> impl Strategy<Value = Value> {
    let places = prop::option::weighted(0.4, prop::collection::vec(inner.clone(), 1..3));
    let items = prop::option::weighted(0.8, inner.clone());
    let extra = prop_oneof![
        8 => Just(json!({})),
        1 => Just(json!({ "unevaluatedItems": false })),
        1 => inner.prop_map(|schema| json!({ "contains": schema, "minContains": 1, "maxContains": 2 })),
        1 => Just(json!({ "uniqueItems": true })),
        2 => (0..2_u64).prop_map(|least| json!({ "minItems": least })),
    ];
    (places, items, extra, any::<bool>()).prop_map(|(places, items, extra, typed)| {
        let mut schema = extra;
        if typed {
            schema["type"] = json!("array");
        }
        if let Some(places) = places {
            schema["prefixItems"] = places.into();
        }
        if let Some(items) = items {
            schema["items"] = items;
        }
        schema
    })
}

/// A tool's schema with definitions that refer to one another, in either draft.
fn document() -> impl Strategy<Value = Value> {
    let definitions = (node(), node(), node());
    let roots = prop_oneof![
        2 => node().prop_map(|it| json!({ "type": "object", "properties": { "it": it }, "required": ["it"], "additionalProperties": false })),
        1 => object(node().boxed()),
        1 => (any_choice(), prop::collection::vec(object(node().boxed()), 1..3), object(node().boxed()), any::<bool>()).prop_map(|(choice, parts, beside, alone)| {
            let choice = json!({ choice: parts });
            if alone { choice } else { merged(choice, beside) }
        }),
        1 => any_reference(),
    ];
    (definitions, roots, prop::bool::weighted(0.15)).prop_map(|((a, b, c), root, is_legacy)| {
        let mut root = merged(json!({ "$defs": { "A": a, "B": b, "C D": c } }), root);
        if is_legacy {
            root["$schema"] = json!("http://json-schema.org/draft-07/schema#");
            legacy(&mut root);
        }
        root
    })
}

/// Writes tuples and dependencies as draft-07 does.
fn legacy(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            if let Some(places) = keywords.remove("prefixItems") {
                let others = keywords.insert("items".to_owned(), places);
                keywords.extend(others.map(|others| ("additionalItems".to_owned(), others)));
            }
            for name in ["dependentSchemas", "dependentRequired"] {
                keywords.remove(name).into_iter().for_each(|it| drop(keywords.insert("dependencies".to_owned(), it)));
            }
            keywords.values_mut().for_each(legacy);
        }
        Value::Array(list) => list.iter_mut().for_each(legacy),
        _ => {}
    }
}

/// An attempt at an instance: often valid.
fn guess(schema: &Value, root: &Value, dice: &mut Dice, depth: usize) -> Value {
    let Value::Object(keywords) = schema else {
        return scalar(dice);
    };
    if depth == 0 {
        return if dice.one_in(2) { json!({}) } else { scalar(dice) };
    }
    let parts = ["allOf", "anyOf", "oneOf"].iter().filter_map(|choice| keywords.get(*choice)?.as_array());
    let parts: Vec<&Value> = parts.flatten().collect();
    let mut values = Vec::new();
    if let Some(to) = keywords.get("$ref").and_then(Value::as_str) {
        let to = to.replace("%20", " ").replace("%24", "$");
        let target = root.pointer(&to[1..]).unwrap_or(&Value::Null);
        values.push(guess(target, root, dice, depth - 1));
    }
    if !parts.is_empty() {
        values.push(guess(dice.pick::<&Value>(&parts), root, dice, depth - 1));
        if dice.one_in(2) {
            values.push(guess(dice.pick::<&Value>(&parts), root, dice, depth - 1));
        }
    }
    if let Some(then) = keywords.get("then").filter(|_| dice.one_in(2)) {
        values.push(guess(then, root, dice, depth - 1));
    }
    if let Some(listed) = keywords.get("const") {
        return listed.clone();
    }
    if let Some(Value::Array(listed)) = keywords.get("enum") {
        return dice.pick(listed).clone();
    }
    values.extend(own(keywords, root, dice, depth));
    let mut together: Option<Value> = None;
    for value in values {
        together = Some(match (together, value) {
            (Some(Value::Object(mut one)), Value::Object(other)) => {
                one.extend(other);
                one.into()
            }
            (Some(one), other) => {
                if dice.one_in(2) {
                    one
                } else {
                    other
                }
            }
            (None, value) => value,
        });
    }
    together.unwrap_or_else(|| scalar(dice))
}

fn own(keywords: &Map<String, Value>, root: &Value, dice: &mut Dice, depth: usize) -> Option<Value> {
    let has = |names: &[&str]| names.iter().any(|name| keywords.contains_key(*name));
    let kind = match keywords.get("type") {
        Some(Value::Array(names)) => dice.pick(names).as_str()?,
        Some(name) => name.as_str()?,
        None if has(&["properties", "required", "patternProperties", "additionalProperties"]) => "object",
        None if has(&["items", "prefixItems", "minItems", "contains"]) => "array",
        None => return None,
    };
    Some(match kind {
        "object" => {
            let mut members = Map::new();
            let empty = Map::new();
            let properties = keywords.get("properties").and_then(Value::as_object).unwrap_or(&empty);
            let required: Vec<&str> = keywords
                .get("required")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            for (name, schema) in properties {
                if required.contains(&name.as_str()) || dice.one_in(2) {
                    members.insert(name.clone(), guess(schema, root, dice, depth - 1));
                }
            }
            let others = keywords.get("additionalProperties").unwrap_or(&Value::Bool(true));
            let patterns = keywords.get("patternProperties").and_then(Value::as_object).unwrap_or(&empty);
            let more: Vec<&str> = if dice.one_in(2) { vec![*dice.pick(KEYS)] } else { Vec::new() };
            for name in required.into_iter().chain(more) {
                if !members.contains_key(name) && (*others != false || !patterns.is_empty()) {
                    let schema = patterns.values().next().filter(|_| dice.one_in(2)).unwrap_or(others);
                    members.insert(name.to_owned(), guess(schema, root, dice, depth - 1));
                }
            }
            members.into()
        }
        "array" => {
            let least = keywords.get("minItems").and_then(Value::as_u64).unwrap_or(0) as usize;
            let length = least + dice.below(3);
            let empty = Vec::new();
            let tuple = keywords.get("items").and_then(Value::as_array);
            let places = keywords.get("prefixItems").and_then(Value::as_array).or(tuple).unwrap_or(&empty);
            let items = keywords.get("items").or(keywords.get("contains")).unwrap_or(&Value::Null);
            (0..length).map(|n| guess(places.get(n).unwrap_or(items), root, dice, depth - 1)).collect()
        }
        "string" => json!(*dice.pick(&["a", "b", "", "abc"])),
        "integer" => json!(dice.below(4)),
        "number" => json!(*dice.pick(&[0.5, 1.0, 2.0])),
        "boolean" => json!(dice.one_in(2)),
        _ => Value::Null,
    })
}

fn scalar(dice: &mut Dice) -> Value {
    let values = [
        json!(null),
        json!(1),
        json!("a"),
        json!("b"),
        json!(0.5),
        json!([]),
        json!({}),
        json!({ "a": null }),
        json!({ "b": "a" }),
        json!(true),
    ];
    dice.pick(&values).clone()
}

/// Arguments, which are objects.
fn instances(schema: &Value, dice: &mut Dice, n: usize) -> Vec<Value> {
    let mut instances = vec![json!({})];
    for _ in 0..n {
        let valid = guess(schema, schema, dice, 7);
        let mut damaged = valid.clone();
        mutate(&mut damaged, dice);
        let mut without = valid.clone();
        null_some(&mut without, dice);
        instances.extend([valid, damaged, without]);
    }
    instances.retain(Value::is_object);
    instances
}

/// Null in the place of some members.
fn null_some(value: &mut Value, dice: &mut Dice) {
    match value {
        Value::Object(members) => members.values_mut().for_each(|member| match dice.one_in(3) {
            true => *member = Value::Null,
            false => null_some(member, dice),
        }),
        Value::Array(items) => items.iter_mut().for_each(|item| null_some(item, dice)),
        _ => {}
    }
}

/// A schema of OpenAPI 3.0 in the words of JSON Schema.
fn of_open_api(schema: &Value) -> Value {
    match schema {
        Value::Object(keywords) => {
            let mut plain: Map<String, Value> = keywords
                .iter()
                .map(|(keyword, value)| {
                    let value = match (keyword.as_str(), value) {
                        ("type", Value::String(name)) => json!(name.to_ascii_lowercase()),
                        ("enum" | "default" | "required", value) => value.clone(),
                        ("properties", Value::Object(named)) => {
                            named.iter().map(|(name, sub)| (name.clone(), of_open_api(sub))).collect()
                        }
                        (_, value) => of_open_api(value),
                    };
                    (keyword.clone(), value)
                })
                .collect();
            match plain.remove("nullable") {
                Some(Value::Bool(true)) => json!({ "anyOf": [plain, { "type": "null" }] }),
                _ => plain.into(),
            }
        }
        Value::Array(list) => list.iter().map(of_open_api).collect(),
        value => value.clone(),
    }
}

struct Case {
    original: Value,
    checked: Schema,
    judge: jsonschema::Validator,
    dice: Dice,
}

fn case(original: Value, seed: u64) -> Option<Case> {
    let checked = Schema::from_value(original.clone()).ok()?;
    // The library's own reading of both drafts.
    let judge = jsonschema::options().should_validate_formats(false).build(&original).ok()?;
    Some(Case { original, checked, judge, dice: Dice::new(seed) })
}

fn lowered(original: &Value, dialect: &Dialect) -> (Lowered, Value) {
    let lowered = input(original, dialect);
    let plain = if dialect.upper_case_types { of_open_api(&lowered.schema) } else { lowered.schema.clone() };
    (lowered, plain)
}

fn check_meta_schema(original: &Value) -> Result<(), TestCaseError> {
    if Schema::from_value(original.clone()).is_err() {
        return Ok(());
    }
    for dialect in DIALECTS.iter().chain([&Dialect::GEMINI_OPENAPI]) {
        let (lowered, plain) = lowered(original, dialect);
        let sound = jsonschema::draft202012::meta::validate(&plain).map_err(|error| error.to_string());
        prop_assert!(sound.is_ok(), "{}: {sound:?}\n{original:#}\nwas lowered to\n{:#}", dialect.name, lowered.schema);
        let resolves = jsonschema::validator_for(&plain).map(drop).map_err(|error| error.to_string());
        prop_assert!(
            resolves.is_ok(),
            "{}: {resolves:?}\n{original:#}\nwas lowered to\n{:#}",
            dialect.name,
            lowered.schema
        );
    }
    Ok(())
}

/// What the lowered schema accepts.
fn check_sound(original: Value, seed: u64) -> Result<(), TestCaseError> {
    let Some(mut case) = case(original, seed) else {
        return Ok(());
    };
    let mut shared = instances(&case.original, &mut case.dice, 6);
    for dialect in DIALECTS.iter().chain([&Dialect::GEMINI_OPENAPI]) {
        let (lowered, plain) = lowered(&case.original, dialect);
        if has(&lowered, Effect::Widened) {
            continue;
        }
        let accepts = jsonschema::validator_for(&plain).unwrap();
        let own = instances(&plain, &mut case.dice, 6);
        for sent in shared.iter().chain(&own).filter(|sent| accepts.is_valid(sent)) {
            let back = restore(&case.checked, sent.clone());
            prop_assert!(
                case.judge.is_valid(&back),
                "{}: {sent} as {back}\n{:#}\nwas lowered to\n{:#}\nwith {:?}",
                dialect.name,
                case.original,
                lowered.schema,
                lowered.losses,
            );
        }
        shared.truncate(16);
    }
    Ok(())
}

/// What the original accepts.
fn check_complete(original: Value, seed: u64) -> Result<(), TestCaseError> {
    let Some(mut case) = case(original, seed) else {
        return Ok(());
    };
    let values = instances(&case.original, &mut case.dice, 8);
    let values: Vec<Value> = values.into_iter().filter(|value| case.judge.is_valid(value)).collect();
    // An object that was open by silence is closed, and a loss says so.
    let mut closed = case.original.clone();
    toolkit::schema::close::close(&mut closed);
    let is_legacy = closed.get("$schema").is_some();
    let strict = jsonschema::validator_for(&closed).ok().filter(|_| !is_legacy);
    for dialect in DIALECTS.iter().chain([&Dialect::GEMINI_OPENAPI]) {
        let (lowered, plain) = lowered(&case.original, dialect);
        if !lowered.is_whole() {
            continue;
        }
        let closes = lowered.losses.iter().any(|loss| loss.keyword == "additionalProperties");
        let accepts = jsonschema::validator_for(&plain).unwrap();
        for value in &values {
            if closes && !strict.as_ref().is_some_and(|strict| strict.is_valid(value)) {
                continue;
            }
            prop_assert!(
                held_to(&plain, value).iter().any(|way| accepts.is_valid(way)),
                "{}: {value}\n{:#}\nwas lowered to\n{:#}\nwith {:?}",
                dialect.name,
                case.original,
                lowered.schema,
                lowered.losses,
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(250))]

    #[test]
    fn a_lowered_recursive_schema_accepts_no_more_or_says_so(original in document(), seed in any::<u64>()) {
        check_sound(original, seed)?;
    }

    #[test]
    fn a_lowered_recursive_schema_accepts_no_less_or_says_so(original in document(), seed in any::<u64>()) {
        check_complete(original, seed)?;
    }

    #[test]
    fn a_lowered_recursive_schema_is_valid_under_its_meta_schema(original in document()) {
        check_meta_schema(&original)?;
    }
}

#[test]
fn a_branch_of_the_root_that_is_a_map_cannot_be_sent_and_a_loss_says_so() {
    let branch = json!({ "type": "object", "properties": { "a": { "type": "null" } } });
    let original = json!({ "type": "object", "anyOf": [branch, { "type": "object", "required": ["b"] }] });
    for seed in 0..8 {
        check_complete(original.clone(), seed).unwrap();
    }
    assert!(has(&input(&original, &Dialect::OPENAI_STRICT), Effect::Narrowed));
    // Where the root declares what the branches require, nothing is lost.
    let named = json!({ "type": "object", "properties": { "a": {}, "b": {} }, "anyOf": [{ "required": ["a"] }, { "required": ["b"] }] });
    assert!(!has(&input(&named, &Dialect::GEMINI_OPENAPI), Effect::Narrowed));
}

#[test]
fn a_property_that_only_a_branch_of_the_root_requires_cannot_be_sent_and_a_loss_reports_it() {
    let narrows = |original: &Value| {
        for seed in 0..8 {
            check_complete(original.clone(), seed).unwrap();
        }
        has(&input(original, &Dialect::OPENAI_STRICT), Effect::Narrowed)
    };
    let declared = json!({ "properties": { "b": { "type": "string" } }, "required": ["b"] });
    let requires = |name: &str| json!({ "properties": { "b": { "type": "string" } }, "required": [name] });
    assert!(narrows(&json!({ "anyOf": [requires("c"), declared] })));
    // Another branch may refuse what this one accepts.
    let integer = json!({ "properties": { "b": { "type": "string" }, "c": { "type": "integer" } }, "required": ["c"] });
    assert!(narrows(&json!({ "anyOf": [requires("c"), integer] })));
    // Nothing is lost where the root declares it, or where no object can have it.
    let root = json!({ "properties": { "c": { "type": "integer" } }, "anyOf": [requires("c"), declared] });
    assert!(!narrows(&root));
    let closed = json!({ "properties": { "b": { "type": "string" } }, "additionalProperties": false, "anyOf": [requires("c"), declared] });
    assert!(!narrows(&closed));
}

#[test]
fn a_property_that_a_branch_of_the_root_evaluates_can_be_sent_beside_unevaluated_ones() {
    let branch = json!({ "properties": { "b": {} }, "additionalProperties": { "type": "integer" } });
    for choice in ["anyOf", "allOf"] {
        let original = json!({ "type": "object", "unevaluatedProperties": { "type": "string" }, choice: [branch] });
        let sent = json!({ "c": 1 });
        assert!(jsonschema::validator_for(&original).unwrap().is_valid(&sent));
        let lowered = input(&original, &Dialect::OPENAI);
        assert!(jsonschema::validator_for(&lowered.schema).unwrap().is_valid(&sent), "{:#}", lowered.schema);
        assert!(has(&lowered, Effect::Widened));
    }
}

#[test]
fn a_branch_that_no_object_fits_is_lost_with_its_other_types_and_a_loss_reports_it() {
    let choice = json!([{ "required": ["c"] }, { "type": "null" }]);
    for closes in ["additionalProperties", "unevaluatedProperties"] {
        let it = json!({ "anyOf": choice, closes: false });
        let original = json!({ "type": "object", "properties": { "it": it }, "required": ["it"] });
        assert!(jsonschema::validator_for(&original).unwrap().is_valid(&json!({ "it": [] })));
        for seed in 0..8 {
            check_complete(original.clone(), seed).unwrap();
        }
        assert!(has(&input(&original, &Dialect::OPENAI_STRICT), Effect::Narrowed));
    }
}

#[test]
fn null_beside_an_object_or_a_list_that_fits_nothing_can_still_be_sent() {
    let object = json!({ "type": ["object", "null"], "properties": { "x": false }, "required": ["x"] });
    let mut listed = object.clone();
    listed["enum"] = json!([{ "y": 1 }, null]);
    let list = json!({ "type": ["array", "null"], "items": false, "minItems": 1 });
    for schema in [object, listed, list] {
        for schema in [json!({ "anyOf": [schema, { "type": "integer" }] }), schema] {
            let original = json!({ "type": "object", "properties": { "it": schema }, "required": ["it"] });
            let sent = json!({ "it": null });
            assert!(case(original.clone(), 0).unwrap().judge.is_valid(&sent));
            for dialect in DIALECTS.iter().chain([&Dialect::GEMINI_OPENAPI]) {
                let (lowered, plain) = lowered(&original, dialect);
                let accepts = jsonschema::validator_for(&plain).unwrap();
                let declares_it = lowered.schema["properties"]["it"].is_object();
                assert!(declares_it && accepts.is_valid(&sent), "{}: {:#}", dialect.name, lowered.schema);
            }
        }
    }
}

#[test]
fn an_absent_property_within_unevaluated_ones_is_said_to_be_refused_as_null() {
    let inner = json!({ "type": "object", "properties": { "c": { "type": "object" } } });
    let original = json!({ "type": "object", "required": ["c"], "unevaluatedProperties": inner });
    for seed in 0..8 {
        check_sound(original.clone(), seed).unwrap();
    }
    assert!(has(&input(&original, &Dialect::OPENAI_STRICT), Effect::Widened));
}

#[test]
fn an_absent_property_behind_a_chain_of_references_is_sent_as_null() {
    let original = json!({
        "$defs": {
            "A": { "$ref": "#/$defs/B" },
            "B": { "$ref": "#/$defs/C%20D" },
            "C D": {
                "type": "object",
                "properties": { "1": { "$ref": "#/$defs/A" }, "c": { "type": ["integer", "null"] } },
                "additionalProperties": false,
            },
        },
        "type": "object",
        "properties": { "it": { "$ref": "#/$defs/A" } },
        "required": ["it"],
        "additionalProperties": false,
    });
    let case = case(original.clone(), 0).unwrap();
    let lowered = input(&original, &Dialect::OPENAI_STRICT);
    assert_eq!(lowered.losses, [], "{:#}", lowered.schema);
    let accepts = jsonschema::validator_for(&lowered.schema).unwrap();
    for (value, sent) in [
        (json!({ "it": {} }), json!({ "it": { "1": null, "c": null } })),
        (json!({ "it": { "1": {} } }), json!({ "it": { "1": { "1": null, "c": null }, "c": null } })),
    ] {
        assert!(case.judge.is_valid(&value) && !accepts.is_valid(&value), "{value}");
        assert!(accepts.is_valid(&sent) && case.judge.is_valid(&restore(&case.checked, sent.clone())), "{sent}");
        assert!(held_to(&lowered.schema, &value).contains(&sent), "{:?}", held_to(&lowered.schema, &value));
    }
}

/// The same cases in each run, so that a failure is due to a change. `PROPTEST_CASES` asks for that many random ones.
fn config(n_cases: u32) -> ProptestConfig {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => config,
        None => ProptestConfig { cases: n_cases, rng_seed: RngSeed::Fixed(1), ..config },
    }
}
