//! Configuration files of other hosts.

use toolkit::backend::Backend;
use toolkit_mcp_client::{ConfigError, McpServers};

fn read(json: &str) -> Result<McpServers, ConfigError> {
    McpServers::from_json_with(json, |name| match name {
        "KEY" => Some("hunter2".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    })
}

/// Asserts the reasons for which servers are rejected.
#[track_caller]
fn wrong(json: &str, expected: &[&str]) {
    let rejected: Vec<String> = read(json).unwrap().rejected().map(ToString::to_string).collect();
    assert_eq!(rejected.join("\n").lines().collect::<Vec<_>>(), expected);
    assert!(!rejected.join("\n").contains("hunter2"));
}

#[test]
fn configurations_of_other_hosts_are_read() {
    let servers = read(
        r#"{"mcpServers": {
            "files": {"command": "npx", "args": ["-y", "server", "${HOME:-/root}"], "env": {"A": "${KEY}", "N": 1}, "cwd": "/tmp"},
            "remote": {"type": "http", "url": "https://${HOST:-example.com}/mcp?x", "headers": {"Authorization": "Bearer ${env:KEY}"}},
            "typed": {"type": "stdio", "command": "x", "autoApprove": ["a"], "alwaysAllow": [], "timeout": 60},
            "off": {"command": 7, "disabled": true},
            "streams": {"type": "streamable-http", "url": "http://localhost:1/mcp", "disabled": false}
        }, "inputs": []}"#,
    )
    .unwrap();
    let printed: Vec<String> = servers.into_iter().map(|server| format!("{} {server:?}", server.name())).collect();
    assert_eq!(printed.len(), 4);
    assert!(
        printed[0].starts_with("files McpBackend { name: \"files\", target: Program { command: \"npx\", n_args: 3")
    );
    assert!(printed[1].contains("https://example.com/mcp\""), "{}", printed[1]);
    assert!(printed.iter().all(|printed| !printed.contains("hunter2")));
    assert_eq!(read(r#"{"servers": {"a": {"command": "x"}}}"#).unwrap().len(), 1);
}

#[test]
fn errors_contain_the_server_and_the_field() {
    let error = |json: &str| read(json).unwrap_err().to_string();
    assert_eq!(error("["), "the text is not JSON: Unterminated array on line 1 column 2");
    assert_eq!(error("{}"), "the object `mcpServers` is missing");
    wrong(
        r#"{"mcpServers": {
            "a": {},
            "b": {"command": "x", "url": "http://x"},
            "c": {"command": ["x"], "args": "y"},
            "d": {"command": "x", "args": ["a", 1], "env": {"A": ["hunter2"]}, "cwd": 1},
            "e": {"url": "ftp://x", "headers": 1},
            "f": {"url": "http://x", "headers": {"bad name": "1", "x": "a\nhunter2", "Mcp-Session-Id": "1"}},
            "g": {"type": "websocket", "url": "http://x"},
            "h": {"command": "x", "args": ["${MISSING}"], "env": {"I": "${input:key}"}},
            "…": {"command": "x"},
            "k": 1,
            "l": {"type": "http", "command": "x"},
            "m": {"type": "stdio", "url": "http://x"},
            "n": {"url": "http://me:hunter2@x/"}
        }}"#,
        &[
            "the server `a`: `command` or `url` is required",
            "the server `b`: `command` and `url` exclude each other",
            "the server `c`: `args` must be an array of strings",
            "the server `d`: `args[1]` must be a string",
            "the server `d`: `env.A` must be a string",
            "the server `d`: `cwd` must be a string",
            "the server `e`: `url` must begin with `https://` or `http://`",
            "the server `f`: `headers`: the header `bad name` has an invalid name",
            "the server `f`: `headers`: the header `x` has a value with invalid characters",
            "the server `f`: `headers`: the header `Mcp-Session-Id` is reserved by the protocol",
            "the server `g`: `url` requires `type` `http`, got `websocket`",
            "the server `h`: `args[0]` refers to the environment variable `MISSING`, which is not set; \
             write `${MISSING:-…}` for a default",
            "the server `h`: `env.I` uses `${input:key}`, which only editors support",
            "the server `…`: its name cannot be the namespace of its tools: namespace must not contain `…`; use letters, \
             digits, `_`, `-` and `.`",
            "the server `k`: must be an object",
            "the server `l`: `command` requires `type` `stdio`, got `http`",
            "the server `m`: `url` requires `type` `http`, got `stdio`",
            "the server `n`: `url` must not contain a password; use a header or a token",
        ],
    );
}

