//! The one-pass validation accepts only what the validator accepts, and refuses little that is ordinary.

mod approved;
mod reading;
mod texts;
mod writing;
mod zoo;

use proptest::prelude::*;
use serde_json::{Value, json};
use test_support::mutate::{self, Dice};
use test_support::schemas;
use toolkit_schema::plan::Plan;

/// Checks the law of the plan for a JSON text that is read as a tree. Returns true if the plan accepted the text.
#[track_caller]
fn check_tree(plan: &Plan, validator: &jsonschema::Validator, text: &str, repeats_a_key: bool) -> bool {
    let tree: Option<Value> = serde_json::from_str(text).ok();
    let Ok(decoded) = plan.decode::<Value>(text.as_bytes()) else {
        return false;
    };
    let tree = tree.unwrap_or_else(|| panic!("accepted what is no JSON: {text}"));
    assert!(!repeats_a_key, "accepted a repeated key: {text}");
    assert_eq!(decoded, tree, "read something else: {text}");
    assert!(validator.is_valid(&tree), "accepted what is invalid: {text}");
    true
}

/// Checks the law of the plan for writing a tree. Returns true if the plan wrote it.
#[track_caller]
fn check_write(plan: &Plan, validator: &jsonschema::Validator, tree: &Value) -> bool {
    let mut out = b"before".to_vec();
    if plan.encode(tree, &mut out).is_err() {
        return false;
    }
    assert_eq!(out, format!("before{tree}").into_bytes());
    assert!(validator.is_valid(tree), "wrote what is invalid: {tree}");
    true
}

proptest! {
    #![proptest_config(test_support::random(2000))]

    #[test]
    fn the_plan_accepts_only_what_jsonschema_accepts(schema in schemas::schema(), seed: u64) {
        let Some(plan) = Plan::compile(&schema) else { return Ok(()) };
        let validator = jsonschema::validator_for(&schema).expect("generated schemas are valid");
        let mut dice = Dice::new(seed);
        for _ in 0..8 {
            let mut instance = schemas::instance(&schema, &schema, &mut dice, 6);
            if dice.one_in(2) {
                mutate::mutate(&mut instance, &mut dice);
            }
            check_write(&plan, &validator, &instance);
            let (text, repeats) = mutate::render(&instance, &mut dice);
            check_tree(&plan, &validator, &text, repeats);
        }
    }

    #[test]
    fn the_plan_accepts_ordinary_valid_values(schema in schemas::schema(), seed: u64) {
        let Some(plan) = Plan::compile(&schema) else { return Ok(()) };
        let validator = jsonschema::validator_for(&schema).expect("generated schemas are valid");
        let mut dice = Dice::new(seed);
        for _ in 0..4 {
            let instance = schemas::instance(&schema, &schema, &mut dice, 6);
            if validator.is_valid(&instance) && mutate::is_ordinary(&instance) {
                prop_assert!(plan.decode::<Value>(instance.to_string().as_bytes()).is_ok(), "{schema} refused {instance}");
                // If duplicate keys matter for a count, an undeclared key is left to the tree.
                let counts = schema.to_string().contains(r#""minProperties":2"#);
                prop_assert!(counts || check_write(&plan, &validator, &instance), "{schema} did not write {instance}");
            }
        }
    }

    #[test]
    fn a_pattern_with_a_plan_means_what_jsonschema_means(
        pattern in prop::collection::vec(prop::sample::select(PIECES), 1..7),
        texts in prop::collection::vec(prop::collection::vec(prop::sample::select(TEXT), 0..5), 24),
    ) {
        let schema = json!({ "pattern": pattern.concat() });
        let Some(plan) = Plan::compile(&schema) else { return Ok(()) };
        let validator = jsonschema::validator_for(&schema).expect("a pattern with a plan is valid");
        for text in texts {
            let text = Value::String(text.concat());
            let decoded = plan.decode::<Value>(text.to_string().as_bytes()).is_ok();
            prop_assert_eq!(decoded, validator.is_valid(&text), "{} on {}", schema, text);
        }
    }
}

const PIECES: &[&str] = &[
    "^", "$", "a", "b", "Z", "0", "9", "-", "_", ".", "|", "(", "(?:", ")", "[", "]", "[a-z]", "[^a-z]", "[0-9-]",
    "\\d", "\\w", "\\s", "\\D", "\\W", "\\S", "[\\w.-]", "[\\d_]", "*", "+", "?", "{2}", "{1,2}", "{0,}", "\\.", "\\-",
    "\\/", "\\$", " ", "@", "/", "&&", "~~", "--", "{", "}", ",", "\\b", "\\n", "[[", "é", "#", "[~^{}]", "[a~~b]",
    "[.^]",
];
const TEXT: &[&str] = &[
    "a", "b", "z", "Z", "0", "9", "-", "_", ".", "$", " ", "\n", "\r", "\u{2028}", "\u{a0}", "\u{feff}", "é", "٣", "ſ",
    "😀", "@", "/", "[", "]", "&", "~", "\u{b}", "\u{85}", "\u{180e}", "#", ",", "^", "{", "}",
];

/// The number of schemas in the official suite, the number of those with a plan, and what the plans accept.
#[derive(Default)]
struct Suite {
    schemas: usize,
    compiled: usize,
    cases: usize,
    valid: usize,
    accepted: usize,
}

fn official_suite(draft: &str, dialect: &str) -> Option<Suite> {
    let folder = test_support::shared(&format!("data/json-schema-test-suite/tests/{draft}"))?;
    let mut suite = Suite::default();
    for file in std::fs::read_dir(folder).expect("the suite is a folder") {
        let path = file.expect("the suite can be listed").path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("the suite is text");
        let groups: Vec<Value> = serde_json::from_str(&text).expect("the suite is JSON");
        for mut group in groups {
            suite.schemas += 1;
            let schema = &mut group["schema"];
            if let Some(keywords) = schema.as_object_mut() {
                keywords.entry("$schema").or_insert_with(|| dialect.into());
            }
            let Some(plan) = Plan::compile(schema) else {
                continue;
            };
            suite.compiled += 1;
            for case in group["tests"].as_array().expect("a group has tests") {
                suite.cases += 1;
                let data = &case["data"];
                let decoded = plan.decode::<Value>(data.to_string().as_bytes());
                let mut out = Vec::new();
                let encoded = plan.encode(data, &mut out);
                if case["valid"] == json!(true) {
                    suite.valid += 1;
                    suite.accepted += usize::from(decoded.is_ok());
                } else {
                    let what = format!("{}: {}: {}", path.display(), group["description"], case["description"]);
                    assert!(decoded.is_err(), "read {what}");
                    assert!(encoded.is_err(), "wrote {what}");
                }
            }
        }
    }
    let Suite { schemas, compiled, cases, valid, accepted } = suite;
    println!("{draft}: {compiled} of {schemas} schemas have a plan; it accepts {accepted} of {valid} valid instances");
    test_support::ran(cases);
    assert!(accepted * 10 >= valid * 9, "only {accepted} of {valid} are accepted");
    Some(suite)
}

#[test]
fn the_plan_accepts_nothing_invalid_in_the_official_suite() {
    let dialects = [
        ("draft2020-12", "https://json-schema.org/draft/2020-12/schema", 115),
        ("draft7", "http://json-schema.org/draft-07/schema#", 90),
    ];
    for (draft, dialect, least) in dialects {
        if let Some(suite) = official_suite(draft, dialect) {
            assert!(suite.compiled >= least, "only {} schemas of {draft} have a plan", suite.compiled);
        }
    }
}
