//! Collecting, validating, sorting and resolving tools.

use serde_json::json;
use toolkit::catalog::{DiagnosticKind, Diagnostics, ExportedName, ExportedNames, Naming};
use toolkit::{Catalog, Dispatcher, Tool, catalog, tool, toolset};

mod math {
    use toolkit::tool;

    /// Adds, as it used to.
    #[tool(namespace = "math", name = "add", version = "1.0.0", aliases = ["plus"], deprecated = "use 2.0.0")]
    pub fn add_1(a: i64) -> i64 {
        a + 1
    }

    /// Adds.
    #[tool(namespace = "math", name = "add", version = "2.0.0", aliases = ["plus", "arithmetic:add"])]
    pub fn add_2(a: i64) -> i64 {
        a + 2
    }

    /// Adds, as it may some day.
    #[tool(namespace = "math", name = "add", version = "v10.0.0-alpha.1")]
    pub fn add_10(a: i64) -> i64 {
        a + 10
    }
}

/// Adds text.
#[tool(namespace = "text")]
fn add(a: String) -> String {
    a
}

/// Stands alone.
#[tool(version = "1.0.0")]
fn alone() {}

struct Notebook;

#[toolset(namespace = "notes")]
impl Notebook {
    /// Counts.
    #[tool(name = "count")]
    fn count(&self) -> usize {
        7
    }
}

mod broken {
    use toolkit::tool;

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[serde(tag = "kind")]
    pub enum Shape {
        Circle { radius: u8 },
    }

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    pub struct Anchor {
        #[schemars(regex(pattern = "["))]
        pub text: String,
    }

    /// Takes an enum whose every variant is an object.
    #[tool(namespace = "broken")]
    pub fn lone_objects(shape: Shape) -> u8 {
        let Shape::Circle { radius } = shape;
        radius
    }

    /// Takes a former name that is taken.
    #[tool(namespace = "broken", aliases = ["math:add"])]
    pub fn greedy() {}

    /// Takes the same former name.
    #[tool(namespace = "broken", aliases = ["math:add"])]
    pub fn greedier() {}

    /// Has examples that do not fit, and a `meta` that is no object.
    #[tool(namespace = "broken", examples = ["{}", "{\"n\": 300}"], meta = "[]")]
    pub fn examples(n: u8) -> u8 {
        n
    }

    /// Has a pattern that does not compile.
    #[tool(namespace = "broken")]
    pub fn pattern(anchor: Anchor) -> usize {
        anchor.text.len()
    }
}

fn all() -> Catalog {
    catalog![math::add_2, math::add_10, math::add_1, add, alone, Notebook::count].unwrap()
}

fn messages(problems: &Diagnostics) -> Vec<String> {
    problems.iter().map(|problem| problem.message().to_owned()).collect()
}

#[test]
fn tools_stand_in_the_order_of_their_ids_and_versions_in_that_of_their_precedence() {
    let ids: Vec<String> = all().iter().map(|tool| tool.id().to_string()).collect();
    let expect = ["alone", "math:add:1.0.0", "math:add:2.0.0", "math:add:10.0.0-alpha.1", "notes:count", "text:add"];
    assert_eq!(ids, expect);
}

#[test]
fn a_name_without_a_version_means_the_highest_release() {
    let catalog = all();
    let check = |name: &str, expect: &str| assert_eq!(catalog.resolve(name).unwrap().id().to_string(), expect);
    check("math:add", "math:add:2.0.0");
    check("math:add:1.0.0", "math:add:1.0.0");
    check("count", "notes:count");
    check("alone", "alone");
    let latest: Vec<String> = catalog.latest().map(|tool| tool.id().to_string()).collect();
    assert_eq!(latest, ["alone", "math:add:2.0.0", "notes:count", "text:add"]);
}

#[test]
fn an_alias_resolves_to_its_tool() {
    let catalog = all();
    for alias in ["plus", "arithmetic:add"] {
        assert_eq!(catalog.resolve(alias).unwrap().id().to_string(), "math:add:2.0.0", "{alias}");
    }
    assert_eq!(catalog.resolve("math:add:1.0.0").unwrap().deprecated(), Some("use 2.0.0"));
}

#[test]
fn an_ambiguous_name_is_an_error_with_all_ids() {
    let error = all().resolve("add").unwrap_err();
    assert_eq!(error.message(), "several tools are named `add`: `math:add:2.0.0`, `text:add`");
}

#[test]
fn an_unknown_name_is_an_error_with_a_suggestion() {
    let catalog = all();
    let check = |name: &str, expect: &str| assert_eq!(catalog.resolve(name).unwrap_err().message(), expect);
    check("math:ad", "no tool is named `math:ad`; did you mean `math:add`?");
    check("weather:forecast", "no tool is named `weather:forecast`");
    let error = Catalog::new([]).unwrap().resolve("add").unwrap_err();
    assert!(
        error.message().starts_with("no tool is named `add`, and the catalog is empty; name the crates"),
        "{error}"
    );
    check("", "no tool is named ``: not a tool id: name must not be empty");
    check(
        "a:b:c:d",
        "no tool is named `a:b:c:d`: not a tool id: has more than two colons; an id is `namespace:name:version`",
    );
}