fn names(servers: McpServers) -> Vec<String> {
    servers.into_iter().map(|server| server.name().to_owned()).collect()
}

#[test]
fn an_invalid_server_does_not_affect_others() {
    let servers = read(
        r#"{"mcpServers": {
            "good": {"command": "x"},
            "old": {"type": "websocket", "url": "http://x"},
            "unset": {"command": "x", "env": {"A": "${MISSING}"}},
            "typo": {"command": 7},
            "also good": {"url": "http://x"}
        }}"#,
    )
    .unwrap();
    let rejected: Vec<&str> = servers.rejected().map(|rejected| rejected.name.as_str()).collect();
    assert_eq!(rejected, ["old", "unset", "typo"]);
    assert_eq!(names(servers), ["good", "also_good"]);
}

#[test]
fn comments_and_trailing_commas_are_read_as_editors_write_them() {
    let vs_code = "\u{feff}// Servers of this workspace.
        {
            \"inputs\": [],
            /* \"servers\": {} */
            \"servers\": {
                \"a\": { \"command\": \"x\", \"args\": [\"// no comment\",], }, // the first
            },
        }";
    assert_eq!(names(read(vs_code).unwrap()), ["a"]);
    let settings = r#"{"editor.fontSize": 12, "mcp": {"servers": {"b": {"command": "x"}}}}"#;
    assert_eq!(names(read(settings).unwrap()), ["b"]);
    for not_json in ["{'mcpServers': {}}", "{mcpServers: {}}", r#"{"mcpServers": {} "a": 1}"#] {
        assert!(read(not_json).is_err(), "{not_json}");
    }
    // Deep enough nesting to overflow the stack.
    assert!(read(&"[".repeat(100_000)).is_err());
}

#[test]
fn invalid_namespaces_are_changed() {
    let servers = read(
        r#"{"mcpServers": {
            "@acme/files": {"command": "x"},
            "My Server": {"command": "x"},
            "a b": {"command": "x"},
            "a_b": {"command": "x"},
            "c d": {"command": "x"},
            "c/d": {"command": "x"}
        }}"#,
    )
    .unwrap();
    let renamed: Vec<_> = servers.renamed().collect();
    assert_eq!(renamed, [("@acme/files", "acme_files"), ("My Server", "My_Server"), ("c d", "c_d")]);
    let rejected: Vec<String> = servers.rejected().map(ToString::to_string).collect();
    let taken = |name: &str, with: &str| {
        format!("the server `{name}`: its name would become `{with}`, which is the name of another server")
    };
    assert_eq!(rejected, [taken("a b", "a_b"), taken("c/d", "c_d")]);
    assert_eq!(names(servers), ["acme_files", "My_Server", "a_b", "c_d"]);
}

#[test]
fn a_server_is_trusted_only_by_configuration() {
    let servers = read(
        r#"{"mcpServers": {
            "a": {"command": "x"},
            "b": {"command": "x", "trusted": true},
            "c": {"command": "x", "trusted": false},
            "d": {"command": "x", "trusted": "yes"}
        }}"#,
    )
    .unwrap();
    assert_eq!(servers.rejected().count(), 1);
    let trusted: Vec<bool> = servers.into_iter().map(|server| server.is_trusted()).collect();
    assert_eq!(trusted, [false, true, false]);
}

