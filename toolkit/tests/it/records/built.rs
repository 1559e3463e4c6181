//! Tools that are built by hand.

use std::time::Duration;

use toolkit::catalog::{DiagnosticKind, Diagnostics};

use super::*;

/// Creates a tool with every field.
pub(crate) fn full() -> Tool {
    Tool::builder("create_event")
        .namespace("calendar")
        .version("v1.2.0")
        .title("Create an event")
        .description("Creates an event.\n\nSends no invitations.")
        .category("planning")
        .tags(["Time  Table", "calendar", "time table"])
        .annotations(Annotations::NONE.with_title("Event"))
        .read_only(false)
        .destructive(false)
        .idempotent(false)
        .open_world(true)
        .aliases(["calendar:new_event"])
        .deprecated("use `plan`")
        .icons([Icon::new("https://example.com/a.png".into()).with_sizes(["48x48"])])
        .meta(json!({ "com.example/team": "time" }).as_object().unwrap().clone())
        .examples([json!({ "title": "Lunch" })])
        .requirements(requirements())
        .timeout(Duration::from_millis(1500))
        .input(json!({ "type": "object", "properties": { "title": { "type": "string" } }, "required": ["title"] }))
        .output(json!({ "type": "object", "properties": { "id": { "type": "integer" } } }))
        .build()
        .unwrap()
}

fn requirements() -> Requirements {
    serde_json::from_value(json!({
        "authorization": [{ "id": "google", "oauth2": { "scopes": ["calendar"] } }],
        "secrets": [{ "id": "API_KEY" }],
        "user_id": true,
    }))
    .unwrap()
}

#[test]
fn a_built_tool_has_every_field_that_was_set() {
    let tool = full();
    assert_eq!(tool.id().to_string(), "calendar:create_event:v1.2.0");
    assert_eq!(tool.id().semver().unwrap().to_string(), "1.2.0");
    assert_eq!(tool.summary(), "Creates an event.");
    assert_eq!(tool.tags(), ["time-table", "calendar"]);
    let hints = tool.annotations();
    assert_eq!((hints.read_only, hints.destructive), (Some(false), Some(false)));
    assert_eq!((hints.idempotent, hints.open_world), (Some(false), Some(true)));
    assert_eq!(hints.title.as_deref(), Some("Event"));
    assert_eq!(tool.location(), None);
    tool.validate_input(&json!({ "title": "Lunch" })).unwrap();
    assert_eq!(tool.validate_input(&json!({})).unwrap_err().to_string(), "/title is required");
    assert_eq!(
        tool.validate_output(&json!({ "id": "x" })).unwrap_err().to_string(),
        "/id must be an integer, got \"x\""
    );
}

#[test]
fn a_tool_without_an_output_schema_may_return_anything() {
    let tool = Tool::builder("now").build().unwrap();
    tool.validate_output(&json!([1])).unwrap();
    tool.validate_input(&json!({})).unwrap();
    tool.validate_input(&json!({ "zone": "UTC" })).unwrap_err();
}

#[derive(schemars::JsonSchema)]
struct Query {
    /// What to look for.
    #[schemars(length(min = 1))]
    text: String,
    limit: Option<u8>,
}

#[test]
fn schemas_can_come_from_rust_types() {
    let tool = Tool::builder("search").input_of::<Query>().output_of::<Vec<String>>().build().unwrap();
    tool.validate_input(&json!({ "text": "x", "limit": null })).unwrap();
    assert_eq!(tool.validate_input(&json!({ "text": "", "limit": 256, "page": 1 })).unwrap_err().len(), 3);
    assert_eq!(tool.validate_output(&json!(["a", 1])).unwrap_err()[0].pointer, "/1");
    let query = Query { text: String::new(), limit: None };
    assert_eq!((query.text.len(), query.limit), (0, None));
}

#[test]
fn the_name_for_people_is_the_title_or_that_of_the_annotations_or_the_name() {
    let named = |title: Option<&'static str>, annotated: Option<&'static str>| {
        let annotations = annotated.map_or(Annotations::NONE, |title| Annotations::NONE.with_title(title));
        let tool = Tool::builder("name").annotations(annotations);
        let tool = title.into_iter().fold(tool, |tool, title| tool.title(title));
        tool.build().unwrap().display_name().to_owned()
    };
    assert_eq!(named(Some("title"), Some("annotated")), "title");
    assert_eq!(named(None, Some("annotated")), "annotated");
    assert_eq!(named(None, None), "name");
}

