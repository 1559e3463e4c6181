//! Aliases of properties, in the contract and out of it again.

use serde_json::{Value, json};
use toolkit_schema::alias::{remove, with_aliases};

fn file(required: &[&str]) -> Value {
    let mut schema = json!({
        "type": "object",
        "properties": { "path": { "type": "string", "description": "Where." }, "mode": { "type": "integer" } },
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

#[test]
fn exactly_one_name_of_a_required_property_is_given_and_at_most_one_of_another() {
    for (required, n_given) in [(&["path"][..], 1..=1), (&["path", "mode"], 1..=1), (&[], 0..=1), (&["mode"], 0..=1)] {
        let schema = with_aliases(file(required), &[("path", &["file", "name"])]);
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        for given in [&[][..], &["path"], &["file"], &["name"], &["path", "file"], &["file", "name"]] {
            let mut arguments = json!({ "mode": 1 });
            given.iter().for_each(|name| arguments[*name] = json!("a"));
            assert_eq!(validator.is_valid(&arguments), n_given.contains(&given.len()), "{required:?} {given:?}");
            arguments["other"] = json!("a");
            assert!(!validator.is_valid(&arguments), "{arguments}");
        }
        assert!(!validator.is_valid(&json!({ "file": 1, "mode": 1 })), "an alias has the type of its property");
    }
}

#[test]
fn aliases_that_are_added_are_removed_without_a_trace() {
    for required in [&["path"][..], &["mode"], &[]] {
        let plain = file(required);
        let mut schema = with_aliases(plain.clone(), &[("path", &["file", "name"]), ("mode", &["flags"])]);
        let removed: Vec<_> = remove(&mut schema).into_iter().map(|alias| (alias.pointer, alias.name)).collect();
        let alias = |alias: &str, name: &str| (format!("/properties/{alias}"), Some(name.to_owned()));
        assert_eq!(removed, [alias("file", "path"), alias("name", "path"), alias("flags", "mode")]);
        assert_eq!(schema, plain);
    }
}

#[test]
fn an_alias_of_nothing_and_one_that_is_a_property_change_nothing() {
    for aliases in [&[("other", &["file"][..])][..], &[("path", &["mode"])], &[("path", &[])], &[]] {
        assert_eq!(with_aliases(file(&["path"]), aliases), file(&["path"]));
    }
    assert_eq!(with_aliases(json!(true), &[("path", &["file"])]), json!(true));
}
