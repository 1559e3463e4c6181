//! The authorization server of an MCP server.

use std::time::Duration;

use serde_json::json;
use toolkit_mcp_client::OAuth;

use super::login_error;
use super::world::{Client, METADATA, PRM, Response, World, login};

#[tokio::test]
async fn a_login_gets_a_token_for_calls() {
    let world = World::start().await;
    let endpoint = world.endpoint(OAuth::new().client_name("tests"));
    let state = login(&endpoint).await.unwrap();
    assert_eq!((&state.issuer, &*state.scopes, state.is_valid), (&world.issuer, &["read".to_owned()][..], true));

    let client = Client::connect(&endpoint).await.unwrap();
    assert!(client.call("read").await.unwrap().contains("done"));
    assert_eq!(world.asked(), ["read"]);
    assert_eq!(world.requests("/token").len(), 1);
}

#[tokio::test]
async fn metadata_is_found_at_the_url_of_the_challenge() {
    let world = World::start().await;
    let (url, prm) = (world.server.replace("/mcp", "/elsewhere"), world.prm());
    world.on("/mcp", move |_| {
        Response::status(401).header("www-authenticate", format!("Bearer resource_metadata=\"{url}\""))
    });
    world.on_json("/elsewhere", prm);
    login(&world.endpoint(OAuth::new())).await.unwrap();
    assert_eq!((world.requests("/elsewhere").len(), world.requests(PRM).len()), (1, 0));
    // Without a scope in the challenge, those of the metadata.
    assert_eq!(world.asked(), ["read"]);
}

#[tokio::test]
async fn metadata_is_found_at_the_root_and_for_openid() {
    let world = World::start().await;
    let root = "/.well-known/oauth-protected-resource";
    let issuer = format!("{}/tenant", world.issuer);
    let mut prm = world.prm();
    prm["authorization_servers"] = json!([issuer]);
    prm["scopes_supported"] = json!(null);
    world.on("/mcp", |_| Response::status(401));
    world.on(PRM, |_| Response::status(404));
    world.on_json(root, prm);
    let mut metadata = world.metadata();
    metadata["issuer"] = json!(issuer);
    metadata["authorization_response_iss_parameter_supported"] = json!(false);
    let paths = [
        "/.well-known/oauth-authorization-server/tenant",
        "/.well-known/openid-configuration/tenant",
        "/tenant/.well-known/openid-configuration",
    ];
    world.on_json(paths[2], metadata);
    // The redirect has the issuer without the tenant.
    let error = login_error(&world).await;
    assert!(error.starts_with("the redirect is from another issuer"), "{error}");
    let found = world.all_requests().into_iter().map(|request| request.path);
    let found: Vec<String> = found.filter(|path| path.contains("well-known")).collect();
    assert_eq!(found, [&[PRM, root][..], &paths].concat());
    assert_eq!(world.asked(), [""]);
}

#[tokio::test]
async fn a_server_without_metadata_of_its_own_uses_its_origin() {
    let world = World::start().await;
    world.on("/mcp", |_| Response::status(401));
    world.on(PRM, |_| Response::status(404));
    let error = login_error(&world).await;
    assert!(error.contains("has no metadata for logins: "), "{error}");
    // One handler serves both servers, and the metadata is that of the other origin.
    assert!(error.contains("is the metadata of another issuer"), "{error}");
    assert_eq!(world.asked(), [""; 0]);
}

#[tokio::test]
async fn metadata_of_another_resource_is_rejected() {
    let world = World::start().await;
    let origin = world.server.trim_end_matches("/mcp").to_owned();
    for resource in [
        "https://evil.example/mcp".to_owned(),
        format!("{origin}/mcp2"),
        format!("{origin}/mc"),
        format!("{origin}/mcp/deeper"),
        format!("{origin}/mcp#x"),
        format!("{origin}/mcp?tenant=other"),
        format!("{origin}/"),
        origin.replace("http:", "https:"),
        "mcp".to_owned(),
        String::new(),
    ] {
        let mut prm = world.prm();
        prm["resource"] = json!(resource);
        world.on_json(PRM, prm);
        let error = login_error(&world).await;
        assert!(error.contains("is for another resource"), "{resource}: {error}");
    }
    assert_eq!(world.requests(METADATA).len(), 0);
}

