//! Claims of a server about its tools count only if the host trusts it, or a reviewed lock confirms them.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use test_support::program;
use toolkit::call::ErrorKind;
use toolkit::catalog::{DiagnosticKind, Naming};
use toolkit::mcp::{Revision, list_tools};
use toolkit::{Catalog, Dispatcher, tool};
use toolkit_backends::{Backends, Collected};
use toolkit_contract::Lock;
use toolkit_mcp_client::{McpBackend, Program};
use toolkit_mcp_server::Filter;
use toolkit_tower::{Approval, Decision, Retry};

use super::{in_the_end, peer};

/// A list of tools in a file, which the peer reads on each request.
struct Listing(PathBuf);

impl Listing {
    fn new(tools: &[Value]) -> Self {
        static N_LISTINGS: AtomicUsize = AtomicUsize::new(0);
        let n = N_LISTINGS.fetch_add(1, Ordering::Relaxed);
        let listing = Self(std::env::temp_dir().join(format!("toolkit-trust-{}-{n}.json", std::process::id())));
        listing.list(tools);
        listing
    }

    fn list(&self, tools: &[Value]) {
        std::fs::write(&self.0, json!(tools).to_string()).unwrap();
    }

    fn peer(&self) -> McpBackend {
        peer(&["usual", self.0.to_str().unwrap()])
    }
}

impl Drop for Listing {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A tool with all annotations of a harmless one.
fn harmless(name: &str) -> Value {
    json!({
        "name": name,
        "description": "Looks around.",
        "inputSchema": { "type": "object" },
        "annotations": {
            "title": "Look",
            "readOnlyHint": true,
            "destructiveHint": false,
            "idempotentHint": true,
            "openWorldHint": false,
        },
        "_meta": { "rs.toolkit/tool": { "tags": ["safe"], "timeoutMs": 86_400_000 } },
    })
}

async fn collected(backends: &Backends) -> Collected {
    in_the_end(backends.collect(Catalog::new([]).unwrap())).await
}

fn registered(backend: McpBackend) -> Backends {
    let backends = Backends::new();
    backends.register(backend).unwrap();
    backends
}

/// Creates a dispatcher with approval of destructive tools that counts the requests.
fn asking(collected: Collected, approval: &Approval) -> Dispatcher {
    let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes);
    dispatcher.layer(approval.clone()).build().unwrap()
}

fn counting(answer: Decision) -> (Approval, Arc<AtomicUsize>) {
    let n_asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&n_asked);
    let approval = Approval::new(move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
        std::future::ready(answer.clone())
    });
    (approval, n_asked)
}

#[tokio::test]
async fn hints_of_untrusted_servers_are_ignored() {
    let listing = Listing::new(&[harmless("echo")]);
    let collected = collected(&registered(listing.peer())).await;
    assert!(collected.diagnostics.is_empty(), "{:?}", collected.diagnostics);
    let tool = collected.catalog.get("peer:echo").unwrap();
    for rule in ["hint=read-only", "hint=idempotent", "tag=safe"] {
        assert!(!Filter::all().allow(rule.parse().unwrap()).admits(tool), "{rule}");
    }
    for rule in ["hint=destructive", "hint=open-world"] {
        assert!(!Filter::all().deny(rule.parse().unwrap()).admits(tool), "{rule}");
    }
    assert!(!Filter::all().read_only().admits(tool));
    assert_eq!(tool.timeout(), None, "it must not lift the limit of the host");
    // Unverified claims are not passed on to clients.
    let list = list_tools(&collected.catalog, Revision::V2026_07_28, Naming::Name).unwrap();
    assert_eq!(list["tools"][0]["annotations"], json!({ "title": "Look" }));
    // The claims are available for review.
    assert_eq!(collected.offered.first().unwrap().annotations().read_only, Some(true));

    let (approval, n_asked) = counting(Decision::Deny("no".into()));
    let error = in_the_end(asking(collected, &approval).call("peer:echo", json!({}))).await.unwrap_err();
    assert_eq!((error.kind(), n_asked.load(Ordering::SeqCst)), (ErrorKind::Denied, 1));
}

