//! The names of tools in protocols and in exports.

use toolkit::call::ErrorKind;
use toolkit::catalog::{ExportedName, ExportedNames, Naming, WireNames};
use toolkit::{Catalog, Tool, ToolId};

fn catalog(ids: &[&str]) -> Catalog {
    let tool = |id: &&str| {
        let id: ToolId = id.parse().unwrap();
        let tool = Tool::builder(id.name().to_owned()).description("…");
        id.namespace()
            .map(str::to_owned)
            .into_iter()
            .fold(tool, |tool, namespace| tool.namespace(namespace))
            .build()
            .unwrap()
    };
    Catalog::new(ids.iter().map(tool)).unwrap()
}

/// Returns the messages of the defects of the names.
fn defects(ids: &[&str], naming: Naming) -> Vec<String> {
    match catalog(ids).listed(naming) {
        Ok(_) => Vec::new(),
        Err(diagnostics) => diagnostics.iter().map(|diagnostic| diagnostic.message().to_owned()).collect(),
    }
}

#[test]
fn a_tool_has_its_name_with_or_without_its_namespace() {
    for (id, name, joined) in [("a", "a", "a"), ("n:a", "a", "n_a"), ("n.m:a.b-c", "a_b-c", "n_m_a_b-c")] {
        let id: ToolId = id.parse().unwrap();
        assert_eq!([Naming::Name, Naming::NamespaceName].map(|naming| naming.wire_name(&id)), [name, joined]);
    }
    assert_eq!(Naming::default(), Naming::NamespaceName);
    let catalog = catalog(&["n:a", "m:b"]);
    let names = catalog.listed(Naming::Name).unwrap();
    assert_eq!(
        names.iter().map(|(name, tool)| format!("{name} {}", tool.id())).collect::<Vec<_>>(),
        ["b m:b", "a n:a"]
    );
    assert_eq!(names.get("a").map(|tool| tool.id().to_string()).as_deref(), Some("n:a"));
    assert!(
        names.get("n_a").is_none() && WireNames::new(&catalog, Naming::NamespaceName).unwrap().get("n_a").is_some()
    );
    let named = catalog.named(Naming::Name, |tool| (tool.name() == "a").then(|| "x".to_owned())).unwrap();
    assert_eq!(named.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["x"]);
}

#[test]
fn names_that_collide_are_reported_with_the_way_out() {
    let other = "use `Naming::NamespaceName`, which gives every tool a valid name";
    assert_eq!(defects(&["m:a", "n:a"], Naming::Name), [format!("`m:a` and `n:a` would share the name `a`; {other}")]);
    assert!(defects(&["m:a", "n:a"], Naming::NamespaceName).is_empty());
    assert_eq!(
        defects(&["m:n_a", "m_n:a", "x:a"], Naming::NamespaceName),
        [
            "`m:n_a` and `m_n:a` would share the name `m_n_a`; rename one, because no naming policy fits the whole catalog"
        ]
    );
}

#[test]
fn names_are_portable_up_to_64_characters() {
    let of_len = |n| "a".repeat(n);
    for name in [of_len(64), "_".to_owned(), "a-1_".to_owned()] {
        assert!(defects(&[&name], Naming::Name).is_empty(), "{name}");
    }
    for name in ["1a", "-a"] {
        let defect = &defects(&[name], Naming::Name)[0];
        assert!(
            defect.starts_with(&format!("`{name}` would have the name `{name}`, which some clients reject;")),
            "{defect}"
        );
        assert!(
            defect.ends_with("(this has 2); rename it, because no naming policy fits the whole catalog"),
            "{defect}"
        );
    }
    let long = of_len(65);
    assert!(defects(&[&long], Naming::Name)[0].contains("has at most 64 characters (this has 65); rename it"));
    // With its namespace, the name is one character too long.
    let joined = format!("n:{}", of_len(63));
    let defect = &defects(&[&joined], Naming::NamespaceName)[0];
    let way_out = "shorten its namespace or its name, or use `Naming::Name`, which gives every tool a valid name";
    assert!(defect.ends_with(way_out), "{defect}");
    let neither = format!("n:{}", of_len(65));
    assert!(
        defects(&[&neither], Naming::NamespaceName)[0].ends_with("(this has 67); shorten its namespace or its name")
    );
    assert!(defects(&[&format!("n:{}", of_len(62))], Naming::NamespaceName).is_empty());
}

fn exported(namespace: Option<&str>, name: &str, id: &str) -> ExportedName {
    let name = ExportedName::new(name, id.parse().unwrap());
    namespace.into_iter().fold(name, |name, namespace| name.in_namespace(namespace))
}

#[test]
fn an_exported_name_refers_to_its_tool_and_so_does_the_id() {
    let names = ExportedNames::from_iter([
        exported(None, "n_a", "n:a:1.2.0"),
        exported(None, "d.o", "n:dots"),
        exported(Some("group"), "b", "n:b").strict(),
        exported(Some("gr.oup"), "c", "m:c"),
    ]);
    for (name, expected) in [
        ("n_a", Some("n:a:1.2.0")),
        ("d.o", Some("n:dots")),
        ("group.b", Some("n:b")),
        ("gr.oup.c", Some("m:c")),
        ("n:a", Some("n:a:1.2.0")),
        ("n:a:1.2.0", Some("n:a:1.2.0")),
        ("n:a:1.0.0", None),
        ("n:b", Some("n:b")),
        ("b", None),
        ("m:b", None),
        ("other.b", None),
        ("not a name", None),
    ] {
        let resolved = names.resolve(name).ok().map(|name| name.id().to_string());
        assert_eq!(resolved.as_deref(), expected, "{name}");
    }
    let b = names.get(Some("group"), "b").unwrap();
    assert_eq!(
        (b.name(), b.namespace(), b.is_strict(), b.to_string()),
        ("b", Some("group"), true, "group.b".to_owned())
    );
    assert!(!names.get(None, "n_a").unwrap().is_strict() && names.get(Some("group"), "n_a").is_none());
    assert_eq!((names.len(), names.is_empty(), ExportedNames::default().is_empty()), (4, false, true));
    assert_eq!(names.iter().map(ToString::to_string).collect::<Vec<_>>(), ["d.o", "n_a", "gr.oup.c", "group.b"]);
}

#[test]
fn an_unknown_exported_name_is_an_error_with_a_suggestion() {
    let mut names = ExportedNames::default();
    let error = names.resolve("get_weather").unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::UnknownTool, "no tool is named `get_weather`"));
    names.extend([exported(None, "get_weather", "weather:get")]);
    let error = names.resolve("get_weath").unwrap_err();
    assert_eq!(error.message(), "no tool is named `get_weath`; did you mean `get_weather`?");
    // The last of several equal names counts.
    names.extend([exported(None, "get_weather", "other:get")]);
    assert_eq!((names.len(), names.resolve("get_weather").unwrap().id().to_string()), (1, "other:get".to_owned()));
    let catalog = catalog(&["n:a"]);
    let names = ExportedNames::from(&catalog.listed(Naming::NamespaceName).unwrap());
    assert_eq!(names.resolve("n_a").unwrap().id().to_string(), "n:a");
}
