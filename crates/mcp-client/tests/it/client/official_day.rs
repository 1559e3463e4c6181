//! A day of a gateway in seconds: servers of others and one of ours behind a proxy, which are killed, restarted, disabled and
//! limited while sixteen clients call them. `TOOLKIT_DAY_SECONDS` sets the length, and the seed is printed.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::mutate::Dice;
use tokio::sync::oneshot;
use toolkit::backend::{Backend, BackendState};
use toolkit::call::ErrorKind;
use toolkit::{Catalog, Dispatcher, catalog, tool};
use toolkit_backends::Backends;
use toolkit_mcp_client::{Endpoint, McpBackend, McpServers};
use toolkit_mcp_server::{Proxy, Server};

use super::official::installed;
use super::{dispatcher, in_the_end};

const N_CLIENTS: usize = 16;

/// The timeout of a call at the proxy.
const TIMEOUT: u64 = 10;

/// The time after the timeout within which each call ends: that of a busy machine.
const SLACK: Duration = Duration::from_secs(10);

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

/// Checks the result of a call.
type Check = Box<dyn Fn(&Value) -> bool + Send>;

/// Returns a call, and a check of its result.
fn work(client: usize, n: u64, folder: &Path, dice: &mut Dice) -> (&'static str, Value, Check) {
    let text = format!("{client}-{n}");
    match dice.below(6) {
        0 => {
            let expected = format!("Echo: {text}");
            ("everything_echo", json!({ "message": text }), Box::new(move |value| value == expected.as_str()))
        }
        1 => {
            let arguments = json!({ "path": folder.join("note.txt") });
            ("files_read_text_file", arguments, Box::new(|value| value.to_string().contains("remember")))
        }
        2 => ("memory_read_graph", json!({}), Box::new(|value| value["entities"].is_array())),
        3 => {
            let arguments = json!({ "repo_path": folder });
            ("git_git_status", arguments, Box::new(|value| value.to_string().contains("note.txt")))
        }
        4 => {
            let arguments = json!({ "source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo" });
            ("time_convert_time", arguments, Box::new(|value| value.to_string().contains("T21:00:00")))
        }
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
    let (backends, mut kept) = (Arc::new(Backends::new()), Vec::new());
    for backend in McpServers::from_json(&configuration(&servers, &folder, &format!("http://{address}/mcp"))).unwrap() {
        backends.register(backend.clone()).unwrap();
        kept.push(backend);
    }
    let server = Server::new(Dispatcher::new(Catalog::new([]).unwrap()).unwrap()).unwrap();
    let proxy = Proxy::new(server.clone(), Arc::clone(&backends));
    let left_out = in_the_end(proxy.collect()).await;
    assert!(left_out.is_empty(), "{left_out}");
    tokio::spawn(async move { proxy.follow(|_| {}).await });
    let listening = server.http().max_connections(256).bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listening.local_addr().unwrap());
    tokio::spawn(listening.run(std::future::pending()));

    let is_over = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..N_CLIENTS)
        .map(|client| {
            let (url, folder, is_over) = (url.clone(), folder.clone(), Arc::clone(&is_over));
            tokio::spawn(async move {
                let backend = McpBackend::http("proxy", Endpoint::new(&url).unwrap());
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
                // Either the loss is known, or there is another process.
                let backend = kept.iter().find(|backend| backend.name() == name).unwrap();
                let is_ready = backend.status().state == BackendState::Ready;
                if is_ready && pid(&folder, name).is_some_and(|pid| !runs(&pid)) {
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
    let calm = dispatcher(&McpBackend::http("proxy", Endpoint::new(&url).unwrap())).await;
    for (tool, arguments) in [
        ("everything_echo", json!({ "message": "x" })),
        ("files_read_text_file", json!({ "path": folder.join("note.txt") })),
        ("memory_read_graph", json!({})),
        ("git_git_status", json!({ "repo_path": folder })),
        ("time_get_current_time", json!({ "timezone": "UTC" })),
        ("ours_sum", json!({ "a": 1, "b": 2 })),
    ] {
        super::call_restarted(&calm, &format!("proxy:{tool}"), arguments).await.unwrap();
    }
    assert!(kept.iter().all(|backend| backend.status().state == BackendState::Ready));
    in_the_end(backends.stop()).await;
    std::fs::remove_dir_all(&folder).unwrap();
    test_support::ran(1);
}
