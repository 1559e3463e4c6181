//! Functions of this program and parsed tools in one catalog.

use toolkit::call::{ErrorKind, Stage};
use toolkit::catalog::DiagnosticKind;
use toolkit::version::parse_req;
use toolkit::{Catalog, Dispatcher, tool};

use super::*;

/// Doubles a number.
#[tool(namespace = "mixed")]
fn double(n: i64) -> i64 {
    2 * n
}

fn described(namespace: &'static str, name: &'static str, version: &'static str) -> Tool {
    Tool::builder(name).namespace(namespace).version(version).build().unwrap()
}

#[test]
fn a_tool_that_is_only_described_is_found_and_not_run() {
    let catalog = toolkit::catalog![double].unwrap().with([described("far", "away", "1.0.0")]).unwrap();
    let dispatcher = Dispatcher::new(catalog).unwrap();
    assert_eq!(dispatcher.call_sync("double", r#"{"n": 2}"#).unwrap().value(), 4);
    let error = dispatcher.call_sync("away", "{}").unwrap_err();
    assert_eq!((error.kind(), error.stage()), (ErrorKind::NoBackend, Stage::Select));
    assert_eq!(
        error.to_string(),
        "far:away:1.0.0: no backend runs this tool, and it is not a function of this program"
    );
}

#[test]
fn duplicate_ids_are_rejected() {
    let read = Tool::from_json(json!({ "name": "double", "namespace": "mixed", "inputSchema": { "type": "object" } }));
    let problems = toolkit::catalog![double].unwrap().with([read.unwrap()]).unwrap_err();
    assert_eq!(problems.iter().map(|problem| problem.kind()).collect::<Vec<_>>(), [DiagnosticKind::DuplicateId]);
    let text = problems.to_string();
    assert!(text.starts_with("two tools have the id `mixed:double`\n  mixed:double\n  mixed:double at "), "{text}");

    let twice = [described("a", "b", "1.0.0"), described("a", "b", "1.0.0")];
    assert!(Catalog::new(twice).is_err());
    // Without a namespace, the version is not part of the id.
    let twice = ["1.0.0", "2.0.0"].map(|version| Tool::builder("b").version(version).build().unwrap());
    assert!(Catalog::new(twice).is_err());
}

#[test]
fn the_highest_version_that_meets_a_requirement_is_found() {
    let versions = ["0.9.0", "1.0.0", "1.4.2", "1.5.0-rc.1", "2.0.0"];
    let catalog = Catalog::new(versions.map(|version| described("a", "b", version))).unwrap();
    let found = |req: &str| {
        let tool = catalog.matching("a:b", &parse_req(req).unwrap());
        tool.map(|tool| tool.id().version().unwrap_or_default().to_owned()).map_err(|error| error.to_string())
    };
    assert_eq!(found("^1"), Ok("1.4.2".to_owned()));
    assert_eq!(found("*"), Ok("2.0.0".to_owned()));
    assert_eq!(found("^1.5.0-rc.1"), Ok("1.5.0-rc.1".to_owned()));
    assert_eq!(found("<1, >=0.5"), Ok("0.9.0".to_owned()));
    assert_eq!(
        found("^3"),
        Err("no version of `a:b` meets `^3`; available: 0.9.0, 1.0.0, 1.4.2, 1.5.0-rc.1, 2.0.0".to_owned())
    );
    assert_eq!(catalog.matching("b", &parse_req("^1").unwrap()).unwrap().id().to_string(), "a:b:1.4.2");
    assert!(catalog.matching("c", &parse_req("^1").unwrap()).is_err());
}

#[test]
fn a_tool_without_a_version_meets_no_requirement_and_one_with_many_names_the_first() {
    let wanted = toolkit::version::parse_req("^9").unwrap();
    let message = |versions: usize| {
        let tool = |minor: usize| Tool::builder("b").namespace("a").version(format!("1.{minor}.0")).build().unwrap();
        let unversioned = || Tool::builder("b").namespace("a").build().unwrap();
        let tools: Vec<Tool> = if versions == 0 { vec![unversioned()] } else { (0..versions).map(tool).collect() };
        let catalog = Catalog::new(tools).unwrap();
        catalog.matching("a:b", &wanted).unwrap_err().message().to_owned()
    };
    assert_eq!(message(0), "no version of `a:b` meets `^9`; the tool has no version");
    assert!(message(20).ends_with(
        "; available: 1.0.0, 1.1.0, 1.2.0, 1.3.0, 1.4.0, 1.5.0, 1.6.0, 1.7.0, 1.8.0, 1.9.0, \
                                   1.10.0, 1.11.0, 1.12.0, 1.13.0, 1.14.0, 1.15.0, …"
    ));
}

#[test]
fn a_version_that_is_none_is_no_release() {
    let read = |version: &str| {
        let json = json!({ "name": "x", "namespace": "a", "version": version, "inputSchema": { "type": "object" } });
        Tool::from_json(json).unwrap()
    };
    let catalog = Catalog::new(["garbage", "2.0.0-rc.1", "1.0.0"].map(read)).unwrap();
    assert_eq!(catalog.resolve("a:x").unwrap().id().version(), Some("1.0.0"));
    let catalog = Catalog::new(["garbage", "2.0.0-rc.1"].map(read)).unwrap();
    assert_eq!(catalog.resolve("a:x").unwrap().id().version(), Some("2.0.0-rc.1"));
}
