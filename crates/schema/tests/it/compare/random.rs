//! Random pairs of schemas over a small set of values: if a change is called compatible, everything that was
//! accepted still is.
//!
//! The set is small so that two random schemas are often related, and so that all of it can be tested.

use jsonschema::canonical::{self, Containment};
use serde_json::Map;

use super::*;
use test_support::mutate::Dice;

const DIALECTS: [&str; 2] = ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"];
const KEYS: [&str; 3] = ["a", "b", "ab"];
const TEXTS: [&str; 4] = ["", "a", "b", "ab"];
const PATTERNS: [&str; 4] = ["^a", "b$", "^$", "^[ab]+$"];
const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// A dialect, and the valid targets of a reference.
#[derive(Clone, Copy)]
struct World {
    is_draft_07: bool,
}

impl World {
    fn definitions(self) -> &'static str {
        if self.is_draft_07 { "definitions" } else { "$defs" }
    }

    fn schema(self, dice: &mut Dice, depth: usize) -> Value {
        if depth == 0 || dice.one_in(12) {
            return match dice.below(8) {
                0 => json!(true),
                1 => json!(false),
                2 => json!({}),
                3 => json!({ "const": scalar(dice) }),
                _ => json!({ "type": *dice.pick(&TYPES) }),
            };
        }
        let mut keywords = Map::new();
        for _ in 0..1 + dice.below(3) {
            self.add(&mut keywords, dice, depth - 1);
        }
        keywords.into()
    }

    fn add(self, keywords: &mut Map<String, Value>, dice: &mut Dice, depth: usize) {
        let inner = |dice: &mut Dice| self.schema(dice, depth);
        let few =
            |dice: &mut Dice| json!(if dice.one_in(3) { dice.below(4) as f64 } else { dice.below(4) as f64 + 0.0 });
        let count = |dice: &mut Dice| json!(dice.below(4));
        let (keyword, value) = match dice.below(34) {
            0 | 1 => ("type", json!(*dice.pick(&TYPES))),
            2 => ("type", json!([*dice.pick(&TYPES), "null"])),
            3 => ("enum", (0..1 + dice.below(4)).map(|_| scalar(dice)).collect()),
            4 => ("const", if dice.one_in(3) { value(dice, 2) } else { scalar(dice) }),
            5 => ("minimum", few(dice)),
            6 => ("maximum", few(dice)),
            7 => ("exclusiveMinimum", json!(dice.below(4) as f64 - 0.5)),
            8 => ("exclusiveMaximum", count(dice)),
            9 => ("multipleOf", json!(1 + dice.below(3))),
            10 => ("minLength", count(dice)),
            11 => ("maxLength", count(dice)),
            12 => ("pattern", json!(*dice.pick(&PATTERNS))),
            13 => ("format", json!(*dice.pick(&["date", "uuid", "email"]))),
            14 => ("contentEncoding", json!("base64")),
            15 => ("items", inner(dice)),
            16 if self.is_draft_07 => {
                keywords.insert("additionalItems".to_owned(), inner(dice));
                ("items", json!([inner(dice), inner(dice)]))
            }
            16 | 17 => ("prefixItems", json!([inner(dice)])),
            18 => (*dice.pick(&["minItems", "maxItems"]), count(dice)),
            19 => ("uniqueItems", json!(!dice.one_in(4))),
            20 => {
                if dice.one_in(2) {
                    keywords.insert("minContains".to_owned(), count(dice));
                }
                if dice.one_in(2) {
                    keywords.insert("maxContains".to_owned(), count(dice));
                }
                ("contains", inner(dice))
            }
            21 | 22 => {
                let names = (0..1 + dice.below(3)).map(|_| ((*dice.pick(&KEYS)).to_owned(), inner(dice)));
                ("properties", Value::Object(names.collect()))
            }
            23 => ("required", json!([*dice.pick(&KEYS)])),
            24 => ("patternProperties", json!({ (*dice.pick(&PATTERNS)): inner(dice) })),
            25 => ("additionalProperties", if dice.one_in(2) { json!(false) } else { inner(dice) }),
            26 => (*dice.pick(&["minProperties", "maxProperties"]), count(dice)),
            27 => ("propertyNames", inner(dice)),
            28 => (*dice.pick(&["allOf", "anyOf", "oneOf"]), json!([inner(dice), inner(dice)])),
            29 => (*dice.pick(&["anyOf", "oneOf"]), json!([inner(dice), inner(dice), inner(dice)])),
            30 => ("not", inner(dice)),
            31 => {
                keywords.insert("if".to_owned(), inner(dice));
                if dice.one_in(2) {
                    keywords.insert("else".to_owned(), inner(dice));
                }
                ("then", inner(dice))
            }
            32 => match dice.below(5) {
                0 => ("dependentRequired", json!({ (*dice.pick(&KEYS)): [*dice.pick(&KEYS)] })),
                1 => ("dependentSchemas", json!({ (*dice.pick(&KEYS)): inner(dice) })),
                2 => ("dependencies", json!({ (*dice.pick(&KEYS)): inner(dice) })),
                3 => ("dependencies", json!({ (*dice.pick(&KEYS)): [*dice.pick(&KEYS)] })),
                _ => {
                    let rest = if dice.one_in(2) { json!(false) } else { inner(dice) };
                    (*dice.pick(&["unevaluatedProperties", "unevaluatedItems"]), rest)
                }
            },
            _ => {
                let container = self.definitions();
                let to = *dice.pick(&["A", "B"]);
                let reference =
                    if dice.one_in(3) { "#/properties/it".to_owned() } else { format!("#/{container}/{to}") };
                ("$ref", json!(reference))
            }
        };
        keywords.insert(keyword.to_owned(), value);
    }

    /// Returns the schema of a tool with one argument of a random schema.
    fn document(self, dice: &mut Dice) -> Value {
        let it = self.schema(dice, 3);
        let definitions = json!({ "A": self.schema(dice, 2), "B": self.schema(dice, 2) });
        let dialect = DIALECTS[usize::from(self.is_draft_07)];
        json!({ "$schema": dialect, "type": "object", "properties": { "it": it }, (self.definitions()): definitions })
    }

    /// Changes one schema within a document.
    fn edit(self, document: &mut Value, dice: &mut Dice) {
        let mut schemas: Vec<&mut Value> = Vec::new();
        let Value::Object(root) = document else { return };
        for (keyword, value) in root.iter_mut() {
            if keyword == "properties" || keyword == self.definitions() {
                value.as_object_mut().unwrap().values_mut().for_each(|schema| find(schema, dice, &mut schemas));
            }
        }
        let Some(idx) = schemas.len().checked_sub(1).map(|last| dice.below(last + 1)) else { return };
        let schema = schemas.swap_remove(idx);
        match (dice.below(6), &mut *schema) {
            (0, schema) => *schema = self.schema(dice, 2),
            (1, schema) => {
                *schema = json!({ (*dice.pick(&["anyOf", "allOf", "oneOf"])): [schema.clone(), self.schema(dice, 1)] })
            }
            (2, schema) => *schema = json!({ "not": { "not": schema.clone() } }),
            (3 | 4, Value::Object(keywords)) => {
                let keyword = keywords.keys().nth(dice.below(keywords.len().max(1))).cloned();
                keyword.map(|keyword| keywords.shift_remove(&keyword));
            }
            (_, Value::Object(keywords)) => self.add(keywords, dice, 1),
            (_, schema) => *schema = self.schema(dice, 1),
        }
    }
}