#[tokio::test]
async fn a_resource_above_a_server_has_metadata_at_its_own_url() {
    let world = World::start().await;
    let origin = world.server.trim_end_matches("/mcp").to_owned();
    let mut prm = world.prm();
    prm["resource"] = json!(format!("{origin}/"));
    // A server of the host publishes this, and would get tokens for its neighbors.
    let url = format!("{origin}/mcp/metadata");
    world.on("/mcp", move |_| {
        Response::status(401).header("www-authenticate", format!("Bearer resource_metadata=\"{url}\""))
    });
    world.on_json("/mcp/metadata", prm.clone());
    let error = login_error(&world).await;
    assert!(error.contains("is for another resource"), "{error}");
    assert_eq!(world.requests(METADATA).len(), 0);

    world.restore("/mcp");
    world.on(PRM, |_| Response::status(404));
    world.on_json("/.well-known/oauth-protected-resource", prm);
    // The resource is sent as it is published.
    let endpoint = world.endpoint(OAuth::new());
    assert!(endpoint.login().await.unwrap().url().contains("resource=http%3A%2F%2F127.0.0.1"));
}

#[tokio::test]
async fn unusable_responses_are_skipped_in_the_search_for_metadata() {
    let world = World::start().await;
    let root = "/.well-known/oauth-protected-resource";
    let openid = "/.well-known/openid-configuration";
    let mut prm = world.prm();
    prm["resource"] = json!(world.server.trim_end_matches("/mcp"));
    let resource = prm["resource"].clone();
    world.on_json(root, prm);
    world.on_json(openid, world.metadata());
    let responses: [fn() -> Response; 4] = [
        || Response::status(302).header("location", "/login"),
        || Response::status(503),
        || Response { body: "<!doctype html>".to_owned(), ..Response::status(200) },
        || Response::json(200, &json!({ "status": "ok" })),
    ];
    for unusable in responses {
        world.on(PRM, move |_| unusable());
        world.on(METADATA, move |_| unusable());
        let login = world.endpoint(OAuth::new()).login().await.unwrap();
        let resource = url::form_urlencoded::byte_serialize(resource.as_str().unwrap().as_bytes()).collect::<String>();
        assert!(login.url().contains(&resource), "{}", login.url());
    }
    assert_eq!((world.requests(root).len(), world.requests(openid).len()), (4, 4));
}

#[tokio::test]
async fn unavailable_metadata_of_a_server_is_not_replaced_by_that_of_its_origin() {
    let world = World::start().await;
    let mut metadata = world.metadata();
    metadata["issuer"] = json!(world.server.trim_end_matches("/mcp"));
    world.on_json(METADATA, metadata);
    world.on(PRM, |_| Response::status(503));
    assert!(login_error(&world).await.contains("responded with status 503"));
    world.on(PRM, |_| Response { body: "<!doctype html>".to_owned(), ..Response::status(200) });
    drop(world.endpoint(OAuth::new()).login().await.unwrap());
}

#[tokio::test]
async fn metadata_of_another_issuer_is_rejected() {
    let world = World::start().await;
    for issuer in ["https://as.example".to_owned(), format!("{}/x", world.issuer), String::new()] {
        world.patch_metadata(json!({ "issuer": issuer }));
        let error = login_error(&world).await;
        assert!(error.contains("is the metadata of another issuer"), "{error}");
    }
    assert_eq!(world.requests("/register").len(), 0);
    // The same origin, as some servers write it. Their redirects have their own spelling.
    world.patch_metadata(json!({ "issuer": format!("{}/", world.issuer) }));
    assert!(login_error(&world).await.starts_with("the redirect is from another issuer"));
}

#[tokio::test]
async fn another_issuer_than_the_configured_one_is_rejected() {
    let world = World::start().await;
    let endpoint = world.endpoint(OAuth::new().issuer("https://as.example"));
    let error = login(&endpoint).await.unwrap_err().to_string();
    assert!(error.ends_with(&format!("`{}` instead of `https://as.example`", world.issuer)), "{error}");
    assert_eq!(world.requests(METADATA).len(), 0);
    login(&world.endpoint(OAuth::new().issuer(&world.issuer))).await.unwrap();
}

