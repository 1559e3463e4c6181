//! Generated types, and validation of their values with the schemas.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};
use toolkit::Manifest;

use super::{github, math, odd};

#[test]
fn names_are_converted_to_rust_identifiers() {
    assert_eq!(odd::IMPORT.server(), "odd");
    assert_eq!(odd::match_::TOOL.id(), "odd:match");
    assert_eq!(odd::import::TOOL.id(), "odd:IMPORT");
    assert_eq!(odd::_3d_print_now::TOOL.id(), "odd:3d.print/now");
    assert_eq!(odd::get_user_by_id::TOOL.id(), "odd:getUserByID");
    assert_eq!(odd::tool__::TOOL.id(), "odd:日本");
}

#[test]
fn the_tools_of_one_server_are_imported_from_a_lock() {
    assert_eq!(math::IMPORT.tools(), ["add"]);
    assert_eq!(math::add::TOOL.id(), "math:add");
}

#[test]
fn unsupported_schemas_have_simpler_types() {
    assert_eq!(odd::IMPORT.plainer(), ["anything", "plus_and_minus.sort"]);
    assert_eq!(github::IMPORT.plainer(), [""; 0]);
    let _: odd::anything::Args = toolkit::Arguments::from(r#"{"a": 1}"#);
    // A field with the name of the constructor has no setter.
    let args = odd::plus_and_minus::Args { new: Some(1), ..Default::default() };
    assert_eq!(json(&args.sort("reactions--1")), json!({ "new": 1, "sort": "reactions--1" }));
}

#[test]
fn choices_are_enums() {
    use odd::choose::{Args, ArgsShape};

    let args = Args::new("anything", Value::Null).at(5).shape(ArgsShape::Circle { radius: 1.5 });
    let expected = json!({ "any": "anything", "missing": null, "at": 5, "shape": { "kind": "circle", "radius": 1.5 } });
    assert_eq!(json(&args), expected);
}

#[test]
fn recursive_types_are_boxed() {
    use odd::tree::{Args, ArgsRoot};

    let args = Args::new(ArgsRoot::new("a").children([ArgsRoot::new("b")]));
    assert_eq!(json(&args), json!({ "root": { "name": "a", "children": [{ "name": "b" }] } }));
}

#[test]
fn fields_are_sent_in_the_order_of_the_manifest() {
    let args = github::create_issue::Args::new("o", "r", "t").assignee("a").body("b");
    let sent = serde_json::to_string(&args).unwrap();
    assert_eq!(sent, r#"{"owner":"o","repo":"r","title":"t","body":"b","assignee":"a"}"#);
    let args = odd::plus_and_minus::Args { new: Some(1), ..Default::default() }.sort("reactions--1");
    assert_eq!(serde_json::to_string(&args).unwrap(), r#"{"sort":"reactions--1","new":1}"#);
}

#[test]
fn parts_of_a_schema_are_one_struct() {
    assert_eq!(json(&odd::together::Args::new(36, "Ada")), json!({ "age": 36, "name": "Ada" }));
}

#[test]
fn additional_properties_are_a_map() {
    let args = odd::open::Args { extra: BTreeMap::from([("n".to_owned(), 1)]), ..Default::default() };
    assert_eq!(json(&args.a("x")), json!({ "a": "x", "n": 1 }));
}

#[test]
fn an_empty_list_is_not_an_absent_one() {
    use github::create_issue::Args;

    let args = Args::new("o", "r", "t");
    assert_eq!(json(&args), json!({ "owner": "o", "repo": "r", "title": "t" }));
    let none: [&str; 0] = [];
    assert_eq!(json(&args.labels(none))["labels"], json!([]));
}

proptest! {
    #[test]
    fn an_input_schema_accepts_the_values_of_its_type(
        title in ".+", body in proptest::option::of(".*"), labels in proptest::option::of(proptest::collection::vec(".*", 0..3)),
        kind in 0..3_usize, date in proptest::option::of(("[0-9]{4}", any::<bool>())),
    ) {
        use github::create_issue::{Args, ArgsDue, ArgsType};

        let type_ = [None, Some(ArgsType::Bug), Some(ArgsType::Feature)][kind];
        let due = date.map(|(year, hard)| ArgsDue::new(format!("{year}-01-01")).hard(hard));
        let args = Args { body, labels, type_, due, ..Args::new("octocat", "hello", title) };
        accepts(include_str!("../../../../tests/manifests/github.json"), "create_issue", &args)?;
    }

    #[test]
    fn an_unusual_input_schema_accepts_the_values_of_its_type(
        text in ".*", number in any::<i64>(), which in 0..3, radius in -1e9..1e9, tags in proptest::collection::btree_map(".*", ".*", 0..3),
    ) {
        use odd::choose::{Args, ArgsShape};

        let args = Args::new(json!({ "a": [text.clone()] }), number);
        let args = match which {
            0 => args.at(number).shape(ArgsShape::Circle { radius }),
            1 => args.at(text).shape(ArgsShape::Square { side: radius }),
            _ => args,
        };
        let args = args.tags(BTreeMap::from_iter(tags));
        accepts(include_str!("../../../../tests/manifests/odd.json"), "choose", &args)?;
    }
}

/// Validates the arguments with the input schema of a tool.
fn accepts(manifest: &str, tool: &str, args: &impl Serialize) -> Result<(), TestCaseError> {
    let manifest = Manifest::from_mcp_json(manifest).unwrap();
    let tool = manifest.tools().find(|listed| listed.name() == tool).unwrap();
    let args = json(args);
    tool.input().validate(&args).map_err(|violations| TestCaseError::fail(format!("{args}: {violations}")))
}

fn json(args: &impl Serialize) -> Value {
    serde_json::to_value(args).unwrap()
}
