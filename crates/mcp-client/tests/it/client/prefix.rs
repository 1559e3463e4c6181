//! Tools of servers that a proxy lists without the name of the server.

use serde_json::{Value, json};
use test_support::client::{Client, Era, Way};
use toolkit_mcp_client::McpServers;
use toolkit_mcp_server::Server;

use super::apps::server;
use super::resources::{proxy, served};

async fn names(proxy: &Server) -> Vec<String> {
    let mut client = Client::connect(proxy, (Era::Modern, Way::Http), json!({})).await;
    let listed = client.send_unchecked("tools/list", &json!({})).await;
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    let mut names: Vec<String> = listed["result"]["tools"].as_array().unwrap().iter().map(name).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_server_without_prefix_lists_the_names_of_its_tools_and_shares_none() {
    let a = served("a", &server("a", &["show", "both"], false).await).await.prefix(false);
    let b = served("b", &server("b", &["solo"], false).await).await;
    let alone = proxy([a.clone(), b.clone()]).await;
    assert_eq!(names(&alone).await, ["b_solo", "both", "show"]);
    let mut client = Client::connect(&alone, (Era::Modern, Way::Http), json!({})).await;
    let response = client.call("show", json!({}), |_| unreachable!("no question")).await;
    assert_eq!(response["result"]["content"][0]["text"], "a", "{response}");

    // `both` of two servers is the name of neither, and `b_solo` of another one would be that of `b:solo`.
    let c = served("c", &server("c", &["both", "b_solo"], false).await).await.prefix(false);
    let shared = names(&proxy([a, b, c]).await).await;
    let plain: Vec<&str> = shared.iter().map(|name| name.rsplit_once('_').map_or(&**name, |(name, _)| name)).collect();
    assert_eq!((plain, shared.len()), (vec!["b_solo", "b_solo", "both", "both", "show"], 5), "{shared:?}");
}

#[test]
fn the_file_has_a_key_for_it() {
    let with = |prefix: &str| {
        let file = format!(r#"{{"mcpServers": {{"a": {{"command": "a", "toolkit": {{"prefix": {prefix}}}}}}}}}"#);
        let servers = McpServers::from_json(&file).unwrap();
        (servers.len(), servers.rejected().map(ToString::to_string).collect::<Vec<_>>())
    };
    assert_eq!(with("false"), (1, vec![]));
    let (n_servers, rejected) = with("\"no\"");
    assert!(n_servers == 0 && rejected[0].contains("prefix"), "{rejected:?}");
}
