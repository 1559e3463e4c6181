//! Tests of the catalog as a whole.

use serde_json::{Value, json};
use toolkit::Catalog;
use toolkit::catalog::Naming;

use super::common::Host;

#[test]
fn catalogue_is_sound() {
    let catalog = Catalog::linked().unwrap();
    catalog.check(Naming::NamespaceName).unwrap();
    catalog.check(Naming::Name).unwrap();
    assert!(catalog.len() >= 28, "{} tools", catalog.len());
}

#[test]
fn every_tool_says_what_it_does_to_the_world() {
    for tool in &Catalog::linked().unwrap() {
        let annotations = tool.annotations();
        assert!(annotations.read_only == Some(true) || annotations.destructive == Some(true), "{}", tool.id());
        assert!(tool.category().is_some(), "{}", tool.id());
    }
}

#[test]
fn every_argument_and_result_is_documented() {
    for tool in &Catalog::linked().unwrap() {
        undocumented(&tool.id().to_string(), tool.input().as_value());
        if let Some(output) = tool.output() {
            undocumented(&tool.id().to_string(), output.as_value());
        }
    }
}

/// Fails on a property without a description, anywhere in a schema.
fn undocumented(tool: &str, schema: &Value) {
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        for (name, property) in properties {
            let described = ["description", "const"].iter().any(|key| property.get(key).is_some())
                // A variant with one field is described as a whole.
                || schema.get("description").is_some() && properties.len() == 1;
            assert!(described, "{tool}: `{name}` in {schema}");
        }
    }
    match schema {
        Value::Object(object) => object.values().for_each(|value| undocumented(tool, value)),
        Value::Array(items) => items.iter().for_each(|value| undocumented(tool, value)),
        _ => {}
    }
}

#[test]
fn every_example_runs() {
    let host = Host::read_only();
    let mut n_examples = 0;
    for tool in host.dispatcher.catalog() {
        for example in tool.examples() {
            n_examples += 1;
            if tool.id().namespace() != Some("git") {
                host.call(&tool.id().to_string(), example);
            }
        }
    }
    assert!(n_examples >= 12, "{n_examples}");
}

#[test]
fn former_names_answer() {
    let host = Host::read_only();
    assert_eq!(host.call("text:wc", json!({"text": "a b"}))["words"], 2);
    assert_eq!(host.call("math:statistics", json!({"numbers": [1, 3]}))["mean"], 2.0);
    assert_eq!(host.call("mean", json!({"numbers": [1, 3]})), 2.0);
    let deprecated = host.dispatcher.catalog().get("math:mean").unwrap().deprecated();
    assert_eq!(deprecated, Some("use `math:describe_numbers`"));
}

#[test]
fn a_tool_is_still_a_function() {
    assert_eq!(toolkit_examples::math::add(2, 3).unwrap(), 5);
    assert_eq!(toolkit_examples::text::count_text("a\nb".to_owned()).lines, 2);
}

#[test]
fn no_caller_is_broken_unannounced() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tools.lock.json");
    toolkit_contract::expect_lock(&Catalog::linked().unwrap(), file).unwrap();
}
