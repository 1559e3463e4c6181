//! Prompts of servers: through two proxies, after changes, and of servers that list or return what they must not.

use std::future::pending;

use serde_json::{Value, json};
use test_support::client::{Client, EACH_WAY as EACH_CLIENT};
use toolkit::call::ErrorKind;
use toolkit::prompt::{CompletionReference, CompletionRequest, PromptMessage};
use toolkit::{Catalog, Content, Context, Dispatcher, catalog, prompt};
use toolkit_backends::{Backends, Collected};
use toolkit_mcp_client::{Endpoint, McpBackend};
use toolkit_mcp_server::{Proxy, ResourceSet, Server};

use super::raw::{EACH_WAY, Raw, Way, raw, tools};
use super::{collected, in_the_end, until};

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Tone {
    Formal,
    Friendly,
}

/// Writes a letter.
#[prompt(title = "Write a letter")]
fn letter(
    /// The recipient.
    to: String,
    tone: Option<Tone>,
    lines: Option<u8>,
) -> [PromptMessage; 2] {
    [
        PromptMessage::user(format!("{to} {tone:?} {lines:?}")),
        PromptMessage::assistant(Content::resource_link("docs:///a.md", "a.md")),
    ]
}

/// Greets.
#[prompt(name = "greet")]
fn greeting() -> &'static str {
    "Say hello."
}

fn writer(catalog: Catalog) -> Server {
    let docs = ResourceSet::new().with(toolkit::resource::Resource::new("docs:///a.md", "a.md"), "# A");
    Server::builder(Dispatcher::new(catalog).unwrap()).resources(docs).build().unwrap()
}

async fn served(name: &str, server: &Server) -> McpBackend {
    let listening = server.http().bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listening.local_addr().unwrap());
    tokio::spawn(listening.run(pending()));
    McpBackend::http(name, Endpoint::new(&url).unwrap())
}

/// Creates a proxy that follows the changes of a backend.
async fn proxy(backend: McpBackend) -> Server {
    let server = Server::new(Dispatcher::new(Catalog::new([]).unwrap()).unwrap()).unwrap();
    let backends = Backends::new();
    backends.register(backend).unwrap();
    let proxy = Proxy::new(server.clone(), backends);
    let left_out = in_the_end(proxy.collect()).await;
    assert!(left_out.is_empty(), "{left_out}");
    tokio::spawn(async move { proxy.follow(|_| {}).await });
    server
}

fn dispatcher_of(collected: Collected) -> Dispatcher {
    Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap()
}

fn ids(catalog: &Catalog) -> Vec<String> {
    catalog.prompts().map(|prompt| prompt.id().to_string()).collect()
}

