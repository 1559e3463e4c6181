//! Views: two callers, each of whom attacks the view of the other.
//!
//! The responses to the caller Bob beside hidden servers equal, byte by byte, those of a proxy without them.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::AsyncBufReadExt;
use tokio::io::BufReader;
use tokio::net::TcpStream;
use toolkit::Tool;
use toolkit::ToolError;
use toolkit::backend::{Backend, BackendCall, BackendResponse, OfferedTools, Routes};
use toolkit::call::BoxFuture;
use toolkit::prompt::Prompt;
use toolkit::resource::{Resource, ResourceTemplate, Resources};
use toolkit::tool::{BackendKind, TaskSupport, ToolBackend};
use toolkit_backends::Backends;
use toolkit_mcp_server::{Filter, Jwks, Jwt, Proxy, ResourceSet, TemplateResources, View};

use super::changes::next;
use super::*;
use crate::auth::signer::Signer;

/// A server with tools, a prompt, a resource or a template, and instructions.
struct Desk {
    name: &'static str,
    /// The names of its tools, of which there are more with each request.
    tools: Vec<&'static str>,
    n_listed: AtomicUsize,
    resources: Box<dyn Resources>,
    changes: Arc<tokio::sync::Notify>,
}

impl Desk {
    fn new(name: &'static str, tools: &[&'static str], has_template: bool) -> (Self, Arc<tokio::sync::Notify>) {
        let resources: Box<dyn Resources> = match has_template {
            true => {
                let template = ResourceTemplate::new(format!("{name}://{{id}}"), format!("{name} entry"));
                let read =
                    |_: toolkit_mcp_server::UriParams, _: toolkit::Context| async { Ok(Some("text".to_owned())) };
                Box::new(TemplateResources::new(template, read).unwrap())
            }
            false => Box::new(ResourceSet::new().with(Resource::new(format!("{name}://all"), name), "text")),
        };
        let changes = Arc::<tokio::sync::Notify>::default();
        let desk = Self { name, tools: tools.to_vec(), n_listed: AtomicUsize::new(0), resources, changes };
        let changes = Arc::clone(&desk.changes);
        (desk, changes)
    }
}

impl Backend for Desk {
    fn name(&self) -> &str {
        self.name
    }

    fn kind(&self) -> BackendKind {
        BackendKind::Mcp
    }

    fn tools(&self) -> BoxFuture<'_, Result<OfferedTools, ToolError>> {
        let n = self.n_listed.fetch_add(1, Ordering::Relaxed);
        let tool = |name: String| {
            let tool = Tool::builder(name.clone()).description(format!("Does {name} of {}.", self.name));
            (tool.task_support(TaskSupport::Optional).build().unwrap(), ToolBackend::mcp(&*name).unwrap())
        };
        let changing = (0..n).map(|n| tool(format!("later_{n}")));
        let mut offered = OfferedTools::new(self.tools.iter().map(|name| tool((*name).to_owned())).chain(changing));
        let (prompt, backend) = tool("brief".to_owned());
        offered.prompts = vec![(Prompt::new(prompt, Vec::new()), backend)];
        offered.instructions = Some(format!("How to use {}.", self.name));
        offered.list_ttl = (self.name != "notes").then_some(std::time::Duration::from_secs(7));
        Box::pin(async { Ok(offered) })
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.changes.notified())
    }

    fn call<'a>(&'a self, _: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> {
        Box::pin(async { Ok(json!("done").into()) })
    }

    fn resources(&self) -> Option<&dyn Resources> {
        Some(&*self.resources)
    }

    fn holds_sessions(&self) -> bool {
        self.name == "salary"
    }
}

/// A backend whose tool calls the tools of its caller: it lists them in its description and in its result.
#[derive(Default)]
struct Runner(Vec<String>);

impl Runner {
    fn text(&self) -> String {
        format!("Calls {}.", self.0.join(", "))
    }
}

impl Backend for Runner {
    fn name(&self) -> &str {
        "run"
    }

    fn kind(&self) -> BackendKind {
        BackendKind::Local
    }

