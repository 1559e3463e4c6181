//! A day of a gateway in seconds: servers of others and three of ours behind a proxy, which are killed, restarted, disabled and
//! limited while sixteen clients call them. One of ours has a page, and one gets the tokens of callers in exchange. Half of
//! the clients are of one caller, and half of another one with another view. `TOOLKIT_DAY_SECONDS` sets the length, and the
//! seed is printed.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::mutate::Dice;
use tokio::sync::oneshot;
use toolkit::backend::{Backend, BackendState};
use toolkit::call::{BoxFuture, ErrorKind};
use toolkit::resource::Resources;
use toolkit::{Catalog, Context, Dispatcher, catalog, tool};
use toolkit_backends::Backends;
use toolkit_mcp_client::{Endpoint, McpBackend, McpServers};
use toolkit_mcp_server::{Caller, Proxy, Server, TokenError, Verify, View};

use super::official::installed;
use super::resources::served;
use super::{apps, dispatcher, in_the_end};
use crate::oauth::token_exchange::{call_over_http, settings};
use crate::oauth::world::{self, Response, World};

const N_CLIENTS: usize = 16;

/// The timeout of a call at the proxy.
const TIMEOUT: u64 = 10;

/// The time after the timeout within which each call ends: that of a busy machine.
const SLACK: Duration = Duration::from_secs(10);

/// The time within which the loss of a process is known: that of a busy machine.
const NOTICE: Duration = Duration::from_secs(3);

/// Adds two numbers.
#[tool(read_only)]
fn sum(a: i64, b: i64) -> i64 {
    a + b
}

/// The servers of others. Each writes its process id to a file, and `time` starts slowly.
fn configuration(servers: &Path, folder: &Path, ours: &str) -> String {
    let script = |package: &str| servers.join("node_modules/@modelcontextprotocol").join(package).join("dist/index.js");
    let python = servers.join("python/bin/python");
    let entry = |name: &str, delay: &str, command: String| {
        let file = folder.join(format!("{name}.pid"));
        let command = format!("sleep {delay}; echo $$ > {}; exec {command}", file.display());
        let settings = json!({ "timeout": TIMEOUT });
        json!({ "command": "sh", "args": ["-c", command], "toolkit": settings,
            "env": { "MEMORY_FILE_PATH": folder.join("memory.json") } })
    };
    let node = |package: &str, argument: &str| format!("node {} {argument}", script(package).display());
    json!({ "mcpServers": {
        "everything": entry("everything", "0", node("server-everything", "stdio")),
        "files": entry("files", "0", node("server-filesystem", folder.to_str().unwrap())),
        "memory": entry("memory", "0", node("server-memory", "")),
        "git": entry("git", "0", format!("{} -m mcp_server_git", python.display())),
        "time": entry("time", "1", format!("{} -m mcp_server_time", python.display())),
        "ours": { "url": ours, "toolkit": { "timeout": TIMEOUT } },
    } })
    .to_string()
}

