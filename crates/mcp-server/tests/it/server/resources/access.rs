//! Resources of backends whose tools a filter excludes, or a token does not grant.

use toolkit::tool::ToolBackend;
use toolkit_mcp_server::{Filter, Http, Rule};

use super::*;

/// A backend with one resource, and at most one tool.
struct Shelf {
    name: &'static str,
    has_tool: bool,
    resources: ResourceSet,
}

impl Shelf {
    fn new(name: &'static str, has_tool: bool) -> Self {
        Self { name, has_tool, resources: ResourceSet::new().with(Resource::new("x://y", "y"), "content") }
    }
}

impl Backend for Shelf {
    fn name(&self) -> &str {
        self.name
    }

    fn kind(&self) -> BackendKind {
        BackendKind::Provider
    }

    fn tools(&self) -> BoxFuture<'_, Result<OfferedTools, ToolError>> {
        let tool = Tool::builder("open").description("Opens the shelf.").build().unwrap();
        let backend = ToolBackend::provider(self.name, "open").unwrap();
        Box::pin(async { Ok(OfferedTools::new(self.has_tool.then_some((tool, backend)))) })
    }

    fn call<'a>(&'a self, _: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> {
        Box::pin(async { Err(ToolError::failed("it is never called")) })
    }

    fn resources(&self) -> Option<&dyn Resources> {
        Some(&self.resources)
    }
}

/// Serves the backends `red`, with a tool, and `blue`, without one.
async fn server(builder: ServerBuilder) -> Server {
    let server = builder.resources(set()).build().unwrap();
    let backends = Backends::new();
    backends.register(Shelf::new("red", true)).unwrap();
    backends.register(Shelf::new("blue", false)).unwrap();
    let proxy = Proxy::new(server.clone(), backends);
    let before = proxy.status();
    assert_eq!(before.backends.len(), 2);
    assert!(proxy.collect().await.failures.is_empty());
    server
}

async fn listed(client: &Client) -> Vec<String> {
    let list = client.send(&request(1, "resources/list", json!({}))).await.result();
    let resources = list["resources"].as_array().unwrap().iter();
    let uris = resources.map(|resource| resource["uri"].as_str().unwrap().to_owned());
    uris.filter(|uri| uri.starts_with("proxy:")).collect()
}

const RED: &str = "proxy:red/x://y";
const BLUE: &str = "proxy:blue/x://y";

#[tokio::test]
async fn the_resources_of_a_backend_without_a_tool_that_passes_the_filter_do_not_exist() {
    let rule = |rule: &str| rule.parse::<Rule>().unwrap();
    for (filter, visible) in [
        (Filter::all(), &[BLUE, RED][..]),
        (Filter::all().deny(rule("namespace=red")), &[BLUE]),
        (Filter::all().deny(rule("red:open")), &[BLUE]),
        (Filter::all().deny(rule("namespace=blue")), &[RED]),
        (Filter::all().allow(rule("namespace=red")), &[RED]),
        (Filter::all().allow(rule("namespace=blue")), &[BLUE]),
        // An untrusted tool without hints counts as destructive.
        (Filter::all().deny(rule("hint=destructive")), &[BLUE]),
        (Filter::all().read_only(), &[BLUE]),
        (Filter::all().allow(rule("tag=x")), &[]),
    ] {
        let server = server(builder().filter(filter.clone())).await;
        let client = session(&Client::of(serve(server.http()).await)).await;
        assert_eq!(listed(&client).await, visible, "{filter:?}");
        for uri in [RED, BLUE] {
            for method in ["resources/read", "resources/subscribe"] {
                let response = client.send(&request(2, method, read(uri))).await;
                match visible.contains(&uri) {
                    true => drop(response.result()),
                    false => assert_eq!(response.code(), -32002, "{method} of {uri} with {filter:?}"),
                }
            }
        }
    }
}

#[tokio::test]
async fn a_filter_admits_no_resources_before_the_tools_are_known() {
    let server = builder().filter(Filter::all().deny("red:open".parse().unwrap())).build().unwrap();
    let backends = Backends::new();
    backends.register(Shelf::new("red", true)).unwrap();
    let _proxy = Proxy::new(server.clone(), backends);
    let client = Client::of(serve(server.http()).await);
    assert_eq!(client.send(&request(1, "resources/read", read(RED))).await.code(), -32002);
}

/// A verifier whose tokens are lists of scopes: `a+b`.
struct Granted;

impl Verify for Granted {
    fn verify<'v>(&'v self, token: &'v str) -> BoxFuture<'v, Result<Caller, TokenError>> {
        Box::pin(async move { Ok(Caller::named("ada").with_scopes(token.split('+'))) })
    }
}

