//! The keys of other hosts' configuration files: each is honored, or a warning names it.

use serde_json::{Value, json};
use test_support::program;
use toolkit::backend::Backend;
use toolkit_mcp_client::{McpBackend, McpServers};

use super::{call, collected, dispatcher};

fn parsed(servers: &Value) -> McpServers {
    McpServers::from_json(&json!({ "mcpServers": servers }).to_string()).unwrap()
}

/// Returns the warnings about a server that is not rejected.
fn warnings(server: Value) -> Vec<String> {
    let servers = parsed(&json!({ "s": server }));
    assert_eq!(servers.rejected().next(), None, "{server}");
    servers.warnings().map(str::to_owned).collect()
}

fn rejection(server: &Value) -> String {
    let servers = parsed(&json!({ "s": server }));
    servers.rejected().next().unwrap_or_else(|| panic!("{server}")).to_string()
}

fn only(server: Value) -> McpBackend {
    let servers = parsed(&json!({ "peer": server }));
    assert_eq!((servers.rejected().next(), servers.warnings().next()), (None, None));
    servers.into_iter().next().unwrap()
}

#[test]
fn keys_of_other_hosts_without_effect_are_warnings() {
    for (host, server, key) in [
        ("Claude Code", json!({ "type": "stdio", "command": "x", "timeout": 60000 }), "`timeout`"),
        ("Claude Code", json!({ "type": "http", "url": "http://x/", "headersHelper": "get" }), "`headersHelper`"),
        ("Cursor", json!({ "url": "http://x/", "auth": { "CLIENT_ID": "x" } }), "`auth`"),
        ("VS Code", json!({ "command": "x", "dev": { "watch": "src" } }), "`dev`"),
        ("VS Code", json!({ "command": "x", "sandboxEnabled": true }), "`sandboxEnabled`"),
        ("Windsurf", json!({ "serverUrl": "http://x/", "alwaysAllow": ["a"] }), "`alwaysAllow`"),
        ("Zed", json!({ "source": "custom", "command": "x", "settings": {} }), "`settings`"),
        ("Gemini CLI", json!({ "httpUrl": "http://x/", "trust": true }), "`trust`"),
        ("Codex", json!({ "url": "http://x/", "bearer_token_env_var": "TOKEN" }), "`bearer_token_env_var`"),
        ("Cline", json!({ "command": "x", "autoApprove": [] }), "`autoApprove`"),
        (
            "this client",
            json!({ "command": "x", "maxTools": 7 }),
            "`maxTools` has no effect: write it in the object `toolkit`",
        ),
        (
            "any",
            json!({ "url": "http://x/", "args": [], "env": { "A": "1" } }),
            "`env` has no effect on a server with a URL",
        ),
        ("any", json!({ "command": "x", "http_headers": { "a": "1" } }), "`http_headers` has no effect on a program"),
        (
            "nobody",
            json!({ "command": "x", "commands": "y" }),
            "`commands` is unknown and has no effect; did you mean `command`?",
        ),
    ] {
        let warnings = warnings(server);
        assert!(
            warnings.len() == 1 && warnings[0].starts_with(&format!("the server `s`: {key}")),
            "{host}: {warnings:?}"
        );
    }
    for silent in [
        json!({ "command": "x", "description": "Tells the time.", "_comment": "new", "timeout": null }),
        json!({ "type": "local", "command": "x", "args": [], "env": {}, "tools": ["*"] }),
        json!({ "type": "streamable-http", "httpUrl": "http://x/", "headers": {}, "excludeTools": ["a"] }),
    ] {
        assert_eq!(warnings(silent), [""; 0]);
    }
}

#[test]
fn keys_that_cannot_be_honored_reject_their_server() {
    let missing = std::env::temp_dir().join("toolkit-no-such.env");
    for (server, reason) in [
        (json!({ "Command": "x" }), "`command` or `url` is required; did you mean `command` by `Command`?"),
        (json!({ "url": "http://x/", "httpUrl": "http://y/" }), "`url` and `httpUrl` exclude each other"),
        (json!({ "command": "x", "serverUrl": "http://y/" }), "`command` and `serverUrl` exclude each other"),
        (json!({ "type": "remote", "command": "x" }), "`command` requires `type` `stdio`, got `remote`"),
        (json!({ "type": "local", "url": "http://x/" }), "`url` requires `type` `http`, got `local`"),
        (json!({ "command": "x", "disabled": "yes" }), "`disabled` must be true or false"),
        (json!({ "command": "x", "enabled_tools": "all" }), "`enabled_tools` must be an array of strings"),
        (json!({ "command": "x", "envFile": missing }), "`envFile`: "),
        (
            json!({ "command": "x", "toolkit": { "revision": "2023-01-01" } }),
            "`toolkit.revision` must be one of `2024-11-05`, ",
        ),
        (
            json!({ "command": "x", "toolkit": { "forwardHeaders": { "x-a": "x-a" } } }),
            "`toolkit.forwardHeaders` requires `url`",
        ),
        (
            json!({ "url": "http://x/", "toolkit": { "forwardHeaders": { "x-a": "authorization" } } }),
            "`toolkit.forwardHeaders` is invalid: the header `authorization` may have credentials; use `forwardCredentials`",
        ),
        (
            json!({ "command": "x", "toolkit": { "outputValidation": "lax" } }),
            "`toolkit.outputValidation` must be `strict`",
        ),
        (
            json!({ "url": "http://x/", "toolkit": { "forwardCredentials": { "mcp-x": "authorization" } } }),
            "`toolkit.forwardCredentials` is invalid: the header `mcp-x` is reserved by the protocol",
        ),
        (
            json!({ "command": "x", "toolkit": { "perSession": 0 } }),
            "`toolkit.perSession` must be true, false or the maximum number of sessions",
        ),
        (
            json!({ "command": "x", "toolkit": { "coercion": "some" } }),
            "`toolkit.coercion` must be `off`, `null-as-absent`, `lossless` or `lenient`",
        ),
        (
            json!({ "command": "x", "toolkit": { "tools": { "a": { "readonly": true } } } }),
            "`toolkit.tools` is invalid for `a`: ",
        ),
    ] {
        let rejection = rejection(&server);
        assert!(rejection.starts_with(&format!("the server `s`: {reason}")), "{server}: {rejection}");
    }
}

