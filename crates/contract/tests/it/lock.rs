//! Changes between two catalogs, and their effect on callers.

mod files;
mod instances;
#[allow(dead_code, reason = "shared with the tests of the plan, which use all of it")]
mod names;

use std::time::Duration;

use serde_json::{Value, json};
use toolkit::tool::{Requirements, TaskSupport};
use toolkit::{Catalog, Tool};
use toolkit_contract::{Comparison, Lock, Part, Verdict, expect_lock};

/// Creates a lock of one tool with these schemas.
fn lock(version: &'static str, input: &Value, output: Option<&Value>) -> Lock {
    let tool = Tool::builder("tool").namespace("n").version(version).description("Does it.").input(input.clone());
    let tool = match output {
        Some(output) => tool.output(output.clone()),
        None => tool,
    };
    Lock::from_catalog(&Catalog::new([tool.build().unwrap()]).unwrap())
}

fn inputs(old: &Value, new: &Value) -> Comparison {
    lock("1.0.0", old, None).compare(&lock("1.0.0", new, None))
}

/// Creates the schema of an object with these properties, some of them required.
fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn told(comparison: &Comparison) -> Vec<(Verdict, String)> {
    comparison.changes().map(|change| (change.verdict, format!("{} {}", change.pointer, change.what))).collect()
}

#[test]
fn a_breaking_change_has_an_example_that_was_accepted_before() {
    let comparison = inputs(
        &object(json!({ "n": { "type": "integer" } }), &["n"]),
        &object(json!({ "n": { "type": "integer", "minimum": 10 } }), &["n"]),
    );
    let change = comparison.changes().next().unwrap();
    let example = change.example.as_ref().unwrap();
    assert!(example["n"].as_i64().unwrap() < 10, "{example}");
    assert!(
        change
            .to_string()
            .starts_with("breaking: n:tool:1.0.0 input /properties/n rejects values that it accepted, for example {")
    );
    assert!(change.to_string().ends_with("; requires version 2.0.0"), "{change}");
}

#[test]
fn output_schemas_are_compared_in_the_other_direction() {
    let open = |properties: Value, required: &[&str]| json!({ "type": "object", "properties": properties, "required": required });
    let input = json!({ "type": "object" });
    let outputs = |old: Option<&Value>, new: Option<&Value>| {
        let comparison = lock("1.0.0", &input, old).compare(&lock("1.0.0", &input, new));
        assert!(comparison.changes().all(|change| change.part == Part::Output));
        told(&comparison)
    };
    let a = open(json!({ "a": { "type": "integer" } }), &["a"]);
    let said = |verdict, text: &str| vec![(verdict, text.to_owned())];
    let optional = open(json!({ "a": { "type": "integer" } }), &[]);
    assert_eq!(outputs(Some(&a), Some(&optional)), said(Verdict::Breaking, "/properties/a is no longer guaranteed"));
    assert_eq!(outputs(Some(&optional), Some(&a)), said(Verdict::Additive, "/properties/a is guaranteed now"));
    let more = open(json!({ "a": { "type": "integer" }, "b": { "type": "string" } }), &["a"]);
    assert_eq!(outputs(Some(&a), Some(&more)), said(Verdict::Additive, "/properties/b is new"));
    let narrower = open(json!({ "a": { "type": "integer", "minimum": 0 } }), &["a"]);
    assert_eq!(outputs(Some(&a), Some(&narrower)), said(Verdict::Additive, "/properties/a guarantees more"));
    assert_eq!(
        outputs(Some(&narrower), Some(&a)),
        said(Verdict::Breaking, "/properties/a allows values that it did not allow before")
    );
    assert_eq!(outputs(Some(&a), None), said(Verdict::Breaking, " is no longer guaranteed"));
    assert_eq!(outputs(None, Some(&a)), said(Verdict::Additive, " is guaranteed now"));
}

