//! The extensions of the HTTP request, in which a middleware of the host leaves what it knows about the caller.

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use toolkit::resource::ResourceTemplate;
use toolkit::{Context, ToolError, catalog, prompt, tool};
use toolkit_mcp_server::{Caller, TemplateResources, UriParams};

use super::*;

/// The user of the application.
#[derive(Clone)]
struct Login(String);

fn login(ctx: &Context) -> String {
    ctx.get::<Login>().map_or_else(|| "nobody".to_owned(), |login| login.0.clone())
}

/// Returns the user.
#[tool(read_only)]
fn who(ctx: &Context) -> String {
    ctx.progress(1.0, 1.0, "looking");
    login(ctx)
}

/// Asks the user, and returns the user of the answer.
#[tool(read_only)]
async fn ask_who(ctx: &Context) -> Result<String, ToolError> {
    let n: u8 = ctx.ask("How many?").await?;
    Ok(format!("{} {n}", login(ctx)))
}

/// Returns the user after the request has been answered.
#[tool(read_only, task = "required")]
async fn work(ctx: &Context) -> String {
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    login(ctx)
}

/// Returns the id of the user, which the tool requires.
#[tool(read_only, requires(user_id))]
fn account(ctx: &Context) -> String {
    format!("account of {}", ctx.user_id().unwrap_or_default())
}

/// Introduces the user.
#[prompt]
fn introduce(ctx: &Context) -> String {
    format!("I am {}.", login(ctx))
}

/// Serves a router whose middleware reads the user from a header, as an application does from its cookies.
async fn application() -> Client {
    let template = ResourceTemplate::new("users://{id}", "user").mime_type("text/plain");
    let read = |_: UriParams, context: Context| async move { Ok(Some(login(&context))) };
    let server = Server::builder(Dispatcher::new(catalog![who, ask_who, work, account, introduce].unwrap()).unwrap())
        .resources(TemplateResources::new(template, read).unwrap())
        .build()
        .unwrap();
    let authenticate = from_fn(|mut request: Request, next: Next| async move {
        if let Some(name) = request.headers().get("x-login") {
            let name = name.to_str().unwrap().to_owned();
            request.extensions_mut().insert(Caller::named(&name));
            request.extensions_mut().insert(Login(name));
        }
        next.run(request).await
    });
    let router = axum::Router::new().route_service("/mcp", server.http().into_service()).layer(authenticate);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async { axum::serve(listener, router).await });
    Client::of(address)
}

/// Initializes a session, and returns the client that uses it.
async fn with_session(client: &Client, capabilities: Value) -> Client {
    let initialize = request(0, "initialize", json!({ "protocolVersion": LEGACY, "capabilities": capabilities }));
    let response = client.send(&initialize).await;
    let session = response.header("mcp-session-id").unwrap();
    client.with("mcp-session-id", session).with("mcp-protocol-version", LEGACY)
}

