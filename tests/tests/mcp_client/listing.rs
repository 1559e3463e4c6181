//! What is made of the list of tools that a server gives.

use serde_json::json;
use toolkit::backend::Backend;
use toolkit::call::ErrorKind;

use super::{call, collected, dispatcher, in_the_end, peer};

async fn ids(listing: &str) -> Vec<String> {
    let collected = collected(&peer(&["usual", listing])).await;
    assert!(collected.failures.is_empty(), "{:?}", collected.failures);
    collected.catalog.iter().map(|tool| tool.id().to_string()).collect()
}

/// Why its tools cannot be listed.
async fn failure(listing: &str) -> String {
    let error = in_the_end(peer(&["usual", listing]).tools()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidAnswer);
    error.message().to_owned()
}

#[tokio::test]
async fn a_bad_tool_is_told_and_hides_no_other() {
    let collected = collected(&peer(&["usual", "bad"])).await;
    let ids: Vec<String> = collected.catalog.iter().map(|tool| tool.id().to_string()).collect();
    assert_eq!(ids, ["peer:good", "peer:persian"]);
    let told: Vec<&str> =
        collected.diagnostics.iter().map(|problem| problem.message().lines().next().unwrap()).collect();
    let expected = [
        "`no_schema`, which is left out: /inputSchema is required",
        "`unsound`, which is left out: the input schema is invalid: at /type: ",
        "`unsound`, which is left out: the arguments are not an object: ",
        "`bad name`, which is left out: the name must not contain ` `",
        "`whispers`, which is left out: description has 2 invisible characters, the first U+E0041 (a tag character",
        "`turns`, which is left out: inputSchema/properties/a/description has an invisible character, U+202E (it turns",
        "`good`, which is left out: the tool at index 0 has the same id",
        "``, which is left out: ",
    ];
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.starts_with(&format!("the MCP server `peer` lists {expected}")), "{told}");
    }
}

#[tokio::test]
async fn pages_are_followed_to_the_last() {
    assert_eq!(ids("pages").await, ["peer:tool_0", "peer:tool_1", "peer:tool_2", "peer:tool_3", "peer:tool_4"]);
}

#[tokio::test]
async fn a_list_without_an_end_is_refused() {
    let to_list = "the MCP server `peer` answered to `tools/list` with";
    assert_eq!(failure("circle").await, format!("{to_list} the same cursor twice"));
    assert_eq!(failure("endless").await, format!("{to_list} more than 1000 pages"));
    assert_eq!(failure("no_list").await, format!("{to_list}out a list of tools"));
    assert_eq!(failure("many").await, "the MCP server `peer` lists more than 10000 tools");
}

#[tokio::test]
async fn a_host_that_wants_more_tools_says_so() {
    let offers = in_the_end(peer(&["usual", "more"]).max_tools(10_001).tools()).await.unwrap();
    assert_eq!(offers.tools.len(), 10_001);
}

#[tokio::test]
async fn a_server_has_no_namespace_but_its_own() {
    let backend = peer(&["usual", "claims"]);
    assert_eq!(ids("claims").await, ["peer:files_read:1.0.0", "peer:mail_read:1.0.0"]);
    let dispatcher = dispatcher(&backend).await;
    let called = call(&dispatcher, "peer:files_read", json!({})).await.unwrap();
    assert_eq!(called["name"], "files_read", "the name that the server knows");
    for stolen in ["files:read", "math:add"] {
        assert_eq!(call(&dispatcher, stolen, json!({})).await.unwrap_err().kind(), ErrorKind::UnknownTool);
    }
}

#[tokio::test]
async fn a_change_of_the_list_is_told_until_it_is_listed() {
    let backend = peer(&["usual"]);
    let dispatcher = dispatcher(&backend).await;
    assert!(tokio::time::timeout(std::time::Duration::from_millis(50), backend.changed()).await.is_err());
    call(&dispatcher, "peer:change", json!({})).await.unwrap();
    in_the_end(backend.changed()).await;
    in_the_end(backend.changed()).await;
    in_the_end(backend.tools()).await.unwrap();
    assert!(tokio::time::timeout(std::time::Duration::from_millis(50), backend.changed()).await.is_err());
}
