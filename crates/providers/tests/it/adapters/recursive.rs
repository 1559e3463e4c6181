//! The laws of lowering, over random recursive schemas.
//!
//! Without a `Widened` loss, the original accepts what the lowered schema accepts, after `restore`. Without a
//! `Narrowed` loss, whatever the original accepts has a form that the lowered schema accepts.

mod documents;
mod losses;
mod values;

use proptest::prelude::*;
use serde_json::Map;
use toolkit_providers::restore;

pub(crate) use self::documents::document;
use self::values::instances;
use super::*;
use test_support::mutate::Dice;

/// Converts an OpenAPI 3.0 schema to JSON Schema.
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
    // The meta-schemas of `jsonschema`.
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

/// Checks values that the lowered schema accepts.
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

/// Checks values that the original accepts.
fn check_complete(original: Value, seed: u64) -> Result<(), TestCaseError> {
    let Some(mut case) = case(original, seed) else {
        return Ok(());
    };
    let values = instances(&case.original, &mut case.dice, 8);
    let values: Vec<Value> = values.into_iter().filter(|value| case.judge.is_valid(value)).collect();
    // An object without `additionalProperties` is closed, which a loss reports.
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
    #![proptest_config(test_support::random(2500))]

    #[test]
    fn a_lowered_recursive_schema_is_not_wider_without_a_loss(original in document(), seed in any::<u64>()) {
        check_sound(original, seed)?;
    }

    #[test]
    fn a_lowered_recursive_schema_is_not_narrower_without_a_loss(original in document(), seed in any::<u64>()) {
        check_complete(original, seed)?;
    }

    #[test]
    fn a_lowered_recursive_schema_is_valid_under_its_meta_schema(original in document()) {
        check_meta_schema(&original)?;
    }
}
