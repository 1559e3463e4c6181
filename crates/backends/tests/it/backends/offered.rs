//! What servers offer beside tools, the claims and texts that are kept of it, and the tools that a lock accepts.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use toolkit::Tool;
use toolkit::backend::{Backend, BackendCall, BackendResponse, OfferedTools};
use toolkit::call::Credentials;
use toolkit::catalog::DiagnosticKind;
use toolkit::dispatch::BoxFuture;
use toolkit::prompt::{Completion, CompletionReference, CompletionRequest, Prompt};
use toolkit::tool::{Annotations, ToolBackend};
use toolkit_backends::{
    Collected, ContractChange, MAX_DESCRIPTION_BYTES, MAX_RECORD_BYTES, MAX_SCHEMA_TEXT_BYTES, MAX_TITLE_BYTES,
    bound_mcp_json,
};

use super::*;

/// A server that offers this, or cannot be reached.
#[derive(Clone)]
struct Server {
    name: &'static str,
    offers: Arc<Mutex<Option<OfferedTools>>>,
    ended: Arc<Mutex<Vec<String>>>,
    is_plain: bool,
}

impl Server {
    fn new(name: &'static str, tools: impl IntoIterator<Item = Tool>) -> Self {
        let target = || ToolBackend::mcp(name).unwrap();
        let offers = OfferedTools::new(tools.into_iter().map(|tool| (tool, target())));
        Self { name, offers: Arc::new(Mutex::new(Some(offers))), ended: Arc::default(), is_plain: true }
    }

    fn offering(self, change: impl FnOnce(&mut OfferedTools)) -> Self {
        change(self.offers.lock().unwrap().as_mut().unwrap());
        self
    }
}

impl Backend for Server {
    fn name(&self) -> &str {
        self.name
    }

    fn kind(&self) -> BackendKind {
        BackendKind::Mcp
    }

    fn has_prefix(&self) -> bool {
        self.is_plain
    }

    fn holds_sessions(&self) -> bool {
        !self.is_plain
    }

    fn end_session(&self, session: &str) {
        self.ended.lock().unwrap().push(session.to_owned());
    }

    fn tools(&self) -> BoxFuture<'_, Result<OfferedTools, ToolError>> {
        let offers = self.offers.lock().unwrap().clone();
        Box::pin(async { offers.ok_or_else(|| ToolError::new(ErrorKind::Unavailable, "it is being restarted")) })
    }

    fn call<'a>(&'a self, _: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> {
        Box::pin(async { Ok(BackendResponse::Nothing) })
    }

    fn complete<'a>(
        &'a self,
        request: &'a CompletionRequest,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Completion, ToolError>> {
        Box::pin(async { Ok(Completion::new(vec![request.value.clone(), context.user_id().is_ok().to_string()])) })
    }
}

fn registry(servers: impl IntoIterator<Item = Server>) -> Backends {
    let registry = Backends::new();
    servers.into_iter().for_each(|server| registry.register(server).unwrap());
    registry
}

fn messages<'d>(diagnostics: impl IntoIterator<Item = &'d toolkit::catalog::Diagnostic>) -> Vec<&'d str> {
    diagnostics.into_iter().map(|diagnostic| diagnostic.message()).collect()
}

/// Reads a tool in the form of MCP that has these fields.
fn tool(fields: Value) -> Tool {
    let mut json = json!({ "name": "tool", "inputSchema": { "type": "object" } });
    json.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    Tool::from_mcp_json(json).unwrap()
}

fn claiming() -> Tool {
    let tool = Tool::builder("tool").input(json!({ "type": "object" })).tags(["safe"]).timeout(Duration::from_secs(9));
    tool.read_only(false).destructive(false).idempotent(true).open_world(false).build().unwrap()
}

#[tokio::test]
async fn lists_instructions_and_diagnostics_are_known_by_the_name_of_the_server() {
    let long = tool(json!({ "_meta": { "x": "x".repeat(MAX_RECORD_BYTES) } }));
    let first = Server::new("first", [open("tool")]).offering(|offers| {
        offers.list_ttl = Some(Duration::from_secs(5));
        offers.instructions = Some("read me".to_owned());
    });
    let second = Server::new("second", [long]).offering(|offers| offers.list_ttl = Some(Duration::from_secs(3)));
    let (secret, silent) = (Server::new("secret", []), Server::new("silent", []));
    let secret = secret.offering(|offers| offers.is_private = true);
    let collected = registry([silent.clone(), second.clone(), first.clone()]).collect(base()).await;
    let ttl = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        collected.list_ttl_among(&names).map(|ttl| ttl.as_secs())
    };
    assert_eq!(
        [ttl(&["first"]), ttl(&["first", "second"]), ttl(&["silent"]), ttl(&[])],
        [Some(5), Some(3), None, None]
    );
    assert_eq!(collected.instructions, [("first".to_owned(), "read me".to_owned())]);
    let reason = "the record has more than 65536 bytes besides the description and the schemas";
    let message = format!("the backend `second` offers `second:tool`, which is left out: {reason}");
    assert_eq!(messages(collected.diagnostics_of("second")), [&message]);
    assert!(["first", "silent", "nobody"].iter().all(|name| collected.diagnostics_of(name).next().is_none()));
    assert!(!collected.is_private && registry([first, secret, silent]).collect(base()).await.is_private);
}

