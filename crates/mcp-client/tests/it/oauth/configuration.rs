//! The settings of logins in configuration files.

use std::sync::Arc;

use serde_json::{Value, json};
use toolkit::backend::Backend;
use toolkit_backends::Backends;
use toolkit_mcp_client::{ConfiguredServers, Endpoint, McpServers, MemoryTokens, OAuth};

use super::world::{Client, World, login};

fn servers(servers: &Value) -> McpServers {
    let json = json!({ "mcpServers": servers }).to_string();
    let variable = |name: &str| (name == "SECRET").then(|| "hunter2".to_owned());
    McpServers::from_json_with(&json, variable).unwrap()
}

/// Returns the reasons why a server with this object is rejected.
fn reasons(oauth: &Value) -> Vec<String> {
    let servers = servers(&json!({ "notes": { "url": "https://x.example/mcp", "toolkit": { "oauth": oauth } } }));
    servers.rejected().flat_map(|rejected| rejected.reasons.clone()).collect()
}

#[test]
fn invalid_settings_are_reported_without_their_values() {
    for (oauth, reason) in [
        (json!("x"), "`toolkit.oauth` must be an object"),
        (json!({ "clientId": 1 }), "`toolkit.oauth.clientId` must be a string"),
        (json!({ "scopes": "read" }), "`toolkit.oauth.scopes` must be an array of strings"),
        (json!({ "scopes": [1] }), "`toolkit.oauth.scopes` must be a string"),
        (json!({ "redirectPort": 70_000 }), "`toolkit.oauth.redirectPort` must be the number of a port"),
        (json!({ "redirectPort": 0 }), "`toolkit.oauth.redirectPort` must be the number of a port"),
        (json!({ "clientCredentials": "yes" }), "`toolkit.oauth.clientCredentials` must be true or false"),
        (json!({ "clientSecret": "hunter2" }), "`toolkit.oauth`: a client secret requires a client id"),
        (
            json!({ "clientId": "x", "clientSecret": "hunter2" }),
            "`toolkit.oauth`: a client id requires the issuer, so that it is sent to no other authorization server",
        ),
    ] {
        assert_eq!(reasons(&oauth), [reason]);
    }
    let unknown = reasons(&json!({ "secret": "hunter2" }));
    assert!(unknown[0].starts_with("`toolkit.oauth.secret` is unknown; the keys are `clientName`, "), "{unknown:?}");
    assert!(!unknown[0].contains("hunter2"));
    let unset = reasons(&json!({ "clientId": "${UNSET}" }));
    assert!(unset[0].starts_with("`toolkit.oauth.clientId` refers to the environment variable `UNSET`"), "{unset:?}");

    let servers = servers(&json!({
        "program": { "command": "x", "toolkit": { "oauth": {} } },
        "header": { "url": "https://x.example", "headers": { "authorization": "x" }, "toolkit": { "oauth": {} } },
    }));
    let rejected: Vec<String> = servers.rejected().map(ToString::to_string).collect();
    assert_eq!(
        rejected,
        [
            "the server `program`: `toolkit.oauth` requires `url`",
            "the server `header`: `toolkit.oauth` and the header `Authorization` exclude each other",
        ]
    );
}

#[tokio::test]
async fn servers_without_credentials_get_the_logins_of_the_host() {
    let tokens = MemoryTokens::new();
    let servers = servers(&json!({
        "program": { "command": "x" },
        "header": { "url": "https://x.example", "headers": { "Authorization": "x" } },
        "plain": { "url": "https://x.example" },
    }));
    let servers = servers.with_oauth(|_| OAuth::new().store(tokens.clone()));
    let mut found = Vec::new();
    for backend in servers {
        let state = match backend.endpoint() {
            Some(endpoint) => endpoint.login_state().await.map(|_| ()).map_err(|error| error.to_string()),
            None => continue,
        };
        found.push((backend.name().to_owned(), state));
    }
    let none = Err("the endpoint has no settings for logins".to_owned());
    assert_eq!(found, [("header".to_owned(), none), ("plain".to_owned(), Ok(()))]);
}

#[tokio::test]
async fn the_settings_of_a_server_precede_those_of_the_host() {
    let world = World::start().await;
    let oauth = json!({ "clientId": "configured", "clientSecret": "${SECRET}", "issuer": world.issuer,
                        "scopes": ["read", "write"] });
    let servers = servers(&json!({ "server": { "url": world.server, "toolkit": { "oauth": oauth } } }));
    let tokens = MemoryTokens::new();
    let servers = servers.with_oauth(|name| OAuth::new().client_name(name).scopes(["host"]).store(tokens.clone()));
    assert!(!format!("{servers:?}").contains("hunter2"));
    let endpoint: Endpoint = servers.into_iter().next().unwrap().endpoint().unwrap().clone();
    login(&endpoint).await.unwrap();
    assert_eq!(world.asked(), ["read write"]);
    assert_eq!(world.requests("/authorize")[0].query["client_id"], "configured");
    assert!(world.requests("/token")[0].header("authorization").is_some());

    // The tokens are those of the host's store.
    let settings = OAuth::new().client_id("configured").client_secret("hunter2").issuer(&world.issuer);
    let other = world.endpoint(settings.store(tokens));
    Client::connect(&other).await.unwrap().call("write").await.unwrap();
}

