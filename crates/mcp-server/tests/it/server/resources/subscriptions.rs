//! Subscriptions to changes of resources.

use super::*;

#[tokio::test]
async fn a_session_receives_updates_of_the_resources_it_has_subscribed_to() {
    let set = set();
    let server = builder().resources(set.clone()).build().unwrap();
    let client = Client::of(serve(server.http()).await);
    let (one, other) = (session(&client).await, session(&client).await);
    for session in [&one, &other] {
        assert_eq!(session.send(&request(2, "resources/subscribe", read("config://app"))).await.result(), json!({}));
    }
    other.send(&request(3, "resources/unsubscribe", read("config://app"))).await.result();
    assert_eq!(client.send(&request(2, "resources/subscribe", read("config://app"))).await.code(), -32600);

    // Updates wait for the stream.
    server.resource_changed("config://app");
    server.resource_changed("icon://app");
    let mut stream = one.begin("GET", "/mcp", b"").await;
    let updated = next(&mut stream).await;
    assert_official(LEGACY, &updated);
    assert_eq!(updated["method"], "notifications/resources/updated");
    assert_eq!(updated["params"], json!({ "uri": "config://app" }));

    // A provider reports its changes itself.
    let mut silent = other.begin("GET", "/mcp", b"").await;
    Response::read_head(&mut silent).await;
    silent.fill_buf().await.unwrap();
    set.set(Resource::new("config://app", "app").mime_type("application/json"), "[]");
    assert_eq!(next(&mut stream).await["params"]["uri"], "config://app");
    set.set(Resource::new("config://new", "new"), "");
    for stream in [&mut stream, &mut silent] {
        let changed = next(stream).await;
        assert_official(LEGACY, &changed);
        assert_eq!(changed["method"], "notifications/resources/list_changed");
    }
}

#[tokio::test]
async fn a_subscription_receives_what_it_has_asked_for() {
    let server = builder().resources(set()).build().unwrap();
    let client = Client::of(serve(server.http()).await);
    let client = client.with("mcp-protocol-version", MODERN).with("mcp-method", "subscriptions/listen");
    let client = client.with("content-type", "application/json");
    let listen = async |notifications: Value| {
        let message = modern(5, "subscriptions/listen", json!({ "notifications": notifications })).to_string();
        let mut stream = client.begin("POST", "/mcp", message.as_bytes()).await;
        let acknowledged = next(&mut stream).await;
        assert_official(MODERN, &acknowledged);
        assert_eq!(acknowledged["params"]["notifications"], notifications);
        stream
    };
    let mut list = listen(json!({ "resourcesListChanged": true })).await;
    let mut updates = listen(json!({ "resourceSubscriptions": ["config://app"] })).await;
    server.resource_changed("icon://app");
    server.resource_changed("config://app");
    server.announce();
    server.resources_changed();
    let (changed, updated) = (next(&mut list).await, next(&mut updates).await);
    for message in [&changed, &updated] {
        assert_official(MODERN, message);
        assert_eq!(message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 5);
    }
    assert_eq!(changed["method"], "notifications/resources/list_changed");
    assert_eq!(updated["params"]["uri"], "config://app");
    server.shut_down();
    for stream in [&mut list, &mut updates] {
        assert_eq!(next(stream).await["result"]["resultType"], "complete", "nothing else was sent");
    }
}

#[tokio::test]
async fn a_caller_subscribes_only_to_its_own_resources() {
    let server = builder().resources(Private).build().unwrap();
    let client = Client::of(serve(server.http().verify(Names)).await).with("authorization", "Bearer alice");
    let alice = session(&client).await;
    for uri in ["mine://bob", "mine://nobody"] {
        assert_eq!(alice.send(&request(2, "resources/subscribe", read(uri))).await.code(), -32002);
    }
    alice.send(&request(2, "resources/subscribe", read("mine://alice"))).await.result();
    let mut legacy = alice.begin("GET", "/mcp", b"").await;

    let client = client.with("mcp-protocol-version", MODERN).with("mcp-method", "subscriptions/listen");
    let client = client.with("content-type", "application/json");
    let wanted = json!({ "resourceSubscriptions": ["mine://bob", "mine://alice", "mine://alice"] });
    let message = modern(5, "subscriptions/listen", json!({ "notifications": wanted })).to_string();
    let mut modern = client.begin("POST", "/mcp", message.as_bytes()).await;
    let acknowledged = next(&mut modern).await;
    let own = json!({ "resourceSubscriptions": ["mine://alice"] });
    assert_eq!(acknowledged["params"]["notifications"], own);

    server.resource_changed("mine://bob");
    server.resource_changed("mine://alice");
    for stream in [&mut legacy, &mut modern] {
        assert_eq!(next(stream).await["params"]["uri"], "mine://alice");
    }
}