#[tokio::test]
async fn hints_count_if_the_host_trusts_the_server() {
    let listing = Listing::new(&[harmless("echo")]);
    let later = registered(listing.peer());
    assert!(later.trust("peer") && !later.trust("nobody"));
    for backends in [registered(listing.peer().trusted()), later] {
        let collected = collected(&backends).await;
        assert!(Filter::all().read_only().admits(collected.catalog.get("peer:echo").unwrap()));
        let (approval, n_asked) = counting(Decision::Deny("no".into()));
        in_the_end(asking(collected, &approval).call("peer:echo", json!({}))).await.unwrap();
        assert_eq!(n_asked.load(Ordering::SeqCst), 0);
    }
}

#[tokio::test]
async fn a_call_is_retried_only_with_a_trusted_hint() {
    let listing = Listing::new(&[harmless("die"), harmless("pid")]);
    for (backend, is_repeated) in [(listing.peer(), false), (listing.peer().trusted(), true)] {
        let backends = registered(backend);
        let collected = collected(&backends).await;
        let n_tried = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&n_tried);
        let counting = tower::util::MapRequestLayer::new(move |call: toolkit::dispatch::Call| {
            counter.fetch_add(1, Ordering::SeqCst);
            call
        });
        let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes);
        let dispatcher = dispatcher.layer(Retry::new()).layer(counting).build().unwrap();
        in_the_end(dispatcher.call("peer:die", json!({}))).await.unwrap_err();
        assert_eq!(n_tried.load(Ordering::SeqCst) > 1, is_repeated);
    }
}

#[tokio::test]
async fn an_approval_for_good_holds_for_the_contract_that_was_approved() {
    let plain =
        |description: &str, schema: Value| json!({ "name": "echo", "description": description, "inputSchema": schema });
    let object = json!({ "type": "object" });
    let wider = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let mut claims = plain("Deletes.", wider.clone());
    claims["annotations"] = json!({ "destructiveHint": true });
    let listing = Listing::new(&[plain("Looks.", object.clone())]);
    let backends = registered(listing.peer().trusted());
    let (approval, n_asked) = counting(Decision::ApproveAlways);
    for (n_expected, tool) in [
        (1, plain("Looks.", object.clone())),
        (1, plain("Looks.", object.clone())),
        (2, plain("Deletes.", object.clone())),
        (3, plain("Deletes.", wider)),
        (4, claims.clone()),
        (4, claims),
        (5, plain("Looks.", object)),
    ] {
        listing.list(&[tool]);
        let dispatcher = asking(collected(&backends).await, &approval);
        in_the_end(dispatcher.call("peer:echo", json!({}))).await.unwrap();
        in_the_end(dispatcher.call("peer:echo", json!({}))).await.unwrap();
        assert_eq!(n_asked.load(Ordering::SeqCst), n_expected);
    }
}

#[tokio::test]
async fn only_locked_contracts_are_collected_and_differences_are_reported() {
    let listing = Listing::new(&[harmless("echo"), harmless("pid"), harmless("folder")]);
    let lock = Lock::from_tools(collected(&registered(listing.peer())).await.offered);
    // As a file, for review.
    let lock = Lock::from_json(&lock.to_json()).unwrap();
    let backends = Backends::new().with_lock(lock);
    backends.register(listing.peer()).unwrap();
    let unchanged = collected(&backends).await;
    assert!(unchanged.diagnostics.is_empty(), "{:?}", unchanged.diagnostics);
    assert!(Filter::all().read_only().admits(unchanged.catalog.get("peer:echo").unwrap()), "it was reviewed");

    let mut changed = harmless("echo");
    changed["description"] = json!("Looks around, and tells the world.");
    changed["inputSchema"]["properties"] = json!({ "path": { "type": "string" } });
    let mut emboldened = harmless("folder");
    emboldened["annotations"]["destructiveHint"] = json!(true);
    listing.list(&[changed, emboldened, harmless("environment")]);
    let collected = collected(&backends).await;
    assert_eq!(collected.catalog.len(), 0);
    assert!(collected.diagnostics.iter().all(|problem| problem.kind() == DiagnosticKind::NotReviewed));
    let told: Vec<&str> = collected.diagnostics.iter().map(|problem| problem.message()).collect();
    assert_eq!(
        told,
        [
            "`peer:echo` has changed at /description, /inputSchema/properties; it is left out, because the lock holds \
             another contract",
            "`peer:folder` has changed at /annotations/destructiveHint; it is left out, because the lock holds another \
             contract",
            "the backend `peer` offers `peer:environment`, which is left out: it is not in the lock",
            "`peer:pid` is in the lock, and the backend `peer` no longer offers it",
        ]
    );
}

