//! MCP Apps behind a proxy: pages call tools by the names on their own server.

use serde_json::{Value, json};
use test_support::client::{Client, EACH_WAY};
use toolkit::{Catalog, Context, Tool};
use toolkit_backends::{Backends, LocalBackend};
use toolkit_mcp_server::{App, Server, ServerBuilder};

use super::resources::{proxy, served};

/// A server with these tools, of which the first has a page. Each returns the name of the server.
pub(super) async fn server(name: &'static str, tools: &[&'static str], has_page: bool) -> Server {
    let backend = LocalBackend::new(name);
    for (nth, tool) in tools.iter().enumerate() {
        let mut tool = Tool::builder(*tool).description("Answers.");
        if nth == 0 && has_page {
            let Value::Object(meta) = json!({ "ui": { "resourceUri": "ui://page" } }) else { unreachable!() };
            tool = tool.meta(meta);
        }
        backend.add(tool.build().unwrap(), move |_: Value, _: Context| async move { Ok(json!(name)) });
    }
    let backends = Backends::new();
    backends.register(backend).unwrap();
    let collected = backends.collect(Catalog::new([]).unwrap()).await;
    let dispatcher = toolkit::Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap();
    let naming = toolkit::catalog::Naming::Name;
    let server = |builder: ServerBuilder| builder.naming(naming).build().unwrap();
    match has_page {
        true => server(Server::builder(dispatcher).resources(App::new("ui://page", "<p>Page</p>"))),
        false => server(Server::builder(dispatcher)),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_calls_the_tools_of_its_server_by_their_names_there() {
    let charts = served("charts", &server("charts", &["show", "refresh", "both"], true).await).await;
    let plain = served("plain", &server("plain", &["solo", "both"], false).await).await;
    let proxy = proxy([charts, plain]).await;
    for way in EACH_WAY {
        let mut client = Client::connect(&proxy, way, json!({})).await;
        let mut call = async |tool: &str| client.call(tool, json!({}), |_| unreachable!("no question")).await;
        for own in ["refresh", "show", "charts_refresh"] {
            let response = call(own).await;
            assert_eq!(response["result"]["content"][0]["text"], "charts", "{way:?}: {response}");
        }
        // Several tools have the name, or a server without pages has the tool.
        for other in ["both", "solo"] {
            let response = call(other).await;
            let message = response["error"]["message"].as_str().unwrap_or_default();
            assert!(message.starts_with(&format!("no tool is named `{other}`")), "{way:?}: {response}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_declares_the_extension_if_a_tool_has_a_page() {
    for (has_page, expected) in [(true, json!({})), (false, Value::Null)] {
        let behind = served("charts", &server("charts", &["show"], has_page).await).await;
        for server in [server("charts", &["show"], has_page).await, proxy([behind]).await] {
            for way in EACH_WAY {
                let mut client = Client::connect(&server, way, json!({})).await;
                let (method, params) = match way.0 {
                    test_support::client::Era::Legacy => {
                        let info = json!({ "name": "tests", "version": "1" });
                        (
                            "initialize",
                            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info }),
                        )
                    }
                    test_support::client::Era::Modern => ("server/discover", json!({})),
                };
                let response = client.send_unchecked(method, &params).await;
                let extensions = &response["result"]["capabilities"]["extensions"];
                assert_eq!(extensions["io.modelcontextprotocol/ui"], expected, "{way:?}: {response}");
            }
        }
    }
}
