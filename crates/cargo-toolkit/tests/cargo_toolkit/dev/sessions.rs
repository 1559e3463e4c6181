//! A session of a client, while the program changes.

use std::thread;
use std::time::Duration;

use super::client::texts;
use super::package::EditedPackage;

const FINE: &str = "No errors: the program is built from the present sources, and runs.";

#[test]
fn after_a_change_the_session_goes_on_with_the_new_program() {
    let package = EditedPackage::new();
    let client = package.dev();
    assert!(client.initialize().contains(r#""serverInfo":{"name":"served""#));
    assert_eq!(client.request("logging/setLevel", r#"{"level":"debug"}"#).matches("{}").count(), 1);
    let tools = client.request("tools/list", "{}");
    assert!(tools.contains(r#"{"tools":[{"name":"add","inputSchema":{"type":"object"},"digits":1.10},{"name":"slow""#));
    assert!(tools.contains(r#""digits":1.10},{"name":"dev_errors","#), "{tools}");
    assert!(tools.ends_with(r#"],"ttlMs":0}}"#), "{tools}");
    assert_eq!(client.call("add"), ["1"]);
    let slow = client.begin("tools/call", r#"{"name":"slow"}"#);
    assert_eq!(client.errors(), FINE);

    package.tools(2, &["add", "subtract"]);
    assert_eq!(client.errors(), FINE);
    assert_eq!((client.call("add"), client.call("subtract")), (vec!["2".to_owned()], vec!["2".to_owned()]));
    assert_eq!(client.n_changes(), 1);
    assert!(client.request("tools/list", "{}").contains(r#""name":"subtract""#));
    // The call that ran has ended where it began, with its note unless it ended before the change.
    assert_eq!(texts(&client.response(&slow))[0], "1");
    // The new process knows what the client has told the first one.
    client.wait("level", |received| {
        let has = |line: &str| received.log.contains(line);
        (has("version 2 is initialized") && has("version 2 has a level")).then_some(())
    });
    client.close();
    assert_eq!(package.processes(), [""; 0]);
}

#[test]
fn a_call_that_runs_ends_in_the_process_that_began_it() {
    let package = EditedPackage::new();
    let client = package.dev();
    client.initialize();
    assert_eq!(client.errors(), FINE);
    package.tools(2, &["add", "slow"]);
    let slow = client.begin("tools/call", r#"{"name":"slow"}"#);
    client.wait("new program", |received| received.has("notifications/tools/list_changed").then_some(()));
    assert_eq!(client.call("add"), ["2"]);
    assert_eq!(texts(&client.response(&slow))[0], "1");
    // Its process ends after it.
    client.wait("end", |_| (n_serving(&package) == 1).then_some(()));
}

/// Returns the number of processes that serve the tools.
fn n_serving(package: &EditedPackage) -> usize {
    package.processes().iter().filter(|process| process.ends_with(" serve ")).count()
}

#[test]
fn a_cancelled_call_holds_no_process() {
    let package = EditedPackage::new();
    let client = package.dev();
    client.initialize();
    assert_eq!(client.errors(), FINE);
    // Its question is never answered.
    let asking = client.begin("tools/call", r#"{"name":"ask"}"#);
    package.tools(2, &["add"]);
    assert_eq!(client.errors(), FINE);
    assert_eq!((client.call("add"), n_serving(&package)), (vec!["2".to_owned()], 2));
    let cancelled = format!(r#"{{"requestId":{asking}}}"#);
    client.send(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{cancelled}}}"#));
    client.wait("end", |_| (n_serving(&package) == 1).then_some(()));
}

#[test]
fn a_build_that_fails_leaves_the_program_and_its_errors_are_the_result_of_a_tool() {
    let package = EditedPackage::new();
    let client = package.dev();
    client.initialize();
    assert_eq!(client.errors(), FINE);
    package.write("served/src/tools.rs", "pub const VERSION: u32 = \"two\";");
    let errors = client.errors();
    assert!(errors.contains("error[E0308]: mismatched types\n --> served/src/tools.rs:1:26\n"), "{errors}");
    assert!(errors.contains("NAMES") && !errors.contains('\u{1b}'), "{errors}");
    let note = "note: this result is of the program before a change that cannot be built; `dev_errors` has the errors";
    assert_eq!(client.call("add"), ["1", note]);
    let log = client.logged("; the earlier program goes on\n");
    assert!(log.contains("error[E0308]: mismatched types"), "{log}");
    assert_eq!(client.n_changes(), 0);

    package.tools(3, &["add"]);
    assert_eq!(client.errors(), FINE);
    assert_eq!(client.call("add"), ["3"]);
}

#[test]
fn while_no_program_can_be_built_the_errors_are_the_only_tool() {
    let package = EditedPackage::new();
    package.write("served/src/tools.rs", "nonsense");
    let client = package.dev();
    let begun = client.initialize();
    assert!(begun.contains(r#""protocolVersion":"2025-11-25""#) && begun.contains(r#""name":"served""#), "{begun}");
    let tools = client.request("tools/list", "{}");
    assert!(tools.contains(r#"{"tools":[{"name":"dev_errors","#), "{tools}");
    assert!(client.errors().starts_with("error: expected one of `!` or `::`"));
    assert!(client.call("add")[0].starts_with("the program does not run: error: expected one of"));
    package.tools(1, &["add"]);
    assert_eq!(client.errors(), FINE);
    assert_eq!((client.n_changes(), client.call("add")), (1, vec!["1".to_owned()]));
}

#[test]
fn a_program_that_ends_at_its_start_is_an_error_and_leaves_the_earlier_one() {
    let package = EditedPackage::new();
    let client = package.dev();
    client.initialize();
    assert_eq!(client.errors(), FINE);
    let broken = "pub const VERSION: u32 = 2;\npub const NAMES: [&str; 1] = [\"add\"];\npub fn start() { panic!(\"no database\") }\n";
    package.write("served/src/tools.rs", broken);
    let errors = client.errors();
    assert!(errors.starts_with("the new program has ended at its start: exit status: 101\n"), "{errors}");
    assert!(errors.contains("no database"), "{errors}");
    let line = "error: the new program has ended at its start: exit status: 101; the earlier program goes on\n";
    let log = client.logged(line);
    assert_eq!(log.matches(line).count(), 1, "{log}");
    assert_eq!(client.call("add")[0], "1");
}

#[test]
fn a_program_that_ends_during_a_call_is_started_again() {
    let package = EditedPackage::new();
    package.tools(1, &["add", "crash"]);
    let client = package.dev();
    client.initialize();
    assert_eq!(client.errors(), FINE);
    thread::sleep(Duration::from_millis(1100));
    let lost = client.request("tools/call", r#"{"name":"crash"}"#);
    assert!(lost.contains("the program has ended during the call: exit status: 3") && lost.contains("out of cheese"));
    // The next call waits for the new process, which ends at once again, and waits for a change.
    let lost = client.request("tools/call", r#"{"name":"crash"}"#);
    assert!(lost.contains("the program has ended during the call: exit status: 3"), "{lost}");
    assert!(client.call("add")[0].starts_with("the program does not run: the program has ended: exit status: 3"));
    package.tools(2, &["add"]);
    assert_eq!(client.errors(), FINE);
    assert_eq!(client.call("add"), ["2"]);
}

#[test]
fn changed_manifests_and_moved_and_added_files_are_built() {
    let package = EditedPackage::new();
    let client = package.dev();
    client.initialize();
    assert_eq!(client.errors(), FINE);
    // A file that a module names before it is there.
    package.write(
        "served/src/main.rs",
        &include_str!("../../programs/dev_served.rs").replace("mod tools;", "mod more;\nmod tools;"),
    );
    assert!(client.errors().contains("file not found for module `more`"));
    package.write("served/src/more/mod.rs", "pub const _MORE: &str = include_str!(\"text.txt\");");
    assert!(client.errors().contains("text.txt"));
    package.write("served/src/more/text.txt", "1");
    package.write("served/src/more.rs", "pub const _MORE: &str = include_str!(\"more/text.txt\");");
    std::fs::remove_file(package.path().join("served/src/more/mod.rs")).unwrap();
    assert_eq!(client.errors(), FINE);
    // A file that only the build knows.
    let n_builds = || client.log().matches(" has changed\n").count();
    let before = n_builds();
    package.write("served/src/more/text.txt", "2");
    assert_eq!(client.errors(), FINE);
    assert_eq!(n_builds(), before + 1);

    let manifest = std::fs::read_to_string(package.path().join("served/Cargo.toml")).unwrap();
    package.write("served/Cargo.toml", &manifest.replace("[dependencies]", "[dependencies"));
    assert!(client.errors().contains("`cargo metadata` failed"), "{}", client.errors());
    package.write("served/src/bin/other.rs", "fn main() {}");
    package.write("served/Cargo.toml", &(manifest.clone() + "\n"));
    assert_eq!(client.errors(), "`served` has several programs; choose one with --bin: `other`, `served`");
    assert_eq!(client.call("add")[0], "1");
    package.write("served/Cargo.toml", &(manifest.clone() + "[[bin]]\nname = \"renamed\"\npath = \"src/main.rs\"\n"));
    std::fs::remove_file(package.path().join("served/src/bin/other.rs")).unwrap();
    assert_eq!(client.errors(), FINE);
    assert!(package.processes().iter().any(|process| process.ends_with("/renamed serve ")));
}

#[test]
fn requests_of_a_program_and_the_answers_of_the_client_find_each_other() {
    let package = EditedPackage::new();
    let client = package.dev();
    client.initialize();
    let first = client.begin("tools/call", r#"{"name":"ask"}"#);
    let question = |n: usize| {
        client.wait("question", |received| {
            let mut questions = received.others.iter().filter(|line| line.contains("elicitation/create"));
            questions.nth(n).map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].to_string())
        })
    };
    let asked = question(0);
    package.tools(2, &["add"]);
    assert_eq!(client.errors(), FINE);
    // Both processes have asked with the id 7.
    let second = client.begin("tools/call", r#"{"name":"ask"}"#);
    let asked_again = question(1);
    client.send(&format!(r#"{{"jsonrpc":"2.0","id":{asked_again},"result":{{}}}}"#));
    assert_eq!(texts(&client.response(&second)), ["2"]);
    client.send(&format!(r#"{{"jsonrpc":"2.0","id":{asked},"result":{{}}}}"#));
    assert_eq!(texts(&client.response(&first)), ["1"]);
}

#[test]
fn a_task_belongs_to_the_process_that_began_it() {
    let package = EditedPackage::new();
    let client = package.dev();
    client.initialize();
    let task = |version: u32| client.request("tasks/get", &format!(r#"{{"taskId":"of-{version}"}}"#));
    for version in 1..=3 {
        package.tools(version, &["add"]);
        assert_eq!(client.errors(), FINE);
        client.request("tools/call", r#"{"name":"task"}"#);
    }
    assert_eq!(client.call("add"), ["3"]);
    for version in 1..=3 {
        assert!(task(version).contains(&format!(r#""statusMessage":"{version}""#)), "{}", task(version));
    }
    // Each process with a task runs until the end of the session.
    assert_eq!(n_serving(&package), 3);
    client.close();
    assert_eq!(package.processes(), [""; 0]);
}

#[test]
fn the_messages_of_a_batch_are_those_of_a_session() {
    let package = EditedPackage::new();
    let client = package.dev();
    client.send(r#"[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}]"#);
    client.response("1");
    let call = |id: u32, tool: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}"}}}}"#)
    };
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    client.send(&format!("[{initialized},{},{},{}]", call(2, "ask"), call(3, "add"), call(4, "dev_errors")));
    assert_eq!(
        (texts(&client.response("3")), texts(&client.response("4"))),
        (vec!["1".to_owned()], vec![FINE.to_owned()])
    );
    // A call of the batch ends in its process.
    package.tools(2, &["add"]);
    assert_eq!(client.errors(), FINE);
    assert_eq!(client.call("add"), ["2"]);
    client.send(r#"[{"jsonrpc":"2.0","id":"dev:1","result":{}}]"#);
    assert_eq!(texts(&client.response("2")), ["1"]);
    client.wait("end", |_| (n_serving(&package) == 1).then_some(()));
}

#[test]
fn a_subscription_of_the_newest_revision_outlives_the_process() {
    let package = EditedPackage::new();
    let client = package.dev();
    let id = client.begin("subscriptions/listen", r#"{"notifications":{"toolsListChanged":true}}"#);
    let of_subscription = |method: &str, n: usize| {
        client.wait(method, |received| {
            let is_it = |line: &&String| line.contains(method) && line.contains(&format!("subscriptionId\":{id}"));
            (received.others.iter().filter(is_it).count() == n).then_some(())
        });
    };
    of_subscription("notifications/subscriptions/acknowledged", 1);
    for version in 2..4 {
        package.tools(version, &["add"]);
        assert_eq!(client.errors(), FINE);
        of_subscription("notifications/tools/list_changed", version as usize - 1);
    }
    // The acknowledgements of the new processes are not passed on.
    of_subscription("notifications/subscriptions/acknowledged", 1);
    let newest = client.request(
        "tools/call",
        r#"{"name":"dev_errors","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#,
    );
    assert!(newest.contains(r#""resultType":"complete""#), "{newest}");
}

#[test]
#[cfg(target_os = "linux")]
fn no_process_outlives_dev_also_during_a_build() {
    let package = EditedPackage::new();
    package.write("served/build.rs", "fn main() { std::thread::sleep(std::time::Duration::from_secs(600)); }");
    for is_killed in [false, true] {
        let client = package.dev();
        package.wait_for_build_script();
        if is_killed {
            client.kill();
        } else {
            client.close();
        }
        package.wait_for_end();
    }
}

#[test]
fn what_selects_no_program_is_one_line() {
    let package = EditedPackage::new();
    assert_eq!(package.complaint(&["--offline", "dev"]), "write `--offline` after `dev`");
    assert_eq!(package.complaint(&["dev", "-p", "serve"]), "the workspace has no package `serve`");
    assert_eq!(package.complaint(&["dev", "-p", "toolkit-core"]), "`toolkit-core` does not depend on `toolkit-core`");
    package.write("served/src/bin/other.rs", "fn main() {}");
    assert_eq!(package.complaint(&["dev"]), "`served` has several programs; choose one with --bin: `other`, `served`");
    std::fs::remove_file(package.path().join("served/src/bin/other.rs")).unwrap();
    assert_eq!(
        package.complaint(&["dev", "-p", "served", "--bin", "x"]),
        "`served` has no program `x`; its programs are `served`"
    );
    assert_eq!(
        package.complaint(&["dev", "--", "--http", "0.0.0.0:0"]),
        "other machines can reach 0.0.0.0:0; `dev` serves this one only: write `--http 8000`"
    );
    let used = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = used.local_addr().unwrap();
    let complaint = package.complaint(&["dev", "--", &format!("--http={}", address.port())]);
    assert!(complaint.starts_with(&format!("cannot listen at {address}: ")), "{complaint}");
}