/// Serves `sum` at an address, with a limit of requests. Ends when the sender is dropped.
async fn serve_ours(address: &str) -> (String, oneshot::Sender<()>) {
    let server = Server::new(Dispatcher::new(catalog![sum].unwrap()).unwrap()).unwrap();
    let listening = loop {
        match server.http().rate(40, 40).bind(address).await {
            Ok(listening) => break listening,
            // The earlier one still ends.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    };
    let address = listening.local_addr().unwrap().to_string();
    let (running, ended) = oneshot::channel::<()>();
    tokio::spawn(listening.run(async move { drop(ended.await) }));
    (address, running)
}

/// The callers, of whom each has every second client, with the servers that their views have.
const CALLERS: [(&str, &[&str]); 2] =
    [("alice", &["everything", "files", "memory", "charts", "ledger"]), ("bob", &["git", "time", "ours", "ledger"])];

/// Accepts the tokens of the callers.
struct Callers;

impl Verify for Callers {
    fn verify<'v>(&'v self, token: &'v str) -> BoxFuture<'v, Result<Caller, TokenError>> {
        Box::pin(async move {
            let Value::Object(claims) = json!({ "groups": [token] }) else { unreachable!() };
            Ok(Caller::named(token).with_claims(claims))
        })
    }
}

fn views() -> impl Iterator<Item = View> {
    CALLERS
        .iter()
        .map(|(caller, servers)| View::new(*caller).claim("groups", [*caller]).servers(servers.iter().copied()))
}

/// A server that returns the token that it gets: that of the caller, in exchange. Adding to `epoch` makes all tokens invalid.
async fn ledger(epoch: &Arc<AtomicU64>) -> (World, McpBackend) {
    let world = World::start().await;
    let issuing = Arc::clone(epoch);
    world.on("/token", move |request| {
        let form = request.form();
        let subject = form.get("subject_token").map_or("gateway", |subject| &**subject);
        let token = format!("{}-of-{subject}", issuing.load(Ordering::SeqCst));
        let kind = "urn:ietf:params:oauth:token-type:access_token";
        let token =
            json!({ "access_token": token, "token_type": "Bearer", "issued_token_type": kind, "expires_in": 7 });
        Response::json(200, &token)
    });
    let checking = Arc::clone(epoch);
    world.on("/mcp", move |request| {
        let token = request.header("authorization").and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
        let Some(subject) = token.strip_prefix(&format!("{}-of-", checking.load(Ordering::SeqCst))) else {
            return Response::status(401).header("www-authenticate", "Bearer error=\"invalid_token\"");
        };
        let message: Value = serde_json::from_str(&request.body).unwrap_or_default();
        match message["method"].as_str() {
            Some("tools/call") => {
                let result = json!({ "content": [{ "type": "text", "text": subject }] });
                Response::json(200, &json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
            }
            _ if request.method != "POST" => Response::status(405),
            _ => world::answer(&message),
        }
    });
    let backend = McpBackend::http("ledger", world.endpoint(settings(&world)));
    (world, backend)
}

/// Checks what a caller must not see: the list, and a call of a tool of another view. Returns what is wrong.
async fn trespass(backend: &McpBackend, address: SocketAddr, caller: usize, dice: &mut Dice) -> Option<String> {
    let (name, servers) = CALLERS[caller];
    let offered = backend.tools().await;
    let tools = offered.iter().flat_map(|offered| offered.tools.iter().map(|(tool, _)| tool.name()));
    let is_own = |tool: &str| servers.iter().any(|server| tool.starts_with(&format!("{server}_")));
    if let Some(other) = tools.into_iter().find(|tool| !is_own(tool)) {
        return Some(format!("{name} sees {other}"));
    }
    let hidden = [
        &["git_git_status", "time_get_current_time", "ours_sum", "sum"][..],
        &["everything_echo", "memory_read_graph", "charts_show", "refresh"],
    ];
    let tool = hidden[caller][dice.below(4)];
    let response = call_over_http(address, name, tool).await;
    let is_unknown = response.contains(&format!("no tool is named `{tool}`"));
    let names_others = CALLERS[1 - caller]
        .1
        .iter()
        .any(|server| !servers.contains(server) && response.replace(tool, "").contains(&format!("{server}_")));
    if !is_unknown || names_others {
        return Some(format!("{name} gets {response}"));
    }
    let page = Resources::read(backend, "ui://proxy/charts/page", &Context::new()).await.ok().flatten();
    let has_page = page.is_some_and(|page| page[0].as_text() == Some("<p>Page</p>"));
    (has_page != servers.contains(&"charts")).then(|| format!("{name} has the page: {has_page}"))
}

/// Checks the result of a call.
type Check = Box<dyn Fn(&Value) -> bool + Send>;

/// Returns a call of a tool that the client sees, and a check of its result.
fn work(client: usize, n: u64, folder: &Path, dice: &mut Dice) -> (&'static str, Value, Check) {
    let text = format!("{client}-{n}");
    let (caller, servers) = CALLERS[client % 2];
    match servers[dice.below(servers.len())] {
        "everything" => {
            let expected = format!("Echo: {text}");
            ("everything_echo", json!({ "message": text }), Box::new(move |value| value == expected.as_str()))
        }
        "files" => {
            let arguments = json!({ "path": folder.join("note.txt") });
            ("files_read_text_file", arguments, Box::new(|value| value.to_string().contains("remember")))
        }
        "memory" => ("memory_read_graph", json!({}), Box::new(|value| value["entities"].is_array())),
        "git" => {
            let arguments = json!({ "repo_path": folder });
            ("git_git_status", arguments, Box::new(|value| value.to_string().contains("note.txt")))
        }
        "time" => {
            let arguments = json!({ "source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo" });
            ("time_convert_time", arguments, Box::new(|value| value.to_string().contains("T21:00:00")))
        }
        "charts" => ("charts_refresh", json!({}), Box::new(|value| value.to_string().contains("charts"))),
        "ledger" => ("ledger_read", json!({}), Box::new(move |value| value == caller)),
        _ => {
            let (a, b) = (client as i64, n as i64);
            ("ours_sum", json!({ "a": a, "b": b }), Box::new(move |value| *value == a + b))
        }
    }
}

fn pid(folder: &Path, name: &str) -> Option<String> {
    Some(std::fs::read_to_string(folder.join(format!("{name}.pid"))).ok()?.trim().to_owned())
}

fn kill(pid: &str) {
    drop(std::process::Command::new("kill").args(["-9", pid]).status());
}

fn runs(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_answers_each_call_in_time_and_truly_while_its_servers_are_killed() {
    let Some(servers) = installed().filter(|_| cfg!(target_os = "linux")) else { return };
    let variable = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let length = Duration::from_secs(variable("TOOLKIT_DAY_SECONDS").unwrap_or(15));
    let seed = variable("TOOLKIT_DAY_SEED").unwrap_or(7);
    println!("seed {seed}");
    let folder = std::env::temp_dir().join(format!("toolkit-day-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let folder = folder.canonicalize().unwrap();
    assert!(std::process::Command::new("git").arg("init").arg("-q").arg(&folder).status().unwrap().success());
    std::fs::write(folder.join("note.txt"), "remember").unwrap();

    let (address, mut ours) = serve_ours("127.0.0.1:0").await;
    let (backends, epoch) = (Arc::new(Backends::new()), Arc::<AtomicU64>::default());
    let of_others = McpServers::from_json(&configuration(&servers, &folder, &format!("http://{address}/mcp"))).unwrap();
    let charts = served("charts", &apps::server("charts", &["show", "refresh"], true).await).await;
    let (_world, ledger) = ledger(&epoch).await;
    let kept: Vec<McpBackend> = of_others.into_iter().chain([charts, ledger]).collect();
    for backend in &kept {
        backends.register(backend.clone()).unwrap();
    }
    let server = Server::new(Dispatcher::new(Catalog::new([]).unwrap()).unwrap()).unwrap();
    let proxy = Proxy::new(server.clone(), Arc::clone(&backends));
    proxy.set_views(views());
    let left_out = in_the_end(proxy.collect()).await;
    assert!(left_out.is_empty(), "{left_out}");
    tokio::spawn(async move { proxy.follow(|_| {}).await });
    let listening = server.http().verify(Callers).max_connections(256).bind("127.0.0.1:0").await.unwrap();
    let at = listening.local_addr().unwrap();
    let of_caller = move |caller: usize| {
        let endpoint = Endpoint::new(&format!("http://{at}/mcp")).unwrap();
        let token = format!("Bearer {}", CALLERS[caller].0);
        McpBackend::http("proxy", endpoint.header("authorization", &token).unwrap())
    };
    tokio::spawn(listening.run(std::future::pending()));

    let is_over = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..N_CLIENTS)
        .map(|client| {
            let (folder, is_over) = (folder.clone(), Arc::clone(&is_over));
            tokio::spawn(async move {
                let backend = of_caller(client % 2);
                let dispatcher = dispatcher(&backend).await;
                let mut dice =
                    Dice::new(seed.wrapping_mul(31).wrapping_add(client as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
                let (mut n_right, mut failures, mut defects) = (0_u64, Vec::new(), Vec::new());
                for n in 0.. {
                    if is_over.load(Ordering::Acquire) {
                        break;
                    }
                    let (tool, arguments, is_right) = work(client, n, &folder, &mut dice);
                    let started = Instant::now();
                    let limit = Duration::from_secs(TIMEOUT) + SLACK;
                    let id = format!("proxy:{tool}");
                    let called = dispatcher.call(&id, arguments);
                    match tokio::time::timeout(limit, called).await {
                        Err(_) => defects.push(format!("{tool} hangs")),
                        Ok(Ok(result)) if is_right(&json!(result.value())) => n_right += 1,
                        Ok(Ok(result)) => defects.push(format!("{tool} returns {}", result.value())),
                        // A disabled server has no tools.
                        Ok(Err(error)) if error.message().is_empty() || error.kind() == ErrorKind::Internal => {
                            defects.push(format!("{tool}: {error:?}"));
                        }
                        Ok(Err(error)) => failures.push((tool, started.elapsed(), error.to_string())),
                    }
                    if n % 8 == 0 {
                        let trespassing = trespass(&backend, at, client % 2, &mut dice);
                        match tokio::time::timeout(limit, trespassing).await {
                            Err(_) => defects.push("a look at others hangs".to_owned()),
                            Ok(wrong) => defects.extend(wrong),
                        }
                    }
                    tokio::time::sleep(Duration::from_millis(dice.below(60) as u64)).await;
                }
                (n_right, failures, defects)
            })
        })
        .collect();

    let mut dice = Dice::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let names = ["everything", "files", "memory", "git", "time"];
    let (begun, mut n_faults, mut untrue) = (Instant::now(), 0, Vec::new());
    while begun.elapsed() < length {
        tokio::time::sleep(Duration::from_millis(400 + dice.below(800) as u64)).await;
        n_faults += 1;
        match dice.below(8) {
            0 => {
                drop(ours);
                (_, ours) = serve_ours(&address).await;
            }
            2 => drop(epoch.fetch_add(1, Ordering::SeqCst)),
            1 => {
                backends.disable("git");
                tokio::time::sleep(Duration::from_millis(300)).await;
                backends.enable("git");
            }
            _ => {
                let name = names[dice.below(names.len())];
                let Some(killed) = pid(&folder, name) else { continue };
                kill(&killed);
                tokio::time::sleep(Duration::from_millis(300)).await;
                // Either the loss is known, or there is another process. On a busy machine, the end of its output is read late.
                let backend = kept.iter().find(|backend| backend.name() == name).unwrap();
                let is_untrue = || {
                    backend.status().state == BackendState::Ready && pid(&folder, name).is_some_and(|pid| !runs(&pid))
                };
                let known_by = Instant::now() + NOTICE;
                while is_untrue() && Instant::now() < known_by {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                if is_untrue() {
                    untrue.push(format!("{name} is ready after it was killed"));
                }
            }
        }
    }
    is_over.store(true, Ordering::Release);
    let (mut n_right, mut failures, mut defects) = (0, Vec::new(), untrue);
    for client in clients {
        let (right, failed, wrong) = client.await.unwrap();
        n_right += right;
        failures.extend(failed);
        defects.extend(wrong);
    }
    println!("{n_right} right, {} failed with a reason, {n_faults} faults", failures.len());
    let mut reasons: Vec<String> = failures.iter().map(|(tool, _, error)| format!("{tool}: {error}")).collect();
    reasons.sort();
    reasons.dedup_by_key(|reason| reason.chars().filter(|c| !c.is_ascii_digit()).collect::<String>());
    println!("{}", reasons.join("\n"));
    assert!(defects.is_empty(), "{} defects: {:#?}", defects.len(), &defects[..defects.len().min(20)]);
    assert!(n_right > 0);
    // All of them recover.
    let calm = [dispatcher(&of_caller(0)).await, dispatcher(&of_caller(1)).await];
    for (tool, arguments) in [
        ("charts_show", json!({})),
        ("ledger_read", json!({})),
        ("everything_echo", json!({ "message": "x" })),
        ("files_read_text_file", json!({ "path": folder.join("note.txt") })),
        ("memory_read_graph", json!({})),
        ("git_git_status", json!({ "repo_path": folder })),
        ("time_get_current_time", json!({ "timezone": "UTC" })),
        ("ours_sum", json!({ "a": 1, "b": 2 })),
    ] {
        let is_own = |(_, servers): &(&str, &[&str])| servers.iter().any(|server| tool.starts_with(server));
        let caller = CALLERS.iter().position(is_own).unwrap();
        super::call_restarted(&calm[caller], &format!("proxy:{tool}"), arguments).await.unwrap();
    }
    assert!(kept.iter().all(|backend| backend.status().state == BackendState::Ready));
    in_the_end(backends.stop()).await;
    std::fs::remove_dir_all(&folder).unwrap();
    test_support::ran(1);
}
