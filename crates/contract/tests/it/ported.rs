//! Signatures of public servers: the schema and the type of each agree, and each accepts its own example.

mod tools;

use serde_json::Value;
use toolkit::call::ErrorKind;
use toolkit::catalog::Naming;
use toolkit::{Catalog, Dispatcher, Tool};
use toolkit_contract::calls;
use toolkit_contract::lint::{Level, lint};

fn ported() -> Dispatcher {
    let tools = Catalog::linked().unwrap();
    let ported = tools.iter().filter(|tool| tool.id().namespace() == Some("ported")).cloned();
    Dispatcher::new(Catalog::new(ported).unwrap()).unwrap()
}

#[test]
fn each_ported_tool_compiles_in_its_own_shape_and_passes_the_checks() {
    let dispatcher = ported();
    assert_eq!(dispatcher.catalog().len(), 60);
    dispatcher.catalog().check(Naming::default()).unwrap();
    let errors = lint(dispatcher.catalog().iter(), &[]).into_iter().filter(|found| found.level == Level::Error);
    assert_eq!(errors.map(|found| found.to_string()).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn each_ported_tool_accepts_its_own_example() {
    let dispatcher = ported();
    for tool in dispatcher.catalog().iter() {
        let example = tool.input().example().unwrap_or_else(|| panic!("{} has an example", tool.id()));
        let called = dispatcher.call_sync(&tool.id().to_string(), example.to_string());
        assert!(called.is_ok(), "{}: {example}: {called:?}", tool.id());
    }
}

#[test]
fn the_type_of_each_ported_tool_accepts_what_its_schema_accepts() {
    let report = calls(&ported()).per_tool(50).run().unwrap();
    let found: Vec<String> = report.diagnostics().iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{found:#?}");
    assert!(report.untested().is_empty(), "{:?}", report.untested());
}

#[test]
fn no_message_about_a_ported_tool_suggests_the_name_that_it_rejects() {
    let dispatcher = ported();
    for tool in dispatcher.catalog().iter() {
        for name in names_near(tool) {
            let mut arguments = tool.input().example().unwrap();
            arguments[&name] = Value::Bool(true);
            let Err(error) = dispatcher.call_sync(&tool.id().to_string(), arguments.to_string()) else {
                // A tool for any labels accepts this one.
                assert_eq!(tool.name(), "label");
                continue;
            };
            assert_eq!(error.kind(), ErrorKind::InvalidArguments, "{}: {error}", tool.id());
            for violation in error.violations() {
                let message = violation.to_string();
                assert!(!message.contains(&format!("did you mean `{name}`")), "{}: {message}", tool.id());
            }
        }
    }
}

/// Returns misspellings of the arguments of a tool.
fn names_near(tool: &Tool) -> Vec<String> {
    let properties = tool.input().as_value()["properties"].as_object().cloned().unwrap_or_default();
    properties.keys().map(|name| format!("{name}s")).filter(|name| !properties.contains_key(name)).collect()
}