#[test]
fn settings_of_this_client_are_in_one_object() {
    let servers = read(
        r#"{"mcpServers": {
            "a": {"command": "x", "timeout": 60, "toolkit": {
                "trusted": true, "timeout": "1.5s", "startTimeout": 10, "maxConcurrentCalls": 2,
                "maxMessageBytes": 1000, "maxResultBytes": 500, "maxTools": 3, // all of them
            }},
            "b": {"url": "http://x", "toolkit": {}}
        }}"#,
    );
    let trusted: Vec<bool> = servers.unwrap().into_iter().map(|server| server.is_trusted()).collect();
    assert_eq!(trusted, [true, false]);
    let duration = "must be a positive duration, such as `\"30s\"`, `\"500ms\"` or `\"2m\"`";
    wrong(
        r#"{"mcpServers": {
            "a": {"command": "x", "toolkit": 1},
            "b": {"command": "x", "toolkit": {"timeOut": 1}},
            "c": {"command": "x", "toolkit": {"timeout": "soon", "startTimeout": -1}},
            "d": {"command": "x", "toolkit": {"timeout": "5", "startTimeout": "1e999s"}},
            "e": {"command": "x", "toolkit": {"maxTools": 0, "maxResultBytes": "1"}},
            "f": {"command": "x", "toolkit": {"trusted": "yes", "maxConcurrentCalls": 1.5}},
            "g": {"url": "http://x", "toolkit": {"idleTimeout": "10m"}}
        }}"#,
        &[
            "the server `a`: `toolkit` must be an object",
            "the server `b`: `toolkit.timeOut` is unknown; the keys are `trusted`, `mayAsk`, `timeout`, \
             `maxTimeout`, `startTimeout`, `idleTimeout`, `maxConcurrentCalls`, `maxMessageBytes`, `maxResultBytes`, \
             `maxTools`, `revision`, `instructions`, `prefix`, `outputValidation`, `coercion`, `plainInputSchemas`, `tools`, `perSession`, \
             `forwardHeaders`, `forwardCredentials`, `oauth`",
            &format!("the server `c`: `toolkit.timeout` {duration}"),
            &format!("the server `c`: `toolkit.startTimeout` {duration}"),
            &format!("the server `d`: `toolkit.timeout` {duration}"),
            &format!("the server `d`: `toolkit.startTimeout` {duration}"),
            "the server `e`: `toolkit.maxTools` must be a positive integer",
            "the server `e`: `toolkit.maxResultBytes` must be a positive integer",
            "the server `f`: `toolkit.trusted` must be true or false",
            "the server `f`: `toolkit.maxConcurrentCalls` must be a positive integer",
            "the server `g`: `toolkit.idleTimeout` requires `command`: a server at a URL has no process to stop",
        ],
    );
}

/// Returns the keys that the error for an unknown one lists.
fn keys(settings: &str) -> Vec<String> {
    let server = format!(r#"{{"mcpServers": {{"a": {{"url": "https://a.example/mcp", "toolkit": {settings}}}}}}}"#);
    let rejected = McpServers::from_json(&server).unwrap().rejected().next().unwrap().to_string();
    let (_, keys) = rejected.split_once("the keys are ").unwrap();
    keys.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_documents_list_each_key_of_a_server_and_of_its_login() {
    let documentation = include_str!("../../../src/servers.rs");
    let chapter = include_str!("../../../../../docs/proxy-file.md");
    for key in keys(r#"{"no": 1}"#) {
        assert!(documentation.contains(&format!("\n/// | `{key}` |")), "the documentation lacks `{key}`");
        assert!(chapter.contains(&format!("\n| `{key}` |")), "docs/proxy-file.md lacks `{key}`");
    }
    let chapter = include_str!("../../../../../docs/proxy-logins.md");
    for key in keys(r#"{"oauth": {"no": 1}}"#) {
        assert!(documentation.contains(&format!("`{key}`")), "the documentation lacks `{key}`");
        assert!(chapter.contains(&format!("`{key}`")), "docs/proxy-logins.md lacks `{key}`");
    }
}