#[tokio::test]
async fn claims_of_a_server_count_if_it_is_trusted_and_those_of_the_host_always() {
    let mut hints = Annotations::NONE;
    (hints.read_only, hints.open_world) = (Some(true), Some(true));
    let server = Server::new("peer", [claiming()])
        .offering(|offers| drop(offers.hints.insert("peer:tool".parse().unwrap(), hints.clone())));
    let registry = registry([server, Server::new("other", [claiming()])]);
    let claims = async |name: &str| {
        let collected = registry.collect(base()).await;
        let tool = collected.catalog.resolve(name).unwrap();
        let hints = tool.annotations();
        let hints = [hints.read_only, hints.destructive, hints.idempotent, hints.open_world];
        (hints, tool.tags().len(), tool.timeout().map(|timeout| timeout.as_secs()))
    };
    assert_eq!(claims("other:tool").await, ([None; 4], 0, None));
    assert_eq!(claims("peer:tool").await, ([Some(true), None, None, Some(true)], 0, None));
    assert!(registry.trust("other") && registry.trust("peer") && !registry.trust("nobody"));
    let claimed = [Some(false), Some(false), Some(true), Some(false)];
    assert_eq!(claims("other:tool").await, (claimed, 1, Some(9)));
    assert_eq!(claims("peer:tool").await, ([Some(true), Some(false), Some(true), Some(true)], 1, Some(9)));
}

#[tokio::test]
async fn a_prompt_of_a_server_is_none_that_the_program_or_the_server_has_already() {
    let prompt = |name: &'static str| Prompt::new(open(name), Vec::new());
    let own = Prompt::new(open("greet").in_namespace("peer".parse().unwrap()), Vec::new());
    let base = || Catalog::new([]).unwrap().with_prompts([own.clone()]).unwrap();
    for (names, n_prompts, left_out) in [
        (&["other", "third"][..], 3, None),
        (&["greet", "other"], 2, Some("greet")),
        (&["other", "other"], 2, Some("other")),
    ] {
        let target = || ToolBackend::mcp("peer").unwrap();
        let server = Server::new("peer", []).offering(|offers| {
            offers.prompts = names.iter().map(|name| (prompt(name), target())).collect();
        });
        let collected = registry([server]).collect(base()).await;
        let message = |name| format!("the backend `peer` has another prompt `peer:{name}`, which is left out");
        assert_eq!(messages(&collected.diagnostics), left_out.map(message).into_iter().collect::<Vec<_>>());
        assert_eq!(collected.catalog.prompts().count(), n_prompts, "{names:?}");
    }
}

#[test]
fn sessions_and_prefixes_are_those_of_each_server() {
    let (plain, other) = (Server::new("plain", []), Server { is_plain: false, ..Server::new("other", []) });
    let registry = registry([plain.clone(), other.clone()]);
    assert_eq!(registry.names_without_prefix(), ["other"]);
    assert!(registry.holds_sessions(|_| true) && registry.holds_sessions(|name| name == "other"));
    assert!(!registry.holds_sessions(|name| name == "plain") && !registry.holds_sessions(|_| false));
    registry.end_session("s1");
    assert!([plain, other].iter().all(|server| *server.ended.lock().unwrap() == ["s1"]));
    registry.disable("other");
    assert!(!registry.holds_sessions(|_| true));
}

#[tokio::test]
async fn tools_of_a_server_that_is_restarted_stay_for_the_time_of_grace() {
    for (grace, stays) in [(Duration::MAX, true), (Duration::ZERO, false)] {
        let server = Server::new("peer", [open("tool")]);
        let registry = registry([server.clone()]).with_grace(grace);
        registry.collect(base()).await;
        *server.offers.lock().unwrap() = None;
        let collected = registry.collect(base()).await;
        assert_eq!(collected.catalog.get("peer:tool").is_some(), stays);
        assert_eq!(collected.failures.len(), 1);
        registry.disable("peer");
        registry.enable("peer");
        assert!(registry.collect(base()).await.catalog.get("peer:tool").is_none(), "it was switched off meanwhile");
    }
}

