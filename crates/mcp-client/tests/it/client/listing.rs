//! The conversion of a server's list of tools.

use std::time::Duration;

use serde_json::json;
use toolkit::backend::Backend;
use toolkit::call::ErrorKind;

use super::raw::{EACH_WAY, raw};
use super::{call, collected, dispatcher, in_the_end, peer};

async fn ids(listing: &str) -> Vec<String> {
    let collected = collected(&peer(&["usual", listing])).await;
    assert!(collected.failures.is_empty(), "{:?}", collected.failures);
    collected.catalog.iter().map(|tool| tool.id().to_string()).collect()
}

/// Returns the error of listing the tools.
async fn failure(listing: &str) -> String {
    let error = in_the_end(peer(&["usual", listing]).tools()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidResponse);
    error.message().to_owned()
}

#[tokio::test]
async fn an_invalid_tool_is_reported_and_does_not_affect_others() {
    let collected = collected(&peer(&["usual", "bad"])).await;
    let ids: Vec<String> = collected.catalog.iter().map(|tool| tool.id().to_string()).collect();
    assert_eq!(ids, ["peer:bad_name", "peer:good", "peer:no_schema", "peer:persian", "peer:unsound"]);
    let told: Vec<&str> =
        collected.diagnostics.iter().map(|problem| problem.message().lines().next().unwrap()).collect();
    let expected = [
        "`whispers`, which is left out: description has 2 invisible characters, the first U+E0041 (a tag character",
        "`turns`, which is left out: inputSchema/properties/a/description has an invisible character, U+202E (it changes the direction",
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
async fn what_a_server_states_about_caches_is_offered() {
    for (cache, expected) in [
        (json!({}), (None, false)),
        (json!({ "ttlMs": 5_000, "cacheScope": "public" }), (Some(Duration::from_secs(5)), false)),
        (json!({ "ttlMs": 0, "cacheScope": "private" }), (Some(Duration::ZERO), true)),
        (json!({ "ttlMs": "soon", "cacheScope": null }), (None, false)),
    ] {
        let mut list = json!({ "tools": [{ "name": "read", "inputSchema": {} }] });
        list.as_object_mut().unwrap().extend(cache.as_object().unwrap().clone());
        for way in EACH_WAY {
            let server = raw(way, [("tools_list", list.to_string().into_bytes())]).await;
            let offers = in_the_end(server.backend.tools()).await.unwrap();
            assert_eq!((offers.list_ttl, offers.is_private), expected, "{way:?}: {list}");
        }
    }
}

#[tokio::test]
async fn the_pages_that_were_read_of_an_endless_list_count() {
    for (listing, n_tools) in [("circle", 2), ("endless", 1_000)] {
        assert_eq!(in_the_end(peer(&["usual", listing]).tools()).await.unwrap().tools.len(), n_tools, "{listing}");
    }
    let to_list = "the MCP server `peer` responded to `tools/list` with";
    assert_eq!(failure("no_list").await, format!("{to_list}out a list of tools"));
    assert_eq!(failure("many").await, "the MCP server `peer` lists more than 10000 tools");
}

#[tokio::test]
async fn the_limit_of_tools_can_be_raised() {
    let offers = in_the_end(peer(&["usual", "more"]).max_tools(10_001).tools()).await.unwrap();
    assert_eq!(offers.tools.len(), 10_001);
}

#[tokio::test]
async fn a_server_cannot_choose_its_namespace() {
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
async fn a_change_is_reported_until_the_tools_are_listed() {
    let backend = peer(&["usual"]);
    let dispatcher = dispatcher(&backend).await;
    assert!(tokio::time::timeout(Duration::from_millis(50), backend.changed()).await.is_err());
    call(&dispatcher, "peer:change", json!({})).await.unwrap();
    in_the_end(backend.changed()).await;
    in_the_end(backend.changed()).await;
    in_the_end(backend.tools()).await.unwrap();
    assert!(tokio::time::timeout(Duration::from_millis(50), backend.changed()).await.is_err());
}