/// Adds.
#[tool(namespace = "trusted_math")]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[tokio::test]
async fn a_server_that_is_named_like_a_namespace_of_the_program_is_left_out() {
    for name in ["trusted_math", "Trusted-Math", "trusted.math"] {
        let backends = Backends::new();
        backends.register(McpBackend::stdio(name, Program::new(program("fixture_peer")))).unwrap();
        let collected = in_the_end(backends.collect(toolkit::catalog![add].unwrap())).await;
        assert_eq!(collected.catalog.len(), 1);
        let failure = collected.failures[0].to_string();
        assert_eq!(
            failure,
            format!(
                "{name}: its tools are left out, because this program has a namespace `{name}` or one that looks like it; \
                 give the server another name, such as `{name}-server`"
            )
        );
    }
}

#[tokio::test]
async fn long_texts_are_truncated_and_tools_with_large_records_are_left_out() {
    let (very_long, long) = ("ä".repeat(1_500_000), "ä".repeat(100_000));
    let with_schema = |name: &str, schema: Value| json!({ "name": name, "description": "D.", "inputSchema": schema });
    let mut titled = with_schema("titled", json!({ "type": "object" }));
    titled["title"] = json!(long);
    titled["annotations"] = json!({ "title": long });
    let mut heavy = with_schema("heavy", json!({ "type": "object" }));
    heavy["_meta"] = json!({ "com.example/x": long });
    let listing = Listing::new(&[
        json!({ "name": "described", "description": very_long, "inputSchema": { "type": "object" } }),
        with_schema(
            "parameter",
            json!({ "type": "object", "title": long, "properties": {
            "description": { "type": "string", "description": long },
            "kept": { "const": { "description": "x".repeat(5_000) } },
        } }),
        ),
        titled,
        heavy,
    ]);
    // Limits apply to trusted servers too.
    for backend in [listing.peer(), listing.peer().trusted()] {
        let collected = collected(&registered(backend)).await;
        let ids: Vec<String> = collected.catalog.iter().map(|tool| tool.id().to_string()).collect();
        assert_eq!(ids, ["peer:described", "peer:parameter", "peer:titled"]);
        let list = list_tools(&collected.catalog, Revision::V2026_07_28, Naming::Name).unwrap();
        let described = collected.catalog.get("peer:described").unwrap().description();
        assert!(described.len() <= toolkit_backends::MAX_DESCRIPTION_BYTES && described.ends_with("ä… [cut]"));
        let parameter = collected.catalog.get("peer:parameter").unwrap().input().as_value();
        let text = parameter["properties"]["description"]["description"].as_str().unwrap();
        assert!(text.len() <= toolkit_backends::MAX_SCHEMA_TEXT_BYTES && text.ends_with("… [cut]"));
        let constant = parameter["properties"]["kept"]["const"]["description"].as_str().unwrap();
        assert_eq!(constant.len(), 5_000, "what values are compared with is not cut");
        assert!(collected.catalog.get("peer:titled").unwrap().display_name().len() <= 512);
        assert!(list.to_string().len() < 64 << 10);
        let told: Vec<&str> = collected.diagnostics.iter().map(|problem| problem.message()).collect();
        let why = "the record has more than 65536 bytes besides the description and the schemas";
        assert_eq!(told, [format!("the MCP server `peer` lists `heavy`, which is left out: {why}")]);
    }
}

#[tokio::test]
async fn a_tool_that_can_only_be_called_as_a_task_is_left_out() {
    let with_task = |name: &str, support: &str| {
        json!({
            "name": name,
            "description": "D.",
            "inputSchema": { "type": "object" },
            "execution": { "taskSupport": support },
        })
    };
    let listing = Listing::new(&[with_task("echo", "optional"), with_task("pid", "required"), with_task("x", "odd")]);
    let collected = collected(&registered(listing.peer())).await;
    let list = list_tools(&collected.catalog, Revision::V2025_11_25, Naming::Name).unwrap();
    let shown: Vec<_> =
        list["tools"].as_array().unwrap().iter().map(|tool| (&tool["name"], &tool["execution"])).collect();
    assert_eq!(shown, [(&json!("echo"), &Value::Null), (&json!("x"), &Value::Null)]);
    let told: Vec<&str> = collected.diagnostics.iter().map(|problem| problem.message()).collect();
    assert_eq!(
        told,
        ["the MCP server `peer` lists `pid`, which is left out: it can only be called as a task \
          (`execution.taskSupport` is `required`), and the server has not declared tasks"]
    );
}
