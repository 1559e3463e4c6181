//! Prompts: listing, messages, completions, changes, and requests that must not reach a prompt.

use std::time::Duration;

use toolkit::backend::{Backend, BackendCall, BackendResponse, OfferedTools};
use toolkit::call::BoxFuture;
use toolkit::prompt::{Completion, CompletionReference, CompletionRequest, Prompt, PromptMessage};
use toolkit::tool::{BackendKind, ToolBackend};
use toolkit::{Content, Context, Tool, ToolError, catalog, prompt};
use toolkit_backends::Backends;
use toolkit_mcp_server::{Caller, Filter, Proxy, ServerBuilder, TokenError, Verify};

use super::changes::{next, session};
use super::*;

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Style {
    Brief,
    Thorough,
}

/// Reviews a change.
#[prompt(namespace = "code", title = "Review a change", icons = ["https://example.com/i.png"], meta = r#"{"x": 1}"#)]
fn review(
    /// The code to review.
    code: String,
    style: Option<Style>,
    rounds: Option<u32>,
    strict: Option<bool>,
) -> String {
    format!("{code} {style:?} {rounds:?} {strict:?}")
}

/// Describes a picture.
#[prompt]
async fn describe(ctx: &Context) -> Result<Vec<PromptMessage>, ToolError> {
    let user = ctx.user_id().unwrap_or("nobody").to_owned();
    Ok(vec![
        PromptMessage::user(Content::image(b"png", "image/png")),
        PromptMessage::assistant(Content::resource_text("docs:///a.md", "text/markdown", "# A")),
        PromptMessage::user(format!("I am {user}.")),
    ])
}

/// Fails.
#[prompt]
fn broken(how: String) -> Result<String, ToolError> {
    match &*how {
        "shown" => Err(ToolError::failed("the template is missing")),
        "internal" => Err(ToolError::internal(std::io::Error::other("the password is hunter2"))),
        "panic" => panic!("the password is hunter2"),
        _ => Ok("x".repeat(10_000)),
    }
}

/// Never ends.
#[prompt]
async fn endless() -> String {
    std::future::pending().await
}

/// Is only for writers.
#[prompt(tags = ["writing"], requires(scopes = ["write"], user_id))]
fn guarded(ctx: &Context) -> String {
    format!("for {}", ctx.user_id().unwrap_or_default())
}

fn builder() -> ServerBuilder {
    let catalog = catalog![review, describe, broken, endless, guarded].unwrap();
    Server::builder(Dispatcher::new(catalog).unwrap()).named("tests", "1.0.0")
}

async fn serving(builder: ServerBuilder) -> Client {
    Client::of(serve(builder.build().unwrap().http()).await)
}

fn get(name: &str, arguments: Value) -> Value {
    json!({ "name": name, "arguments": arguments })
}

fn completing(name: &str, argument: &str, value: &str) -> Value {
    json!({ "ref": { "type": "ref/prompt", "name": name }, "argument": { "name": argument, "value": value } })
}

