//! The laws of lowering, over random recursive schemas.
//!
//! Without a `Widened` loss, the original accepts what the lowered schema accepts, after `restore`. Without a
//! `Narrowed` loss, whatever the original accepts has a form that the lowered schema accepts.

mod documents;
mod losses;
mod values;

use proptest::prelude::*;
use toolkit_providers::restore;

pub(crate) use self::documents::document;
use self::values::instances;
use super::*;
use test_support::mutate::Dice;

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

fn check_meta_schema(original: &Value) -> Result<(), TestCaseError> {
    if Schema::from_value(original.clone()).is_err() {
        return Ok(());
    }
    for dialect in &DIALECTS {
        let lowered = input(original, dialect);
        let sound = jsonschema::draft202012::meta::validate(&lowered.schema).map_err(|error| error.to_string());
        prop_assert!(sound.is_ok(), "{}: {sound:?}\n{original:#}\nwas lowered to\n{:#}", dialect.name, lowered.schema);
        let resolves = jsonschema::validator_for(&lowered.schema).map(drop).map_err(|error| error.to_string());
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
    for dialect in &DIALECTS {
        let lowered = input(&case.original, dialect);
        if has(&lowered, Effect::Widened) {
            continue;
        }
        let accepts = jsonschema::validator_for(&lowered.schema).unwrap();
        let own = instances(&lowered.schema, &mut case.dice, 6);
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
    for dialect in &DIALECTS {
        let lowered = input(&case.original, dialect);
        if !lowered.is_whole() {
            continue;
        }
        let closes = lowered.losses.iter().any(|loss| loss.keyword == "additionalProperties");
        let accepts = jsonschema::validator_for(&lowered.schema).unwrap();
        for value in &values {
            if closes && !strict.as_ref().is_some_and(|strict| strict.is_valid(value)) {
                continue;
            }
            prop_assert!(
                held_to(&lowered.schema, value).iter().any(|way| accepts.is_valid(way)),
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