#[tokio::test]
async fn metadata_without_an_authorization_server_is_rejected() {
    let world = World::start().await;
    for servers in [json!([]), json!(null)] {
        let mut prm = world.prm();
        prm["authorization_servers"] = servers;
        world.on_json(PRM, prm);
        for settings in [OAuth::new(), OAuth::new().issuer(&world.issuer)] {
            let error = login(&world.endpoint(settings)).await.unwrap_err().to_string();
            assert!(error.ends_with("names no authorization server"), "{error}");
        }
    }
}

#[tokio::test]
async fn the_configured_one_of_several_authorization_servers_is_used() {
    let world = World::start().await;
    let mut prm = world.prm();
    prm["authorization_servers"] = json!([format!("{}/tenant", world.issuer), world.issuer]);
    world.on_json(PRM, prm);
    // A slash at the end of a host is the same URL.
    let state = login(&world.endpoint(OAuth::new().issuer(format!("{}/", world.issuer)))).await.unwrap();
    assert_eq!(state.issuer, world.issuer);
    assert!(login(&world.endpoint(OAuth::new())).await.is_err(), "the first one has no metadata");
}

#[tokio::test]
async fn an_issuer_with_a_query_or_a_fragment_is_rejected() {
    let world = World::start().await;
    for rest in ["?tenant=1", "#tenant"] {
        let mut prm = world.prm();
        prm["authorization_servers"] = json!([format!("{}/{rest}", world.issuer)]);
        world.on_json(PRM, prm);
        let error = login_error(&world).await;
        assert!(error.ends_with("must not have a query or a fragment"), "{error}");
    }
    assert_eq!(world.requests(METADATA).len(), 0);
}

#[tokio::test]
async fn a_server_without_pkce_or_codes_is_rejected() {
    let world = World::start().await;
    for patch in [
        json!({ "code_challenge_methods_supported": null }),
        json!({ "code_challenge_methods_supported": [] }),
        json!({ "code_challenge_methods_supported": ["plain"] }),
        json!({ "response_types_supported": ["token"] }),
        json!({ "authorization_endpoint": null }),
    ] {
        world.patch_metadata(patch.clone());
        let error = login_error(&world).await;
        assert!(["PKCE", "codes", "no page"].iter().any(|word| error.contains(word)), "{patch}: {error}");
    }
    assert_eq!((world.requests("/register").len(), world.requests("/authorize").len()), (0, 0));
}

#[tokio::test]
async fn no_parameter_of_a_login_is_sent_twice() {
    let world = World::start().await;
    let endpoint = world.metadata()["authorization_endpoint"].as_str().unwrap().to_owned();
    let with_query = format!("{endpoint}?tenant=a%20b&state=theirs&client_id=theirs&resource=theirs");
    world.patch_metadata(json!({ "authorization_endpoint": with_query }));
    let login = world.endpoint(OAuth::new()).login().await.unwrap();
    let query = login.url().split_once('?').unwrap().1;
    let mut names: Vec<_> = url::form_urlencoded::parse(query.as_bytes()).map(|(name, _)| name).collect();
    assert!(query.starts_with("tenant=a+b&") && !query.contains("theirs"), "{query}");
    let n_names = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), n_names, "{query}");
}