fn names(list: &Value) -> Vec<&str> {
    list["prompts"].as_array().unwrap().iter().map(|prompt| prompt["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn prompts_are_declared_and_listed_in_both_eras() {
    let client = serving(builder()).await;
    let discovered = client.send(&modern(1, "server/discover", json!({}))).await.result()["capabilities"].clone();
    let initialize = request(1, "initialize", json!({ "protocolVersion": LEGACY }));
    assert_eq!(client.send(&initialize).await.result()["capabilities"], discovered);
    assert_eq!((&discovered["prompts"], &discovered["completions"]), (&json!({ "listChanged": true }), &json!({})));

    let list = client.send(&request(1, "prompts/list", json!({}))).await.result();
    assert_eq!(names(&list), ["broken", "code_review", "describe", "endless", "guarded"]);
    let argument = |name: &str| json!({ "name": name, "required": false });
    let code = json!({ "name": "code", "description": "The code to review.", "required": true });
    let expected = json!({
        "name": "code_review", "title": "Review a change", "description": "Reviews a change.",
        "arguments": [code, argument("style"), argument("rounds"), argument("strict")],
        "icons": [{ "src": "https://example.com/i.png" }], "_meta": { "x": 1 },
    });
    assert_eq!(list["prompts"][1], expected);
    let modern = client.send(&modern(1, "prompts/list", json!({}))).await.result();
    assert_eq!((&modern["prompts"], &modern["resultType"]), (&list["prompts"], &json!("complete")));
}

#[tokio::test]
async fn a_server_without_prompts_has_no_capability_and_no_method() {
    let client = client().await;
    let discovered = client.send(&modern(1, "server/discover", json!({}))).await.result()["capabilities"].clone();
    assert_eq!((discovered.get("prompts"), discovered.get("completions")), (None, None));
    for method in ["prompts/list", "prompts/get", "completion/complete"] {
        assert_eq!(client.send(&request(1, method, get("describe", json!({})))).await.code(), -32601, "{method}");
    }
}

#[tokio::test]
async fn pages_have_each_prompt_once() {
    let client = serving(builder().page_size(2)).await;
    let (mut all, mut params) = (Vec::new(), json!({}));
    loop {
        let page = client.send(&request(1, "prompts/list", params)).await.result();
        all.extend(names(&page).into_iter().map(str::to_owned));
        let Some(next) = page.get("nextCursor") else { break };
        params = json!({ "cursor": next });
    }
    assert_eq!(all, ["broken", "code_review", "describe", "endless", "guarded"]);
    assert_eq!(client.send(&request(1, "prompts/list", json!({ "cursor": "?" }))).await.code(), -32602);
}

#[tokio::test]
async fn messages_are_those_of_the_function_with_parsed_arguments() {
    let client = serving(builder()).await;
    let arguments = json!({ "code": "7", "style": "brief", "rounds": "2", "strict": "false" });
    let legacy = client.send(&request(1, "prompts/get", get("code_review", arguments.clone()))).await.result();
    let text = json!({ "type": "text", "text": "7 Some(Brief) Some(2) Some(false)" });
    assert_eq!(legacy, json!({ "messages": [{ "role": "user", "content": text }] }));
    let result = client.send(&modern(1, "prompts/get", get("code_review", arguments))).await.result();
    assert_eq!((&result["messages"], &result["resultType"]), (&legacy["messages"], &json!("complete")));

    let messages = client.send(&request(1, "prompts/get", json!({ "name": "describe" }))).await.result();
    let resource = json!({ "uri": "docs:///a.md", "mimeType": "text/markdown", "text": "# A" });
    let expected = json!([
        { "role": "user", "content": { "type": "image", "data": "cG5n", "mimeType": "image/png" } },
        { "role": "assistant", "content": { "type": "resource", "resource": resource } },
        { "role": "user", "content": { "type": "text", "text": "I am nobody." } },
    ]);
    assert_eq!(messages["messages"], expected);
}

#[tokio::test]
async fn wrong_arguments_are_invalid_params_that_name_each_of_them() {
    let client = serving(builder()).await;
    let arguments = json!({ "style": "long", "rounds": "-1", "extra": "x" });
    let response = client.send(&request(1, "prompts/get", get("code_review", arguments))).await;
    assert_eq!(response.code(), -32602);
    let message = response.json()["error"]["message"].as_str().unwrap().to_owned();
    for line in [
        "/code is required",
        r#"/style must be one of "brief", "thorough", got "long""#,
        "/rounds must be at least 0",
        "/extra is not an argument",
    ] {
        assert!(message.contains(line), "{line} is not in {message}");
    }
    let response = client.send(&request(1, "prompts/get", get("code_reviews", json!({})))).await;
    assert_eq!(response.json()["error"]["message"], "no prompt is named `code_reviews`");
    for params in [json!({}), json!({ "name": 7 }), json!({ "name": "describe", "arguments": [] })] {
        assert_eq!(client.send(&request(1, "prompts/get", params)).await.code(), -32602);
    }
    let mismatch = client.with("mcp-name", "other");
    assert_eq!(mismatch.send(&modern(1, "prompts/get", get("describe", json!({})))).await.code(), -32020);
}

#[tokio::test]
async fn a_failing_prompt_shows_only_what_its_author_meant_to_show() {
    let client = serving(builder().max_result_bytes(1_000).call_timeout(Duration::from_millis(500))).await;
    let message = async |name: &str, arguments: Value| {
        let response = client.send(&request(1, "prompts/get", get(name, arguments))).await;
        assert_eq!(response.code(), -32603);
        response.json()["error"]["message"].as_str().unwrap().to_owned()
    };
    assert_eq!(message("broken", json!({ "how": "shown" })).await, "the template is missing");
    for how in ["internal", "panic"] {
        let text = message("broken", json!({ "how": how })).await;
        assert!(!text.contains("hunter2"), "{text}");
    }
    assert!(message("broken", json!({ "how": "large" })).await.contains("more than the limit of 1000"));
    assert!(message("endless", json!({})).await.contains("the timeout of the server"));
}

#[tokio::test]
async fn enums_and_booleans_are_completed_in_both_eras() {
    let client = serving(builder()).await;
    let complete = async |argument: &str, value: &str| {
        let params = completing("code_review", argument, value);
        let legacy = client.send(&request(1, "completion/complete", params.clone())).await.result();
        let modern = client.send(&modern(1, "completion/complete", params)).await.result();
        assert_eq!((&modern["completion"], &modern["resultType"]), (&legacy["completion"], &json!("complete")));
        legacy["completion"].clone()
    };
    let both = json!({ "values": ["brief", "thorough"], "total": 2, "hasMore": false });
    assert_eq!(complete("style", "").await, both);
    assert_eq!(complete("style", "th").await["values"], json!(["thorough"]));
    assert_eq!(complete("strict", "t").await["values"], json!(["true"]));
    assert_eq!(complete("code", "x").await, json!({ "values": [], "total": 0, "hasMore": false }));
    for params in [
        completing("code_review", "stile", ""),
        completing("other", "style", ""),
        json!({ "ref": { "type": "ref/tool", "name": "x" }, "argument": { "name": "x", "value": "" } }),
        json!({}),
    ] {
        assert_eq!(client.send(&request(1, "completion/complete", params)).await.code(), -32602);
    }
    let template = json!({ "type": "ref/resource", "uri": "notes://{id}" });
    let params = json!({ "ref": template, "argument": { "name": "id", "value": "" } });
    let completion = client.send(&request(1, "completion/complete", params)).await.result()["completion"].clone();
    assert_eq!(completion["values"], json!([]));
}

/// Tokens that are a scope and the name of their user.
struct Scoped;

impl Verify for Scoped {
    fn verify<'v>(&'v self, token: &'v str) -> BoxFuture<'v, Result<Caller, TokenError>> {
        Box::pin(async move { Ok(Caller::named("ada").with_scopes([token])) })
    }
}

#[tokio::test]
async fn a_prompt_requires_scopes_and_credentials_like_a_tool() {
    let client = Client::of(serve(builder().build().unwrap().http().verify(Scoped)).await);
    let get = modern(1, "prompts/get", get("guarded", json!({})));
    let granted = client.with("authorization", "Bearer write").send(&get).await.result();
    assert_eq!(granted["messages"][0]["content"]["text"], "for ada");
    let denied = client.with("authorization", "Bearer read").send(&get).await;
    assert_eq!(denied.status, 403);
    // Without authentication, there is no caller.
    let response = serving(builder()).await.send(&get).await;
    assert_eq!(response.code(), -32603);
}

#[tokio::test]
async fn a_filter_applies_to_prompts() {
    let client = serving(builder().filter(Filter::all().read_only())).await;
    let list = client.send(&request(1, "prompts/list", json!({}))).await.result();
    assert_eq!(names(&list).len(), 5, "a prompt changes nothing");
    let client = serving(builder().filter(Filter::all().allow("tag=writing".parse().unwrap()))).await;
    let list = client.send(&request(1, "prompts/list", json!({}))).await.result();
    assert_eq!(names(&list), ["guarded"]);
    assert_eq!(client.send(&request(1, "prompts/get", get("describe", json!({})))).await.code(), -32602);
}

#[test]
fn prompts_that_would_share_a_name_are_reported() {
    mod other {
        /// Reviews something else.
        #[toolkit::prompt(namespace = "other")]
        pub(super) fn review() -> String {
            String::new()
        }
    }

    let both = || Dispatcher::new(catalog![review, other::review].unwrap()).unwrap();
    assert!(Server::new(both()).is_ok());
    let error = Server::builder(both()).naming(toolkit::catalog::Naming::Name).build().unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("`code:review` and `other:review` would share the name `review`; rename one"),
        "{message}"
    );
}

#[tokio::test]
async fn subscribers_of_prompts_are_notified_when_these_change() {
    let server = builder().build().unwrap();
    let client = Client::of(serve(server.http()).await);
    let client = client.with("mcp-protocol-version", MODERN).with("mcp-method", "subscriptions/listen");
    let client = client.with("content-type", "application/json");
    let listen = json!({ "notifications": { "promptsListChanged": true, "toolsListChanged": true } });
    let mut stream =
        client.begin("POST", "/mcp", modern(5, "subscriptions/listen", listen).to_string().as_bytes()).await;
    assert_eq!(next(&mut stream).await["params"]["notifications"]["promptsListChanged"], true);
    server.replace(Dispatcher::new(catalog![review].unwrap()).unwrap()).unwrap();
    let changed = next(&mut stream).await;
    assert_official(MODERN, &changed);
    assert_eq!(changed["method"], "notifications/prompts/list_changed");
    // The tools have not changed meanwhile.
    server.announce();
    assert_eq!(next(&mut stream).await["method"], "notifications/tools/list_changed");

    let client = session(&Client::of(client.address)).await;
    let mut stream = client.begin("GET", "/mcp", b"").await;
    Response::read_head(&mut stream).await;
    server.replace(Dispatcher::new(catalog![review, describe].unwrap()).unwrap()).unwrap();
    let changed = next(&mut stream).await;
    assert_official(LEGACY, &changed);
    assert_eq!(changed["method"], "notifications/prompts/list_changed");
}

/// A backend with prompts, named `writer`.
struct Writer;

impl Backend for Writer {
    fn name(&self) -> &str {
        "writer"
    }

    fn kind(&self) -> BackendKind {
        BackendKind::Mcp
    }

    fn tools(&self) -> BoxFuture<'_, Result<OfferedTools, ToolError>> {
        Box::pin(async {
            let prompt = |name: &'static str| {
                let text = json!({ "type": "string" });
                let input = json!({
                    "type": "object",
                    "properties": { "about": text, "tone": text },
                    "required": ["about"],
                });
                let tool = Tool::builder(name).description("Writes.").input(input).build().unwrap();
                let order = vec!["tone".into(), "about".into()];
                (Prompt::new(tool, order), ToolBackend::mcp("writer").unwrap())
            };
            let mut offered = OfferedTools::default();
            offered.prompts = ["poem", "poem", "letter"].map(prompt).into();
            Ok(offered)
        })
    }

    fn call<'a>(&'a self, _: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> {
        Box::pin(async { Err(ToolError::failed("it has no tools")) })
    }

    fn prompt<'a>(&'a self, call: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> {
        Box::pin(async move {
            assert!(call.context().user_id().is_err(), "a backend receives no credentials");
            let text = format!("{} {}", call.tool().name(), call.arguments().to_value()?);
            let link = json!({ "type": "resource_link", "uri": "docs:///a", "name": "a" });
            let message = |content: Value| json!({ "role": "user", "content": content });
            let messages = [message(json!({ "type": "text", "text": text })), message(link)];
            let meta = json!({ "io.modelcontextprotocol/serverInfo": { "name": "other", "version": "1" } });
            let result = json!({
                "description": "A poem", "messages": messages, "resultType": "complete", "_meta": meta,
            });
            Ok(result.into())
        })
    }

    fn complete<'a>(
        &'a self,
        request: &'a CompletionRequest,
        _: &'a Context,
    ) -> BoxFuture<'a, Result<Completion, ToolError>> {
        Box::pin(async move {
            let subject = match &request.reference {
                CompletionReference::Prompt(name) | CompletionReference::ResourceTemplate(name) => name,
                _ => unreachable!(),
            };
            let others: Vec<String> = request.arguments.keys().cloned().collect();
            Ok(Completion::new(vec![format!("{subject}.{}={}", request.argument, request.value), others.join(",")]))
        })
    }
}