#[tokio::test]
async fn the_command_of_a_server_has_the_form_of_any_host() {
    let peer = program("fixture_peer");
    for (host, server) in [
        ("most", json!({ "command": peer, "args": ["usual"], "env": { "FIRST": "1" } })),
        ("opencode", json!({ "type": "local", "command": [peer, "usual"], "environment": { "FIRST": "1" } })),
        ("opencode with arguments", json!({ "command": [peer], "args": ["usual"], "env": { "FIRST": "1" } })),
        ("Zed", json!({ "source": "custom", "command": { "path": peer, "args": ["usual"], "env": { "FIRST": "1" } } })),
    ] {
        let dispatcher = dispatcher(&only(server)).await;
        let variables = call(&dispatcher, "peer:environment", json!({})).await.unwrap();
        assert_eq!(variables["FIRST"], "1", "{host}: {variables}");
    }
    for (server, reason) in [
        (json!({ "command": [] }), "`command` must not be empty"),
        (json!({ "command": [7] }), "`command` must be a string"),
        (json!({ "command": ["x", 7] }), "`args[0]` must be a string"),
        (json!({ "command": { "args": [] } }), "`command` must be a string"),
        (json!({ "command": { "path": "x", "args": [] }, "args": [] }), "`command.args` and `args` exclude each other"),
    ] {
        assert!(rejection(&server).contains(reason), "{server}: {}", rejection(&server));
    }
}

#[test]
fn the_servers_of_opencode_stand_in_an_object_of_either_version() {
    let server = json!({ "type": "local", "command": ["x", "y"] });
    for file in [json!({ "mcp": { "a": server } }), json!({ "mcp": { "servers": { "a": server } } })] {
        let servers = McpServers::from_json(&file.to_string()).unwrap();
        assert_eq!((servers.len(), servers.warnings().count()), (1, 0), "{file}");
    }
}

#[test]
fn a_server_that_is_switched_off_is_not_started() {
    let servers = parsed(&json!({
        "a": { "command": "x", "enabled": false }, "b": { "command": "x", "disabled": true },
        "c": { "command": "x", "enabled": true, "disabled": false },
    }));
    let names: Vec<String> = servers.into_iter().map(|server| server.name().to_owned()).collect();
    assert_eq!(names, ["c"]);
}

#[test]
fn the_object_of_servers_has_the_name_of_any_host() {
    for place in ["mcpServers", "servers", "context_servers", "mcp_servers", "mcp"] {
        let servers = McpServers::from_json(&json!({ place: { "a": { "command": "x" } } }).to_string()).unwrap();
        assert_eq!((servers.len(), servers.warnings().count()), (1, 0), "{place}");
    }
    let both = json!({ "mcpServers": {}, "servers": { "a": { "command": "x" } } }).to_string();
    let warnings: Vec<String> = McpServers::from_json(&both).unwrap().warnings().map(str::to_owned).collect();
    assert_eq!(warnings, ["`servers` has no effect, since the file has `mcpServers`"]);
}

#[tokio::test]
async fn variables_of_a_file_are_set_and_those_of_the_server_take_precedence() {
    let file = std::env::temp_dir().join(format!("toolkit-host-files-{}.env", std::process::id()));
    std::fs::write(&file, "# for tests\nFIRST='one two'\nSECOND=file\n").unwrap();
    let peer = program("fixture_peer");
    let backend = only(json!({ "command": peer, "envFile": file, "env": { "SECOND": "entry" } }));
    std::fs::remove_file(&file).unwrap();
    let variables = call(&dispatcher(&backend).await, "peer:environment", json!({})).await.unwrap();
    assert_eq!((&variables["FIRST"], &variables["SECOND"]), (&json!("one two"), &json!("entry")));
}

#[tokio::test]
async fn only_the_tools_that_the_file_names_are_served() {
    let peer = program("fixture_peer");
    let names = async |server: Value| {
        let collected = collected(&only(server)).await;
        let names: Vec<String> = collected.catalog.iter().map(|tool| tool.name().to_owned()).collect();
        let told: Vec<String> = collected.diagnostics.iter().map(|told| told.message().to_owned()).collect();
        (names, told)
    };
    let (listed, told) =
        names(json!({ "command": peer, "includeTools": ["e*", "pid"], "excludeTools": ["em*"] })).await;
    assert_eq!((listed, told), (["echo", "environment", "pid"].map(str::to_owned).into(), vec![]));
    let (listed, told) = names(json!({ "command": peer, "disabledTools": ["nonsense", "e*"] })).await;
    assert!(listed.contains(&"pid".to_owned()) && !listed.contains(&"echo".to_owned()));
    assert_eq!(told, ["the MCP server `peer` has no tool for the rule `nonsense` in `disabledTools`"]);
    let (listed, _) = names(json!({ "command": peer, "tools": [] })).await;
    assert_eq!(listed, [""; 0]);
}
