//! A defective MCP server over stdio. Its first argument selects the defect of its start; the second is one of the
//! lists below, a file with the tools to list, or the folder of the responses.

use std::io::{BufRead, Write, stdin, stdout};
use std::time::Duration;

use serde_json::{Value, json};

pub(crate) fn main() {
    let mut arguments = std::env::args().skip(1);
    let manner = arguments.next().unwrap_or_default();
    let mut listing = arguments.next().unwrap_or_default();
    eprintln!("the peer is here");
    if manner == "chatty" {
        println!("Welcome to this server!\n\n{{\"level\": \"info\"}}");
    }
    if manner == "brief" {
        let starts = std::fs::OpenOptions::new().append(true).create(true).open(format!("{listing}.starts"));
        let now = std::time::UNIX_EPOCH.elapsed().unwrap_or_default().as_millis();
        starts.and_then(|mut starts| writeln!(starts, "{now}")).unwrap();
    }
    if manner == "slow" {
        std::thread::sleep(Duration::from_secs(1));
    }
    // Starts once the file exists.
    if manner == "gate" {
        while !std::path::Path::new(&format!("{listing}.go")).exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        listing.clear();
    }
    let mut cancelled = Vec::new();
    let mut has_begun = false;
    let mut n_listed = 0;
    let mut requesting = Value::Null;
    for line in stdin().lock().lines().map_while(Result::ok) {
        let message: Value = serde_json::from_str(&line).unwrap_or_default();
        let (id, method) = (message["id"].clone(), message["method"].as_str().unwrap_or_default());
        if manner == "stray" {
            say(&json!({ "jsonrpc": "2.0", "id": 999, "result": { "tools": [] } }));
            say(&json!({ "jsonrpc": "2.0", "id": "nobody", "error": { "code": -32601, "message": "what?" } }));
        }
        match (manner.as_str(), method) {
            ("raw", _) if respond_raw(&listing, &message) => continue,
            ("mute", _) => continue,
            ("garbage", _) => {
                println!("{{]{line}");
                continue;
            }
            ("deaf", "notifications/initialized") => std::thread::sleep(Duration::from_secs(3600)),
            ("strict", "server/discover") if !has_begun => std::process::exit(3),
            ("old", "initialize") => {
                say(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32600, "message": "too old" } }));
                continue;
            }
            _ => {}
        }
        // The response to a request of the tool `request`.
        if method.is_empty() && id.as_str() == Some("upstream") {
            let result = json!({ "content": [], "structuredContent": message["error"]["code"] });
            say(&json!({ "jsonrpc": "2.0", "id": requesting, "result": result }));
            continue;
        }
        let result = match method {
            "initialize" => {
                has_begun = true;
                let tasks = manner.ends_with("tasks").then(|| json!({ "requests": { "tools": { "call": {} } } }));
                Ok(json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": { "tools": { "listChanged": true }, "tasks": tasks },
                    "serverInfo": { "name": "peer", "version": "1" },
                }))
            }
            "ping" => Ok(json!({})),
            "tools/list" if manner.ends_with("tasks") => {
                let mut build = tool("build");
                build["execution"] = json!({ "taskSupport": "required" });
                Ok(json!({ "tools": [build] }))
            }
            "tools/list" => {
                n_listed += 1;
                if manner == "brief" {
                    std::thread::spawn(|| {
                        std::thread::sleep(Duration::from_millis(20));
                        std::process::exit(3);
                    });
                }
                Ok(list(&listing, message["params"]["cursor"].as_str()))
            }
            "tools/call" if message["params"].get("task").is_some() => {
                Ok(json!({ "task": { "taskId": "7", "status": "working" } }))
            }
            // The first process exits.
            "tasks/get" if !std::path::Path::new(&listing).exists() => {
                std::fs::write(&listing, "").unwrap();
                std::process::exit(3);
            }
            "tasks/get" if manner == "tasks" => Ok(json!({ "taskId": "7", "status": "completed" })),
            "tasks/get" => Err((-32602, "no such task".to_owned())),
            "tasks/result" => Ok(json!({ "content": [], "structuredContent": "built" })),
            "tools/call" if message["params"]["name"] == "listed" => {
                Ok(json!({ "content": [], "structuredContent": n_listed }))
            }
            // Responds once the file exists, and to other requests in the meantime.
            "tools/call" if message["params"]["name"] == "wait" => {
                let file = message["params"]["arguments"]["file"].as_str().unwrap_or_default().to_owned();
                std::thread::spawn(move || {
                    while !std::path::Path::new(&file).exists() {
                        std::thread::sleep(Duration::from_millis(5));
                    }
                    let result = json!({ "content": [], "structuredContent": "waited" });
                    say(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
                });
                continue;
            }
            // Sends a request to the client, and returns the code of its error.
            "tools/call" if message["params"]["name"] == "request" => {
                requesting = id;
                let mut request = message["params"]["arguments"].clone();
                request["jsonrpc"] = json!("2.0");
                request["id"] = json!("upstream");
                say(&request);
                continue;
            }
            "tools/call" => call(&message["params"], &cancelled),
            "notifications/cancelled" => {
                cancelled.push(message["params"]["reason"].clone());
                continue;
            }
            _ if id.is_null() => continue,
            _ => Err((-32601, "no such method".to_owned())),
        };
        match result {
            // No response: the caller waits.
            Ok(Value::Null) => {}
            Ok(result) => say(&json!({ "jsonrpc": "2.0", "id": id, "result": result })),
            Err((code, text)) => {
                say(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": text } }));
            }
        }
    }
}