#[test]
fn only_a_version_announces_a_breaking_change() {
    let (old, new) = (object(json!({}), &[]), object(json!({ "n": { "type": "integer" } }), &["n"]));
    for (from, to, needs) in [
        ("1.2.3", "1.2.3", Some("2.0.0")),
        ("1.2.3", "1.3.0", Some("2.0.0")),
        ("1.2.3", "2.0.0", None),
        ("0.2.3", "0.2.4", Some("0.3.0")),
        ("0.2.3", "0.3.0", None),
    ] {
        let comparison = lock(from, &old, None).compare(&lock(to, &new, None));
        let change = comparison.changes().next().unwrap();
        assert_eq!(change.needs.as_deref(), needs, "{from} to {to}");
        assert_eq!(comparison.unannounced().count(), usize::from(needs.is_some()), "{from} to {to}");
    }
    let wider = object(json!({ "n": { "type": "number" } }), &["n"]);
    for (from, to, needs) in [
        ("1.2.3", "1.2.3", Some("1.3.0")),
        ("1.2.3", "1.2.4", Some("1.3.0")),
        ("1.2.3", "1.3.0", None),
        ("0.2.3", "0.2.3", Some("0.2.4")),
        ("0.2.3", "0.2.4", None),
    ] {
        let additive = lock(from, &new, None).compare(&lock(to, &wider, None));
        assert_eq!(additive.changes().next().unwrap().needs.as_deref(), needs, "{from} to {to}");
        assert_eq!(additive.unannounced().count(), 0, "an addition breaks nobody");
    }
}

#[test]
fn added_removed_and_renamed_tools_are_reported() {
    let tool =
        |name: &'static str| Tool::builder(name).namespace("n").description("…").input(json!({ "type": "object" }));
    let of = |tools: Vec<toolkit::tool::ToolBuilder>| {
        Lock::from_catalog(&Catalog::new(tools.into_iter().map(|tool| tool.build().unwrap())).unwrap())
    };
    let (a, ab) = (of(vec![tool("a")]), of(vec![tool("a"), tool("b")]));
    assert_eq!(told(&a.compare(&ab)), [(Verdict::Additive, " is new".to_owned())]);
    let gone = ab.compare(&a);
    assert_eq!(
        gone.changes().next().unwrap().to_string(),
        "breaking: n:b was removed; requires the alias `n:b` of a tool that takes its place"
    );
    let renamed = of(vec![tool("c").aliases(["n:a"])]);
    assert_eq!(told(&a.compare(&renamed)), [(Verdict::Additive, "`aliases` have a new name".to_owned())]);
    let both = of(vec![tool("a").version("1.0.0"), tool("a").version("2.0.0")]);
    let one = of(vec![tool("a").version("1.0.0")]);
    assert_eq!(
        told(&one.compare(&both)),
        [(Verdict::Additive, " is new".to_owned())],
        "the old version is still there"
    );
}

