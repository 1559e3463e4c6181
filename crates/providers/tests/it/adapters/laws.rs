//! The laws of lowering, over random schemas: after `restore`, the original accepts what the lowered schema accepts,
//! unless a loss reports otherwise. And the lowered schema accepts what the original accepts, unless a loss reports
//! otherwise.

use proptest::prelude::*;
use toolkit_providers::restore;

use super::*;
use test_support::mutate::{Dice, mutate};
use test_support::schemas::{instance, schema};

/// Returns an object schema with one argument of that schema.
fn arguments(mut inner: Value) -> Value {
    let definitions = inner.as_object_mut().and_then(|inner| inner.shift_remove("$defs"));
    let mut schema = json!({
        "type": "object",
        "properties": { "it": inner, "also": { "type": "integer" } },
        "required": ["it"],
        "additionalProperties": false,
    });
    if let Some(definitions) = definitions {
        schema["$defs"] = definitions;
    }
    schema
}

fn instances(schema: &Value, seed: u64) -> Vec<Value> {
    let mut dice = Dice::new(seed);
    let mut instances = Vec::new();
    for _ in 0..6 {
        let valid = instance(schema, schema, &mut dice, 6);
        let mut damaged = valid.clone();
        mutate(&mut damaged, &mut dice);
        instances.extend([valid, damaged]);
    }
    instances
}

proptest! {
    #![proptest_config(test_support::random(300))]

    #[test]
    fn restored_arguments_of_a_lowered_schema_match_the_original(inner in schema(), seed in any::<u64>()) {
        let original = arguments(inner);
        let Ok(checked) = Schema::from_value(original.clone()) else {
            return Ok(());
        };
        let judge = jsonschema::validator_for(&original).unwrap();
        for dialect in &DIALECTS {
            let lowered = input(&original, dialect);
            let accepts = jsonschema::validator_for(&lowered.schema).unwrap();
            if has(&lowered, Effect::Widened) || !lowered.is_whole() {
                continue;
            }
            for sent in instances(&lowered.schema, seed).into_iter().filter(|sent| accepts.is_valid(sent)) {
                let back = restore(&checked, sent.clone());
                prop_assert!(
                    judge.is_valid(&back),
                    "{}: {sent} as {back}\n{original:#}\nwas lowered to\n{:#}\nwith {:?}",
                    dialect.name, lowered.schema, lowered.losses,
                );
            }
        }
    }

    #[test]
    fn arguments_of_the_original_have_a_form_in_the_lowered_schema(inner in schema(), seed in any::<u64>()) {
        let original = arguments(inner);
        if Schema::from_value(original.clone()).is_err() {
            return Ok(());
        }
        let judge = jsonschema::validator_for(&original).unwrap();
        for dialect in &DIALECTS {
            let lowered = input(&original, dialect);
            // An object without `additionalProperties` is closed, which a loss reports.
            let closes = lowered.losses.iter().any(|loss| loss.keyword == "additionalProperties");
            if !lowered.is_whole() || closes {
                continue;
            }
            let accepts = jsonschema::validator_for(&lowered.schema).unwrap();
            for value in instances(&original, seed).into_iter().filter(|value| judge.is_valid(value)) {
                prop_assert!(
                    held_to(&lowered.schema, &value).iter().any(|way| accepts.is_valid(way)),
                    "{}: {value}\n{original:#}\nwas lowered to\n{:#}\nwith {:?}",
                    dialect.name, lowered.schema, lowered.losses,
                );
            }
        }
    }

    #[test]
    fn a_lowered_schema_has_only_keywords_of_its_dialect_and_lowering_is_idempotent(inner in schema()) {
        let original = arguments(inner);
        if Schema::from_value(original.clone()).is_err() {
            return Ok(());
        }
        for dialect in &DIALECTS {
            let lowered = input(&original, dialect);
            let again = input(&lowered.schema, dialect);
            prop_assert_eq!(&again.schema, &lowered.schema, "{}", dialect.name);
            prop_assert!(lowered.losses.iter().map(|loss| loss.side).is_sorted());
            if let Some(keywords) = dialect.keywords {
                for keyword in words(&lowered.schema) {
                    let always = ["type", "description", "properties", "required", "items"];
                    prop_assert!(always.contains(&&*keyword) || keywords.contains(&&*keyword), "{}: {}", dialect.name, keyword);
                }
            }
        }
    }
}

/// Collects the keywords of a schema and its subschemas.
fn words(schema: &Value) -> Vec<String> {
    let Value::Object(keywords) = schema else {
        return Vec::new();
    };
    let mut words: Vec<String> = keywords.keys().cloned().collect();
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            ("properties" | "$defs", Value::Object(named)) => words.extend(named.values().flat_map(self::words)),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(list)) => {
                words.extend(list.iter().flat_map(self::words))
            }
            ("items" | "additionalProperties" | "not", schema) => words.extend(self::words(schema)),
            _ => {}
        }
    }
    words
}