/// Responds with the bytes of a file in a folder: `tools_list` for a method, `call_NAME` for a tool, with `.error` for an
/// error. The messages in a file with `.before` precede the response.
fn respond_raw(folder: &str, message: &Value) -> bool {
    let name = match message["method"].as_str() {
        Some("tools/call") => format!("call_{}", message["params"]["name"].as_str().unwrap_or_default()),
        method => method.unwrap_or_default().replace('/', "_"),
    };
    let read = |suffix: &str| std::fs::read(format!("{folder}/{name}{suffix}"));
    let (field, body) = match (read(""), read(".error")) {
        (Ok(result), _) => ("result", result),
        (_, Ok(error)) => ("error", error),
        _ => return false,
    };
    let before = read(".before").unwrap_or_default();
    let head = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"{field}\":", message["id"]);
    stdout().lock().write_all(&[&before, head.as_bytes(), &body, b"}\n"].concat()).unwrap();
    true
}

fn say(message: &Value) {
    let mut stdout = stdout().lock();
    let _ = writeln!(stdout, "{message}").and_then(|()| stdout.flush());
}

fn tool(name: &str) -> Value {
    json!({ "name": name, "description": "Does something.", "inputSchema": { "type": "object" } })
}

fn list(listing: &str, cursor: Option<&str>) -> Value {
    match listing {
        file if file.starts_with('/') => {
            let tools: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
            json!({ "tools": tools })
        }
        "bad" => json!({ "tools": [
            tool("good"),
            { "name": "no_schema" },
            { "name": "unsound", "inputSchema": { "type": "objekt" } },
            { "name": "bad name", "inputSchema": { "type": "object" } },
            { "name": "whispers", "description": "Adds.\u{e0041}\u{e0042}", "inputSchema": { "type": "object" } },
            { "name": "turns", "inputSchema": { "type": "object", "properties": {
                "a": { "type": "string", "description": "\u{202e}txet" } } } },
            { "name": "persian", "description": "می\u{200c}خواهم \u{1f468}\u{200d}\u{1f469}", "inputSchema": { "type": "object" } },
            tool("good"),
            7,
        ] }),
        "pages" => {
            let page: usize = cursor.map_or(0, |cursor| cursor.parse().unwrap());
            let next = if page < 4 { json!((page + 1).to_string()) } else { json!("") };
            json!({ "tools": [tool(&format!("tool_{page}"))], "nextCursor": next })
        }
        "circle" => json!({ "tools": [tool(cursor.unwrap_or("first"))], "nextCursor": "again" }),
        "endless" => {
            let page: usize = cursor.map_or(0, |cursor| cursor.parse().unwrap());
            json!({ "tools": [tool(&format!("tool_{page}"))], "nextCursor": (page + 1).to_string() })
        }
        "many" => json!({ "tools": (0..100_000).map(|n| tool(&format!("tool_{n}"))).collect::<Vec<_>>() }),
        "more" => json!({ "tools": (0..10_001).map(|n| tool(&format!("tool_{n}"))).collect::<Vec<_>>() }),
        "no_list" => json!({ "tools": "none" }),
        "claims" => json!({ "tools": [
            { "name": "files_read", "inputSchema": { "type": "object" }, "_meta": { "rs.toolkit/tool": {
                "id": "files:read:1.0.0", "namespace": "files", "version": "1.0.0", "aliases": ["math:add"] } } },
            { "name": "mail_read", "inputSchema": { "type": "object" }, "_meta": { "rs.toolkit/tool": {
                "id": "mail:read:1.0.0", "namespace": "mail", "version": "1.0.0" } } },
        ] }),
        _ => {
            let names = [
                "echo",
                "environment",
                "folder",
                "pid",
                "die",
                "hang",
                "long_line",
                "refuse",
                "report",
                "change",
                "cancelled",
                "fail",
                "odd",
                "asks",
                "pester",
                "shout",
                "foo",
                "empty",
                "last_word",
                "noise",
                "request",
                "wait",
            ];
            json!({ "tools": names.map(tool) })
        }
    }
}