#[tokio::test]
async fn values_come_from_a_server_that_is_enabled_and_sees_no_credentials() {
    let registry = registry([Server::new("peer", [])]);
    let context = Context::new().with_credentials(Credentials::new().with_user_id("ada"));
    let request = CompletionRequest::new(CompletionReference::Prompt("prompt".to_owned()), "argument", "st");
    let values = async |name: &str| registry.complete(name, &request, &context).await.unwrap();
    let none = Completion::default();
    assert_eq!(values("peer").await, Completion::new(vec!["st".to_owned(), "false".to_owned()]));
    assert_eq!(values("nobody").await, none);
    registry.disable("peer");
    assert_eq!(values("peer").await, none);
}

async fn collected_with(lock: impl IntoIterator<Item = Tool>, servers: impl IntoIterator<Item = Server>) -> Collected {
    registry(servers).with_lock(lock).collect(base()).await
}

#[tokio::test]
async fn a_lock_accepts_the_tools_that_it_holds_with_their_claims() {
    let offered = registry([Server::new("peer", [claiming(), open("gone")])]).collect(base()).await.offered;
    assert_eq!(offered.iter().map(|tool| tool.id().to_string()).collect::<Vec<_>>(), ["peer:gone", "peer:tool"]);
    let same = collected_with(offered.clone(), [Server::new("peer", [claiming(), open("gone")])]).await;
    assert_eq!((same.diagnostics.len(), same.catalog.resolve("peer:tool").unwrap().tags().len()), (0, 1));

    let other = Tool::builder("tool").description("Does more.").input(json!({ "type": "object" })).build().unwrap();
    let changed = collected_with(offered.clone(), [Server::new("peer", [other, open("new")])]).await;
    let [first, second, third] = messages(&changed.diagnostics)[..] else { panic!("{:?}", changed.diagnostics) };
    assert!(first.starts_with("`peer:tool` has changed at /"), "{first}");
    assert!(first.ends_with("; it is left out, because the lock holds another contract"), "{first}");
    assert_eq!(second, "the backend `peer` offers `peer:new`, which is left out: it is not in the lock");
    assert_eq!(third, "`peer:gone` is in the lock, and the backend `peer` no longer offers it");
    assert!(changed.diagnostics.iter().all(|diagnostic| diagnostic.kind() == DiagnosticKind::NotReviewed));
    assert!(changed.catalog.get("peer:tool").is_none() && changed.catalog.get("peer:new").is_none());
    assert_eq!(changed.offered.len(), 2, "a person reviews these next");

    let twice = offered.iter().cloned().chain([open("tool").in_namespace("peer".parse().unwrap())]);
    let alone = collected_with(twice, []).await;
    let no_backend = |id: &str| format!("`{id}` is in the lock, and no backend has this namespace");
    assert_eq!(messages(&alone.diagnostics), [no_backend("peer:gone"), no_backend("peer:tool")]);
}

#[tokio::test]
async fn a_lock_is_for_tools_of_other_programs() {
    let local = Scripted::new("own", BackendKind::Local, [open("tool")]);
    let registry = registered([local]).with_lock([]);
    let collected = registry.collect(base()).await;
    assert!(collected.diagnostics.is_empty() && collected.catalog.get("own:tool").is_some());
    assert!(collected.offered.is_empty());
}

#[test]
fn a_change_has_the_places_of_its_first_differences() {
    let takes = |properties: Value| tool(json!({ "inputSchema": { "type": "object", "properties": properties } }));
    let at = |path: &str| vec![format!("/inputSchema/properties{path}")];
    for (old, new, expected) in [
        (json!({ "a": { "enum": [1, 2] } }), json!({ "a": { "enum": [1, 3] } }), at("/a/enum/1")),
        (json!({ "a": { "enum": [1, 2] } }), json!({ "a": { "enum": [1] } }), at("/a/enum")),
        (json!({ "a": { "maximum": 1 } }), json!({ "a": { "maximum": "1" } }), at("/a/maximum")),
        (json!({}), json!({ "x/y~z": {} }), at("/x~1y~0z")),
        (json!({ "a": {}, "b": {} }), json!({ "b": {} }), at("/a")),
    ] {
        let change = ContractChange::between(&takes(old.clone()), &takes(new)).unwrap();
        assert_eq!((change.pointers, change.n_more), (expected, 0), "{old}");
        assert!(ContractChange::between(&takes(old.clone()), &takes(old)).is_none());
    }
    let many = |n: usize, maximum: u8| {
        takes(
            (0..n).map(|n| (format!("p{n}"), json!({ "maximum": maximum }))).collect::<serde_json::Map<_, _>>().into(),
        )
    };
    for (n, n_shown, n_more, end) in
        [(8, 8, 0, "/p7/maximum"), (9, 8, 1, " and 1 more places"), (11, 8, 3, " and 3 more places")]
    {
        let change = ContractChange::between(&many(n, 1), &many(n, 2)).unwrap();
        assert_eq!((change.pointers.len(), change.n_more), (n_shown, n_more));
        let text = change.to_string();
        let start = "`tool` has changed at /inputSchema/properties/p0/maximum, /inputSchema/properties/p1/maximum";
        assert!(text.starts_with(start) && text.ends_with(end), "{text}");
    }
}

