//! `Import::check`: changes of a server after the import.

use serde_json::{Value, json};
use toolkit::tool::Namespace;
use toolkit::{Catalog, Manifest};
use toolkit_contract::Lock;

use super::{gh, github};

const MANIFEST: &str = include_str!("../../../../tests/manifests/github.json");

/// Returns the diagnostics after a change of the manifest.
fn after(change: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut manifest: Value = serde_json::from_str(MANIFEST).unwrap();
    change(&mut manifest["tools"]);
    let manifest = Manifest::from_mcp_json(manifest).unwrap().in_namespace(&Namespace::new("github").unwrap());
    let catalog = Catalog::new(manifest.tools().cloned()).unwrap();
    match github::IMPORT.check(&catalog) {
        Ok(()) => Vec::new(),
        Err(problems) => problems.iter().map(|problem| problem.message().to_owned()).collect(),
    }
}

#[test]
fn compatible_changes_pass() {
    assert_eq!(after(|_| {}), [""; 0]);
    let wider = after(|tools| {
        let issue = &mut tools[0];
        issue["description"] = json!("Says something else.");
        issue["annotations"] = json!({ "destructiveHint": true });
        issue["inputSchema"]["properties"]["milestone"] = json!({ "type": "integer" });
        issue["inputSchema"]["required"] = json!(["owner", "repo"]);
        issue["outputSchema"]["properties"]["id"] = json!({ "type": "string" });
        tools.as_array_mut().unwrap().push(json!({ "name": "new", "inputSchema": { "type": "object" } }));
    });
    assert_eq!(wider, [""; 0]);
}

#[test]
fn every_breaking_change_is_reported() {
    let broken = after(|tools| {
        tools[0]["inputSchema"]["required"] = json!(["owner", "repo", "title", "body"]);
        tools[0]["outputSchema"]["required"] = json!(["number"]);
        tools[1]["inputSchema"]["properties"]["repo"]["type"] = json!("integer");
        tools.as_array_mut().unwrap().remove(2);
    });
    let expected = [
        ("github:create_issue", "input"),
        ("github:create_issue", "output"),
        ("github:get_me", "was removed"),
        ("github:star-repository", "input"),
    ];
    assert_eq!(broken.len(), expected.len(), "{broken:#?}");
    for (message, (tool, what)) in broken.iter().zip(expected) {
        assert!(message.contains(tool) && message.contains(what), "{message}");
    }
}

#[test]
fn only_imported_versions_and_namespaces_are_checked() {
    let lock = Lock::from_json(include_str!("../../../../tests/manifests/versions.json")).unwrap();
    assert_eq!(gh::sum::Args::new("x").b, "x");

    let all = Catalog::new(lock.tools().cloned()).unwrap();
    gh::IMPORT.check(&all).unwrap();
    let latest = lock.tools().filter(|tool| tool.id().to_string() == "gh:sum:2.0.0").cloned();
    gh::IMPORT.check(&Catalog::new(latest).unwrap()).unwrap();
    let first = lock.tools().filter(|tool| tool.id().to_string() == "gh:sum:1.0.0").cloned();
    let lost = gh::IMPORT.check(&Catalog::new(first).unwrap()).unwrap_err().to_string();
    assert!(lost.contains("gh:sum input"), "{lost}");
}