/// Returns the text of the last message.
#[track_caller]
fn text(response: &Response) -> String {
    let messages = response.messages();
    let result = &messages.last().unwrap_or_else(|| panic!("{}", response.text()))["result"];
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{}", response.text())).to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_reads_the_extensions_of_its_own_request() {
    let application = application().await;
    let session = with_session(&application.with("x-login", "alice"), json!({})).await;
    let mut streamed = call("who", json!({}));
    streamed["_meta"] = json!({ "progressToken": 1 });
    let mut large = call("who", json!({}));
    large["_meta"] = json!({ "example.com/padding": "x".repeat(100 << 10) });
    for params in [call("who", json!({})), streamed, large] {
        for (client, make) in
            [(&session, request as fn(u64, &str, Value) -> Value), (&application, request), (&application, modern)]
        {
            for name in ["bob", "carol"] {
                let response = client.with("x-login", name).send(&make(1, "tools/call", params.clone())).await;
                assert_eq!(text(&response), name);
            }
            assert_eq!(text(&client.without("x-login").send(&make(1, "tools/call", params.clone())).await), "nobody");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_call_of_a_batch_reads_the_extensions_of_the_batch() {
    let client = application().await.with("x-login", "dora").with("mcp-protocol-version", "2025-03-26");
    let batch = json!([1, 2].map(|id| request(id, "tools/call", call("who", json!({})))));
    let answers = client.post(batch.to_string().as_bytes()).await.json();
    for answer in answers.as_array().unwrap() {
        assert_eq!(answer["result"]["content"][0]["text"], "dora", "{answers}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_keeps_the_extensions_of_the_request_that_has_created_it() {
    let client = with_session(&application().await.with("x-login", "emil"), json!({})).await;
    let mut params = call("work", json!({}));
    params["task"] = json!({});
    let created = client.post(request(1, "tools/call", params).to_string().as_bytes()).await.json();
    let task = json!({ "taskId": created["result"]["task"]["taskId"] });
    let result = client.post(request(2, "tasks/result", task.clone()).to_string().as_bytes()).await;
    assert_eq!(text(&result), "emil");
    let of_others = client.with("x-login", "frieda").post(request(3, "tasks/get", task).to_string().as_bytes()).await;
    assert_eq!(of_others.code(), -32602, "a task belongs to the caller");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_repeated_with_an_answer_reads_the_extensions_of_the_repetition() {
    let client = application().await;
    let send = async |client: &Client, params: Value| {
        let mut message = modern(1, "tools/call", params);
        message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
            json!({ "elicitation": { "form": {} } });
        client.send(&message).await
    };
    let client = client.with("x-login", "gustav");
    let asked = send(&client, call("ask_who", json!({}))).await.result();
    let mut params = call("ask_who", json!({}));
    params["requestState"] = asked["requestState"].clone();
    let id = asked["inputRequests"].as_object().unwrap().keys().next().unwrap();
    params["inputResponses"] = json!({ id: { "action": "accept", "content": { "value": 3 } } });
    assert_eq!(text(&send(&client, params).await), "gustav 3");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_waits_for_an_answer_keeps_its_extensions() {
    let client = application().await.with("x-login", "hanna");
    let client = with_session(&client, json!({ "elicitation": {} })).await;
    let message = request(1, "tools/call", call("ask_who", json!({}))).to_string();
    let posting = client.with("content-type", "application/json");
    let mut stream = posting.begin("POST", "/mcp", message.as_bytes()).await;
    let mut line = String::new();
    let question = loop {
        let data = next_line(&mut stream, &mut line).await.strip_prefix("data: ");
        let message = data.and_then(|data| serde_json::from_str::<Value>(data).ok());
        if let Some(question) = message.filter(|message| message["method"] == "elicitation/create") {
            break question;
        }
    };
    let content = json!({ "value": 4 });
    let answer =
        json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "accept", "content": content } });
    assert_eq!(client.post(answer.to_string().as_bytes()).await.status, 202);
    while !next_line(&mut stream, &mut line).await.contains("hanna 4") {}
}

async fn next_line<'l>(stream: &mut BufReader<TcpStream>, line: &'l mut String) -> &'l str {
    line.clear();
    assert_ne!(stream.read_line(line).await.unwrap(), 0, "the stream has not ended");
    line.trim()
}

#[tokio::test(flavor = "multi_thread")]
async fn prompts_and_resources_read_the_extensions_too() {
    let application = application().await.with("x-login", "ida");
    for make in [request, modern] {
        let prompt = application.send(&make(1, "prompts/get", json!({ "name": "introduce" }))).await.result();
        assert_eq!(prompt["messages"][0]["content"]["text"], "I am ida.");
        let resource = application.send(&make(2, "resources/read", json!({ "uri": "users://me" }))).await.result();
        assert_eq!(resource["contents"][0]["text"], "ida");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_among_the_extensions_has_the_tools_that_require_a_user() {
    let application = application().await;
    for make in [request, modern] {
        let known = application.with("x-login", "jan").send(&make(1, "tools/call", call("account", json!({})))).await;
        assert_eq!(text(&known), "account of jan");
        let unknown = application.send(&make(1, "tools/call", call("account", json!({})))).await;
        assert_eq!(unknown.result()["isError"], true, "{}", unknown.text());
    }
}