/// Collects the subschemas of a schema, with a bias toward direct ones.
fn find<'s>(schema: &'s mut Value, dice: &mut Dice, found: &mut Vec<&'s mut Value>) {
    let is_leaf = !schema
        .as_object()
        .is_some_and(|keywords| keywords.values().any(|value| value.is_object() || value.is_array()));
    if is_leaf || dice.one_in(2) {
        found.push(schema);
        return;
    }
    for (keyword, value) in schema.as_object_mut().into_iter().flatten() {
        match (keyword.as_str(), value) {
            ("properties" | "patternProperties" | "dependentSchemas", Value::Object(named)) => {
                named.values_mut().for_each(|schema| find(schema, dice, found));
            }
            ("allOf" | "anyOf" | "oneOf" | "prefixItems" | "items", Value::Array(list)) => {
                list.iter_mut().for_each(|schema| find(schema, dice, found));
            }
            (
                "items"
                | "additionalItems"
                | "additionalProperties"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames"
                | "unevaluatedProperties"
                | "unevaluatedItems",
                schema,
            ) => find(schema, dice, found),
            _ => {}
        }
    }
}

fn scalar(dice: &mut Dice) -> Value {
    match dice.below(8) {
        0 => Value::Null,
        1 => json!(dice.one_in(2)),
        2 => json!(dice.below(4) as f64),
        3 => json!(dice.below(8) as f64 / 2.0),
        4 | 5 => json!(*dice.pick(&TEXTS)),
        _ => json!(dice.below(4)),
    }
}

/// Returns a value of the small set.
fn value(dice: &mut Dice, depth: usize) -> Value {
    match dice.below(3) {
        0 if depth > 0 => (0..dice.below(4)).map(|_| value(dice, depth - 1)).collect(),
        1 if depth > 0 => {
            (0..dice.below(4)).map(|_| ((*dice.pick(&KEYS)).to_owned(), value(dice, depth - 1))).collect()
        }
        _ => scalar(dice),
    }
}

