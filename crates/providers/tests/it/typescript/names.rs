//! The names by which programs call tools.

use std::collections::BTreeSet;

use proptest::prelude::*;
use toolkit::tool::ToolId;
use toolkit::{Catalog, Tool};
use toolkit_providers::typescript::{Detail, declarations, names};

fn catalog(ids: &[&str]) -> Catalog {
    let tool = |id: &&str| {
        let id: ToolId = id.parse().unwrap();
        let tool = Tool::builder(id.name().to_owned());
        match id.namespace() {
            Some(namespace) => tool.namespace(namespace.to_owned()).build().unwrap(),
            None => tool.build().unwrap(),
        }
    };
    Catalog::new(ids.iter().map(tool)).unwrap()
}

/// Returns the names of tools, in the order of their ids.
fn named(ids: &[&str]) -> Vec<(String, String)> {
    let names = names(&catalog(ids));
    let mut named: Vec<(String, String)> = names.iter().map(|name| (name.id().to_string(), name.to_string())).collect();
    named.sort();
    named
}

#[track_caller]
fn are_named(expected: &[(&str, &str)]) {
    let ids: Vec<&str> = expected.iter().map(|(id, _)| *id).collect();
    let expected: Vec<(String, String)> =
        expected.iter().map(|(id, name)| ((*id).to_owned(), (*name).to_owned())).collect();
    assert_eq!(named(&ids), expected);
}

#[test]
fn identifiers_are_kept() {
    are_named(&[("git:add", "git.add"), ("git:then", "git.then"), ("version", "version")]);
}

#[test]
fn other_names_become_identifiers() {
    are_named(&[
        ("2fa", "_2fa"),
        ("cloud.files:read-all", "cloud_files.read_all"),
        ("fs:delete", "fs.delete_"),
        ("new:import", "new_.import_"),
    ]);
}

#[test]
fn names_that_would_be_equal_get_numbers() {
    are_named(&[("a-b", "a_b_2"), ("a.b", "a_b_3"), ("a_b", "a_b"), ("a_b-2", "a_b_2_2")]);
    are_named(&[("x-y:t", "x_y_2.t"), ("x_y:t", "x_y.t")]);
    are_named(&[("f:delete", "f.delete_2"), ("f:delete_", "f.delete_")]);
}

#[test]
fn a_namespace_takes_precedence_over_a_tool_beside_it() {
    are_named(&[("git", "git_2"), ("git:add", "git.add")]);
    are_named(&[("a.b:add", "a_b.add"), ("a_b", "a_b_2")]);
}

#[test]
fn the_highest_version_of_a_tool_is_declared() {
    let tool = |version: &'static str| {
        Tool::builder("read").namespace("files").version(version).description(version).build().unwrap()
    };
    let declared = declarations(&Catalog::new([tool("1.9.0"), tool("1.10.0")]).unwrap(), Detail::Full);
    assert_eq!(declared.text.matches("function read(").count(), 1);
    assert_eq!(declared.names.get(Some("files"), "read").unwrap().id().version(), Some("1.10.0"));
}

#[test]
fn what_a_declaration_does_not_express_of_a_record_is_a_loss() {
    let owned = |(pointer, reason): &(&str, &str)| ((*pointer).to_owned(), (*reason).to_owned());
    let sentence = ("/description", "is reduced to its first sentence");
    for (detail, expected) in [
        (Detail::Full, vec![]),
        (Detail::Compact, vec![sentence]),
        (Detail::Signatures, vec![("/description", "is not expressed"), ("/deprecated", "is not supported")]),
    ] {
        let losses = |namespace: &'static str, name: &'static str| {
            let tool = Tool::builder(name).namespace(namespace).description("Reads. All.").deprecated("read");
            let declared = declarations(&Catalog::new([tool.build().unwrap()]).unwrap(), detail);
            let losses = declared.losses.into_iter().flat_map(|(_, losses)| losses);
            losses.map(|loss| (loss.pointer, loss.reason)).collect::<Vec<_>>()
        };
        let found = losses("files", "read");
        assert_eq!(found, expected.iter().map(owned).collect::<Vec<_>>(), "{detail:?}");
        let names = [("/name", "is written as `read_all`"), ("/namespace", "is written as `cloud_files`")];
        let found = losses("cloud.files", "read-all");
        assert_eq!(found, names.iter().chain(&expected).map(owned).collect::<Vec<_>>(), "{detail:?}");
    }
}

proptest! {
    #[test]
    fn no_two_tools_have_the_same_name(
        ids in prop::collection::btree_set("([ab2._-]{1,3}:)?(delete|[ab2._-]{1,3})", 1..40),
    ) {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let (named, names) = (named(&ids), names(&catalog(&ids)));
        prop_assert_eq!(named.len(), ids.len());
        let paths: BTreeSet<&String> = named.iter().map(|(_, path)| path).collect();
        prop_assert_eq!(paths.len(), ids.len());
        // A namespace is an object, and no function.
        let spaces: BTreeSet<&str> = named.iter().filter_map(|(_, path)| Some(path.split_once('.')?.0)).collect();
        for (id, path) in &named {
            prop_assert!(!spaces.contains(path.as_str()));
            prop_assert_eq!(&names.resolve(path).unwrap().id().to_string(), id);
            for name in path.split('.') {
                prop_assert!(name != "delete" && !name.starts_with(|c: char| c.is_ascii_digit()));
                prop_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
            }
        }
    }
}
