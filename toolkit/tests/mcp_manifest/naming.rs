//! Wire names: each tool has its own, or an error contains both tools.

use super::*;

fn catalog_of(ids: &[&'static str]) -> Catalog {
    let tool = |id: &&'static str| {
        let id: ToolId = id.parse().unwrap();
        let tool = Tool::builder(id.name().to_owned()).description("A tool.");
        let tool = id.namespace().into_iter().fold(tool, |tool, namespace| tool.namespace(namespace.to_owned()));
        let tool = id.version().into_iter().fold(tool, |tool, version| tool.version(version.to_owned()));
        tool.build().unwrap()
    };
    // A tool without a version cannot be in the same catalog as a version of it.
    let has_versions = |id: &str| id.contains(':') && ids.iter().any(|other| other.starts_with(&format!("{id}:")));
    Catalog::new(ids.iter().filter(|id| !has_versions(id)).map(tool)).unwrap()
}

#[track_caller]
fn check_names(ids: &[&'static str], naming: Naming, expected: &[(&[&str], &str)]) {
    let catalog = catalog_of(ids);
    let listed = list_tools(&catalog, Revision::V2026_07_28, naming);
    let problems = match listed {
        Ok(_) => Vec::new(),
        Err(problems) => problems.iter().cloned().collect::<Vec<Diagnostic>>(),
    };
    let found: Vec<(Vec<&str>, &str)> = problems
        .iter()
        .map(|problem| {
            assert_eq!(problem.kind(), DiagnosticKind::WireName);
            (problem.tools().map(|(id, _)| id).collect(), problem.message())
        })
        .collect();
    let expected: Vec<(Vec<&str>, &str)> = expected.iter().map(|(ids, message)| (ids.to_vec(), *message)).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_clash_reports_the_tools_and_a_naming_that_resolves_it() {
    check_names(
        &["a:x", "b:x:1.0.0", "c:y"],
        Naming::Name,
        &[(
            &["a:x", "b:x:1.0.0"],
            "`a:x` and `b:x:1.0.0` would share the name `x`; use `Naming::NamespaceName`, which gives every tool a valid name",
        )],
    );
    check_names(
        &["a.b:c", "a:b_c"],
        Naming::NamespaceName,
        &[(
            &["a:b_c", "a.b:c"],
            "`a:b_c` and `a.b:c` would share the name `a_b_c`; use `Naming::Name`, which gives every tool a valid name",
        )],
    );
    check_names(&["a.b:c", "a:b_c"], Naming::Name, &[]);
}

#[test]
fn the_default_naming_includes_namespaces_and_keeps_bare_names() {
    check_names(&["files:read", "jira:read", "cloud.mail:read:1.0.0", "read"], Naming::default(), &[]);
    let catalog = catalog_of(&["files:read", "jira:read", "cloud.mail:read:1.0.0", "read"]);
    let names = WireNames::new(&catalog, Naming::default()).unwrap();
    let names: BTreeSet<&str> = names.iter().map(|(name, _)| name).collect();
    assert_eq!(names, BTreeSet::from(["cloud_mail_read", "files_read", "jira_read", "read"]));
}

#[test]
fn a_clash_in_every_naming_requires_another_name() {
    let message =
        "`a:x.y` and `a:x_y` would share the name `x_y`; rename one, because no naming policy fits the whole catalog";
    check_names(&["a:x.y", "a:x_y"], Naming::Name, &[(&["a:x.y", "a:x_y"], message)]);

    // The two tools `x` differ in their namespaces, but then the other two have the same wire name.
    let message =
        "`p:x` and `q:x` would share the name `x`; rename one, because no naming policy fits the whole catalog";
    check_names(&["p:x", "q:x", "a.b:c", "a:b_c"], Naming::Name, &[(&["p:x", "q:x"], message)]);
}

#[test]
fn a_name_that_clients_reject_is_reported_with_a_naming_that_resolves_it() {
    let rule = "which some clients reject; a name starts with a letter or `_`, continues with letters, digits, `_` \
                and `-`, and has at most 64 characters";
    let message = format!(
        "`web:2fa` would have the name `2fa`, {rule} (this has 3); use `Naming::NamespaceName`, which gives every tool a valid name"
    );
    check_names(&["web:2fa"], Naming::Name, &[(&["web:2fa"], &message)]);

    let long: &'static str = "a:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    let name = long.replace(':', "_");
    assert_eq!(name.len(), 65);
    let message = format!(
        "`{long}` would have the name `{name}`, {rule} (this has 65); shorten its namespace or its name, or use \
         `Naming::Name`, which gives every tool a valid name"
    );
    check_names(&[long], Naming::NamespaceName, &[(&[long], &message)]);
    check_names(&[long], Naming::Name, &[]);
    // Without namespaces, the other two have the same wire name.
    let (a, b) = ("b:x", "c:x");
    let message =
        format!("`{long}` would have the name `{name}`, {rule} (this has 65); shorten its namespace or its name");
    check_names(&[long, a, b], Naming::NamespaceName, &[(&[long], &message)]);

    let message = format!(
        "`-` would have the name `-`, {rule} (this has 1); rename it, because no naming policy fits the whole catalog"
    );
    check_names(&["-"], Naming::Name, &[(&["-"], &message)]);
}

#[test]
fn all_tools_that_cannot_be_listed_are_reported_at_once() {
    let read = |json: Value| Tool::from_json(json).unwrap();
    let tools = [
        json!({ "name": "no_object", "inputSchema": { "type": "string" } }),
        json!({ "name": "our_meta", "inputSchema": { "type": "object" }, "_meta": { "rs.toolkit/tool": 1 } }),
        json!({ "name": "2", "inputSchema": { "type": "object" } }),
    ];
    let catalog = Catalog::new(tools.map(read)).unwrap();
    let problems = list_tools(&catalog, Revision::V2026_07_28, Naming::Name).unwrap_err();
    let mut found: Vec<(&str, DiagnosticKind)> =
        problems.iter().map(|problem| (problem.tools().next().unwrap().0, problem.kind())).collect();
    found.sort_by_key(|(id, _)| *id);
    assert_eq!(
        found,
        [
            ("2", DiagnosticKind::WireName),
            ("no_object", DiagnosticKind::NotAnObject),
            ("our_meta", DiagnosticKind::InvalidMeta),
        ]
    );
}

fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[abc]([._][abc]){0,2}",
        1 => "[A-Za-z0-9_.-]{1,4}",
        1 => "[a-c]{60,66}",
    ]
}