#[test]
fn an_unknown_name_among_too_many_names_is_an_error_without_a_suggestion() {
    let tool = |nth: usize| Tool::builder(format!("read_{nth}")).namespace("files").build().unwrap();
    let catalog = Catalog::new((0..20_000).map(tool)).unwrap();
    let message = "no tool is named `files:raed_7`; there are too many names to suggest one; search for the tool";
    assert_eq!(catalog.resolve("files:raed_7").unwrap_err().message(), message);
    let names = ExportedNames::from_iter(
        (0..40_000).map(|nth| ExportedName::new(format!("read_{nth}"), "files:read".parse().unwrap())),
    );
    let message = "no tool is named `raed_7`; there are too many names to suggest one; search for the tool";
    assert_eq!(names.unknown("raed_7").message(), message);
}

#[test]
fn every_defect_is_reported_at_once_with_its_location() {
    let problems = catalog![broken::greedy, broken::greedier, math::add_2].unwrap_err();
    assert_eq!(messages(&problems), ["the alias `math:add` is taken", "the alias `math:add` is taken"]);
    let printed = problems.to_string();
    assert!(printed.contains("broken:greedier at toolkit/tests/it/catalog.rs:"), "{printed}");
    assert!(printed.contains("broken:greedy at ") && printed.contains("math:add:2.0.0 at "), "{printed}");
}

