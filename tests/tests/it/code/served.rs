//! Programs of MCP clients.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};
use test_support::client::{Client, EACH_WAY, Era, Way, answered};
use toolkit::dispatch::BoxFuture;
use toolkit::{Context, Dispatcher, ToolError, catalog, tool};
use toolkit_backends::Backends;
use toolkit_code::sandbox::Inline;
use toolkit_code::{CodeMode, RunCode};
use toolkit_mcp_server::{Caller, Filter, Proxy, Rule, Server, ServerBuilder, StateKey, TokenError, Verify};

#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub fn lines(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap()
    }
}

/// Notes a text.
#[tool(namespace = "served")]
fn note(text: String, log: &Log) {
    log.0.lock().unwrap().push(text);
}

/// Pays an invoice after its user has agreed.
#[tool(namespace = "served")]
async fn pay(invoice: u32, ctx: &Context, log: &Log) -> Result<String, ToolError> {
    let agreed: bool = ctx.ask(format!("Pay invoice {invoice}?")).await?;
    if !agreed {
        return Err(ToolError::failed("not agreed"));
    }
    log.0.lock().unwrap().push(format!("paid {invoice}"));
    Ok(format!("{invoice} is paid"))
}

/// Counts its start, and the end of its call.
#[tool(namespace = "served", read_only)]
async fn wait_forever(dropped: &Arc<AtomicUsize>) {
    dropped.fetch_add(1, Ordering::SeqCst);
    struct Dropped(Arc<AtomicUsize>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let _dropped = Dropped(Arc::clone(dropped));
    std::future::pending().await
}

/// Erases a file.
#[tool(namespace = "served", requires(scopes = ["files:erase"], user_id))]
fn erase(ctx: &Context) -> String {
    format!("erased for {}", ctx.user_id().unwrap_or_default())
}

/// A verifier whose tokens are scopes.
struct Scopes;

impl Verify for Scopes {
    fn verify<'v>(&'v self, token: &'v str) -> BoxFuture<'v, Result<Caller, TokenError>> {
        Box::pin(async { Ok(Caller::named("ada").with_scopes(token.split('+'))) })
    }
}

/// Starts a server with these tools and the one that runs programs.
pub async fn server(log: &Log, dropped: &Arc<AtomicUsize>) -> Server {
    server_with(log, dropped, |builder| builder).await
}

async fn server_with(
    log: &Log,
    dropped: &Arc<AtomicUsize>,
    configure: impl FnOnce(ServerBuilder) -> ServerBuilder,
) -> Server {
    let tools = catalog![note, pay, wait_forever, erase].unwrap();
    let dispatcher = Dispatcher::builder(tools).state(log.clone()).state(Arc::clone(dropped)).build().unwrap();
    let code = CodeMode::new(dispatcher.clone(), Inline::javascript());
    let builder = Server::builder(dispatcher);
    let builder = builder.state_keys([StateKey::from_secret("k".repeat(32)).unwrap()]);
    let server = configure(builder).build().unwrap();
    let backends = Backends::new();
    backends.register(RunCode::new(code)).unwrap();
    let left_out = Proxy::new(server.clone(), backends).collect().await;
    assert!(left_out.is_empty(), "{left_out}");
    server
}

fn forms() -> Value {
    json!({ "elicitation": { "form": {} } })
}

const PROGRAM: &str = "await tools.served.note({ text: 'before' })
const paid = await tools.served.pay({ invoice: 7 })
await tools.served.note({ text: 'after' })
return paid";

#[tokio::test(flavor = "multi_thread")]
async fn a_program_whose_call_asks_makes_each_call_once_in_each_era() {
    for (era, way) in EACH_WAY {
        let log = Log::default();
        let server = server(&log, &Arc::default()).await;
        let mut client = Client::connect(&server, (era, way), forms()).await;
        let mut questions = 0;
        let response = client
            .call("run_code", json!({ "code": PROGRAM }), |question| {
                questions += 1;
                assert!(question["message"].as_str().unwrap().contains("Pay invoice 7?"), "{question}");
                json!({ "action": "accept", "content": { "value": true } })
            })
            .await;
        assert_eq!(response["result"]["structuredContent"], json!({ "value": "7 is paid" }), "{response}");
        assert_eq!(*log.0.lock().unwrap(), ["before", "paid 7", "after"]);
        assert_eq!(questions, 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_with_too_much_to_keep_fails_and_repeats_no_call() {
    for (era, way) in EACH_WAY {
        let log = Log::default();
        let server = server(&log, &Arc::default()).await;
        let mut client = Client::connect(&server, (era, way), forms()).await;
        let program =
            "await tools.served.note({ text: 'x'.repeat(600_000) })\nreturn await tools.served.pay({ invoice: 7 })";
        let accept = |_: &Value| json!({ "action": "accept", "content": { "value": true } });
        let response = client.call("run_code", json!({ "code": program }), accept).await;
        match era {
            // The program waits for the answer.
            Era::Legacy => assert_ne!(response["result"]["isError"], true, "{response}"),
            Era::Modern => {
                let text = response["result"]["content"][0]["text"].as_str().unwrap();
                assert!(text.contains("at most 389120 bytes can be kept until the answer"), "{response}");
            }
        }
        assert_eq!(log.lines().iter().filter(|line| line.starts_with('x')).count(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_continues_on_another_server_with_the_same_key() {
    let log = Log::default();
    let first = server(&log, &Arc::default()).await;
    let mut client = Client::connect(&first, (Era::Modern, Way::Http), forms()).await;
    let mut params = json!({ "name": "run_code", "arguments": { "code": PROGRAM } });
    let response = client.call_once(&params, &mut |_| panic!("no request of the server")).await;
    assert_eq!(response["result"]["resultType"], "input_required", "{response}");
    drop((client, first));

    let mut user = |_: &Value| json!({ "action": "accept", "content": { "value": true } });
    params["inputResponses"] = answered(&response["result"], &mut user);
    params["requestState"] = response["result"]["requestState"].clone();
    let second = server(&log, &Arc::default()).await;
    let mut client = Client::connect(&second, (Era::Modern, Way::Http), forms()).await;
    let response = client.call_once(&params, &mut |_| panic!("no request of the server")).await;
    assert_eq!(response["result"]["structuredContent"]["value"], "7 is paid", "{response}");
    assert_eq!(*log.0.lock().unwrap(), ["before", "paid 7", "after"]);

    // The state holds for this program alone.
    params["arguments"]["code"] = json!(PROGRAM.replace('7', "8"));
    let response = client.call_once(&params, &mut |_| panic!("no request of the server")).await;
    assert_eq!(response["error"]["code"], -32602, "{response}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_of_a_client_that_hangs_up_ends_with_its_calls() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let server = server(&Log::default(), &dropped).await;
    let mut client = Client::connect(&server, (Era::Modern, Way::Http), json!({})).await;
    let program = json!({ "code": "await tools.served.wait_forever()" });
    let params = json!({ "name": "run_code", "arguments": program });
    let mut user = |_: &Value| panic!("no request of the server");
    let counted = async |n| {
        while dropped.load(Ordering::SeqCst) < n {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    tokio::select! {
        response = client.call_once(&params, &mut user) => panic!("{response}"),
        () = counted(1) => {}
    }
    drop(client);
    tokio::time::timeout(std::time::Duration::from_secs(60), counted(2)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_a_program_needs_the_scopes_of_its_tool() {
    let program = json!({ "code": "try { return await tools.served.erase() } catch (error) { return error.message }" });
    for (token, expected) in [("files:erase", "erased for ada"), ("files:read", "does not grant the scopes")] {
        let server = server(&Log::default(), &Arc::default()).await;
        let mut client = Client::with_token(server.http().verify(Scopes).into_service(), token, json!({})).await;
        let response = client.call("run_code", program.clone(), |_| unreachable!("no question")).await;
        let value = &response["result"]["structuredContent"]["value"];
        assert!(value.as_str().unwrap().contains(expected), "{response}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_reaches_the_tools_that_pass_the_filter_and_clients_those_that_are_direct() {
    let only = |rule: &str| Filter::all().allow(rule.parse::<Rule>().unwrap());
    let log = Log::default();
    let server = server_with(&log, &Arc::default(), |builder| {
        builder.filter(only("served:note").allow(Rule::Tool(RunCode::ID.to_owned()))).direct(only(RunCode::ID))
    })
    .await;
    let mut client = Client::connect(&server, (Era::Modern, Way::Http), forms()).await;
    let listed = client.send_unchecked("tools/list", &json!({})).await;
    let names: Vec<&Value> = listed["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["run_code"]);
    let direct = client.call("served_note", json!({ "text": "direct" }), |_| unreachable!("no question")).await;
    assert_eq!(direct["error"]["code"], -32602, "{direct}");
    let program = "await tools.served.note({ text: 'coded' })
        try { await tools.served.erase() } catch (error) { return error.kind }";
    let coded = client.call("run_code", json!({ "code": program }), |_| unreachable!("no question")).await;
    assert_eq!(coded["result"]["structuredContent"]["value"], "unknown_tool", "{coded}");
    assert_eq!(*log.0.lock().unwrap(), ["coded"]);
}