fn ids() -> impl Strategy<Value = Vec<String>> {
    let version = prop_oneof![Just(""), Just(":1.0.0"), Just(":1.2.0"), Just(":2.0.0-rc.1")];
    let id = (proptest::option::of(part()), part(), version).prop_map(|(namespace, name, version)| match namespace {
        Some(namespace) => format!("{namespace}:{name}{version}"),
        None => name,
    });
    proptest::collection::btree_set(id, 1..7).prop_map(|ids| ids.into_iter().collect())
}

fn versions() -> impl Strategy<Value = String> {
    "a:[bc](:[012]\\.[09]\\.0(-rc\\.1)?)?"
}

/// Returns true if every tool of `catalog` has a valid wire name of its own; an independent implementation of the rule.
fn names_work(catalog: &Catalog, naming: Naming) -> bool {
    let mut seen = BTreeMap::new();
    catalog.iter().all(|tool| {
        let id = tool.id();
        let mut name = id.name().replace('.', "_");
        if let (Naming::NamespaceName, Some(namespace)) = (naming, id.namespace()) {
            name = format!("{}_{name}", namespace.replace('.', "_"));
        }
        let bytes = name.as_bytes();
        let sound = bytes.len() <= 64 && !bytes[0].is_ascii_digit() && bytes[0] != b'-';
        let key = id.unversioned();
        sound && *seen.entry(name).or_insert_with(|| key.clone()) == key
    })
}

