//! Who may request the page and its data.

use toolkit_explorer::Explorer;
use toolkit_mcp_server::{HttpError, Service};

use crate::explorer::{Users, get, http, send, server, service};

const DATA: [&str; 4] = ["/explorer/catalog", "/explorer/tool?name=math_add", "/explorer/export", "/explorer/events"];

#[tokio::test]
async fn every_response_has_the_policy_and_no_cors_headers() {
    let service = http().allow_origin("https://friend.example").into_service();
    let page = get(&service, "/explorer").await.text().await;
    let asset = page.split("src=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    for path in ["/explorer", "/explorer/", "/explorer/nothing", &asset].into_iter().chain(DATA) {
        let got = send(&service, "GET", path, &[("origin", "https://friend.example")], "").await;
        let header = |name: &str| got.headers[name].to_str().unwrap().to_owned();
        let policy = header("content-security-policy");
        for directive in [
            "default-src 'none'",
            "script-src 'self'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ] {
            assert!(policy.split("; ").any(|one| one == directive), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(header("referrer-policy"), "no-referrer", "{path}");
        assert_eq!(header("cross-origin-resource-policy"), "same-origin", "{path}");
        assert_eq!(header("cross-origin-opener-policy"), "same-origin", "{path}");
        assert_eq!(header("cache-control").contains("immutable"), path == asset, "{path}");
        assert!(!got.headers.contains_key("access-control-allow-origin"), "{path}");
    }
    // The endpoint itself has them, for the pages that the host allows.
    let got = send(&service, "GET", "/mcp", &[("origin", "https://friend.example")], "").await;
    assert!(got.headers.contains_key("access-control-allow-origin"));
}

#[tokio::test]
async fn requests_of_other_hosts_origins_and_pages_are_rejected() {
    let service = service();
    for path in DATA.into_iter().chain(["/explorer"]) {
        for header in [
            ("host", "evil.example"),
            ("origin", "https://evil.example"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
        ] {
            assert_eq!(send(&service, "GET", path, &[header], "").await.status, 403, "{path} {header:?}");
        }
        let twice = [("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")];
        assert_eq!(send(&service, "GET", path, &twice, "").await.status, 403, "{path}");
        for site in ["same-origin", "none"] {
            assert_eq!(send(&service, "GET", path, &[("sec-fetch-site", site)], "").await.status, 200, "{path}");
        }
        assert_eq!(send(&service, "POST", path, &[], "").await.status, 405, "{path}");
        assert_eq!(send(&service, "OPTIONS", path, &[], "").await.status, 405, "{path}");
    }
}

#[tokio::test]
async fn the_page_is_public_and_its_data_needs_the_token() {
    let service = http().token("s3cr3t").into_service();
    let page = get(&service, "/explorer").await;
    assert_eq!(page.status, 200);
    let page = page.text().await;
    assert!(!page.contains("math") && !page.contains("s3cr3t"), "{page}");
    for path in DATA {
        let got = get(&service, path).await;
        assert_eq!(got.status, 401, "{path}");
        assert_eq!(got.headers["www-authenticate"], "Bearer", "{path}");
        // A token in the address is none.
        assert_eq!(get(&service, &format!("{path}?access_token=s3cr3t&token=s3cr3t")).await.status, 401);
        let authorized = send(&service, "GET", path, &[("authorization", "Bearer s3cr3t")], "").await;
        assert_eq!(authorized.status, 200, "{path}");
    }
}

#[tokio::test]
async fn callers_see_the_tools_that_their_token_grants() {
    let service = http().verify(Users).into_service();
    let names = async |token: &str| {
        let bearer = format!("Bearer {token}");
        let catalog = send(&service, "GET", "/explorer/catalog", &[("authorization", &bearer)], "").await.json().await;
        let tools = catalog["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names("ann").await, ["math_add"]);
    assert_eq!(names("ann+door:open").await, ["door_sign_in", "math_add"]);
    let path = "/explorer/tool?name=door_sign_in";
    for (token, status) in [("ann", 404), ("ann+door:open", 200), ("nobody", 401)] {
        let got = send(&service, "GET", path, &[("authorization", &format!("Bearer {token}"))], "").await;
        assert_eq!(got.status, status, "{token}");
    }
    let export = send(&service, "GET", "/explorer/export", &[("authorization", "Bearer ann")], "").await.text().await;
    assert!(export.contains("math:add") && !export.contains("sign_in"));
}

#[tokio::test]
async fn at_an_address_that_others_reach_a_token_is_mandatory() {
    let error = http().allow_unauthenticated().bind("0.0.0.0:0").await.unwrap_err();
    assert!(matches!(error, HttpError::Unprotected(_)), "{error}");
    assert!(http().token("tlw9tPDk3ULX0Gq5").bind("0.0.0.0:0").await.is_ok());
    assert!(http().bind("127.0.0.1:0").await.is_ok());
    // Without the page, the host may decide otherwise.
    assert!(server().0.http().allow_unauthenticated().bind("0.0.0.0:0").await.is_ok());
}

#[tokio::test]
async fn without_the_route_nothing_is_served() {
    let service = server().0.http().into_service();
    // A mounted service treats all paths as the endpoint.
    assert_eq!(get(&service, "/explorer").await.status, 405);
    let explorer = Explorer::new("Tools").paths("/api/explorer/", "api/mcp");
    let service = server().0.http().route(explorer).into_service();
    let page = get(&service, "/api/explorer").await.text().await;
    assert!(page.contains(r#"name="explorer:endpoint" content="/api/mcp""#), "{page}");
    assert!(page.contains(r#"name="explorer:path" content="/api/explorer""#), "{page}");
    assert_eq!(get(&service, "/explorers").await.status, 405);
    assert_eq!(get(&service, "/api/explorer/events").await.status, 404, "no calls are recorded");
}

#[tokio::test]
async fn pages_of_the_accepted_host_use_the_endpoint() {
    let body = r#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#;
    let post = async |service: &Service, host: &str, origin: &str| {
        let headers = [("content-type", "application/json"), ("host", host), ("origin", origin)];
        send(service, "POST", "/mcp", &headers, body).await.status
    };
    let service = http().allow_host("tools.example").into_service();
    assert_eq!(post(&service, "tools.example", "https://tools.example").await, 200);
    assert_eq!(post(&service, "tools.example", "https://evil.example").await, 403);
    assert_eq!(post(&service, "evil.example", "https://evil.example").await, 403);
    // Without pages, their origin is one of others.
    let service = server().0.http().allow_host("tools.example").into_service();
    assert_eq!(post(&service, "tools.example", "https://tools.example").await, 403);
}