#[tokio::test]
async fn too_many_or_hanging_subscriptions_end() {
    let server = builder().resources(notes()).build().unwrap();
    let client = Client::of(serve(server.http()).await);
    let listen = |uris: Vec<String>| {
        let wanted = json!({ "notifications": { "resourceSubscriptions": uris } });
        modern(5, "subscriptions/listen", wanted)
    };
    let many = (0..1_001).map(|idx| format!("notes://{idx}")).collect();
    assert_eq!(client.send(&listen(many)).await.code(), -32602);

    // The check of a resource does not delay the end of the server.
    let client = client.with("mcp-protocol-version", MODERN).with("mcp-method", "subscriptions/listen");
    let hanging = listen(vec!["notes://slow".to_owned()]).to_string();
    let client = client.with("content-type", "application/json");
    let mut stream = client.begin("POST", "/mcp", hanging.as_bytes()).await;
    Response::read_head(&mut stream).await;
    server.shut_down();
    assert_eq!(next(&mut stream).await["params"]["notifications"], json!({}));
    assert_eq!(next(&mut stream).await["result"]["resultType"], "complete");
}

#[tokio::test]
async fn subscriptions_without_resources_are_not_honored() {
    let client = client().await;
    let client = client.with("mcp-protocol-version", MODERN).with("mcp-method", "subscriptions/listen");
    let wanted = json!({ "notifications": { "resourcesListChanged": true, "resourceSubscriptions": ["x://y"] } });
    let message = modern(5, "subscriptions/listen", wanted).to_string();
    let mut stream = client.with("content-type", "application/json").begin("POST", "/mcp", message.as_bytes()).await;
    assert_eq!(next(&mut stream).await["params"]["notifications"], json!({}));
}

#[tokio::test]
async fn a_session_has_a_bounded_number_of_subscriptions() {
    let any = TemplateResources::new(ResourceTemplate::new("x://{id}", "x"), |_, _| async { Ok(Some("")) });
    let client = session(&serving(builder().resources(any.unwrap())).await).await;
    for idx in 0..1_000 {
        client.send(&request(2, "resources/subscribe", read(&format!("x://{idx}")))).await.result();
    }
    assert_eq!(client.send(&request(2, "resources/subscribe", read("x://more"))).await.code(), -32602);
    client.send(&request(2, "resources/subscribe", read("x://7"))).await.result();
    client.send(&request(2, "resources/unsubscribe", read("x://7"))).await.result();
    client.send(&request(2, "resources/subscribe", read("x://more"))).await.result();
}

#[tokio::test]
async fn a_resource_that_changes_often_does_not_delay_others() {
    let server = builder().resources(set()).build().unwrap();
    let client = session(&Client::of(serve(server.http()).await)).await;
    for uri in ["config://app", "icon://app"] {
        client.send(&request(2, "resources/subscribe", read(uri))).await.result();
    }
    server.resource_changed("icon://app");
    server.resource_changed("config://app");
    server.resource_changed("icon://app");
    let mut stream = client.begin("GET", "/mcp", b"").await;
    for uri in ["icon://app", "config://app"] {
        assert_eq!(next(&mut stream).await["params"]["uri"], uri);
    }
    server.resource_changed("icon://app");
    assert_eq!(next(&mut stream).await["params"]["uri"], "icon://app", "it is reported again after it was sent");
}