#[tokio::test]
async fn prompts_are_listed_run_and_completed_through_two_proxies() {
    let inner = proxy(served("writer", &writer(catalog![letter, greeting].unwrap())).await).await;
    let outer = proxy(served("inner", &inner).await).await;
    let collected = collected(&served("outer", &outer).await).await;
    assert!(collected.diagnostics.is_empty() && collected.failures.is_empty(), "{collected:?}");
    let dispatcher = dispatcher_of(collected);
    assert_eq!(ids(dispatcher.catalog()), ["outer:inner_writer_greet", "outer:inner_writer_letter"]);
    let prompt = dispatcher.catalog().prompt("outer:inner_writer_letter").unwrap();
    assert_eq!((prompt.title(), prompt.description()), (Some("Write a letter"), "Writes a letter."));
    let arguments = prompt.arguments();
    let arguments: Vec<(&str, bool)> = arguments.iter().map(|argument| (&*argument.name, argument.required)).collect();
    assert_eq!(arguments, [("to", true), ("tone", false), ("lines", false)]);
    assert_eq!(prompt.arguments()[0].description.as_deref(), Some("The recipient."));

    let given = json!({ "to": "Ada", "tone": "formal", "lines": "3" });
    let messages = in_the_end(dispatcher.prompt("inner_writer_letter", given)).await.unwrap();
    assert_eq!(messages[0], PromptMessage::user("Ada Some(Formal) Some(3)"));
    let link = serde_json::to_value(&messages[1]).unwrap();
    assert_eq!(link["content"]["uri"], "proxy:inner/proxy:writer/docs:///a.md", "the client can read it");

    let error = in_the_end(dispatcher.prompt("inner_writer_letter", json!({ "to": "Ada", "tone": "odd" }))).await;
    let error = error.unwrap_err();
    let message = error.to_string();
    assert_eq!(error.kind(), ErrorKind::InvalidArguments);
    assert!(message.contains(r#"/tone must be one of "formal", "friendly", got "odd""#), "{message}");

    let reference = CompletionReference::Prompt("inner_writer_letter".to_owned());
    let request = CompletionRequest::new(reference, "tone", "fr");
    let completion = in_the_end(dispatcher.complete(&Context::new(), &request)).await.unwrap();
    assert_eq!(completion.values, ["friendly"]);
}

#[tokio::test]
async fn of_prompt_names_that_would_be_equal_the_one_that_needs_no_change_stays() {
    let prompts = json!({ "prompts": [{ "name": "a.b.c" }, { "name": "a_b_c" }] });
    let server = with_prompts(Way::Json, [("prompts_list", prompts)]).await;
    let proxy = proxy(server.backend.clone()).await;
    let listed = ids(&collected(&served("outer", &proxy).await).await.catalog);
    assert_eq!(listed.len(), 2, "{listed:?}");
    assert_eq!(listed[0], "outer:peer_a_b_c");
    assert!(listed[1].starts_with("outer:peer_a_b_c_"), "{listed:?}");
    let dispatcher = dispatcher_of(collected(&served("outer", &proxy).await).await);
    let _ = in_the_end(dispatcher.prompt("outer:peer_a_b_c", json!({}))).await;
    assert_eq!(server.requests.lock().unwrap().last().unwrap()["params"]["name"], "a_b_c");
}

#[tokio::test]
async fn a_prompt_with_decoration_of_another_type_stays() {
    let prompts = json!({ "prompts": [
        { "name": "a", "title": 1, "description": ["Reads."], "_meta": [], "arguments": [] },
        { "name": "b", "icons": "icon.png", "arguments": null },
    ] });
    let server = with_prompts(Way::Json, [("prompts_list", prompts)]).await;
    let collected = collected(&server.backend).await;
    assert_eq!(ids(&collected.catalog), ["peer:a", "peer:b"], "{:?}", collected.diagnostics);
    assert_eq!(collected.diagnostics.len(), 2, "one for each prompt: {:?}", collected.diagnostics);
}

#[tokio::test]
async fn a_change_of_prompts_reaches_the_client_of_a_proxy() {
    let server = writer(catalog![letter].unwrap());
    let inner = proxy(served("writer", &server).await).await;
    let client = served("inner", &inner).await;
    let following = proxy(client).await;
    assert_eq!(ids(following.dispatcher().catalog()), ["inner:writer_letter"]);
    server.replace(Dispatcher::new(catalog![letter, greeting].unwrap()).unwrap()).unwrap();
    until(async || ids(following.dispatcher().catalog()).len() == 2).await;
}

/// Thanks for a card.
#[prompt(name = "card_thanks")]
fn card_thanks() -> &'static str {
    "Thanks for the card."
}

/// Thanks.
#[prompt(name = "thanks")]
fn thanks() -> &'static str {
    "Thanks."
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_prompts_of_two_servers_share_is_that_of_neither() {
    let backends = Backends::new();
    for (name, prompts) in [("post", catalog![card_thanks, letter]), ("post_card", catalog![thanks])] {
        backends.register(served(name, &writer(prompts.unwrap())).await).unwrap();
    }
    let server = Server::new(Dispatcher::new(Catalog::new([]).unwrap()).unwrap()).unwrap();
    let left_out = in_the_end(Proxy::new(server.clone(), backends).collect()).await;
    assert!(left_out.is_empty(), "{left_out}");
    let mut client = Client::connect(&server, EACH_CLIENT[0], json!({})).await;
    let listed = client.send_unchecked("prompts/list", &json!({})).await;
    let names: Vec<String> = listed["result"]["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|prompt| prompt["name"].as_str().unwrap().to_owned())
        .collect();
    assert!(names.len() == 3 && names.contains(&"post_letter".to_owned()), "{names:?}");
    let mut texts = Vec::new();
    for name in names.iter().filter(|name| name.starts_with("post_card_thanks_")) {
        let got = client.send_unchecked("prompts/get", &json!({ "name": name })).await;
        texts.push(got["result"]["messages"][0]["content"]["text"].clone());
    }
    texts.sort_by_key(Value::to_string);
    assert_eq!(texts, ["Thanks for the card.", "Thanks."]);
    let got = client.send_unchecked("prompts/get", &json!({ "name": "post_card_thanks" })).await;
    let message = got["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("several prompts could have the name `post_card_thanks`; get `"), "{message}");
}

/// Starts a server that has declared prompts and completions.
async fn with_prompts<'r>(way: Way, responses: impl IntoIterator<Item = (&'r str, Value)>) -> Raw {
    let initialized = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "tools": {}, "prompts": {}, "completions": {} },
        "serverInfo": { "name": "raw", "version": "1" },
    });
    let responses = responses.into_iter().map(|(name, json)| (name, json.to_string().into_bytes()));
    let first = [("initialize", initialized.to_string().into_bytes()), ("tools_list", tools(&["read"]))];
    raw(way, first.into_iter().chain(responses)).await
}

#[tokio::test]
async fn a_prompt_that_is_not_one_costs_no_other() {
    let long = "x".repeat(100_000);
    let listed = json!({ "prompts": [
        { "name": "fine", "arguments": [{ "name": "b", "required": true }, { "name": "a", "description": "A." }] },
        { "name": "two words" },
        { "title": "has no name" },
        7,
        { "name": "hidden", "description": "Sends\u{e0041}\u{e0042} mail." },
        { "name": "long", "description": "y".repeat(15_000), "title": "t".repeat(1_000) },
        { "name": "huge", "description": long },
        { "name": "read", "arguments": "none", "inputSchema": 7, "_meta": { "rs.toolkit/tool": { "id": "other:x:1.0.0" } } },
    ] });
    for way in EACH_WAY {
        let server = with_prompts(way, [("prompts_list", listed.clone())]).await;
        let collected = collected(&server.backend).await;
        assert!(collected.failures.is_empty(), "{way:?}: {collected:?}");
        assert_eq!(ids(&collected.catalog), ["peer:fine", "peer:long", "peer:read"], "{way:?}");
        assert_eq!(collected.catalog.len(), 1, "a tool and a prompt have one name");
        let fine = collected.catalog.prompt("peer:fine").unwrap().arguments();
        assert_eq!((&*fine[0].name, fine[0].required, &*fine[1].name), ("b", true, "a"));
        let long = collected.catalog.prompt("peer:long").unwrap();
        assert!(long.title().unwrap().len() <= 512 && long.description().len() == 15_000);
        let reasons: Vec<String> = collected.diagnostics.iter().map(ToString::to_string).collect();
        assert!(reasons.iter().any(|reason| reason.contains("`two words`")), "{reasons:?}");
        assert!(reasons.iter().any(|reason| reason.contains("`hidden`")), "{reasons:?}");
    }
}

#[tokio::test]
async fn prompts_that_cannot_be_listed_do_not_hide_the_tools() {
    for listed in [json!({ "prompts": 7 }), json!({})] {
        let server = with_prompts(Way::Json, [("prompts_list", listed)]).await;
        let collected = collected(&server.backend).await;
        assert_eq!((collected.catalog.len(), collected.catalog.prompts().len()), (1, 0));
        let reason = collected.diagnostics[0].to_string();
        assert!(reason.starts_with("the prompts of the MCP server `peer` are left out:"), "{reason}");
    }
}

#[tokio::test]
async fn messages_and_completions_of_a_server_are_checked() {
    let listed = json!({ "prompts": [{ "name": "fine" }] });
    let odd = json!({ "type": "hologram", "data": [1.5, "x"] });
    let messages = json!([{ "role": "user", "content": odd }, { "role": "assistant", "content": { "type": "text", "text": "a" } }]);
    let values: Vec<String> = (0..150).map(|n| format!("v{n}")).collect();
    let good = with_prompts(
        Way::Json,
        [
            ("prompts_list", listed.clone()),
            ("prompts_get", json!({ "description": "d", "messages": messages, "later": 1 })),
            ("completion_complete", json!({ "completion": { "values": ["\u{7}ok", "ok"] } })),
        ],
    );
    let dispatcher = dispatcher_of(collected(&good.await.backend).await);
    let got = in_the_end(dispatcher.prompt("peer:fine", json!({}))).await.unwrap();
    assert_eq!(serde_json::to_value(got).unwrap(), messages, "content of a later revision is passed on unchanged");
    let request = CompletionRequest::new(CompletionReference::Prompt("peer:fine".to_owned()), "x", "");
    let completion = in_the_end(dispatcher.complete(&Context::new(), &request)).await.unwrap();
    assert_eq!(completion.values, ["ok"]);

    for result in [json!({}), json!({ "messages": 7 }), json!({ "messages": [{ "role": "system", "content": odd }] })] {
        let server = with_prompts(
            Way::Json,
            [
                ("prompts_list", listed.clone()),
                ("prompts_get", result),
                ("completion_complete", json!({ "completion": { "values": values } })),
            ],
        );
        let dispatcher = dispatcher_of(collected(&server.await.backend).await);
        let error = in_the_end(dispatcher.prompt("peer:fine", json!({}))).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidResponse, "{error}");
        let completion = in_the_end(dispatcher.complete(&Context::new(), &request)).await.unwrap();
        assert_eq!((completion.values.len(), completion.has_more), (100, true));
    }
}
