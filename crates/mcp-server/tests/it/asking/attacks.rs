//! Attacks on `requestState`: each is rejected with the same error, and the tool does not run.

use std::time::Duration;

use http_body_util::BodyExt;
use tower::ServiceExt;

use super::tools::{Effects, server, server_with};
use super::*;
use test_support::client::answered;
use toolkit::dispatch::BoxFuture;
use toolkit_mcp_server::{Caller, Server, StateKey, TokenError, Verify};

const WAY: (Era, Way) = (Era::Modern, Way::Http);

fn yes(_: &Value) -> Value {
    accept(json!({ "approve": true }))
}

/// Starts a call of `delete_file` and returns the request that continues it.
async fn started(client: &mut Client) -> Value {
    let mut params = json!({ "name": "delete_file", "arguments": { "path": "a.txt" } });
    let first = client.call_once(&params, &mut |_| unreachable!()).await;
    params["inputResponses"] = answered(&first["result"], &mut yes);
    params["requestState"] = first["result"]["requestState"].clone();
    params
}

async fn connect(server: &Server) -> Client {
    Client::connect(server, WAY, forms_and_urls()).await
}

#[track_caller]
fn assert_rejected(response: &Value, effects: &Effects) {
    assert_eq!(response["error"]["code"], -32602, "{response}");
    assert_eq!(response["error"]["message"], "`requestState` is not a state of this call, or has expired");
    assert_eq!(effects.all(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_with_any_changed_or_missing_character_is_rejected() {
    let (server, effects) = server();
    let mut client = connect(&server).await;
    let params = started(&mut client).await;
    let state = params["requestState"].as_str().unwrap();
    let mut changed = params.clone();
    for at in 0..state.len() {
        let other = if state.as_bytes()[at] == b'A' { "B" } else { "A" };
        // The last character of base64 has unused bits, which the decoder checks.
        changed["requestState"] = format!("{}{other}{}", &state[..at], &state[at + 1..]).into();
        assert_rejected(&client.call_once(&changed, &mut |_| unreachable!()).await, &effects);
        changed["requestState"] = state[..at].into();
        assert_rejected(&client.call_once(&changed, &mut |_| unreachable!()).await, &effects);
    }
    for other in
        [json!(7), json!({}), json!(format!("{state}A")), json!(format!(" {state}")), json!("x".repeat(1 << 20))]
    {
        changed["requestState"] = other;
        assert_rejected(&client.call_once(&changed, &mut |_| unreachable!()).await, &effects);
    }
    // The state itself is valid.
    assert_eq!(text(&client.call_once(&params, &mut |_| unreachable!()).await), "deleted");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_of_another_tool_or_other_arguments_is_rejected() {
    let (server, effects) = server();
    let mut client = connect(&server).await;
    let params = started(&mut client).await;
    for (name, arguments) in [
        ("delete_file", json!({ "path": "b.txt" })),
        ("delete_file", json!({ "path": "a.txt", "x": 1 })),
        ("delete_branch", json!({ "path": "a.txt" })),
        ("book", json!({})),
    ] {
        let mut other = params.clone();
        other["name"] = name.into();
        other["arguments"] = arguments;
        assert_rejected(&client.call_once(&other, &mut |_| unreachable!()).await, &effects);
    }
    // Another spelling of the same arguments is the same call.
    let mut same = params.clone();
    same["arguments"] = json!({ "path": "a\u{2e}txt" });
    assert_eq!(text(&client.call_once(&same, &mut |_| unreachable!()).await), "deleted");
}

/// Each token is the name and the issuer of its caller.
struct Names;

impl Verify for Names {
    fn verify<'v>(&'v self, token: &'v str) -> BoxFuture<'v, Result<Caller, TokenError>> {
        Box::pin(async move {
            let (name, issuer) = token.split_once('@').ok_or(TokenError::Invalid)?;
            Ok(Caller::named(name).with_issuer(issuer))
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_of_another_caller_is_rejected() {
    let (server, effects) = server();
    let verified = server.http().verify(Names).into_service();
    let mut alice = Client::with_token(verified.clone(), "alice@a.example", forms_and_urls()).await;
    let params = started(&mut alice).await;
    for token in ["bob@a.example", "alice@b.example"] {
        let mut other = Client::with_token(verified.clone(), token, forms_and_urls()).await;
        assert_rejected(&other.call_once(&params, &mut |_| unreachable!()).await, &effects);
    }
    let mut anonymous = connect(&server).await;
    assert_rejected(&anonymous.call_once(&params, &mut |_| unreachable!()).await, &effects);
    assert_eq!(text(&alice.call_once(&params, &mut |_| unreachable!()).await), "deleted");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_is_used_once() {
    let (server, effects) = server();
    let mut client = connect(&server).await;
    let params = started(&mut client).await;
    assert_eq!(text(&client.call_once(&params, &mut |_| unreachable!()).await), "deleted");
    for _ in 0..3 {
        let again = client.call_once(&params, &mut |_| unreachable!()).await;
        assert_eq!(again["error"]["code"], -32602, "{again}");
    }
    assert_eq!(effects.all(), ["deleted a.txt"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_uses_of_an_approval_have_one_effect() {
    let (server, effects) = server();
    let params = started(&mut connect(&server).await).await;
    let calls = (0..16).map(|_| {
        let (server, params) = (server.clone(), params.clone());
        tokio::spawn(async move { connect(&server).await.call_once(&params, &mut |_| unreachable!()).await })
    });
    let calls: Vec<_> = calls.collect();
    let mut n_deleted = 0;
    for call in calls {
        n_deleted += usize::from(call.await.unwrap().get("result").is_some());
    }
    assert_eq!((n_deleted, effects.all().len()), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_expires() {
    let (server, effects) = server_with(|builder| builder.state_ttl(Duration::ZERO));
    let mut client = connect(&server).await;
    let params = started(&mut client).await;
    assert_rejected(&client.call_once(&params, &mut |_| unreachable!()).await, &effects);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_of_another_server_or_key_is_rejected() {
    let key = |secret: &str| StateKey::from_secret(secret.repeat(32)).unwrap();
    let (server, _) = server_with(|builder| builder.state_keys([key("a")]));
    let params = started(&mut connect(&server).await).await;
    let (other_key, effects) = server_with(|builder| builder.state_keys([key("b")]));
    assert_rejected(&connect(&other_key).await.call_once(&params, &mut |_| unreachable!()).await, &effects);
    let (other_name, effects) = server_with(|builder| builder.named("other", "1").state_keys([key("a")]));
    assert_rejected(&connect(&other_name).await.call_once(&params, &mut |_| unreachable!()).await, &effects);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_contains_no_readable_answer() {
    let (server, _) = server();
    let mut client = connect(&server).await;
    let mut params = json!({ "name": "plan", "arguments": {} });
    let first = client.call_once(&params, &mut |_| unreachable!()).await;
    let mut rome = |_: &Value| accept(json!({ "value": "Rome Rome Rome Rome Rome" }));
    params["inputResponses"] = answered(&first["result"], &mut rome);
    params["requestState"] = first["result"]["requestState"].clone();
    let second = client.call_once(&params, &mut |_| unreachable!()).await;
    let state = second["result"]["requestState"].as_str().unwrap();
    let sealed = state.rsplit_once('.').unwrap().1;
    let bytes = data_encoding::BASE64URL_NOPAD.decode(sealed.as_bytes()).unwrap();
    assert!(!bytes.windows(4).any(|window| window == b"Rome"));
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_are_too_long_are_an_error() {
    let (server, _) = server();
    let mut client = connect(&server).await;
    let long = "x".repeat(500_000);
    let response = client.call("plan", json!({}), |_| accept(json!({ "value": long }))).await;
    assert!(text(&response).contains("the state of the call is too long to ask the user"), "{response}");
}

/// Floats, which hold neither of both amounts, are equal.
#[tokio::test(flavor = "multi_thread")]
async fn a_state_is_bound_to_integers_of_any_size() {
    let (server, effects) = server();
    let service = server.http().into_service();
    let call = async |amount: &str, state: Option<&str>| {
        let answers = json!({ "question-1": accept(json!({ "value": true })) });
        let mut params = json!({
            "name": "pay",
            "arguments": { "amount": "AMOUNT" },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": forms_and_urls(),
            },
        });
        if let Some(state) = state {
            params["requestState"] = state.into();
            params["inputResponses"] = answers;
        }
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let request = http::Request::post("/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", "pay");
        let body = message.to_string().replace("\"AMOUNT\"", amount);
        let response = service.clone().oneshot(request.body(body).unwrap()).await.unwrap();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        serde_json::from_slice::<Value>(&body).unwrap()
    };
    let (amount, other) = ("100000000000000000000000000000000000000", "100000000000000000000000000000000000001");
    assert_eq!(amount.parse::<f64>(), other.parse::<f64>());
    let first = call(amount, None).await;
    let state = first["result"]["requestState"].as_str().unwrap_or_else(|| panic!("{first}"));
    assert_rejected(&call(other, Some(state)).await, &effects);
    assert_eq!(text(&call(amount, Some(state)).await), "paid");
    assert_eq!(effects.all(), [format!("paid {amount}")]);
}