#[tokio::test]
async fn prompts_of_a_backend_are_served_under_its_name() {
    let server = builder().build().unwrap();
    let backends = Backends::new();
    backends.register(Writer).unwrap();
    let proxy = Proxy::new(server.clone(), backends);
    let left_out = proxy.collect().await;
    assert_eq!(left_out.to_string(), "the backend `writer` has another prompt `writer:poem`, which is left out");
    let client = Client::of(serve(server.http()).await);
    let list = client.send(&request(1, "prompts/list", json!({}))).await.result();
    assert_eq!(names(&list)[5..], ["writer_letter", "writer_poem"]);
    let arguments = json!([{ "name": "tone", "required": false }, { "name": "about", "required": true }]);
    assert_eq!(list["prompts"][6]["arguments"], arguments);

    let response = client.send(&modern(1, "prompts/get", get("writer_poem", json!({ "about": "1" })))).await;
    let text = response.text();
    assert_eq!((text.matches("resultType").count(), text.matches("_meta").count()), (1, 1), "{text}");
    let result = response.result();
    assert_eq!(result["description"], "A poem");
    assert_eq!(result["messages"][0]["content"]["text"], r#"poem {"about":"1"}"#);
    assert_eq!(result["messages"][1]["content"]["uri"], "docs:///a", "the backend has no resources");
    let missing = client.send(&request(1, "prompts/get", get("writer_poem", json!({})))).await;
    assert_eq!(missing.code(), -32602);

    let mut params = completing("writer_poem", "tone", "so");
    params["context"] = json!({ "arguments": { "about": "rain" } });
    let completion = client.send(&request(1, "completion/complete", params)).await.result()["completion"].clone();
    assert_eq!(completion, json!({ "values": ["poem.tone=so", "about"], "total": 2, "hasMore": false }));

    let template = json!({ "type": "ref/resource", "uri": "proxy:writer/notes://{id}" });
    let params = json!({ "ref": template, "argument": { "name": "id", "value": "7" } });
    let completion = client.send(&modern(1, "completion/complete", params)).await.result()["completion"].clone();
    assert_eq!(completion["values"], json!(["notes://{id}.id=7", ""]));

    // The prompts of this program stay, also after another collection.
    proxy.collect().await;
    let own = client.send(&request(1, "prompts/get", json!({ "name": "describe" }))).await.result();
    assert_eq!(own["messages"].as_array().unwrap().len(), 3);
}
