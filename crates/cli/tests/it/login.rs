//! `login` and `logout`.

use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;

use serde_json::json;

use super::{Ran, TOOLS, command};

/// Runs a command with a configuration file and an empty directory for tokens.
fn run(name: &str, arguments: &[&str]) -> Ran {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("login-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("mcp.json");
    let servers = json!({
        "mcpServers": {
            "notes": { "url": "https://notes.example/mcp" },
            "@acme/http": { "url": "http://acme.example/mcp" },
            "wrong": { "url": "x" },
            "time": { "command": "uvx" },
            "fixed": { "url": "https://fixed.example/mcp", "headers": { "Authorization": "Bearer x" } },
            "service": { "url": "https://service.example/mcp", "toolkit": { "oauth": {
                "clientCredentials": true, "clientId": "x", "clientSecret": "y", "issuer": "https://as.example",
            } } },
        }
    });
    fs::write(&file, servers.to_string()).unwrap();
    let arguments: Vec<&str> =
        arguments.iter().map(|argument| if *argument == "FILE" { file.to_str().unwrap() } else { argument }).collect();
    let output = command(&TOOLS, &arguments).env("LOGIN_DIRECTORY", folder.join("logins")).output();
    let _ = fs::remove_dir_all(&folder);
    output.expect("the fixture runs").into()
}

#[test]
fn the_server_of_a_login_must_exist_and_have_a_url() {
    run("usage", &["login"]).exits(2);
    run("file", &["login", "notes"]).exits(2).says("notes: a server without a URL requires `--proxy FILE`");
    run("unknown", &["login", "other", "--proxy", "FILE"]).exits(2).says("other: the file has no such server");
    run("program", &["login", "time", "--proxy", "FILE"]).exits(2).says("time: a program has no login");
    run("wrong", &["login", "wrong", "--proxy", "FILE"]).exits(2).says("`url` is not a URL");
    run("absent", &["login", "notes", "--proxy", "/absent"]).exits(1).says("/absent: ");
}

#[test]
fn the_directory_of_the_tokens_must_be_an_absolute_path() {
    for arguments in [&["login", "https://notes.example"][..], &["logout", "https://notes.example"]] {
        let output = command(&TOOLS, arguments).env("LOGIN_DIRECTORY", "logins").output();
        let ran: Ran = output.expect("the fixture runs").into();
        ran.exits(2).says("LOGIN_DIRECTORY must be an absolute path, got `logins`");
    }
}

#[test]
fn a_login_needs_an_encrypted_connection() {
    let message = "`http://acme.example/mcp` must begin with `https://`";
    run("http", &["login", "@acme/http", "--proxy", "FILE"]).exits(1).says(message);
    run("url", &["login", "http://acme.example/mcp"]).exits(1).says(message);
}

#[test]
fn logins_are_listed() {
    let listed = run("list", &["login", "--proxy", "FILE"]).exits(0);
    let lines = [
        "notes      no login",
        "acme_http  no login",
        "fixed      credentials in the configuration",
        "service    client credentials",
    ];
    assert_eq!(listed.out, lines.map(|line| format!("{line}\n")).concat());
    let listed = run("json", &["login", "--proxy", "FILE", "--json"]).exits(0).json();
    let expected = json!([
        { "name": "notes", "login": null },
        { "name": "acme_http", "login": null },
        { "name": "fixed", "login": null, "credentials": "configuration" },
        { "name": "service", "login": null, "credentials": "client" },
    ]);
    assert_eq!(listed, expected);
}

#[test]
fn servers_with_other_credentials_have_no_login() {
    let fixed = "fixed: the configuration contains the credentials, so there is no login";
    run("fixed", &["login", "fixed", "--proxy", "FILE"]).exits(2).says(fixed);
    let service = "service: a server with client credentials has no login";
    run("service", &["login", "service", "--proxy", "FILE"]).exits(2).says(service);
    run("service-logout", &["logout", "service", "--proxy", "FILE"]).exits(0).says("there was no login");
}

#[cfg(unix)]
#[test]
fn the_command_in_errors_is_quoted_for_the_shell() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 401 X\r\nwww-authenticate: Bearer\r\ncontent-length: 0\r\n\r\n");
        }
    });
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("login-quoted-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("it's; a file.json");
    fs::write(&file, json!({ "mcpServers": { "notes": { "url": format!("http://{address}/mcp") } } }).to_string())
        .unwrap();
    let lock = folder.join("lock.json");
    let arguments = ["serve", "--proxy", file.to_str().unwrap(), "--lock", lock.to_str().unwrap(), "--update-lock"];
    let output = command(&TOOLS, &arguments).env("LOGIN_DIRECTORY", folder.join("logins")).output();
    let _ = fs::remove_dir_all(&folder);
    let ran: Ran = output.expect("the fixture runs").into();
    let quoted = file.to_str().unwrap().replace('\'', r"'\''");
    ran.exits(1).says(&format!("login notes --proxy '{quoted}'"));
}

#[test]
fn a_logout_without_a_login_succeeds() {
    run("logout", &["logout", "notes", "--proxy", "FILE"]).exits(0).says("there was no login");
}