#[test]
fn hints_requirements_and_tasks_are_compared() {
    let tool =
        || Tool::builder("a").namespace("n").version("1.0.0").description("…").input(json!({ "type": "object" }));
    let of = |tool: toolkit::tool::ToolBuilder| Lock::from_catalog(&Catalog::new([tool.build().unwrap()]).unwrap());
    let requires = |id: &'static str| Requirements::NONE.with_secret(id);
    for (old, new, expected) in [
        (tool().read_only(true), tool(), (Verdict::Breaking, "`readOnlyHint` withdraws what hosts may have relied on")),
        (tool(), tool().read_only(true), (Verdict::Additive, "`readOnlyHint` has changed")),
        (
            tool().destructive(false),
            tool().destructive(true),
            (Verdict::Breaking, "`destructiveHint` withdraws what hosts may have relied on"),
        ),
        (tool(), tool().requirements(requires("K")), (Verdict::Breaking, "`requirements` have grown")),
        (tool().requirements(requires("K")), tool(), (Verdict::Additive, "`requirements` have shrunk")),
        (tool(), tool().task_support(TaskSupport::Required), (Verdict::Breaking, "`execution` has changed")),
        (tool(), tool().task_support(TaskSupport::Optional), (Verdict::Additive, "`execution` has changed")),
        (tool().aliases(["b"]), tool(), (Verdict::Breaking, "`aliases` lack an earlier name")),
        (tool(), tool().deprecated("use b"), (Verdict::Additive, "`deprecated` was set")),
        (tool(), tool().description("Other."), (Verdict::Cosmetic, "`description` has changed")),
        (
            tool().idempotent(true),
            tool().idempotent(false),
            (Verdict::Breaking, "`idempotentHint` withdraws what hosts may have relied on"),
        ),
        (tool().idempotent(false), tool(), (Verdict::Additive, "`idempotentHint` has changed")),
        (
            tool().open_world(false),
            tool(),
            (Verdict::Breaking, "`openWorldHint` withdraws what hosts may have relied on"),
        ),
        (tool(), tool().open_world(true), (Verdict::Additive, "`openWorldHint` has changed")),
        (tool().read_only(false), tool().read_only(true), (Verdict::Additive, "`readOnlyHint` has changed")),
        (tool().task_support(TaskSupport::Required), tool(), (Verdict::Additive, "`execution` has changed")),
        (tool(), tool().aliases(["b"]), (Verdict::Additive, "`aliases` have a new name")),
        (tool().title("A"), tool().title("B"), (Verdict::Cosmetic, "`title` has changed")),
        (tool(), tool().tags(["x"]), (Verdict::Cosmetic, "`tags` has changed")),
        (tool(), tool().timeout(Duration::from_secs(1)), (Verdict::Cosmetic, "`timeoutMs` has changed")),
    ] {
        assert_eq!(told(&of(old).compare(&of(new))), [(expected.0, expected.1.to_owned())]);
    }
}

#[test]
fn requirements_grow_with_each_credential_that_a_caller_did_not_need_before() {
    let none = || Requirements::NONE;
    let tool = |requirements: Requirements| {
        let tool = Tool::builder("a").description("…").input(json!({ "type": "object" })).requirements(requirements);
        Lock::from_tools([tool.build().unwrap()])
    };
    for (less, more) in [
        (none(), none().with_scopes(["a"])),
        (none().with_scopes(["a"]), none().with_scopes(["a", "b"])),
        (none(), none().with_user_id()),
        (none().with_secret("K"), none().with_secret("K").with_secret("L")),
        (none(), none().with_authorization("id", ["x"])),
        (none().with_authorization("id", ["x"]), none().with_authorization("id", ["x", "y"])),
    ] {
        let [less, more] = [less, more].map(tool);
        assert_eq!(told(&less.compare(&more)), [(Verdict::Breaking, "`requirements` have grown".to_owned())]);
        assert_eq!(told(&more.compare(&less)), [(Verdict::Additive, "`requirements` have shrunk".to_owned())]);
    }
    for (one, other) in [
        (none().with_secret("K"), none().with_secret("L")),
        (none().with_scopes(["a"]), none().with_scopes(["b"])),
        (none().with_authorization("id", ["x"]), none().with_authorization("other", ["x"])),
    ] {
        let [one, other] = [one, other].map(tool);
        assert_eq!(told(&one.compare(&other)), [(Verdict::Breaking, "`requirements` have grown".to_owned())]);
    }
}

#[test]
fn a_lock_shows_the_order_of_properties_and_accepts_another() {
    let tool = |properties: &str| {
        let json = format!(r#"{{"name":"find","inputSchema":{{"type":"object","properties":{{{properties}}}}}}}"#);
        Tool::from_json(&json).unwrap()
    };
    let (declared, sorted) = (tool(r#""query":{},"limit":{}"#), tool(r#""limit":{},"query":{}"#));
    assert_eq!(declared.contract_hash(), sorted.contract_hash());
    let [declared, sorted] = [declared, sorted].map(|tool| Lock::from_tools([tool]));
    assert_eq!(sorted.compare(&declared).changes().count(), 0);
    let text = declared.to_json();
    assert!(text.find("query") < text.find("limit"), "{text}");
    let read = Lock::from_json(&text).unwrap();
    assert_eq!(read.to_json(), text);
}
