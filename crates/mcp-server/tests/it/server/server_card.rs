//! The server card and the AI catalog (SEP-2127).

use serde_json::{Value, json};
use toolkit::schema::Schema;
use toolkit_mcp_server::ServerCard;

use super::{Client, modern, serve, server};

fn entry() -> Value {
    json!({
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": "io.github.ada/weather",
        "description": "Forecasts",
        "version": "1.0.0",
        "title": "Weather",
        "repository": { "url": "https://github.com/ada/weather", "source": "github" },
        "packages": [{ "registryType": "oci", "identifier": "ghcr.io/ada/weather:1.0.0" }],
        "remotes": [{ "type": "streamable-http", "url": "https://weather.example.com/mcp" }],
    })
}

/// A server that requires a token, with a card.
async fn client() -> Client {
    let card = ServerCard::from_server_json(&entry()).unwrap();
    Client::of(serve(server().http().token("s3cr3t-s3cr3t-s3cr3t").server_card(card)).await)
}

#[tokio::test]
async fn everyone_reads_the_card_and_the_catalog() {
    let client = client().await;
    let card = client.get("/mcp/server-card").await;
    let versions = r#"["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]"#;
    assert_eq!(
        card.text(),
        [
            r#"{"$schema":"https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json","#,
            r#""name":"io.github.ada/weather","version":"1.0.0","description":"Forecasts","title":"Weather","#,
            r#""repository":{"url":"https://github.com/ada/weather","source":"github"},"#,
            r#""remotes":[{"type":"streamable-http","url":"https://weather.example.com/mcp","#,
            r#""supportedProtocolVersions":"#,
            versions,
            "}]}",
        ]
        .concat()
    );
    let mut schema: Value = serde_json::from_str(include_str!("server_card.schema.json")).unwrap();
    schema["$ref"] = json!("#/$defs/ServerCard");
    assert_eq!(Schema::from_value(schema).unwrap().first_violation(&card.json()), None);
    let catalog = client.get("/.well-known/ai-catalog.json").await;
    assert_eq!(
        catalog.text(),
        [
            r#"{"specVersion":"1.0","entries":[{"identifier":"urn:air:ada.github.io:mcp:weather","#,
            r#""type":"application/mcp-server-card+json","url":"https://weather.example.com/mcp/server-card"}]}"#,
        ]
        .concat()
    );
    for (response, media_type) in
        [(&card, "application/mcp-server-card+json"), (&catalog, "application/ai-catalog+json")]
    {
        let sent = |name| response.header(name);
        assert_eq!((response.status, sent("content-type")), (200, Some(media_type)));
        assert_eq!(sent("cache-control"), Some("public, max-age=3600"));
        assert_eq!(sent("access-control-allow-origin"), Some("*"));
        assert_eq!(sent("access-control-allow-methods"), Some("GET"));
        assert_eq!(sent("access-control-allow-headers"), Some("Content-Type, If-None-Match"));
        assert_eq!(sent("access-control-expose-headers"), Some("ETag"));
    }
    assert_eq!(client.get("/mcp").await.status, 401);
}

#[tokio::test]
async fn pages_of_all_origins_read_the_card_and_ask_whether_it_has_changed() {
    let page = client().await.with("origin", "https://elsewhere.example").with("host", "weather.example.com");
    let card = page.get("/mcp/server-card").await;
    assert_eq!((card.status, card.header("access-control-allow-origin")), (200, Some("*")));
    let tag = card.header("etag").unwrap();
    for (sent, status) in [(tag, 304), (&*format!("\"x\", W/{tag}"), 304), ("*", 304), ("\"x\"", 200), ("", 200)] {
        let again = page.with("if-none-match", sent).get("/mcp/server-card").await;
        assert_eq!((again.status, again.header("etag"), again.body.is_empty()), (status, Some(tag), status == 304));
    }
    assert_eq!(page.ask("OPTIONS", "/mcp/server-card", b"").await.status, 204);
    let refused = page.ask("POST", "/.well-known/ai-catalog.json", b"").await;
    assert_eq!((refused.status, refused.header("allow")), (405, Some("GET, HEAD, OPTIONS")));
    assert_eq!(page.get("/mcp").await.status, 403);
}

#[tokio::test]
async fn the_revisions_of_a_card_are_those_of_the_server() {
    let client = Client::of(serve(server().http()).await);
    let discovered = client.send(&modern(1, "server/discover", json!({}))).await.result();
    let card = self::client().await.get("/mcp/server-card").await.json();
    assert_eq!(card["remotes"][0]["supportedProtocolVersions"], discovered["supportedVersions"]);
}

#[tokio::test]
async fn a_server_without_a_card_has_neither_document() {
    let client = Client::of(serve(server().http()).await);
    for path in ["/mcp/server-card", "/.well-known/ai-catalog.json"] {
        assert_eq!(client.get(path).await.status, 404, "{path}");
    }
}

#[test]
fn what_a_card_needs_and_lacks_is_named() {
    for (field, value, reason) in [
        ("version", json!(null), "`version` is missing"),
        ("description", json!(""), "`description` is missing"),
        ("name", json!("weather"), "`name` has no `/`, as in `com.example/name`"),
        (
            "remotes",
            json!([{ "type": "sse", "url": "https://weather.example.com/sse" }]),
            "`remotes` has no URL of the type `streamable-http`; `bundle server-json --remote URL` adds it",
        ),
    ] {
        let mut entry = entry();
        entry[field] = value;
        assert_eq!(ServerCard::from_server_json(&entry).unwrap_err().to_string(), reason);
    }
}