#[test]
fn each_setting_has_the_values_that_it_accepts() {
    let metadata = |url: &str| json!({ "clientMetadataUrl": url });
    let credentials = |more: Value| {
        let mut oauth = json!({ "clientId": "x", "issuer": "https://as.example" });
        oauth.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        oauth
    };
    for oauth in [
        metadata("https://x.example/client"),
        metadata("https://x.example/client?a=b"),
        json!({ "redirectPort": 1 }),
        json!({ "redirectPort": 65_535 }),
        json!({ "clientCredentials": false, "allowPrivateAddresses": false, "tokenExchange": false }),
        json!({ "allowPrivateAddresses": true }),
        credentials(json!({})),
        credentials(json!({ "clientSecret": "y", "clientCredentials": true })),
        credentials(json!({ "clientSecret": "y", "tokenExchange": "audience" })),
    ] {
        assert_eq!(reasons(&oauth), [""; 0], "{oauth}");
    }
    for url in [
        "client",
        "http://x.example/client",
        "https://x.example",
        "https://x.example/",
        "https://x.example/client#part",
        "https://ada@x.example/client",
        "https://:secret@x.example/client",
    ] {
        let start = "`toolkit.oauth`: the URL of the client metadata must begin with `https://` and have a path, got `";
        assert!(reasons(&metadata(url))[0].starts_with(start), "{url}");
    }
    let secret = "`toolkit.oauth`: client credentials require a client id and a client secret";
    for (oauth, reason) in [
        (json!({ "redirectPort": 65_536 }), "`toolkit.oauth.redirectPort` must be the number of a port"),
        (json!({ "clientCredentials": true }), secret),
        (json!({ "tokenExchange": true }), secret),
        (credentials(json!({ "clientCredentials": true })), secret),
        (
            json!({ "tokenExchange": 1 }),
            "`toolkit.oauth.tokenExchange` must be true, false or the audience of the server",
        ),
        (json!({ "allowPrivateAddresses": 1 }), "`toolkit.oauth.allowPrivateAddresses` must be true or false"),
    ] {
        assert_eq!(reasons(&oauth), [reason], "{oauth}");
    }
}

#[test]
fn each_setting_of_a_login_counts_where_servers_are_compared() {
    let before = json!({
        "clientName": "n", "clientId": "x", "clientSecret": "y", "clientMetadataUrl": "https://x.example/client",
        "issuer": "https://as.example", "scopes": ["a"], "redirectPort": 8000, "clientCredentials": false,
        "allowPrivateAddresses": false, "tokenExchange": false,
    });
    for (key, value) in [
        ("clientName", json!("m")),
        ("clientId", json!("z")),
        ("clientSecret", json!("z")),
        ("clientMetadataUrl", json!("https://x.example/other")),
        ("issuer", json!("https://other.example")),
        ("scopes", json!(["a", "b"])),
        ("redirectPort", json!(8001)),
        ("clientCredentials", json!(true)),
        ("allowPrivateAddresses", json!(true)),
        ("tokenExchange", json!(true)),
        ("tokenExchange", json!("audience")),
    ] {
        let mut after = before.clone();
        after[key] = value;
        let mut configured = ConfiguredServers::new(Arc::new(Backends::new()));
        let mut apply = |oauth: &Value| {
            let servers = servers(&json!({ "notes": { "url": "https://x.example", "toolkit": { "oauth": oauth } } }));
            let changes = configured.apply(servers.with_oauth(|_| OAuth::new()));
            (changes.added.len(), changes.changed.len())
        };
        assert_eq!(
            [apply(&before), apply(&before), apply(&after), apply(&after)],
            [(1, 0), (0, 0), (0, 1), (0, 0)],
            "{key}"
        );
    }
}

#[test]
fn a_server_with_other_settings_of_logins_is_replaced() {
    let backends = Arc::new(Backends::new());
    let mut configured = ConfiguredServers::new(Arc::clone(&backends));
    let mut apply = |scope: &str| {
        let oauth = json!({ "clientId": "x", "clientSecret": "y", "issuer": "https://as.example", "scopes": [scope] });
        let servers = servers(&json!({ "notes": { "url": "https://x.example", "toolkit": { "oauth": oauth } } }));
        let changes = configured.apply(servers.with_oauth(|_| OAuth::new()));
        (changes.added.len(), changes.changed.len())
    };
    assert_eq!([apply("a"), apply("a"), apply("b")], [(1, 0), (0, 0), (0, 1)]);
}
