//! Questions of other servers, which a proxy passes on to the user of the call.

#[path = "../../../../mcp-server/tests/it/asking/tools.rs"]
mod tools;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use test_support::client::{Client, EACH_WAY, Era, Way};
use toolkit::{Catalog, Dispatcher};
use toolkit_backends::Backends;
use toolkit_mcp_client::{Endpoint, McpBackend};
use toolkit_mcp_server::{Proxy, Server, Service};
use tower::ServiceExt;

use self::tools::{Effects, server};

/// The capability of a client that can show forms and open URLs.
fn forms_and_urls() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} } })
}

fn accept(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

/// Returns the text of a tool's result.
#[track_caller]
fn text(response: &Value) -> &str {
    response["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {response}"))
}

/// Serves the tools over HTTP in one era only, and returns the address.
async fn upstream(era: Era) -> (String, Effects) {
    let (server, effects) = server();
    let router = Router::new().fallback(answer).with_state((server.http().into_service(), era));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    (address, effects)
}

async fn answer(State((service, era)): State<(Service, Era)>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let bytes = to_bytes(body, 1 << 20).await.unwrap();
    let message: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    // A server of the earlier era does not know this method.
    if era == Era::Legacy && message["method"] == "server/discover" {
        let error = json!({ "code": -32601, "message": "unknown method" });
        let response = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
        return ([("content-type", "application/json")], response.to_string()).into_response();
    }
    let request = http::Request::from_parts(head, Body::from(bytes));
    service.oneshot(request).await.unwrap().map(Body::new)
}

/// Returns a server that proxies another one.
async fn proxy(address: &str, may_ask: bool) -> Server {
    let backend = McpBackend::http("up", Endpoint::new(address).unwrap());
    let backends = Backends::new();
    backends.register(if may_ask { backend.may_ask() } else { backend }).unwrap();
    let server = Server::new(Dispatcher::new(Catalog::new([]).unwrap()).unwrap()).unwrap();
    let left_out = Proxy::new(server.clone(), backends).collect().await;
    assert!(left_out.failures.is_empty(), "{left_out}");
    server
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_passes_questions_on_between_all_eras() {
    for era in [Era::Legacy, Era::Modern] {
        let (address, effects) = upstream(era).await;
        let server = proxy(&address, true).await;
        for way in EACH_WAY {
            let before = effects.all().len();
            let mut client = Client::connect(&server, way, forms_and_urls()).await;
            let mut messages = Vec::new();
            let user = |params: &Value| {
                messages.push(params["message"].as_str().unwrap().to_owned());
                accept(json!({ "reason": "merged" }))
            };
            let response = client.call("up_delete_branch", json!({ "branch": "old" }), user).await;
            assert_eq!(text(&response), "old: merged, false", "{era:?} to {way:?}");
            assert_eq!(messages, ["up: Delete `old`?"], "{era:?} to {way:?}");
            assert_eq!(effects.all().len(), before + 1, "{era:?} to {way:?}");

            let approve = |_: &Value| accept(json!({ "approve": true }));
            let response = client.call("up_delete_file", json!({ "path": "a" }), approve).await;
            assert_eq!(text(&response), "deleted", "{era:?} to {way:?}");
            assert_eq!(effects.all().len(), before + 2, "{era:?} to {way:?}");

            for (action, outcome) in [("decline", "Declined"), ("cancel", "Cancelled"), ("accept", "Accepted(())")] {
                let response = client.call("up_connect", json!({}), |_| json!({ "action": action })).await;
                assert_eq!(text(&response), outcome, "{era:?} to {way:?}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn several_questions_pass_a_proxy() {
    let trip = |params: &Value| match params["message"].as_str().unwrap() {
        "up: Where?" => accept(json!({ "value": "Rome" })),
        "up: With a hotel?" => accept(json!({ "value": false })),
        other => accept(json!({ "value": other.len() })),
    };
    for era in [Era::Legacy, Era::Modern] {
        let (address, _) = upstream(era).await;
        let server = proxy(&address, true).await;
        for way in EACH_WAY {
            let mut client = Client::connect(&server, way, forms_and_urls()).await;
            let response = client.call("up_plan", json!({}), trip).await;
            assert_eq!(text(&response), "26 days in Rome, hotel: false", "{era:?} to {way:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_does_not_ask_users_that_cannot_answer_or_must_not_be_asked() {
    for era in [Era::Legacy, Era::Modern] {
        for may_ask in [true, false] {
            let (address, effects) = upstream(era).await;
            let server = proxy(&address, may_ask).await;
            for way in EACH_WAY {
                let capabilities = if may_ask { json!({}) } else { forms_and_urls() };
                let mut client = Client::connect(&server, way, capabilities).await;
                let user = |_: &Value| unreachable!("a question was sent");
                let response = client.call("up_delete_branch", json!({ "branch": "b" }), user).await;
                let is_error = response["result"]["isError"] == true || response["error"]["code"] == -32021;
                assert!(is_error, "{era:?} to {way:?}: {response}");
                assert_eq!(effects.all(), [""; 0]);
            }
        }
    }
}

/// Both users wait for a form, and a request of the earlier era does not state which of them it is for.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_may_be_for_another_user_reaches_no_one() {
    let (address, effects) = upstream(Era::Legacy).await;
    let server = proxy(&address, true).await;
    let (asked, is_asked) = std::sync::mpsc::channel();
    let (proceed, proceeded) = std::sync::mpsc::channel::<()>();
    let mut first = Client::connect(&server, (Era::Legacy, Way::Http), forms_and_urls()).await;
    let call = tokio::spawn(async move {
        let user = move |_: &Value| {
            asked.send(()).unwrap();
            tokio::task::block_in_place(|| proceeded.recv().unwrap());
            accept(json!({ "reason": "mine" }))
        };
        first.call("up_delete_branch", json!({ "branch": "first" }), user).await
    });
    tokio::task::block_in_place(|| is_asked.recv().unwrap());
    let mut second = Client::connect(&server, (Era::Legacy, Way::Http), forms_and_urls()).await;
    let user = |_: &Value| unreachable!("the user of another call was asked");
    let response = second.call("up_delete_branch", json!({ "branch": "second" }), user).await;
    assert!(text(&response).contains("several calls are running"), "{response}");
    proceed.send(()).unwrap();
    assert_eq!(text(&call.await.unwrap()), "first: mine, false");
    assert_eq!(effects.all(), ["deleted first"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_a_server_is_visible_and_bounded() {
    let (address, _) = upstream(Era::Modern).await;
    let server = proxy(&address, true).await;
    let mut client = Client::connect(&server, (Era::Modern, Way::Http), forms_and_urls()).await;
    for (question, shown) in [
        ("Really\u{200b}\u{202e}?".to_owned(), "up: Really\\u{200b}\\u{202e}?".to_owned()),
        ("x".repeat(10_000), format!("up: {}", "x".repeat(4000))),
    ] {
        let mut messages = Vec::new();
        let user = |params: &Value| {
            messages.push(params["message"].as_str().unwrap().to_owned());
            accept(json!({ "value": true }))
        };
        let response = client.call("up_repeat", json!({ "question": question }), user).await;
        assert_eq!((text(&response), messages), ("true", vec![shown]));
    }
}
