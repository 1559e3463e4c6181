//! Schemas of which a type cannot say all: what they name has a field, and what is too much is JSON.

use serde_json::{Value, json};

toolkit::import!(mod hard = "manifests/hard.json");

fn json(args: &impl serde::Serialize) -> Value {
    serde_json::to_value(args).unwrap()
}

#[test]
fn what_takes_something_has_arguments() {
    let _: [hard::patterned::Args; 2] = ["{}".into(), hard::one_of_two::Args::from("{}")];
    let _: &toolkit::import::ImportedTool<(), toolkit::RunResult> = &hard::nothing::TOOL;
    let _: &toolkit::import::ImportedTool<(), toolkit::RunResult> = &hard::open_result::TOOL;
    assert_eq!(hard::IMPORT.plainer(), ["one_of_two", "open_result", "patterned"]);
}

#[test]
fn a_keyword_of_the_latest_edition_ends_in_an_underscore() {
    assert_eq!(hard::gen_::TOOL.id(), "hard:gen");
    let args = hard::gen_::Args::new(1);
    assert_eq!((args.gen_, json(&args)), (1, json!({ "gen": 1 })));
}