#[tokio::test]
async fn endpoints_at_other_addresses_are_rejected() {
    let world = World::start().await;
    for url in [
        "http://as.example/x",
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "https://169.254.169.254/x",
        "https://10.0.0.1/x",
        "https://user:hunter2@as.example/x",
        "http://as.example/x?key=hunter2",
        "x",
    ] {
        let shown = format!("`{}`", url.replace("user:hunter2@", "").replace("?key=hunter2", ""));
        for endpoint in ["authorization_endpoint", "token_endpoint", "registration_endpoint"] {
            world.patch_metadata(json!({ endpoint: url }));
            let error = login_error(&world).await;
            assert!(error.contains(&shown), "{endpoint} {url}: {error}");
        }
        let mut prm = world.prm();
        prm["authorization_servers"] = json!([url]);
        world.on_json(PRM, prm);
        let error = login_error(&world).await;
        assert!(error.contains(&shown), "{url}: {error}");
        assert!(!error.contains("hunter2"), "{url}: {error}");
        world.restore(PRM);

        if url == "x" {
            continue;
        }
        world.on("/mcp", move |_| {
            Response::status(401).header("www-authenticate", format!("Bearer resource_metadata=\"{url}\""))
        });
        let error = login_error(&world).await;
        assert!(error.contains(&shown), "{url}: {error}");
        assert!(!error.contains("hunter2"), "{url}: {error}");
        world.restore("/mcp");
    }
    assert_eq!((world.requests("/register").len(), world.requests("/authorize").len()), (0, 0));
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let world = World::start().await;
    for (path, status) in [(PRM, 302), (METADATA, 301), ("/register", 308), ("/token", 307)] {
        let target = format!("{}/stolen", world.issuer);
        world.on(path, move |_| Response::status(status).header("location", target.clone()));
        let error = login_error(&world).await;
        assert!(error.ends_with("responded with a redirect, which is not followed"), "{error}");
        world.restore(path);
    }
    assert_eq!(world.requests("/stolen").len(), 0);
}

#[tokio::test]
async fn large_and_malformed_documents_are_rejected() {
    let world = World::start().await;
    for path in [PRM, METADATA, "/register", "/token"] {
        world.on(path, |_| Response { body: " ".repeat(64 << 10) + "{}", ..Response::status(200) });
        let error = login_error(&world).await;
        assert!(error.ends_with("responded with more than 65536 bytes"), "{path}: {error}");
        for body in ["", "[", "{}", "null", "{\"resource\": 1, \"issuer\": 2, \"client_id\": 3}"] {
            world.on(path, move |_| Response { body: body.to_owned(), ..Response::status(200) });
            let error = login_error(&world).await;
            assert!(error.contains(" is not "), "{path} {body}: {error}");
        }
        world.restore(path);
    }
}

#[tokio::test]
async fn a_server_that_does_not_respond_is_given_up() {
    let world = World::start().await;
    for path in [PRM, METADATA, "/register", "/token"] {
        let held = world.hold(path);
        let n = world.requests(path).len();
        let endpoint = world.endpoint(OAuth::new());
        let task = tokio::spawn(async move { login(&endpoint).await });
        world.wait_for(path, n + 1).await;
        tokio::time::pause();
        let error = task.await.unwrap().unwrap_err();
        tokio::time::resume();
        assert!(error.is_temporary() && error.to_string().ends_with("did not respond within 10s"), "{error}");
        held.add_permits(1000);
    }
}

#[tokio::test]
async fn failures_of_servers_are_temporary() {
    let world = World::start().await;
    for path in [PRM, METADATA, "/register", "/token"] {
        for status in [500, 503, 429] {
            world.on(path, move |_| Response::status(status));
            let error = login(&world.endpoint(OAuth::new())).await.unwrap_err();
            assert!(error.is_temporary(), "{path} {status}: {error}");
        }
        world.restore(path);
    }
    tokio::time::timeout(Duration::from_secs(30), login(&world.endpoint(OAuth::new()))).await.unwrap().unwrap();
}

#[tokio::test]
async fn names_of_this_machine_are_not_resolved_elsewhere() {
    let world = World::start().await;
    let issuer = world.issuer.replace("127.0.0.1", "as.localhost");
    let mut prm = world.prm();
    prm["authorization_servers"] = json!([issuer]);
    world.on_json(PRM, prm);
    let endpoint = |name| format!("{issuer}/{name}");
    world.patch_metadata(json!({
        "issuer": issuer,
        "token_endpoint": endpoint("token"),
        "registration_endpoint": endpoint("register"),
    }));
    // The redirect has the other name.
    let error = login_error(&world).await;
    assert!(error.starts_with("the redirect is from another issuer"), "{error}");

    world.on("/mcp", |request| super::world::answer(&serde_json::from_str(&request.body).unwrap_or_default()));
    let server = world.server.replace("127.0.0.1", "server.localhost");
    let endpoint = toolkit_mcp_client::Endpoint::new(&server).unwrap();
    Client::connect(&endpoint).await.unwrap().call("read").await.unwrap();
}
