//! Names that serde reads and a derived schema does not have.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolkit::{Coercion, Dispatcher, catalog, tool};
use toolkit_contract::lint::{Rule, lint};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Filter {
    #[serde(alias = "colour", alias = "tint")]
    color: String,
    #[serde(default, alias = "from")]
    since: Option<NaiveDate>,
    /// Hidden from models.
    #[serde(default)]
    #[schemars(skip)]
    internal: u8,
    #[serde(default)]
    inner: Vec<Filter>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Change {
    Move {
        #[serde(alias = "target")]
        to: u8,
    },
    Keep,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Plan {
    filter: Option<Filter>,
    by_name: BTreeMap<String, Filter>,
    change: Change,
    pair: (u8, Filter),
}

/// Takes structs within others.
#[tool(namespace = "names")]
fn plan(dry: bool, plan: Plan) -> Value {
    json!([dry, serde_json::to_value(plan).unwrap()])
}

fn with_filter(filter: &Value) -> [Value; 4] {
    let plain = json!({ "color": "red" });
    let of = |filter: &Value, named: &Value, second: &Value, inner: &Value| {
        let mut filter = filter.clone();
        filter["inner"] = json!([inner]);
        json!({ "dry": true, "plan": {
            "filter": filter, "by_name": { "a": named }, "change": { "Move": { "target": 1 } }, "pair": [1, second],
        }})
    };
    [
        of(filter, &plain, &plain, &plain),
        of(&plain, filter, &plain, &plain),
        of(&plain, &plain, filter, &plain),
        of(&plain, &plain, &plain, filter),
    ]
}

#[test]
fn an_alias_of_a_nested_field_is_accepted_in_place_of_its_name() {
    let catalog = catalog![plan].unwrap();
    catalog.check(Default::default()).unwrap();
    assert_eq!(lint(&catalog, &[Rule::UndescribedParameter, Rule::MissingHint]), []);
    let dispatcher = Dispatcher::new(catalog).unwrap();
    for filter in [json!({ "colour": "blue" }), json!({ "tint": "blue", "from": "2026-01-01" })] {
        for arguments in with_filter(&filter) {
            let result = dispatcher.call_sync("plan", arguments.to_string()).unwrap().value();
            assert!(result.to_string().contains(r#""color":"blue""#), "{result}");
            assert!(result[1]["change"]["Move"]["to"] == 1, "{result}");
        }
    }
}

#[test]
fn two_names_of_a_nested_field_are_a_violation_and_a_hidden_field_stays_hidden() {
    let dispatcher = Dispatcher::new(catalog![plan].unwrap()).unwrap();
    for filter in [
        json!({ "color": "a", "colour": "a" }),
        json!({ "tint": "a", "colour": "a" }),
        json!({ "color": "a", "internal": 1 }),
        json!({ "color": "a", "other": 1 }),
        json!({}),
    ] {
        for arguments in with_filter(&filter) {
            let error = dispatcher.call_sync("plan", arguments.to_string()).unwrap_err();
            assert!(!error.violations().is_empty(), "{arguments}: {error}");
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code)]
enum Level {
    #[serde(alias = "lo", alias = "lowest")]
    Low,
    #[serde(alias = "hi")]
    High(u8),
    #[serde(alias = "between")]
    Range {
        from: u8,
        #[serde(alias = "end")]
        to: u8,
    },
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Deserialize, JsonSchema)]
enum Described {
    /// Slow and cheap.
    #[serde(alias = "slow")]
    Cheap,
    /// Fast.
    Fast,
}

/// Shows levels.
#[tool(namespace = "names")]
fn shown(level: Level, more: Vec<Option<Level>>, speed: Option<Described>) -> String {
    format!("{level:?} {more:?} {speed:?}")
}

#[test]
fn aliases_of_variants_and_other_names_are_accepted_as_serde_accepts_them() {
    for coercion in [Coercion::default(), Coercion::Lenient] {
        let dispatcher = Dispatcher::builder(catalog![shown].unwrap()).coercion(coercion).build().unwrap();
        for (arguments, expect) in [
            (json!({ "level": "lowest", "more": [] }), "Low [] None"),
            (json!({ "level": { "hi": 3 }, "more": ["lo", null, "Low"] }), "High(3) [Some(Low), None, Some(Low)] None"),
            (
                json!({ "level": { "between": { "from": 1, "end": 2 } }, "more": [] }),
                "Range { from: 1, to: 2 } [] None",
            ),
            (json!({ "level": "anything", "more": [], "speed": "slow" }), "Unknown [] Some(Cheap)"),
        ] {
            let result = dispatcher.call_sync("shown", arguments.to_string());
            assert_eq!(result.unwrap().value(), expect, "{arguments}");
        }
        for (arguments, place) in [
            (json!({ "level": { "hi": 300 }, "more": [] }), "/level/hi"),
            (json!({ "level": { "other": 3 }, "more": [] }), "/level"),
            (json!({ "level": { "High": 1, "hi": 1 }, "more": [] }), "/level"),
            (json!({ "level": "Low", "more": [], "speed": "slowly" }), "/speed"),
        ] {
            let error = dispatcher.call_sync("shown", arguments.to_string()).unwrap_err();
            assert!(error.violations()[0].pointer.starts_with(place), "{arguments}: {error}");
        }
    }
    let found = lint(&catalog![shown].unwrap(), &[]);
    assert!(!found.iter().any(|diagnostic| diagnostic.rule == Rule::UnlistedName), "{found:?}");
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
enum Undecided {
    /// No value of it can be made up.
    #[serde(alias = "encoded")]
    Coded(Code),
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// A field whose aliases cannot be recognized, since no value of it can be made up.
#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Coded {
    #[serde(alias = "number")]
    code: Code,
}

#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
struct Code(#[allow(dead_code)] String);

impl TryFrom<String> for Code {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.ends_with('x') { Ok(Self(text)) } else { Err("not a code".into()) }
    }
}

/// Takes an enum with names that cannot be sent.
#[tool(namespace = "names")]
#[allow(unused_variables)]
fn levels(
    /// The levels.
    levels: Vec<Undecided>,
    /// The code.
    code: Coded,
) {
}

#[test]
fn a_name_that_cannot_be_sent_is_reported_with_its_location() {
    let catalog = catalog![levels].unwrap();
    let found: Vec<(Rule, String, String)> = lint(&catalog, &[Rule::MissingHint, Rule::UnreadExample])
        .into_iter()
        .map(|diagnostic| {
            (diagnostic.rule, diagnostic.location, diagnostic.message.split(',').next().unwrap().to_owned())
        })
        .collect();
    let expected = [
        ("arguments/code", "has the field or alias `number`"),
        ("arguments/levels/0", "has the variant or alias `encoded`"),
        ("arguments/levels/0", "has the variant or alias `Unknown`"),
        ("arguments/levels/0", "has a variant with `#[serde(other)]`"),
    ];
    let expected = expected.map(|(place, message)| (Rule::UnlistedName, place.to_owned(), message.to_owned()));
    assert_eq!(found, expected);
}
