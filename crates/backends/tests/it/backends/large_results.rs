//! The memory of large results of MCP servers, which pass through a dispatcher as text.

use std::process::Command;

use serde_json::json;
use toolkit::Tool;
use toolkit::backend::BackendResponse;
use toolkit::call::ErrorKind;
use toolkit::mcp::{Revision, write_result};
use toolkit::tool::BackendKind;

use super::{dispatcher, registered};
use test_support::scripted::Scripted;

/// The size of a result in bytes.
const N_BYTES: usize = 4 << 20;

/// The number of calls at once.
const N_CALLS: usize = 4;

/// The maximum memory in MiB: of each call, the text that was received and the one that is written.
const MAX_MIB: usize = 100;

/// The environment variable with the form of the results, in the process whose memory is measured.
const FORM: &str = "TOOLKIT_LARGE_RESULT";

fn result(form: &str) -> Vec<u8> {
    let repeated = |item: &str| item.repeat(N_BYTES / item.len()).trim_end_matches(',').to_owned();
    let list = |item: &str| {
        let mut json = r#"{"content":[{"type":"text","text":""}],"structuredContent":{"a":["#.to_owned();
        json.extend([&*repeated(item), "]}}"]);
        json
    };
    let content = |blocks: String| format!(r#"{{"content":[{blocks}]}}"#);
    let result = match form {
        "decimals" => list("1.10,"),
        // Compared as a tree, one after the other.
        "long strings" => list(r#""0123456789012345678901234567890123456789","#),
        "lists" => list("[],"),
        "objects" => list("{},"),
        "zeros" => list("0,"),
        "nested" => list(&format!("{}{},", "[".repeat(100), "]".repeat(100))),
        "text" => content(format!(r#"{{"type":"text","text":"{}"}}"#, repeated(r"\u00e9\n"))),
        "blocks" => content(repeated(r#"{"type":"text","text":""},"#)),
        form => unreachable!("{form}"),
    };
    result.into_bytes()
}

/// Calls the tool of this process from several threads, and prints the peak memory in MiB.
fn measure(form: &str) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let tools = ["p", "t", "u"].map(|name| {
        let tool = Tool::builder(name).description("Returns a large result.");
        let list = if name == "u" { json!({ "type": "array", "contains": true }) } else { json!({ "type": "array" }) };
        let output = json!({ "type": "object", "properties": { "a": list } });
        (if name == "p" { tool } else { tool.output(output) }).build().unwrap()
    });
    let name = match form {
        "text" | "blocks" => "m:p",
        "long strings" => "m:u",
        _ => "m:t",
    };
    let form = form.to_owned();
    let backend = Scripted::new("m", BackendKind::Mcp, tools).doing(move |_| Ok(BackendResponse::Mcp(result(&form))));
    let dispatcher = runtime.block_on(dispatcher(&registered([backend])));
    std::thread::scope(|scope| {
        for _ in 0..N_CALLS {
            scope.spawn(|| {
                let result = runtime.block_on(dispatcher.call(name, "{}")).unwrap();
                let tool = dispatcher.catalog().resolve(name).unwrap();
                assert!(write_result(tool, &result, Revision::V2026_07_28).len() > N_BYTES / 2);
            });
        }
    });
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    println!("peak:{}:", peak.trim().trim_end_matches(" kB").parse::<usize>().unwrap() / 1024);
}

#[test]
fn four_large_results_at_once_take_the_memory_of_their_texts() {
    if let Ok(form) = std::env::var(FORM) {
        return measure(&form);
    }
    for form in ["decimals", "long strings", "lists", "objects", "nested", "text", "blocks"] {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let name = "backends::large_results::four_large_results_at_once_take_the_memory_of_their_texts";
        let output = command.args(["--exact", name, "--nocapture"]).env(FORM, form).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        let peak: usize = printed.split("peak:").nth(1).unwrap().split(':').next().unwrap().parse().unwrap();
        assert!(peak < MAX_MIB, "four results with {form} take {peak} MiB");
    }
}

/// A server chooses its output schemas, and a tree takes up to eighty bytes for each byte of the text.
#[tokio::test]
async fn a_result_of_too_many_values_that_needs_a_tree_is_an_error() {
    let unique = json!({ "type": "object", "properties": { "a": { "type": "array", "contains": { "const": 1.1 } } } });
    let tool = Tool::builder("u").description("Returns a large result.").output(unique).build().unwrap();
    let backend = Scripted::new("m", BackendKind::Mcp, [tool]).doing(|_| Ok(BackendResponse::Mcp(result("zeros"))));
    let dispatcher = dispatcher(&registered([backend])).await;
    let error = dispatcher.call("m:u", "{}").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResultTooLarge, "{error}");
    assert!(error.to_string().contains("are more than the limit of 1000000 for a result"), "{error}");
}