#[tokio::test]
async fn texts_of_other_programs_are_cut_and_their_data_is_not() {
    // A character of three bytes does not end where the limit is.
    let long = |limit: usize| "€".repeat(limit / 3 + 1);
    let fits = |limit: usize| "a".repeat(limit);
    type Write = fn(String) -> Value;
    type Read = fn(&Tool) -> String;
    let fields: [(&str, usize, Write, Read); 6] = [
        (
            "description",
            MAX_DESCRIPTION_BYTES,
            |text| json!({ "description": text }),
            |tool| tool.description().to_owned(),
        ),
        ("title", MAX_TITLE_BYTES, |text| json!({ "title": text }), |tool| tool.title().unwrap().to_owned()),
        (
            "annotations",
            MAX_TITLE_BYTES,
            |text| json!({ "annotations": { "title": text } }),
            |tool| tool.annotations().title.clone().unwrap().into_owned(),
        ),
        (
            "a description in the input",
            MAX_SCHEMA_TEXT_BYTES,
            |text| json!({ "inputSchema": { "type": "object", "properties": { "a": { "anyOf": [{ "description": text }] } } } }),
            |tool| tool.input().as_value()["properties"]["a"]["anyOf"][0]["description"].as_str().unwrap().to_owned(),
        ),
        (
            "a title in the output",
            MAX_SCHEMA_TEXT_BYTES,
            |text| json!({ "outputSchema": { "type": "object", "title": text } }),
            |tool| tool.output().unwrap().as_value()["title"].as_str().unwrap().to_owned(),
        ),
        (
            "a comment in the output",
            MAX_SCHEMA_TEXT_BYTES,
            |text| json!({ "outputSchema": { "type": "object", "$comment": text } }),
            |tool| tool.output().unwrap().as_value()["$comment"].as_str().unwrap().to_owned(),
        ),
    ];
    for (what, limit, write, read) in fields {
        let collected = async |text: String| {
            let server = Server::new("peer", [tool(write(text))]);
            let collected = registry([server]).collect(base()).await;
            read(collected.catalog.resolve("peer:tool").unwrap())
        };
        let bounded = |text: String| {
            let mut json = tool(write(text)).to_mcp_json();
            bound_mcp_json(&mut json).unwrap();
            read(&Tool::from_mcp_json(json).unwrap())
        };
        for text in [collected(fits(limit)).await, bounded(fits(limit))] {
            assert_eq!(text.len(), limit, "{what}");
        }
        for text in [collected(long(limit)).await, bounded(long(limit))] {
            assert!(text.ends_with("€… [cut]") && (limit - 3..=limit).contains(&text.len()), "{what}: {}", text.len());
        }
    }
    let data = long(MAX_SCHEMA_TEXT_BYTES);
    for keyword in ["const", "default"] {
        let input = json!({ "type": "object", "properties": { "a": { keyword: { "description": data } } } });
        let server = Server::new("peer", [tool(json!({ "inputSchema": input }))]);
        let collected = registry([server]).collect(base()).await;
        assert_eq!(*collected.catalog.resolve("peer:tool").unwrap().input().as_value(), input);
    }
}

#[test]
fn the_record_of_a_tool_is_bounded_without_its_description_and_schemas() {
    let text = "a".repeat(MAX_RECORD_BYTES);
    let described = json!({ "description": text, "title": text, "inputSchema": { "default": text } });
    for (n_bytes, fits) in [(MAX_RECORD_BYTES, true), (MAX_RECORD_BYTES + 1, false)] {
        // `"t"` and `{"x":""}` are eleven bytes.
        let mut json = described.clone();
        json["name"] = "t".into();
        json["_meta"] = json!({ "x": "x".repeat(n_bytes - 11) });
        assert_eq!(bound_mcp_json(&mut json).is_ok(), fits, "{n_bytes}");
    }
    for other in [json!(null), json!([1]), json!({})] {
        assert_eq!(bound_mcp_json(&mut other.clone()), Ok(()), "{other}");
    }
}
