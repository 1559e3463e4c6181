//! Resources of backends.

use super::*;

#[tokio::test]
async fn what_a_proxy_lists_is_not_cached() {
    let server = builder().resources(set()).build().unwrap();
    let proxy = Proxy::new(server.clone(), Backends::new());
    assert!(proxy.collect().await.is_empty());
    let client = Client::of(serve(server.http()).await);
    let list = client.send(&modern(1, "resources/list", json!({}))).await.result();
    assert_eq!((&list["ttlMs"], &list["cacheScope"]), (&json!(0), &json!("private")));
    assert_eq!(list["resources"].as_array().unwrap().len(), 2, "its own resources are served too");
}

/// A backend without tools, named `files`.
struct Files<R>(R);

impl<R: Resources> Backend for Files<R> {
    fn name(&self) -> &str {
        "files"
    }

    fn kind(&self) -> BackendKind {
        BackendKind::Local
    }

    fn tools(&self) -> BoxFuture<'_, Result<OfferedTools, ToolError>> {
        Box::pin(async { Ok(OfferedTools::default()) })
    }

    fn call<'a>(&'a self, _: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> {
        Box::pin(async { Err(ToolError::failed("it has no tools")) })
    }

    fn resources(&self) -> Option<&dyn Resources> {
        Some(&self.0)
    }
}

/// Resources that depend on the caller.
struct OfCaller;

impl Resources for OfCaller {
    fn list<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<Vec<Resource>, ToolError>> {
        Box::pin(async {
            let caller = context.get::<Request>().and_then(Request::caller).and_then(Caller::subject);
            Ok(vec![Resource::new(format!("mine://{}", caller.unwrap_or("all")), "mine")])
        })
    }

    fn read<'a>(
        &'a self,
        _: &'a str,
        _: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Vec<ResourceContents>>, ToolError>> {
        Box::pin(async { Ok(None) })
    }
}

#[tokio::test]
async fn a_list_that_callers_share_contains_the_resources_of_none() {
    let server = builder().build().unwrap();
    let backends = Backends::new();
    backends.register(Files(OfCaller)).unwrap();
    let proxy = Proxy::new(server.clone(), backends);
    assert!(proxy.collect().await.is_empty());
    let client = Client::of(serve(server.http().verify(Names)).await);
    for name in ["alice", "bob"] {
        let client = client.with("authorization", &format!("Bearer {name}"));
        let list = client.send(&modern(1, "resources/list", json!({}))).await.result();
        assert_eq!(list["resources"], json!([{ "uri": "proxy:files/mine://all", "name": "mine" }]));
    }
}

#[tokio::test]
async fn reports_of_a_backend_without_a_change_are_not_passed_on() {
    let (server, set) = (builder().build().unwrap(), set());
    let backends = Backends::new();
    backends.register(Files(set.clone())).unwrap();
    let proxy = Proxy::new(server.clone(), backends);
    assert!(proxy.collect().await.is_empty());
    tokio::spawn(async move { proxy.follow(|_| {}).await });
    let client = session(&Client::of(serve(server.http()).await)).await;
    let mut stream = client.begin("GET", "/mcp", b"").await;
    Response::read_head(&mut stream).await;
    for name in ["one", "two"] {
        set.set(Resource::new(format!("x://{name}"), name), "");
        assert_eq!(next(&mut stream).await["method"], "notifications/resources/list_changed");
        let list = client.send(&request(1, "resources/list", json!({}))).await.result();
        let uris = list["resources"].as_array().unwrap().iter().map(|resource| resource["uri"].as_str().unwrap());
        assert!(uris.into_iter().any(|uri| uri == format!("proxy:files/x://{name}")), "{list}");
        for _ in 0..30 {
            set.changes().unwrap().list_changed();
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        server.announce();
        assert_eq!(next(&mut stream).await["method"], "notifications/tools/list_changed");
    }
}

/// Resources that can be read and not watched.
struct Unobserved;

impl Resources for Unobserved {
    fn read<'a>(
        &'a self,
        uri: &'a str,
        _: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Vec<ResourceContents>>, ToolError>> {
        Box::pin(async move { Ok(Some(vec![ResourceContents::new(uri, "")])) })
    }

    fn watch<'a>(&'a self, _: &'a str, _: &'a Context) -> BoxFuture<'a, Result<ResourceWatch, ToolError>> {
        Box::pin(async { Err(ToolError::failed("it reports no changes")) })
    }
}

#[tokio::test]
async fn a_subscription_that_would_receive_nothing_is_refused() {
    let server = builder().resources(set()).build().unwrap();
    let backends = Backends::new();
    backends.register(Files(Unobserved)).unwrap();
    let proxy = Proxy::new(server.clone(), backends);
    assert!(proxy.collect().await.is_empty());
    let client = Client::of(serve(server.http()).await);
    let legacy = session(&client).await;
    let error = legacy.send(&request(2, "resources/subscribe", read("proxy:files/x://y"))).await.json();
    assert_eq!(error["error"]["code"], -32602, "{error}");
    assert_eq!(error["error"]["message"], "it reports no changes");

    let client = client.with("mcp-protocol-version", MODERN).with("mcp-method", "subscriptions/listen");
    let wanted = json!({ "resourceSubscriptions": ["proxy:files/x://y", "config://app"] });
    let message = modern(5, "subscriptions/listen", json!({ "notifications": wanted })).to_string();
    let mut stream = client.with("content-type", "application/json").begin("POST", "/mcp", message.as_bytes()).await;
    let honored = json!({ "resourceSubscriptions": ["config://app"] });
    assert_eq!(next(&mut stream).await["params"]["notifications"], honored);
}
