//! `serve --proxy`: changes of the configuration file while calls run.

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use test_support::backends::{collected, in_the_end};
use toolkit::backend::Backend;
use toolkit_mcp_client::{Endpoint, McpBackend};

use super::operated::{Operated, peer, until};

fn is_alive(pid: u64) -> bool {
    Command::new("kill").args(["-0", &pid.to_string()]).status().unwrap().success()
}

#[test]
fn only_changed_servers_are_started_again_and_running_calls_finish() {
    let all = json!({ "same": peer(&["usual"]), "changed": peer(&["usual"]), "removed": peer(&["usual"]) });
    let proxy = Operated::new(&all, &[]);
    let [same, changed, removed] = ["same", "changed", "removed"].map(|name| proxy.pid(name));
    let file = proxy.folder.join("go");
    let arguments = json!({ "file": file });
    std::thread::scope(|scope| {
        let calls = ["removed_wait", "changed_wait"].map(|tool| scope.spawn(|| proxy.call(tool, &arguments)));
        until(|| ["removed", "changed"].iter().all(|name| proxy.backend(name)["calls"]["running"] == 1));
        let mut other = peer(&["usual"]);
        other["env"] = json!({ "OTHER": "1" });
        proxy.configure(&json!({ "same": peer(&["usual"]), "changed": other, "added": peer(&["usual"]) }));
        until(|| proxy.is("added", "ready") && proxy.is("changed", "ready") && proxy.backend("removed").is_null());
        assert!(proxy.names().iter().any(|name| name == "added_pid"));
        assert!(!proxy.names().iter().any(|name| name.starts_with("removed_")));
        until(|| proxy.pid("changed") != changed);
        assert_eq!(proxy.pid("same"), same);
        assert!(is_alive(removed) && is_alive(changed), "their calls still run");
        std::fs::write(&file, "").unwrap();
        for call in calls {
            let result = call.join().unwrap();
            assert_eq!(result["content"][0]["text"], "waited", "{result}");
        }
    });
    until(|| !is_alive(removed) && !is_alive(changed));
    assert_eq!(proxy.pid("same"), same);
    for line in ["the server `added` was added", "`changed` has changed", "`removed` was removed"] {
        until(|| proxy.logged(line));
    }
    assert!(!proxy.logged("`same`"));
}

#[test]
fn an_invalid_configuration_is_reported_and_the_servers_stay() {
    let proxy = Operated::new(&json!({ "peer": peer(&["usual"]), "other": peer(&["usual"]) }), &[]);
    let (pid, other) = (proxy.pid("peer"), proxy.pid("other"));
    proxy.write("{\"mcpServers\": {");
    until(|| proxy.logged("the configuration is not applied: "));
    let errors = proxy.status()["configuration_errors"].clone();
    let error = errors[0].as_str().unwrap();
    assert!(error.starts_with("the configuration is not applied: the text is not JSON"), "{errors}");
    assert!(proxy.logged("mcp.json: the text is not JSON"), "the log contains the path");
    assert_eq!((proxy.pid("peer"), proxy.pid("other")), (pid, other));
    std::fs::remove_file(proxy.folder.join("mcp.json")).unwrap();
    until(|| !proxy.status()["configuration_errors"][0].to_string().contains("not JSON"));
    assert!(!proxy.status().to_string().contains("mcp.json"), "the status omits the path");
    assert_eq!((proxy.pid("peer"), proxy.pid("other")), (pid, other));

    // One invalid entry.
    proxy.configure(&json!({ "peer": { "command": 7 }, "new": peer(&["usual"]) }));
    until(|| proxy.is("new", "ready") && proxy.backend("other").is_null());
    let errors = proxy.status()["configuration_errors"].clone();
    assert_eq!(errors, json!(["the server `peer`: `command` must be a string"]));
    assert_eq!(proxy.pid("peer"), pid, "a server with an invalid entry stays as it was");

    proxy.configure(&json!({ "peer": peer(&["usual"]) }));
    until(|| proxy.status()["configuration_errors"] == json!([]));
    until(|| proxy.backend("new").is_null());
    assert_eq!(proxy.pid("peer"), pid);
}

