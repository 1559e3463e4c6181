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

/// Versions with all that requirements distinguish: parts that are zero, and pre-releases.
const VERSIONS: [&str; 16] = [
    "0.0.1",
    "0.0.2",
    "0.2.3",
    "0.2.4",
    "0.3.0",
    "1.0.0-alpha.1",
    "1.0.0-beta",
    "1.0.0",
    "1.2.0-rc.1",
    "1.2.0",
    "1.2.1",
    "1.3.0-rc.1",
    "1.3.0",
    "2.0.0-rc.1",
    "2.0.0",
    "2.1.0",
];

/// Returns some of the versions, by the bits of a number.
fn some(bits: u64, kind: impl Fn(usize) -> &'static str) -> Vec<ToolBuilder> {
    let chosen = (0..VERSIONS.len()).filter(|idx| bits >> idx & 1 == 1);
    chosen.map(|idx| f(VERSIONS[idx], kind(idx))).collect()
}

#[test]
fn a_requirement_is_reported_exactly_if_it_resolves_to_another_version_as_cargo_reads_it() {
    let of_version = |version: &&str| [format!("^{version}"), format!("~{version}"), format!("={version}")];
    let others = ["1", "~1.2", "^0.2", "~0.2", "^0.0.1"].map(str::to_owned);
    let wanted: Vec<String> = VERSIONS.iter().flat_map(of_version).chain(others).collect();
    let (mut n_moved, mut seed) = (0, 1_u64);
    for _ in 0..200 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (was, added) = (seed >> 20 & 0xffff, seed >> 40 & 0xffff);
        let old = some(was, |_| "integer");
        // The new versions take other arguments.
        let new = some(was | added, |idx| if was >> idx & 1 == 1 { "integer" } else { "string" });
        if old.is_empty() {
            continue;
        }
        let (old, new) = (of(old), of(new));
        let comparison = old.compare(&new);
        let breaking = comparison.changes().filter(|change| change.verdict == Verdict::Breaking);
        let breaking: Vec<String> = breaking.map(|change| change.to_string()).collect();
        let [old, new] = [old, new].map(|lock| Catalog::new(lock).unwrap());
        let found = |catalog: &Catalog, wanted: &str| {
            let wanted = toolkit::version::parse_req(wanted).unwrap();
            catalog.matching("n:f", &wanted).ok().map(|tool| tool.id().to_string())
        };
        for wanted in &wanted {
            let (Some(before), Some(now)) = (found(&old, wanted), found(&new, wanted)) else { continue };
            if before != now {
                n_moved += 1;
                let is_reported = breaking.iter().any(|change| change.contains(&format!("it resolves to `{now}` now")));
                assert!(is_reported, "{wanted} of {before} is {now}: {breaking:#?}");
            }
        }
        for change in &breaking {
            let Some((_, rest)) = change.split_once("n:f@") else { continue };
            let (wanted, _) = rest.split_once(' ').unwrap();
            let (before, now) = (found(&old, wanted).unwrap(), found(&new, wanted).unwrap());
            assert_ne!(before, now, "{change}");
            assert!(change.contains(&format!("(it resolves to `{now}` now)")), "{change}");
        }
    }
    assert!(n_moved > 500, "{n_moved}");
}

#[test]
fn a_requirement_of_a_patch_moves_below_a_higher_minor_version() {
    for (versions, patch, requirement) in [
        (["0.4.1", "0.5.0"], "0.4.2", "n:f@^0.4.1"),
        (["1.4.1", "1.5.0"], "1.4.2", "n:f@~1.4.1"),
        (["3.0.0-rc.1", "4.0.0"], "3.0.0-rc.2", "n:f@^3.0.0-rc.1"),
    ] {
        let old = || versions.map(|version| f(version, "integer")).to_vec();
        let mut new = old();
        new.push(f(patch, "string"));
        let found = breaks(old(), new);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with(&format!("breaking: {requirement} input /properties/p")), "{found:?}");
    }
}

#[test]
fn callers_over_mcp_have_the_new_contract_although_the_old_version_stays() {
    let beside = || vec![f("0.3.1", "integer"), f("0.4.0", "string")];
    let comparison = of(vec![f("0.3.1", "integer")]).compare(&of(beside()));
    let changes: Vec<String> = comparison.changes().map(|change| change.to_string()).collect();
    assert_eq!(changes.len(), 2, "{changes:?}");
    let (start, example) = changes[0].split_once(", for example ").unwrap();
    assert_eq!(
        start,
        "breaking: n:f input /properties/p rejects values that it accepted (it resolves to `n:f:0.4.0` now, the only \
         version over MCP and in exports)"
    );
    assert!(!example.contains("requires"), "the version announces it: {example}");
    assert_eq!(changes[1], "additive: n:f:0.4.0 is new");
    assert_eq!(comparison.unannounced().count(), 0);
    // If the old version is removed, its own id says so.
    let replaced = of(vec![f("0.3.1", "integer")]).compare(&of(vec![f("0.4.0", "string")]));
    assert!(replaced.changes().all(|change| !change.what.contains("MCP")), "{replaced:?}");
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
