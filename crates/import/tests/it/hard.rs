//! Schemas that types cannot express completely: declared properties are fields, and unsupported schemas are JSON.

use serde_json::{Value, json};

toolkit::import!(mod hard = "../../tests/manifests/hard.json");

fn json(args: &impl serde::Serialize) -> Value {
    serde_json::to_value(args).unwrap()
}

#[test]
fn properties_of_branches_are_optional() {
    let args = hard::either::Args::default().kind("x").a("1").b(2).same("s").other(json!([]));
    assert_eq!(json(&args), json!({ "kind": "x", "a": "1", "b": 2, "same": "s", "other": [] }));
    let args =
        hard::conditional::Args::default().then("t").else_(1).dependent("d").nested(2).far("f").further(json!(3));
    let expected = json!({ "then": "t", "else": 1, "dependent": "d", "nested": 2, "far": "f", "further": 3 });
    assert_eq!(json(&args), expected);
    // A closed object ignores the properties of its branches.
    let hard::closed::Args { a: _ } = hard::closed::Args::default();
}

#[test]
fn properties_of_all_parts_are_fields() {
    let args = hard::nine::Args::default().a("1").b("2").c("3").d("4").e("5").f("6").g("7").h("8").i("9");
    assert_eq!(json(&args).as_object().unwrap().len(), 9);
}

#[test]
fn tools_with_unsupported_schemas_have_arguments() {
    let _: [hard::patterned::Args; 2] = ["{}".into(), hard::one_of_two::Args::from("{}")];
    // Exponentially growing references are not expanded.
    let _: hard::doubling::Args = toolkit::Arguments::from("{}");
    let _: &toolkit::import::ImportedTool<(), toolkit::RunResult> = &hard::nothing::TOOL;
    let _: &toolkit::import::ImportedTool<(), toolkit::RunResult> = &hard::open_result::TOOL;
    assert_eq!(hard::IMPORT.plainer(), ["doubling", "one_of_two", "open_result", "patterned"]);
}

#[test]
fn a_percent_encoded_reference_is_resolved() {
    let args = hard::encoded::Args::default().a(hard::encoded::ArgsAb::new("d"));
    assert_eq!(json(&args), json!({ "a": { "c": "d" } }));
}

#[test]
fn a_keyword_of_the_latest_edition_ends_in_an_underscore() {
    assert_eq!(hard::gen_::TOOL.id(), "hard:gen");
    let args = hard::gen_::Args::new(1);
    assert_eq!((args.gen_, json(&args)), (1, json!({ "gen": 1 })));
}