#[tokio::test]
async fn a_token_grants_no_resources_while_the_tools_are_not_known() {
    let server = builder().build().unwrap();
    let backends = Backends::new();
    backends.register(Shelf::new("red", true)).unwrap();
    let proxy = Proxy::new(server.clone(), backends);
    let client = Client::of(serve(server.http().verify(Granted)).await);
    let status = async |token: &str, uri: &str| {
        let client = client.with("authorization", &format!("Bearer {token}"));
        client.send(&modern(1, "resources/read", read(uri))).await.status
    };
    assert_eq!(status("any", RED).await, 403, "the tools may require scopes");
    assert!(proxy.collect().await.is_empty());
    assert_eq!(status("any", RED).await, 200, "they require none");
}

async fn client_with(configure: impl FnOnce(Http) -> Http) -> Client {
    Client::of(serve(configure(server(builder()).await.http().verify(Granted))).await)
}

/// Returns the resources that a client reads, lists, and subscribes to.
async fn assert_granted(client: &Client, token: &str, granted: &[&str], challenge: &str) {
    let client = client.with("authorization", &format!("Bearer {token}"));
    assert_eq!(listed(&client).await, granted, "{token}");
    let session = session(&client).await;
    let listening = client.with("mcp-protocol-version", MODERN).with("mcp-method", "subscriptions/listen");
    let listen = json!({ "notifications": { "resourceSubscriptions": [BLUE, RED] } });
    let listen = modern(5, "subscriptions/listen", listen).to_string();
    let listening = listening.with("content-type", "application/json");
    let mut stream = listening.begin("POST", "/mcp", listen.as_bytes()).await;
    let acknowledged = next(&mut stream).await;
    let honored = acknowledged["params"]["notifications"].get("resourceSubscriptions").cloned();
    assert_eq!(honored.unwrap_or(json!([])), json!(granted), "{token}");
    for uri in [RED, BLUE] {
        let is_granted = granted.contains(&uri);
        for message in [modern(1, "resources/read", read(uri)), request(2, "resources/subscribe", read(uri))] {
            let response = session.without("mcp-session-id").send(&message).await;
            let response = if message["id"] == 2 { session.send(&message).await } else { response };
            assert_eq!(response.status, if is_granted { 200 } else { 403 }, "{message} with {token}");
            if !is_granted {
                let found = response.header("www-authenticate").unwrap();
                assert!(
                    found.starts_with(&format!("Bearer error=\"insufficient_scope\", scope=\"{challenge}")),
                    "{found}"
                );
            }
        }
        // A batch is answered as a whole.
        let batch = json!([request(1, "resources/read", read(uri))]).to_string();
        let batch = client.with("mcp-protocol-version", "2025-03-26").post(batch.as_bytes()).await.json();
        assert_eq!(batch[0]["result"].is_object(), is_granted, "{batch}");
    }
}

#[tokio::test]
async fn a_token_that_grants_no_tool_of_a_backend_grants_none_of_its_resources() {
    let client = client_with(|http| http.tool_scopes(|tool| vec![format!("call:{}", tool.name())])).await;
    assert_granted(&client, "other", &[BLUE], "call:open").await;
    assert_granted(&client, "call:open", &[BLUE, RED], "").await;
}

#[tokio::test]
async fn the_host_chooses_the_scopes_of_resources() {
    let scopes = |uri: &str| if uri.starts_with("proxy:blue/") { vec!["blue".to_owned()] } else { Vec::new() };
    let client = client_with(|http| http.resource_scopes(scopes)).await;
    assert_granted(&client, "red", &[RED], "blue").await;
    assert_granted(&client, "red+blue", &[BLUE, RED], "").await;
}

#[tokio::test]
async fn requests_for_resources_are_counted() {
    let client = serving(builder().resources(set()).resources(notes())).await;
    for uri in ["config://app", "notes://none", "notes://expired"] {
        client.send(&request(1, "resources/read", read(uri))).await;
    }
    client.send(&request(1, "resources/list", json!({}))).await.result();
    let metrics = client.get("/metrics").await.text();
    for line in [
        r#"toolkit_mcp_resource_requests_total{method="resources/read",outcome="ok"} 1"#,
        r#"toolkit_mcp_resource_requests_total{method="resources/read",outcome="rejected"} 1"#,
        r#"toolkit_mcp_resource_requests_total{method="resources/read",outcome="failed"} 1"#,
        r#"toolkit_mcp_resource_requests_total{method="resources/list",outcome="ok"} 1"#,
        r#"toolkit_mcp_resource_request_seconds_count{method="resources/read"} 3"#,
    ] {
        assert!(metrics.contains(line), "{line} is not in\n{metrics}");
    }
}
