//! Randomly generated schemas.

use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolkit_schema::{close, inline, portable, root};

use super::case::validator;
use super::sample::Source;

const N_DEFINITIONS: usize = 4;
const NAMES: [&str; 3] = ["a", "b", "properties"];

fn bytes(n: usize) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), n)
}

fn check(
    bytes: &[u8],
    more: &[u8],
    law: fn(&Value, &mut Source) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    let mut s = Source(bytes.iter());
    let mut schema = schema(&mut s, 0, 0);
    if let Value::Object(root) = &mut schema {
        let definitions = (0..N_DEFINITIONS).map(|i| (format!("D{i}"), self::schema(&mut s, i + 1, 0)));
        root.insert("$defs".to_owned(), Value::Object(definitions.collect()));
    }
    law(&schema, &mut Source(more.iter()))
}

proptest! {
    #![proptest_config(test_support::random(500))]

    #[test]
    fn inlining_keeps_every_verdict(bytes in bytes(300), more in bytes(200)) {
        check(&bytes, &more, |schema, s| {
            let mut inlined = schema.clone();
            inline::inline(&mut inlined);
            same_verdicts(schema, &inlined, s)
        })?;
    }

    #[test]
    fn portable_words_keep_every_verdict(bytes in bytes(300), more in bytes(200)) {
        check(&bytes, &more, |schema, s| {
            let mut rewritten = schema.clone();
            portable::make(&mut rewritten);
            same_verdicts(schema, &rewritten, s)
        })?;
    }

    #[test]
    fn closing_refuses_more_and_nothing_else(bytes in bytes(300), more in bytes(200)) {
        check(&bytes, &more, |schema, s| {
            let mut closed = schema.clone();
            close::close(&mut closed);
            let (size, grown) = (schema.to_string().len(), closed.to_string().len());
            prop_assert!(grown < 50 * size + 100_000, "{schema} grew to {grown} bytes");
            let after = validator(&closed);
            // An exclusive choice may lose an open branch, and a merge drops what would refuse its neighbours.
            let text = schema.to_string();
            if !["oneOf", "ditionalProperties", "evaluatedProperties"].iter().any(|k| text.contains(k)) {
                let before = validator(schema);
                for_instances(s, |instance| {
                    prop_assert!(!after.is_valid(instance) || before.is_valid(instance), "{instance}: {schema} closed to {closed}");
                    Ok(())
                })?;
            }
            let mut twice = closed.clone();
            close::close(&mut twice);
            validator(&twice);
            Ok(())
        })?;
    }

    #[test]
    fn a_listed_root_is_a_plain_object_that_accepts_what_the_closed_schema_accepts(bytes in bytes(300), more in bytes(200)) {
        check(&bytes, &more, |schema, s| {
            let mut arguments = schema.clone();
            arguments["type"] = json!("object");
            close::close(&mut arguments);
            let mut listed = arguments.clone();
            root::list(&mut listed);
            prop_assert!(listed["type"] == "object" && listed["properties"].is_object(), "{arguments} is listed as {listed}");
            for keyword in ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "enum", "const", "$ref"] {
                prop_assert!(listed.get(keyword).is_none(), "{arguments} is listed with `{keyword}` as {listed}");
            }
            let [before, after] = [&arguments, &listed].map(validator);
            // An open branch of a choice accepts properties that another one declares, with other values.
            let text = schema.to_string();
            let is_open = ["ditionalProperties", "evaluatedProperties", "then"].iter().any(|keyword| text.contains(keyword));
            for_instances(s, |instance| {
                prop_assert!(!before.is_valid(instance) || after.is_valid(instance) || is_open, "{instance}: {arguments} is listed as {listed}");
                Ok(())
            })
        })?;
    }
}

fn same_verdicts(before: &Value, after: &Value, s: &mut Source) -> Result<(), TestCaseError> {
    let [old, new]: [Validator; 2] = [before, after].map(validator);
    for_instances(s, |instance| {
        prop_assert_eq!(old.is_valid(instance), new.is_valid(instance), "{}: {} became {}", instance, before, after);
        Ok(())
    })
}

fn for_instances(
    s: &mut Source,
    mut law: impl FnMut(&Value) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    (0..24).try_for_each(|_| law(&instance(s, 0)))
}

fn instance(s: &mut Source, depth: usize) -> Value {
    match s.below(if depth > 3 { 5 } else { 12 }) {
        0 => json!(null),
        1 => json!("A"),
        2 => json!("B"),
        3 => json!(1),
        4 => json!({}),
        5 => json!([instance(s, depth + 1)]),
        _ => {
            let n = s.below(4);
            (0..n).map(|_| (NAMES[s.below(3)].to_owned(), instance(s, depth + 1))).collect()
        }
    }
}

/// A schema that joins only definitions from `from` on, so that it does not join itself, and contains any.
fn schema(s: &mut Source, from: usize, depth: usize) -> Value {
    if depth > 3 {
        return json!({});
    }
    let mut map = Map::new();
    for _ in 0..=s.below(4) {
        let (keyword, value) = keyword(s, from, depth);
        map.insert(keyword.to_owned(), value);
    }
    map.into()
}

fn keyword(s: &mut Source, from: usize, depth: usize) -> (&'static str, Value) {
    let beside = |s: &mut Source| schema(s, from, depth + 1);
    let inside = |s: &mut Source| match s.below(4) {
        0 => json!(s.below(2) == 0),
        1 => json!({ "$ref": format!("#/$defs/D{}", s.below(N_DEFINITIONS)) }),
        _ => schema(s, from, depth + 1),
    };
    match s.below(20) {
        0 => ("type", json!("object")),
        1 => ("type", json!(["object", "null"])),
        2 => ("required", json!([NAMES[s.below(3)]])),
        3 => ("additionalProperties", inside(s)),
        4 => ("unevaluatedProperties", json!(false)),
        5 => ("allOf", json!([beside(s), beside(s)])),
        6 => ("anyOf", json!([beside(s), beside(s)])),
        7 => ("oneOf", json!([beside(s), beside(s)])),
        8 => ("oneOf", json!([{ "const": "A", "description": "an A" }, { "enum": ["B", "A"], "type": "string" }])),
        9 => ("anyOf", json!([{ "const": "A", "description": "an A" }, { "enum": ["B", "A"] }])),
        10 => ("not", beside(s)),
        11 => ("items", inside(s)),
        12 => ("description", json!("text")),
        13 => ("if", beside(s)),
        14 => ("then", beside(s)),
        15 | 16 if from < N_DEFINITIONS => {
            ("$ref", json!(format!("#/$defs/D{}", from + s.below(N_DEFINITIONS - from))))
        }
        17 => ("dependentSchemas", json!({ NAMES[s.below(3)]: beside(s) })),
        _ => {
            let n = 1 + s.below(2);
            let named: Map<_, _> = (0..n).map(|_| (NAMES[s.below(3)].to_owned(), inside(s))).collect();
            ("properties", named.into())
        }
    }
}