/// Collects the constants of a schema.
fn constants(schema: &Value, found: &mut Vec<Value>) {
    match schema {
        Value::Object(keywords) => {
            found.extend(keywords.get("const").cloned());
            found.extend(keywords.get("enum").and_then(Value::as_array).into_iter().flatten().cloned());
            keywords.values().for_each(|value| constants(value, found));
        }
        Value::Array(list) => list.iter().for_each(|value| constants(value, found)),
        _ => {}
    }
}

/// Returns whether one schema accepts all values of another, if `jsonschema` can decide it.
fn covers(outer: &Value, inner: &Value) -> Option<bool> {
    let canonical = |schema| canonical::options().should_validate_formats(false).canonicalize(schema).ok();
    match canonical(outer)?.covers(&canonical(inner)?).ok()? {
        Containment::Yes => Some(true),
        Containment::No => Some(false),
        Containment::Unknown => None,
    }
}

#[test]
fn no_change_that_rejects_accepted_values_is_called_compatible() {
    let mut dice = Dice::new(std::env::var("TOOLKIT_COMPARE_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(11));
    let mut pool: Vec<Value> = Vec::new();
    for _ in 0..400 {
        pool.push(value(&mut dice, 2));
    }
    let (mut n_pairs, mut n_harmless, mut n_unknown, mut n_changed, mut n_covers) = (0, 0, 0, 0, 0);
    let n_cases = u64::from(test_support::random(3000).cases);
    while n_pairs < n_cases {
        let world = World { is_draft_07: dice.one_in(3) };
        let old = world.document(&mut dice);
        let new = match dice.below(8) {
            0 => World { is_draft_07: dice.one_in(2) }.document(&mut dice),
            1 => {
                let dialect = if world.is_draft_07 { DIALECTS[0] } else { DIALECTS[1] };
                let mut new = old.clone();
                new["$schema"] = json!(dialect);
                new
            }
            n => {
                let mut new = old.clone();
                for _ in 0..1 + n % 2 {
                    world.edit(&mut new, &mut dice);
                }
                new
            }
        };
        let (Ok(was), Ok(is)) = (Schema::from_value(old.clone()), Schema::from_value(new.clone())) else { continue };
        n_pairs += 1;
        n_changed += u64::from(old != new);
        let input = verdict(&inputs(&old, &new));
        let output = verdict(&outputs(&old, &new));
        let is_harmless = |verdict: Option<Verdict>| verdict.is_none_or(|verdict| verdict < Verdict::Unknown);
        n_harmless += u64::from(is_harmless(input));
        n_unknown += u64::from(input == Some(Verdict::Unknown));
        if let Some(covers) = covers(&new, &old) {
            n_covers += 1;
            let agrees = if covers { input != Some(Verdict::Breaking) } else { !is_harmless(input) };
            assert!(agrees, "jsonschema: {covers}, the change: {input:?}, from\n{old:#}\nto\n{new:#}");
        }
        let mut values = Vec::new();
        constants(&old, &mut values);
        constants(&new, &mut values);
        let (mut is_refused, mut is_accepted) = (None, None);
        for value in values.iter().chain(&pool) {
            for value in [json!({ "it": value }), json!({ "it": [value] }), json!({ "it": { "a": value } })] {
                match (was.is_valid(&value), is.is_valid(&value)) {
                    (true, false) => is_refused = Some(value),
                    (false, true) => is_accepted = Some(value),
                    _ => {}
                }
            }
        }
        let pair = format!("from\n{old:#}\nto\n{new:#}");
        if let Some(value) = &is_refused {
            assert!(!is_harmless(input), "{value} is refused, and the change called {input:?}, {pair}");
            assert_ne!(output, Some(Verdict::Cosmetic), "{value} is refused, and the change called cosmetic, {pair}");
        }
        if let Some(value) = &is_accepted {
            assert!(!is_harmless(output), "{value} is given, and the change called {output:?}, {pair}");
            assert_ne!(input, Some(Verdict::Cosmetic), "{value} is accepted, and the change called cosmetic, {pair}");
        }
    }
    println!(
        "{n_pairs} pairs, {n_changed} differ, {n_harmless} harmless, {n_unknown} undecided, {n_covers} by jsonschema"
    );
    // A comparison that called no change compatible would be sound but useless.
    assert!(n_harmless * 6 > n_pairs, "{n_harmless} of {n_pairs}");
    assert!(n_covers * 2 > n_pairs, "{n_covers} of {n_pairs}");
}