#[test]
fn an_enum_whose_every_variant_is_an_object_is_an_argument_struct() {
    let dispatcher = Dispatcher::new(catalog![broken::lone_objects].unwrap()).unwrap();
    let radius = dispatcher.call_sync("lone_objects", r#"{"kind": "Circle", "radius": 3}"#).unwrap();
    assert_eq!(radius.value(), json!(3));
}

#[test]
fn a_check_reports_defects_of_schemas() {
    let problems = catalog![broken::examples, broken::pattern].unwrap().check(Naming::default()).unwrap_err();
    let kinds: Vec<DiagnosticKind> = problems.iter().map(|problem| problem.kind()).collect();
    let (example, meta, schema) =
        (DiagnosticKind::InvalidExample, DiagnosticKind::InvalidMeta, DiagnosticKind::InvalidSchema);
    assert_eq!(kinds.iter().filter(|&&kind| kind == example).count(), 2, "{problems}");
    assert!(kinds.contains(&meta) && kinds.contains(&schema), "{problems}");
    assert!(problems.to_string().contains("example 1 is invalid: /n is required"), "{problems}");
}

#[test]
fn a_valid_catalog_passes_its_check() {
    all().check(Naming::NamespaceName).unwrap();
}

#[test]
fn expectations_report_missing_and_unexpected_tools() {
    let few = || catalog![add, alone].unwrap();
    assert!(few().expect_count(2).is_ok() && few().expect_ids(["alone", "text:add"]).is_ok());
    let message = few().expect_count(3).unwrap_err().to_string();
    assert!(message.starts_with("expected 3 tools, found 2\n  alone at "), "{message}");
    let problems = few().expect_ids(["alone", "text:sub"]).unwrap_err();
    let missing = "`text:sub` is missing; is its crate linked? see `toolkit::link!`";
    assert_eq!(messages(&problems), [missing, "`text:add` is unexpected"]);
}

#[test]
fn an_expected_manifest_names_the_first_line_that_differs() {
    use toolkit::mcp::{Revision, list_tools};

    let few = || catalog![add, alone].unwrap();
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("manifest.json");
    let manifest = format!("{:#}\n", list_tools(&few(), Revision::default(), Naming::Name).unwrap());
    std::fs::write(&path, &manifest).unwrap();
    assert!(few().expect_manifest(&path, Revision::default(), Naming::Name).is_ok());
    std::fs::write(&path, manifest.replace("Adds text.", "Adds.")).unwrap();
    let message = few().expect_manifest(&path, Revision::default(), Naming::Name).unwrap_err().to_string();
    assert!(message.contains(r#"is `"description": "Adds.",`"#), "{message}");
    assert!(message.contains(r#"the catalog has `"description": "Adds text.",`"#), "{message}");
}

#[test]
fn missing_state_is_reported_for_every_tool_at_once() {
    let problems = Dispatcher::new(all()).unwrap_err();
    let expect =
        "missing state of type `it::catalog::Notebook`, which tools borrow; provide it with `DispatcherBuilder::state`";
    assert_eq!(messages(&problems), [expect]);
    assert!(Dispatcher::builder(all()).state(Notebook).build().is_ok());
}

fn read(json: serde_json::Value) -> Tool {
    Tool::from_json(json).unwrap()
}

#[test]
fn two_ids_that_print_the_same_are_one() {
    let split = read(json!({ "name": "x", "namespace": "a", "inputSchema": { "type": "object" } }));
    let joined = read(json!({ "name": "a:x", "inputSchema": { "type": "object" } }));
    let problems = Catalog::new([split, joined]).unwrap_err();
    assert_eq!(messages(&problems), ["two tools have the id `a:x`"]);
}

#[test]
fn messages_shorten_names_and_escape_control_characters() {
    let evil = "\u{202e}\n\u{1b}[31m".repeat(10_000);
    let tool = |name: &str| read(json!({ "name": name, "inputSchema": { "type": "object" }, "aliases": [evil] }));
    for problems in [Catalog::new([tool("a"), tool("b")]), Catalog::new([tool(&evil), tool(&evil)])] {
        let printed = problems.unwrap_err().to_string();
        assert!(printed.len() < 10_000, "{} bytes", printed.len());
        assert!(printed.chars().all(|c| c == '\n' || c == ' ' || c.is_ascii_graphic() || c == '…'), "{printed:?}");
        assert!(!printed.contains("\n\u{1b}"), "{printed:?}");
    }
    let catalog = Catalog::new([read(json!({ "name": "x", "inputSchema": {}, "aliases": ["good\nbad"] }))]).unwrap();
    let error = catalog.resolve("goodbad").unwrap_err();
    assert_eq!(error.message(), "no tool is named `goodbad`; did you mean `good\\nbad`?");
}

#[test]
fn a_very_ambiguous_name_lists_the_first_ids_and_the_number_of_others() {
    let tool = |idx: usize| Tool::builder("x").namespace(format!("n{idx:02}")).build().unwrap();
    let error = Catalog::new((0..20).map(tool)).unwrap().resolve("x").unwrap_err();
    let message = error.message();
    assert!(message.starts_with("several tools are named `x`: `n00:x`, `n01:x`, "), "{message}");
    assert!(message.ends_with(", `n07:x`, 12 more"), "{message}");
}

#[test]
fn an_alias_that_names_another_tool_is_reported_with_the_first_that_has_the_name() {
    let tool = |namespace: &'static str, name: &'static str, alias: Option<&'static str>| {
        Tool::builder(name).namespace(namespace).aliases(alias).build().unwrap()
    };
    for (alias, tools, concerned) in [
        ("x", vec![tool("a", "x", None), tool("b", "x", None), tool("c", "y", Some("x"))], ["c:y", "a:x"]),
        ("x", vec![tool("a", "x", None), tool("b", "x", Some("x"))], ["b:x", "a:x"]),
        ("a:x", vec![tool("a", "x", None), tool("c", "y", Some("a:x"))], ["c:y", "a:x"]),
        ("z", vec![tool("a", "x", Some("z")), tool("c", "y", Some("z"))], ["c:y", "a:x"]),
    ] {
        let problems = Catalog::new(tools).unwrap_err();
        assert_eq!(messages(&problems), [format!("the alias `{alias}` is taken")]);
        let ids: Vec<&str> = problems.iter().flat_map(|problem| problem.tools()).map(|(id, _)| id).collect();
        assert_eq!(ids, concerned, "{alias}");
    }
    // Its own bare name is another way to write it.
    assert!(Catalog::new([tool("a", "x", Some("x"))]).is_ok());
}

#[test]
fn equal_versions_are_rejected() {
    let tool = |version: Option<&'static str>| {
        let tool = Tool::builder("x").namespace("a");
        let tool = if let Some(version) = version { tool.version(version) } else { tool };
        tool.build().unwrap()
    };
    let problems = Catalog::new([tool(Some("1.0.0")), tool(Some("v1.0.0"))]).unwrap_err();
    assert_eq!(messages(&problems), ["`1.0.0` and `v1.0.0` are the same version; remove one or change its version"]);
    let problems = Catalog::new([tool(Some("1.0.0")), tool(None), tool(Some("2.0.0"))]).unwrap_err();
    let expect = "one has no version, so its id would resolve to the highest version of the other; give both a version";
    assert_eq!(messages(&problems), [expect]);
    assert_eq!(Catalog::new([tool(Some("1.0.0")), tool(Some("2.0.0"))]).unwrap().len(), 2);
}

#[test]
fn a_tool_without_hints_counts_as_destructive_and_may_not_be_repeated() {
    let tool = |builder: fn(toolkit::tool::ToolBuilder) -> toolkit::tool::ToolBuilder| {
        let tool = builder(Tool::builder("t")).build().unwrap();
        (tool.annotations().may_be_destructive(), tool.annotations().may_repeat())
    };
    assert_eq!(tool(|tool| tool), (true, false));
    assert_eq!(tool(|tool| tool.destructive(true)), (true, false));
    assert_eq!(tool(|tool| tool.destructive(false)), (false, false));
    assert_eq!(tool(|tool| tool.idempotent(true)), (true, true));
    assert_eq!(tool(|tool| tool.read_only(true)), (false, true));
    assert_eq!(tool(|tool| tool.read_only(false).idempotent(false)), (true, false));
}