#[test]
fn every_defect_of_a_built_tool_is_reported_at_once() {
    let problems: Diagnostics = Tool::builder("a b")
        .namespace("x:y")
        .version("one")
        .examples([json!({ "n": "1" }), json!({})])
        .meta(json!({ META_KEY: {} }).as_object().unwrap().clone())
        .input(json!({ "properties": { "n": { "type": "integer" } } }))
        .output(json!({ "type": "any" }))
        .build()
        .unwrap_err();
    let kinds: Vec<DiagnosticKind> = problems.iter().map(|problem| problem.kind()).collect();
    assert_eq!(
        kinds,
        [
            DiagnosticKind::InvalidName,
            DiagnosticKind::InvalidName,
            DiagnosticKind::InvalidVersion,
            DiagnosticKind::InvalidSchema,
            DiagnosticKind::NotAnObject,
            DiagnosticKind::InvalidExample,
            DiagnosticKind::InvalidMeta,
        ]
    );
    let text = problems.to_string();
    assert!(text.starts_with("the name must not contain ` `; use letters, digits, `_`, `-` and `.`\n  x:y:a b:one\n"));
}

#[test]
fn a_clone_is_equal_and_shares_no_mutable_data() {
    let tool = full();
    let copy = tool.clone();
    assert_eq!(copy, tool);
    drop(tool);
    copy.validate_input(&json!({ "title": "x" })).unwrap();
    let elsewhere = copy.in_namespace(Namespace::new("other").unwrap());
    assert_eq!(elsewhere.id().to_string(), "other:create_event:v1.2.0");
    let mut without_aliases = copy.metadata().clone();
    without_aliases.aliases.clear();
    assert_eq!(*elsewhere.metadata(), without_aliases);
    assert_ne!(elsewhere, copy);
}

#[test]
fn a_tool_has_the_metadata_of_its_function() {
    let metadata: &Metadata = &full().metadata().clone();
    assert_eq!(metadata.meta, Some(Literal::Value(json!({ "com.example/team": "time" }))));
    assert_eq!(serde_json::from_value::<Metadata>(serde_json::to_value(metadata).unwrap()).unwrap(), *metadata);
}

#[test]
fn a_time_limit_is_what_is_published() {
    for (given, kept) in [
        (Duration::from_micros(1), Duration::from_millis(1)),
        (Duration::from_micros(1500), Duration::from_millis(2)),
        (Duration::from_secs(3), Duration::from_secs(3)),
        (Duration::MAX, Duration::from_millis(u64::MAX)),
    ] {
        let tool = Tool::builder("x").timeout(given).build().unwrap();
        assert_eq!(tool.timeout(), Some(kept));
        assert_eq!(Tool::from_json(tool.to_json()).unwrap(), tool);
    }
}

#[test]
fn an_alias_of_a_built_tool_is_a_name_or_an_id() {
    let build = |alias: &'static str| Tool::builder("x").aliases([alias]).build();
    let problems = build("a b").unwrap_err();
    assert_eq!(problems.iter().map(|problem| problem.kind()).collect::<Vec<_>>(), [DiagnosticKind::InvalidName]);
    build("ns:x:1.0.0").unwrap();
}

/// Returns the sales.
#[toolkit::tool(ui = "ui://sales/chart.html", meta = r#" { "com.example/owner": "sales" } "#)]
fn sales() -> u64 {
    3
}

/// Returns the costs.
#[toolkit::tool(ui = "ui://costs/chart.html")]
fn costs() -> u64 {
    3
}

#[test]
fn a_user_interface_is_a_part_of_meta() {
    let catalog = toolkit::catalog![sales, costs].unwrap();
    let meta = |tool: &str| catalog.resolve(tool).unwrap().meta();
    let owner = json!({ "ui": { "resourceUri": "ui://sales/chart.html" }, "com.example/owner": "sales" });
    assert_eq!(meta("sales"), Some(owner));
    assert_eq!(meta("costs"), Some(json!({ "ui": { "resourceUri": "ui://costs/chart.html" } })));
}