#[test]
fn a_pipe_is_read_once() {
    let folder = std::env::temp_dir().join(format!("toolkit-reloaded-pipe-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let pipe = folder.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let text = json!({ "mcpServers": { "peer": peer(&["usual"]) } }).to_string();
    let proxy = std::thread::scope(|scope| {
        scope.spawn(|| std::fs::write(&pipe, text).unwrap());
        Operated::with_file(folder, &pipe, &[], None)
    });
    let pid = proxy.pid("peer");
    let mut writer = Command::new("sh").args(["-c", "echo > \"$0\""]).arg(&pipe).spawn().unwrap();
    // Longer than the time after which a regular file is read again.
    std::thread::sleep(Duration::from_secs(3));
    assert!(writer.try_wait().unwrap().is_none(), "nothing reads the pipe");
    writer.kill().unwrap();
    writer.wait().unwrap();
    assert_eq!((proxy.pid("peer"), proxy.status()["configuration_errors"].clone()), (pid, json!([])));
}

#[test]
fn a_configuration_that_is_replaced_by_a_pipe_or_too_large_is_not_applied() {
    let proxy = Operated::new(&json!({ "peer": peer(&["usual"]) }), &[]);
    let pid = proxy.pid("peer");
    let error = |expected: &str| until(|| proxy.status()["configuration_errors"].to_string().contains(expected));
    proxy.write(&" ".repeat((4 << 20) + 1));
    error("the file exceeds the limit of 4 MiB");
    let file = proxy.folder.join("mcp.json");
    std::fs::remove_file(&file).unwrap();
    assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
    error("the path is not a regular file");
    proxy.configure(&json!({ "peer": peer(&["usual"]), "other": peer(&["usual"]) }));
    until(|| proxy.is("other", "ready"));
    assert_eq!(proxy.pid("peer"), pid);
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_are_notified_of_a_changed_configuration() {
    let proxy = Operated::new(&json!({}), &[]);
    let endpoint = Endpoint::new(&format!("http://{}/mcp", proxy.address)).unwrap();
    let client = McpBackend::http("proxy", endpoint);
    assert!(collected(&client).await.catalog.iter().all(|tool| !tool.name().starts_with("peer_")));
    proxy.configure(&json!({ "peer": peer(&["usual"]) }));
    // The first subscription counts as a change, unless it was open before the tools were listed.
    loop {
        in_the_end(client.changed()).await;
        if collected(&client).await.catalog.iter().any(|tool| tool.name() == "peer_pid") {
            break;
        }
    }
}

#[test]
fn a_lock_holds_after_a_server_or_the_configuration_has_changed() {
    let folder = std::env::temp_dir().join(format!("toolkit-reloaded-lock-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (listing, lock, file) = (folder.join("tools.json"), folder.join("lock.json"), folder.join("first.json"));
    let tool = |name: &str| json!({ "name": name, "description": "Does it.", "inputSchema": { "type": "object" } });
    let list = |names: &[&str]| {
        let tools: Vec<Value> = names.iter().map(|name| tool(name)).collect();
        let new = folder.join("new.json");
        std::fs::write(&new, Value::from(tools).to_string()).unwrap();
        std::fs::rename(new, &listing).unwrap();
    };
    list(&["pid", "change"]);
    let server = peer(&["usual", listing.to_str().unwrap()]);
    std::fs::write(&file, json!({ "mcpServers": { "peer": server } }).to_string()).unwrap();
    let mut update = Command::new(env!("CARGO_BIN_EXE_fixture_tools"));
    update.args(["serve", "--update-lock", "--lock"]).arg(&lock).arg("--proxy").arg(file);
    assert!(update.output().unwrap().status.success());

    let proxy = Operated::new(&json!({ "peer": server }), &["--lock", lock.to_str().unwrap()]);
    assert_eq!((&proxy.backend("peer")["tools"], &proxy.backend("peer")["left_out"]), (&json!(2), &json!(0)));
    list(&["pid", "change", "die"]);
    proxy.call("peer_change", &json!({}));
    until(|| proxy.backend("peer")["left_out"] == 1);
    let reasons = proxy.backend("peer")["left_out_reasons"].clone();
    let expected = "the backend `peer` offers `peer:die`, which is left out: it is not in the lock";
    assert_eq!(reasons, json!([expected]));
    assert!(!proxy.names().contains(&"peer_die".to_owned()));

    let mut changed = server.clone();
    changed["env"] = json!({ "OTHER": "1" });
    let pid = proxy.pid("peer");
    proxy.configure(&json!({ "peer": changed, "late": peer(&["usual"]) }));
    until(|| proxy.is("late", "ready") && proxy.backend("late")["left_out"].as_u64() > Some(10));
    until(|| proxy.pid("peer") != pid);
    assert_eq!(proxy.backend("late")["tools"], 0);
    assert_eq!((&proxy.backend("peer")["tools"], &proxy.backend("peer")["left_out"]), (&json!(2), &json!(1)));
    let names = proxy.names();
    assert!(!names.iter().any(|name| name.starts_with("late_") || name == "peer_die"), "{names:?}");
    std::fs::remove_dir_all(folder).unwrap();
}
