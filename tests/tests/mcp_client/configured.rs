//! The configurations that other hosts keep.

use toolkit::backend::Backend;
use toolkit_mcp::client::{InvalidServers, McpServers};

fn read(json: &str) -> Result<McpServers, InvalidServers> {
    McpServers::from_json_with(json, |name| match name {
        "KEY" => Some("hunter2".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    })
}

#[track_caller]
fn wrong(json: &str, expected: &[&str]) {
    let error = read(json).unwrap_err();
    assert_eq!(error.iter().collect::<Vec<_>>(), expected);
    assert!(!error.to_string().contains("hunter2"));
}

#[test]
fn servers_are_read_as_the_hosts_write_them() {
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
fn what_is_wrong_names_the_server_and_the_field() {
    wrong("[", &["it is not JSON: EOF while parsing a list at line 1 column 1"]);
    wrong("{}", &["it has no object `mcpServers`"]);
    wrong(
        r#"{"mcpServers": {
            "a": {},
            "b": {"command": "x", "url": "http://x"},
            "c": {"command": ["x"], "args": "y"},
            "d": {"command": "x", "args": ["a", 1], "env": {"A": ["hunter2"]}, "cwd": 1},
            "e": {"url": "ftp://x", "headers": 1},
            "f": {"url": "http://x", "headers": {"bad name": "1", "x": "a\nhunter2", "Mcp-Session-Id": "1"}},
            "g": {"type": "sse", "url": "http://x"},
            "h": {"command": "x", "args": ["${MISSING}"], "env": {"I": "${input:key}"}},
            "i j": {"command": "x"},
            "k": 1,
            "l": {"type": "http", "command": "x"},
            "m": {"type": "stdio", "url": "http://x"},
            "n": {"url": "http://me:hunter2@x/"}
        }}"#,
        &[
            "the server `a`: needs `command` or `url`",
            "the server `b`: has `command` and `url`, and can be only one of the two",
            "the server `c`: `command` must be a string",
            "the server `d`: `args[1]` must be a string",
            "the server `d`: `env.A` must be a string",
            "the server `d`: `cwd` must be a string",
            "the server `e`: `url` has to begin with `https://` or `http://`",
            "the server `f`: `headers`: the header `Mcp-Session-Id` is used by the protocol itself",
            "the server `f`: `headers`: the header `bad name` has no name that a header can have",
            "the server `f`: `headers`: the header `x` has characters that no header has",
            "the server `g`: `type` is `sse`, which is not spoken any more; use the server's address for `http`",
            "the server `h`: `args[0]` needs the environment variable `MISSING`, which is not set; \
             `${MISSING:-…}` has a text instead",
            "the server `h`: `env.I` asks for `${input:key}`, which only an editor can give",
            "the server `i j`: its name cannot be the namespace of its tools: namespace must not contain ` `; use \
             letters, digits, `_`, `-` and `.`",
            "the server `k`: must be an object",
            "the server `l`: `type` is `http`, and `command` is for `stdio`",
            "the server `m`: `type` is `stdio`, and `url` is for `http`",
            "the server `n`: `url` has a password in it; give it as a header or a token",
        ],
    );
}
