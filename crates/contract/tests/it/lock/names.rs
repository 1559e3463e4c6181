//! Tools are compared by what each name resolves to, not only by equal ids.

use toolkit::tool::ToolBuilder;

use super::*;

fn tool(name: &'static str, version: Option<&'static str>, kind: &str) -> ToolBuilder {
    let input = object(json!({ "p": { "type": kind } }), &["p"]);
    let tool = Tool::builder(name).namespace("n").description("…").input(input);
    match version {
        Some(version) => tool.version(version),
        None => tool,
    }
}

fn f(version: &'static str, kind: &str) -> ToolBuilder {
    tool("f", Some(version), kind)
}

fn of(tools: Vec<ToolBuilder>) -> Lock {
    Lock::from_catalog(&Catalog::new(tools.into_iter().map(|tool| tool.build().unwrap())).unwrap())
}

#[track_caller]
fn breaks(old: Vec<ToolBuilder>, new: Vec<ToolBuilder>) -> Vec<String> {
    let comparison = of(old).compare(&of(new));
    comparison.unannounced().map(|change| change.to_string()).collect()
}

/// If several versions exist, a name without a version moves to the new one.
#[test]
fn a_breaking_minor_version_beside_the_old_one_breaks_callers_without_a_version() {
    let found = breaks(vec![f("1.0.0", "integer")], vec![f("1.0.0", "integer"), f("1.1.0", "string")]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("breaking: n:f"), "{found:?}");
    assert!(found[0].contains("it resolves to `n:f:1.1.0` now"), "{found:?}");
    assert!(found[0].ends_with("; requires version 2.0.0"), "{found:?}");
    let major = breaks(vec![f("1.0.0", "integer")], vec![f("1.0.0", "integer"), f("2.0.0", "string")]);
    assert!(major.is_empty(), "{major:?}");
    let wider = breaks(vec![f("1.0.0", "integer")], vec![f("1.0.0", "integer"), f("1.1.0", "number")]);
    assert!(wider.is_empty(), "{wider:?}");
}

#[test]
fn no_name_resolves_to_a_pre_release_if_there_is_a_release() {
    let replaced = breaks(vec![f("1.0.0", "integer")], vec![f("1.1.0", "string"), f("2.0.0-alpha", "integer")]);
    assert!(replaced.iter().any(|change| change.contains("rejects values that it accepted")), "{replaced:?}");
    let preview = breaks(vec![f("1.0.0", "integer")], vec![f("1.0.0", "integer"), f("2.0.0-alpha", "string")]);
    assert!(preview.is_empty(), "{preview:?}");
    let preview = breaks(vec![f("1.0.0", "integer")], vec![f("1.0.0", "integer"), f("1.1.0-alpha", "string")]);
    assert!(preview.is_empty(), "no name resolves to it: {preview:?}");
    // Without a release, names resolve to the highest pre-release, until there is a release of a lower version.
    let released = breaks(vec![f("2.0.0-alpha", "integer")], vec![f("2.0.0-alpha", "integer"), f("1.0.0", "string")]);
    assert_eq!(released.len(), 1, "{released:?}");
    let next = breaks(vec![f("2.0.0-alpha.1", "integer")], vec![f("2.0.0-alpha.2", "string")]);
    assert_eq!(next.len(), 1, "{next:?}");
}

/// `^1` resolves to the highest version before 2.0.0, regardless of higher versions.
#[test]
fn a_requirement_moves_to_the_highest_version_that_meets_it() {
    let old = || vec![f("1.0.0", "integer"), f("2.0.0", "integer")];
    let between = || vec![f("1.0.0", "integer"), f("1.1.0", "string"), f("2.0.0", "integer")];
    let found = breaks(old(), between());
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("breaking: n:f@^1.0.0 input /properties/p rejects values that it accepted"),
        "{found:?}"
    );
    let (old, new) = (of(old()), of(between()));
    let check = |lock: &Lock| {
        let catalog = Catalog::new(lock.tools().cloned()).unwrap();
        let wanted = toolkit::version::parse_req("^1").unwrap();
        catalog.matching("n:f", &wanted).unwrap().id().to_string()
    };
    assert_eq!((check(&old), check(&new)), ("n:f:1.0.0".to_owned(), "n:f:1.1.0".to_owned()));
    // A removed version is replaced by what a requirement of that version resolves to.
    let removed =
        breaks(vec![f("1.0.0", "integer"), f("2.0.0", "string")], vec![f("1.1.0", "string"), f("2.0.0", "string")]);
    assert!(removed.iter().any(|change| change.contains("n:f:1.0.0 input")), "{removed:?}");
}

#[test]
fn an_alias_moved_to_another_tool_is_compared_with_that_tool() {
    let old = vec![tool("f", None, "integer").aliases(["n:old"]), tool("g", None, "string")];
    let new = vec![tool("f", None, "integer"), tool("g", None, "string").aliases(["n:old"])];
    let found = breaks(old, new);
    assert!(found.iter().any(|change| change.starts_with("breaking: n:old input /properties/p")), "{found:?}");
}

#[test]
fn a_name_that_another_tool_takes_is_compared_with_that_tool() {
    let bare = Tool::builder("f").description("…").input(object(json!({ "p": { "type": "string" } }), &["p"]));
    let found = breaks(vec![tool("f", None, "integer")], vec![tool("f", None, "integer"), bare]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("breaking: f input /properties/p"), "{found:?}");
    let same = || Tool::builder("f").namespace("other").description("…").input(json!({ "type": "object" }));
    let found = breaks(vec![tool("f", None, "integer")], vec![tool("f", None, "integer"), same()]);
    assert_eq!(
        found,
        ["breaking: f is ambiguous: it names `n:f`, `other:f`; requires other names for all but one of them"]
    );
    let found = breaks(vec![tool("f", None, "integer"), same()], vec![tool("f", None, "integer"), same()]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn names_that_resolve_alike_are_compared_once() {
    let comparison = of(vec![f("1.0.0", "integer")]).compare(&of(vec![f("1.1.0", "string")]));
    let breaks = comparison.changes().filter(|change| change.verdict == Verdict::Breaking);
    assert_eq!(breaks.count(), 1, "{comparison:?}");
}
