//! The law of lowering, over random schemas: what the lowered schema accepts, the original accepts once it is mapped
//! back, or a loss says that it may not. And nothing is refused that was accepted, unless a loss says so.

use proptest::prelude::*;
use toolkit::adapter::restore;

use super::mutate::{Dice, mutate};
use super::schemas::{instance, schema};
use super::*;

/// An argument of that schema, since what a tool takes is an object.
fn arguments(mut inner: Value) -> Value {
    let definitions = inner.as_object_mut().and_then(|inner| inner.remove("$defs"));
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
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_the_lowered_schema_accepts_the_original_accepts_once_it_is_mapped_back(inner in schema(), seed in any::<u64>()) {
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
    fn what_the_original_accepts_the_lowered_schema_has_a_way_to_say(inner in schema(), seed in any::<u64>()) {
        let original = arguments(inner);
        if Schema::from_value(original.clone()).is_err() {
            return Ok(());
        }
        let judge = jsonschema::validator_for(&original).unwrap();
        for dialect in &DIALECTS {
            let lowered = input(&original, dialect);
            // An object that was open by silence is closed, and a loss says so.
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
    fn a_lowered_schema_has_only_words_of_its_dialect_and_lowering_it_again_changes_nothing(inner in schema()) {
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

/// Every keyword of a schema.
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