    fn tools(&self) -> BoxFuture<'_, Result<OfferedTools, ToolError>> {
        let tool = Tool::builder("list").description(self.text()).build().unwrap();
        Box::pin(async { Ok(OfferedTools::new([(tool, ToolBackend::local("list").unwrap())])) })
    }

    fn calls_tools(&self) -> bool {
        true
    }

    fn restricted_to(&self, catalog: &Catalog, routes: &Routes) -> Option<Box<dyn Backend>> {
        assert!(catalog.iter().all(|tool| routes.owner(tool.id()).is_some()));
        Some(Box::new(Self(catalog.iter().map(|tool| tool.id().to_string()).collect())))
    }

    fn call<'a>(&'a self, call: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> {
        let other = Tool::builder("raise").namespace("salary").build().unwrap();
        let is_reached = call.context().nested(&other).is_ok();
        Box::pin(async move { Ok(json!(format!("{} {is_reached}", self.text())).into()) })
    }
}

const ISSUER: &str = "https://as.example";

fn token(signer: &Signer, subject: &str, groups: Value) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let claims = json!({ "iss": ISSUER, "aud": "mcp", "exp": now + 300, "sub": subject, "groups": groups });
    signer.token(&claims)
}

/// A proxy with two views, and the changes of its servers by name.
struct World {
    client: Client,
    signer: Signer,
    changes: Vec<(&'static str, Arc<tokio::sync::Notify>)>,
}

fn views() -> [View; 4] {
    let deny = |rule: &str| Filter::all().deny(rule.parse().unwrap());
    [
        View::new("staff").claim("groups", ["staff"]).servers(["notes"]).filter(deny("notes:erase*")),
        View::new("payroll").claim("groups", ["payroll"]).servers(["salary", "vault*"]).filter(deny("run:list")),
        View::new("operators").claim("groups", ["operators"]),
        View::new("desk").path("/payroll/mcp").claim("groups", ["payroll"]).servers(["salary"]),
    ]
}

impl World {
    async fn new(names: &[&'static str], list_at_most: usize) -> Self {
        let backends = Backends::new();
        let mut changes = Vec::new();
        for &name in names {
            let (tools, has_template): (&[_], _) = match name {
                "notes" => (&["read", "write", "erase_all"], true),
                "salary" => (&["read", "raise", "notes_read"], false),
                _ => (&["open", "write_x"], true),
            };
            // The tool that Bob's own view denies exists in no other world either.
            let tools: Vec<_> = tools.iter().copied().filter(|tool| names.len() > 1 || *tool != "erase_all").collect();
            let (desk, changed) = Desk::new(name, &tools, has_template);
            changes.push((name, changed));
            backends.register(desk).unwrap();
        }
        backends.register(Runner::default()).unwrap();
        let own = Dispatcher::new(Catalog::new([]).unwrap()).unwrap();
        let server = Server::builder(own).named("tests", "1.0.0").list_at_most(list_at_most).build().unwrap();
        let proxy = Proxy::new(server.clone(), backends);
        proxy.set_views(views());
        assert!(proxy.collect().await.failures.is_empty());
        tokio::spawn(async move { proxy.follow(drop).await });
        let signer = Signer::p256("k");
        let keys = Jwks::from_json(&json!({ "keys": [signer.jwk()] }).to_string()).unwrap();
        let http = server.http().verify(Jwt::with_keys(ISSUER, keys).audience("mcp"));
        Self { client: Client::of(serve(http).await), signer, changes }
    }

    fn of(&self, subject: &str, groups: Value) -> Client {
        let token = token(&self.signer, subject, groups);
        self.client.with("authorization", &format!("Bearer {token}"))
    }

    fn change(&self, name: &str) {
        self.changes.iter().filter(|(other, _)| *other == name).for_each(|(_, changed)| changed.notify_one());
    }
}

/// The names of hidden tools, prompts and resources in all spellings, beside visible ones and those that no server has.
const NAMES: [&str; 27] = [
    "run_list",
    "salary_read",
    "salary_raise",
    "salary:raise",
    "salary.raise",
    "salary-raise",
    "SALARY_RAISE",
    "raise",
    "salary_notes_read",
    "notes_read",
    "notes_rea",
    "salary_rais",
    "vault_open",
    "vaul_open",
    "notes_erase_all",
    "notes_erase",
    "erase_all",
    "salary_later_0",
    "salary",
    "salary_",
    "code_run",
    "salary_brief",
    "notes_brief",
    "vault_brief",
    "search_tools",
    "none",
    "salary_read_64a2c3f1",
];

const URIS: [&str; 9] = [
    "proxy:salary/salary://all",
    "proxy:vault/vault://1",
    "proxy:notes/notes://1",
    "proxy:none/none://1",
    "salary://all",
    "vault://1",
    "proxy:vault/vault://{id}",
    "proxy:salary/",
    "proxy:notes/salary://all",
];

/// Returns the messages of an attack.
fn attack() -> Vec<Value> {
    let mut messages = vec![
        request(
            1,
            "initialize",
            json!({ "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": { "name": "b", "version": "1" } }),
        ),
        modern(1, "server/discover", json!({})),
        modern(1, "skills/list", json!({})),
        modern(1, "tasks/get", json!({ "taskId": "0000000000000000000000000000000000000000" })),
        modern(1, "tasks/list", json!({})),
        modern(1, "logging/setLevel", json!({ "level": "debug" })),
    ];
    for list in ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
        messages.push(modern(1, list, json!({})));
        messages.push(request(1, list, json!({})));
        for name in NAMES {
            for cursor in [name.to_owned(), data_encoding::BASE64URL_NOPAD.encode(name.as_bytes())] {
                messages.push(modern(1, list, json!({ "cursor": cursor })));
            }
        }
    }
    for name in NAMES {
        for wrong in [json!({}), json!({ "salary": 1 })] {
            messages.push(modern(1, "tools/call", call(name, wrong.clone())));
            messages.push(request(1, "tools/call", call(name, wrong)));
        }
        messages.push(request(1, "tools/call", json!({ "name": name, "task": {} })));
        messages.push(modern(1, "prompts/get", json!({ "name": name })));
        let reference = json!({ "type": "ref/prompt", "name": name });
        messages.push(modern(
            1,
            "completion/complete",
            json!({ "ref": reference, "argument": { "name": "a", "value": "s" } }),
        ));
        messages.push(modern(1, "tools/call", call("describe_tool", json!({ "name": name }))));
        messages.push(modern(1, "tools/call", call("call_tool", json!({ "name": name, "arguments": {} }))));
        for query in [name.to_owned(), format!("Does {name} of salary")] {
            messages.push(modern(1, "tools/call", call("search_tools", json!({ "query": query, "limit": 20 }))));
        }
    }
    for uri in URIS {
        for method in ["resources/read", "resources/subscribe", "skills/get"] {
            messages.push(modern(1, method, json!({ "uri": uri })));
            messages.push(request(1, method, json!({ "uri": uri })));
        }
        let reference = json!({ "type": "ref/resource", "uri": uri });
        messages.push(modern(
            1,
            "completion/complete",
            json!({ "ref": reference, "argument": { "name": "id", "value": "" } }),
        ));
    }
    messages
}

/// Returns what a caller receives for a message, without what is random.
async fn received(client: &Client, path: &str, message: &Value) -> (u16, String) {
    let is_modern = message["params"]["_meta"].is_object();
    let mut client = client.with("content-type", "application/json");
    if is_modern {
        client = client.with("mcp-protocol-version", MODERN).with("mcp-method", message["method"].as_str().unwrap());
        let name = [&message["params"]["name"], &message["params"]["uri"]].into_iter().find_map(Value::as_str);
        client = name.into_iter().fold(client, |client, name| client.with("mcp-name", name));
    }
    let response = client.ask("POST", path, message.to_string().as_bytes()).await;
    let mut text = response.text();
    if let Ok(json) = serde_json::from_str::<Value>(&text)
        && let Some(task) = json["result"].get("task")
    {
        for random in ["taskId", "createdAt", "lastUpdatedAt"] {
            text = text.replace(task[random].as_str().unwrap(), "");
        }
    }
    (response.status, text)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_caller_does_not_see_does_not_exist_for_this_caller() {
    for list_at_most in [1000, 1] {
        let beside = World::new(&["notes", "salary", "vault"], list_at_most).await;
        let alone = World::new(&["notes"], list_at_most).await;
        let alice = beside.of("alice", json!(["payroll"]));
        // Alice's calls and tasks are running.
        let own = received(&alice, "/mcp", &modern(1, "tools/call", call("salary_raise", json!({})))).await;
        assert!(own.0 == 200 && own.1.contains("done"), "{own:?}");
        let task =
            received(&alice, "/mcp", &request(1, "tools/call", json!({ "name": "salary_raise", "task": {} }))).await;
        assert!(task.1.contains("taskId"), "{task:?}");
        for groups in
            [json!(["staff"]), json!("staff"), json!(["none"]), json!("payrol"), json!({ "payroll": 1 }), json!(7)]
        {
            let (bob, bob_alone) = (beside.of("bob", groups.clone()), alone.of("bob", groups.clone()));
            for message in attack() {
                let (one, other) =
                    (received(&bob, "/mcp", &message).await, received(&bob_alone, "/mcp", &message).await);
                assert_eq!(one, other, "{groups} {message}");
            }
            let in_session = |client: &Client| client.with("mcp-session-id", "0123456789abcdef0123456789abcdef");
            let (session, session_alone) = (in_session(&bob), in_session(&bob_alone));
            for message in [request(1, "tools/list", json!({})), request(1, "ping", json!({}))] {
                let other = received(&session_alone, "/mcp", &message).await;
                assert_eq!(received(&session, "/mcp", &message).await, other, "{groups} {message}");
            }
            let (ended, other) =
                (session.ask("DELETE", "/mcp", b"").await, session_alone.ask("DELETE", "/mcp", b"").await);
            assert_eq!((ended.status, ended.text()), (other.status, other.text()));
            for path in ["/payroll/mcp", "/payroll/mcp/", "/none/mcp", "/status", "/metrics", "/mcp/x", "/"] {
                let nobody = bob.ask("GET", "/none", b"").await;
                for method in ["GET", "POST", "DELETE", "PUT"] {
                    let response = bob.ask(method, path, b"").await;
                    assert_eq!((response.status, response.text()), (404, nobody.text()), "{method} {path}");
                }
            }
            assert_eq!(beside.client.get("/healthz").await.text(), "ok\n");
        }
        let without = (beside.client.get("/payroll/mcp").await, beside.client.get("/none/mcp").await);
        assert_eq!((without.0.status, without.0.text()), (401, without.1.text()));
    }
}

async fn tools(client: &Client, path: &str) -> Vec<String> {
    let (status, text) = received(client, path, &modern(1, "tools/list", json!({}))).await;
    assert_eq!(status, 200, "{text}");
    let list: Value = serde_json::from_str(&text).unwrap();
    let tools = list["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_sees_the_union_of_the_views_that_apply() {
    let world = World::new(&["notes", "salary", "vault"], 1000).await;
    let staff = ["notes_read", "notes_write"];
    let run = ["run_list"];
    let salary = ["salary_notes_read", "salary_raise", "salary_read"];
    let payroll = [&salary[..], &["vault_open", "vault_write_x"]].concat();
    let of = |groups: Value| world.of("someone", groups);
    assert_eq!(tools(&of(json!(["staff"])), "/mcp").await, [&staff[..], &run].concat());
    assert_eq!(tools(&of(json!("payroll")), "/mcp").await, payroll);
    assert_eq!(tools(&of(json!(["staff", "payroll"])), "/mcp").await, [&staff[..], &run, &payroll].concat());
    assert_eq!(tools(&of(json!(["payroll"])), "/payroll/mcp").await, [&run[..], &salary].concat());
    assert!(tools(&of(json!([])), "/mcp").await.is_empty());
    let everything = of(json!(["operators", "staff"]));
    assert_eq!(tools(&everything, "/mcp").await.len(), 9);
    // A tool that calls tools reaches those of its caller, whichever view it is in.
    let reaches = async |groups: Value| {
        let (_, text) = received(&of(groups), "/mcp", &modern(1, "tools/call", call("run_list", json!({})))).await;
        let result: Value = serde_json::from_str(&text).unwrap();
        result["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    };
    assert_eq!(reaches(json!(["staff"])).await, "Calls notes:read, notes:write. false");
    let both =
        "Calls notes:read, notes:write, salary:notes_read, salary:raise, salary:read, vault:open, vault:write_x. true";
    assert_eq!(reaches(json!(["staff", "payroll"])).await, both);
    for path in ["/status", "/metrics"] {
        let response = everything.get(path).await;
        assert!(response.status == 200 && response.text().contains("salary"), "{}", response.text());
    }
}

async fn listening(client: &Client) -> BufReader<TcpStream> {
    let wanted = json!({
        "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
        "resourceSubscriptions": URIS,
    });
    let listen = modern(5, "subscriptions/listen", json!({ "notifications": wanted }));
    let client = client.with("mcp-protocol-version", MODERN).with("mcp-method", "subscriptions/listen");
    client.with("content-type", "application/json").begin("POST", "/mcp", listen.to_string().as_bytes()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_hidden_servers_notify_only_those_who_see_them() {
    let world = World::new(&["notes", "salary"], 1000).await;
    let alone = World::new(&["notes"], 1000).await;
    let (bob, alice) = (world.of("bob", json!(["staff"])), world.of("alice", json!(["payroll"])));
    let (mut hidden, mut shown) = (listening(&bob).await, listening(&alice).await);
    let acknowledged = next(&mut hidden).await;
    next(&mut shown).await;
    assert_eq!(acknowledged, next(&mut listening(&alone.of("bob", json!(["staff"]))).await).await);
    let mut earlier = bob.with("mcp-protocol-version", LEGACY).begin("GET", "/mcp", b"").await;
    assert_eq!(Response::read_head(&mut earlier).await.status, 200);
    earlier.fill_buf().await.unwrap();
    world.change("salary");
    assert_eq!(next(&mut shown).await["method"], "notifications/tools/list_changed");
    assert!(tools(&alice, "/mcp").await.contains(&"salary_later_0".to_owned()));
    world.change("notes");
    // His first notification is that of his own server.
    for stream in [&mut hidden, &mut earlier] {
        assert_eq!(next(stream).await["method"], "notifications/tools/list_changed");
    }
    assert!(tools(&bob, "/mcp").await.contains(&"notes_later_0".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_the_views_takes_effect_at_once_and_ends_the_streams() {
    let backends = Backends::new();
    backends.register(Desk::new("salary", &["raise"], false).0).unwrap();
    let server = Server::new(Dispatcher::new(Catalog::new([]).unwrap()).unwrap()).unwrap();
    let proxy = Proxy::new(server.clone(), backends);
    proxy.set_views([View::new("all")]);
    proxy.collect().await;
    let client = Client::of(serve(server.http()).await);
    assert_eq!(tools(&client, "/mcp").await, ["salary_raise"]);
    let mut stream = listening(&client).await;
    next(&mut stream).await;
    proxy.set_views([View::new("all").servers(["none"])]);
    assert!(tools(&client, "/mcp").await.is_empty());
    let end = next(&mut stream).await;
    assert!(end["method"].is_null(), "{end}");
    proxy.set_views([View::new("all").servers(["sal*"])]);
    assert_eq!(tools(&client, "/mcp").await, ["salary_raise"]);
    server.disable("salary:raise".parse().unwrap()).unwrap();
    assert!(tools(&client, "/mcp").await.is_empty());
}

#[tokio::test]
async fn a_rule_of_a_view_that_matches_no_tool_is_reported() {
    let backends = Backends::new();
    backends.register(Desk::new("salary", &["raise"], false).0).unwrap();
    let server = Server::new(Dispatcher::new(Catalog::new([]).unwrap()).unwrap()).unwrap();
    let proxy = Proxy::new(server, backends);
    let filter = Filter::all().allow("salary:r*".parse().unwrap()).deny("salary:x*".parse().unwrap());
    proxy.set_views([View::new("payroll").filter(filter)]);
    let left_out = proxy.collect().await;
    assert_eq!(left_out.to_string(), "no tool matches the rule `salary:x*` of the view `payroll`");
}

#[tokio::test]
async fn the_views_of_a_mounted_service_are_at_the_paths_that_it_receives() {
    use http_body_util::BodyExt;
    use tower_service::Service;

    let backends = Backends::new();
    backends.register(Desk::new("notes", &["read"], false).0).unwrap();
    backends.register(Desk::new("salary", &["raise"], false).0).unwrap();
    let server = Server::new(Dispatcher::new(Catalog::new([]).unwrap()).unwrap()).unwrap();
    let proxy = Proxy::new(server.clone(), backends);
    proxy.set_views([
        View::new("all").servers(["notes"]),
        View::new("payroll").path("/payroll/mcp").servers(["salary"]),
        View::new("health").path("/in/status").servers(["salary"]),
    ]);
    proxy.collect().await;
    let service = || server.http().into_service();
    let mut router: axum::Router = axum::Router::new()
        .nest_service("/api", service())
        .route_service("/payroll/mcp", service())
        .route_service("/in/status", service())
        .route_service("/tools", service())
        .route_service("/other/payroll/mcp", service());
    let body = request(1, "tools/list", json!({})).to_string();
    for (path, name) in [
        ("/api/payroll/mcp", "salary_raise"),
        ("/api/payroll/mcp/", "salary_raise"),
        ("/api/in/status", "salary_raise"),
        ("/payroll/mcp", "salary_raise"),
        ("/in/status", "salary_raise"),
        ("/api", "notes_read"),
        ("/api/mcp", "notes_read"),
        ("/api/payroll", "notes_read"),
        ("/tools", "notes_read"),
        // A router that protects one path does not serve its view at another one.
        ("/api/x/payroll/mcp", "notes_read"),
        ("/other/payroll/mcp", "notes_read"),
    ] {
        let request = http::Request::post(path).header("host", "localhost").header("content-type", "application/json");
        let response = router.call(request.body(axum::body::Body::from(body.clone())).unwrap()).await.unwrap();
        let list: Value = serde_json::from_slice(&response.into_body().collect().await.unwrap().to_bytes()).unwrap();
        let tools = list["result"]["tools"].as_array().unwrap();
        assert_eq!(tools.iter().map(|tool| &tool["name"]).collect::<Vec<_>>(), [name], "{path}");
    }
}

#[tokio::test]
async fn unions_of_views_are_limited_and_those_of_a_caller_with_many_make_room() {
    let backends = Backends::new();
    backends.register(Desk::new("notes", &["read"], false).0).unwrap();
    let server = Server::new(Dispatcher::new(Catalog::new([]).unwrap()).unwrap()).unwrap();
    let proxy = Proxy::new(server.clone(), backends);
    proxy.set_views(
        (0..9).map(|n| View::new(format!("view {n}")).claim("groups", [format!("g{n}")]).servers(["notes"])),
    );
    proxy.collect().await;
    let signer = Signer::p256("k");
    let keys = Jwks::from_json(&json!({ "keys": [signer.jwk()] }).to_string()).unwrap();
    let client = Client::of(serve(server.http().verify(Jwt::with_keys(ISSUER, keys).audience("mcp"))).await);
    let of = |subject: &str, views: u32| {
        let groups: Vec<String> = (0..9).filter(|n| views >> n & 1 == 1).map(|n| format!("g{n}")).collect();
        client.with("authorization", &format!("Bearer {}", token(&signer, subject, json!(groups))))
    };
    let alice = of("alice", 1);
    let mut stream = listening(&alice).await;
    next(&mut stream).await;
    let mut other = listening(&of("mallory", 2)).await;
    next(&mut other).await;
    for views in 2..512 {
        assert_eq!(tools(&of("mallory", views), "/mcp").await, ["notes_read"]);
    }
    // Three quarters are hers, and the one of Alice. Those with streams do not make room while others can.
    assert!(format!("{proxy:?}").contains("n_unions: 193"), "{proxy:?}");
    proxy.collect().await;
    for stream in [&mut stream, &mut other] {
        assert_eq!(next(stream).await["method"], "notifications/tools/list_changed");
    }
}

#[tokio::test]
async fn a_change_of_the_resources_of_the_program_notifies_the_views_that_have_them() {
    let server = Server::builder(Dispatcher::new(Catalog::new([]).unwrap()).unwrap());
    let server =
        server.resources(ResourceSet::new().with(Resource::new("help://all", "help"), "text")).build().unwrap();
    let backends = Backends::new();
    backends.register(Desk::new("notes", &["read"], false).0).unwrap();
    let proxy = Proxy::new(server.clone(), backends);
    proxy.set_views([View::new("all").filter(Filter::all().deny("notes:read".parse().unwrap()))]);
    proxy.collect().await;
    let mut stream = listening(&Client::of(serve(server.http()).await)).await;
    next(&mut stream).await;
    server.resources_changed();
    assert_eq!(next(&mut stream).await["method"], "notifications/resources/list_changed");
}