proptest! {
    #![proptest_config(test_support::random(256))]

    #[test]
    fn wire_names_resolve_to_their_tools_or_an_error_reports_both(
        ids in ids(),
        naming in prop_oneof![Just(Naming::Name), Just(Naming::NamespaceName)],
    ) {
        let leaked: Vec<&'static str> = ids.into_iter().map(|id| &*id.leak()).collect();
        let catalog = catalog_of(&leaked);
        match WireNames::new(&catalog, naming) {
            Ok(names) => {
                prop_assert!(names_work(&catalog, naming));
                let latest: Vec<&Tool> = catalog.latest().collect();
                for tool in &latest {
                    let found = names.get(&naming.wire_name(tool.id())).map(Tool::id);
                    prop_assert_eq!(found, Some(tool.id()));
                }
                let listed: Vec<&ToolId> = names.iter().map(|(_, tool)| tool.id()).collect();
                prop_assert_eq!(listed, latest.iter().map(|tool| tool.id()).collect::<Vec<_>>());
                let distinct: BTreeSet<&str> = names.iter().map(|(name, _)| name).collect();
                prop_assert_eq!(distinct.len(), latest.len());
            }
            Err(problems) => {
                prop_assert!(!names_work(&catalog, naming));
                for problem in problems.iter() {
                    let tools: Vec<&Tool> = problem
                        .tools()
                        .map(|(id, _)| catalog.iter().find(|tool| tool.id().to_string() == id).unwrap())
                        .collect();
                    for tool in &tools {
                        let message = problem.message();
                        prop_assert!(message.contains(&format!("`{}`", tool.id())), "{}", message);
                        prop_assert_eq!(naming.wire_name(tool.id()), naming.wire_name(tools[0].id()));
                    }
                    prop_assert!(tools.len() > 1 || problem.message().contains("some clients reject"));
                    for other in [Naming::Name, Naming::NamespaceName] {
                        let suggested = problem.message().contains(&format!("`Naming::{other:?}`"));
                        prop_assert_eq!(suggested, names_work(&catalog, other));
                    }
                }
            }
        }
    }

    #[test]
    fn every_tool_has_exactly_one_latest_version(
        ids in proptest::collection::btree_set(versions(), 1..7),
    ) {
        let leaked: Vec<&'static str> = ids.into_iter().map(|id: String| &*id.leak()).collect();
        let catalog = catalog_of(&leaked);
        let all: BTreeSet<String> = catalog.iter().map(|tool| tool.id().unversioned().to_string()).collect();
        let latest: Vec<&ToolId> = catalog.latest().map(Tool::id).collect();
        prop_assert_eq!(latest.len(), all.len());
        for id in latest {
            let is_prerelease = |id: &ToolId| id.semver().is_some_and(|version| !version.pre.is_empty());
            let others = catalog.iter().map(Tool::id).filter(|other| other.unversioned() == id.unversioned());
            for other in others {
                prop_assert!(other <= id || is_prerelease(other));
                prop_assert!(!is_prerelease(id) || is_prerelease(other));
            }
        }
    }
}

#[test]
fn a_message_about_names_lists_the_first_tools_and_counts_the_others() {
    let tool = |idx: usize| Tool::builder("x").namespace(format!("n{idx:02}")).build().unwrap();
    let problems = WireNames::new(&Catalog::new((0..20).map(tool)).unwrap(), Naming::Name).unwrap_err();
    let message = problems.iter().next().unwrap().message();
    assert!(message.starts_with("`n00:x` and `n01:x` and "), "{message}");
    assert!(message.contains(" and `n07:x` and 12 more would share the name `x`; "), "{message}");
}