/// Returns the response to a call; `null` for none.
fn call(params: &Value, cancelled: &[Value]) -> Result<Value, (i64, String)> {
    let arguments = &params["arguments"];
    let structured = |value: Value| Ok(json!({ "content": [], "structuredContent": value }));
    match params["name"].as_str().unwrap_or_default() {
        "echo" | "files_read" | "mail_read" => structured(params.clone()),
        "environment" => structured(std::env::vars().collect()),
        "folder" => structured(json!(std::env::current_dir().unwrap())),
        "pid" => structured(json!(std::process::id())),
        "die" => std::process::exit(7),
        "hang" => Ok(Value::Null),
        "long_line" => {
            let mut stdout = stdout().lock();
            let piece = [b'x'; 1 << 20];
            for _ in 0..100 {
                // The client may have closed the stream.
                if stdout.write_all(&piece).is_err() {
                    break;
                }
            }
            let _ = writeln!(stdout);
            Ok(Value::Null)
        }
        // Sends requests without end and reads no response.
        "pester" => loop {
            say(&json!({ "jsonrpc": "2.0", "id": "again", "method": "ping" }));
        },
        // Sends many notifications, then ends.
        "shout" => {
            for n in 0..20_000 {
                let report = json!({ "progressToken": n, "progress": n, "message": "x".repeat(100) });
                say(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": report }));
            }
            structured(json!("told"))
        }
        "refuse" => {
            let text = arguments["message"].as_str().unwrap_or_default();
            Err((arguments["code"].as_i64().unwrap_or_default(), text.to_owned()))
        }
        "report" => {
            let times = arguments["times"].as_u64().unwrap_or(3);
            for done in 1..=times {
                let token = &params["_meta"]["progressToken"];
                let report = json!({ "progressToken": token, "progress": done, "total": times, "message": "working" });
                say(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": report }));
                std::thread::sleep(Duration::from_millis(arguments["millis"].as_u64().unwrap_or(20)));
            }
            structured(json!("reported"))
        }
        "change" => {
            for _ in 0..arguments["times"].as_u64().unwrap_or(1) {
                say(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
            }
            structured(json!("changed"))
        }
        "cancelled" => structured(json!(cancelled)),
        "fail" => {
            let content = json!([{ "type": "text", "text": "the disk is full" }]);
            Ok(json!({ "content": content, "isError": true, "_meta": arguments["meta"] }))
        }
        "odd" => Ok(json!([1, 2])),
        "foo" => Ok(json!({ "foo": 1 })),
        "empty" => Ok(json!({})),
        // Sends a progress notification right before the response.
        "last_word" => {
            for done in 1..=3 {
                let report = json!({ "progressToken": params["_meta"]["progressToken"], "progress": done });
                say(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": report }));
            }
            structured(json!("said"))
        }
        // Sends unsolicited messages of every kind before the response.
        "noise" => {
            for n in 0..arguments["times"].as_u64().unwrap_or(1) {
                for method in ["tools/list_changed", "prompts/list_changed", "resources/updated", "message", "other"] {
                    let params = json!({ "uri": "x:y", "level": "info", "data": n });
                    let method = format!("notifications/{method}");
                    say(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
                }
            }
            structured(json!("quiet"))
        }
        "asks" => Ok(json!({ "resultType": "input_required", "inputRequests": {} })),
        _ => Err((-32602, "Unknown tool: it".to_owned())),
    }
}
