//! The commands of the chapter about replicas, as they are written.
#![cfg(unix)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command};

use super::TOOLS;

/// Kills the process on drop.
struct Replica(Child);

impl Drop for Replica {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sends a request for the tools, and returns the response.
fn list(address: &str, headers: &str) -> String {
    let body = r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}"#;
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\nconnection: close\r\n\
         accept: application/json, text/event-stream\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[test]
fn the_command_of_the_chapter_serves_a_replica_with_its_token() {
    let chapter = include_str!("../../../../docs/replicas.md");
    let lines = chapter.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let folder = std::env::temp_dir().join(format!("toolkit-replica-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("bin")).unwrap();
    std::os::unix::fs::symlink(&*TOOLS, folder.join("bin/my-tools")).unwrap();
    // The test reads the token, and the replica is the process that it ends.
    let lines =
        lines.replace("10.0.0.11:8000", &address).replace("my-tools", "echo $SERVE_TOKEN >token\nexec my-tools");
    let path = format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").unwrap());
    let replica = Command::new("sh").args(["-c", &lines]).current_dir(&folder).env("PATH", path).spawn();
    let _replica = Replica(replica.unwrap());
    test_support::until_it_listens(&*address);

    assert!(list(&address, "").starts_with("HTTP/1.1 401 "));
    let token = std::fs::read_to_string(folder.join("token")).unwrap();
    let listed = list(&address, &format!("authorization: Bearer {}\r\n", token.trim()));
    assert!(listed.starts_with("HTTP/1.1 200 ") && listed.contains("math_add"), "{listed}");
    assert!(folder.join("tasks").is_dir());
    let _ = std::fs::remove_dir_all(&folder);
}
