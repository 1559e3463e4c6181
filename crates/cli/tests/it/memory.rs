//! The memory of `serve --code`.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::json;
use test_support::free_port;

use super::full::ask_with;
use super::{SERVE, command};

/// The maximum memory of a server with its workers, in bytes. A server without programs takes about 60 MB in this build.
const MAX_BYTES: u64 = 300_000_000;

/// A server that is killed at the end.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the highest memory of a process until now, in bytes; 0 if it has ended.
fn peak(id: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or_default() * 1000
}

/// Returns the ids of the children of a process.
fn children(id: &str) -> Vec<String> {
    let threads = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().filter_map(Result::ok);
    let children = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    children.flat_map(|ids| ids.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Runs a program of a client whose user can be asked, and returns the response.
fn run(port: u16, program: &str) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
    });
    let params = json!({ "name": "run_code", "arguments": { "code": program }, "_meta": meta });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let headers = "accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
                   mcp-method: tools/call\r\nmcp-name: run_code\r\n";
    ask_with(port, "POST", "/mcp", headers, &request.to_string())
}

/// Runs a program several times at once, and returns the responses and the highest memory of the server with its workers.
fn measured(program: &str, n_runs: usize) -> (Vec<String>, u64) {
    let port = free_port();
    let mut serving = command(&SERVE, &["serve", "--code", "--http", &port.to_string()]);
    let server = Server(serving.stderr(Stdio::null()).spawn().unwrap());
    let id = server.0.id().to_string();
    thread::scope(|scope| {
        let runs: Vec<_> = (0..n_runs).map(|_| scope.spawn(|| run(port, program))).collect();
        let mut workers = BTreeMap::new();
        while !runs.iter().all(|run| run.is_finished()) {
            for worker in children(&id) {
                let peak = peak(&worker);
                workers.entry(worker).and_modify(|bytes| *bytes = peak.max(*bytes)).or_insert(peak);
            }
            thread::sleep(Duration::from_millis(5));
        }
        let responses = runs.into_iter().map(|run| run.join().unwrap()).collect();
        (responses, peak(&id) + workers.into_values().sum::<u64>())
    })
}

#[test]
fn short_programs_that_keep_much_cost_little_memory() {
    const ASK: &str = "await call('test_input_required_result_request_state', {})";
    let keeps = "exceed 33554432 bytes together (`kept_bytes`)";
    let programs = [
        // Results before a question, whose state would contain them.
        (format!("for (let i = 0; i < 30; i++) await call('long_text', {{ n_bytes: 4e6 }})\n{ASK}"), keeps),
        // Fewer, which the run may keep, but not its state.
        (format!("for (let i = 0; i < 7; i++) await call('long_text', {{ n_bytes: 4e6 }})\n{ASK}"), "too long to ask"),
        // Arguments.
        ("const message = 'x'.repeat(4e6)\nfor (let i = 0; i < 100; i++) await call('echo', { message })".into(), keeps),
        // Arguments of calls that fail.
        (
            "const message = 'x'.repeat(4e6)
             for (let i = 0; i < 100; i++) try { await call('sleep', { message }) } catch {}"
                .into(),
            keeps,
        ),
        // Results at the same time, and errors instead of those beyond the limit.
        (
            "const calls = Array.from({ length: 100 }, () => call('long_text', { n_bytes: 4e6 }).then(() => 1, () => 0))
             return (await Promise.all(calls)).reduce((a, b) => a + b)"
                .into(),
            r#""structuredContent":{"value":8}"#,
        ),
        // A chain.
        (
            "return (await chain(Array.from({ length: 64 }, () => ({ toolId: 'long_text', args: { n_bytes: 4e6 } })))).value"
                .into(),
            keeps,
        ),
    ];
    for (program, expected) in programs {
        for n_runs in [1, 2] {
            let (responses, bytes) = measured(&program, n_runs);
            assert!(responses.iter().all(|response| response.contains(expected)), "{program}: {responses:?}");
            assert!(bytes < MAX_BYTES, "{n_runs} runs take {bytes} bytes: {program}");
        }
    }
}
