//! The chapter on development, with a new program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::client::DevClient;
use super::http::request;
use crate::programs::target;

/// A new package, in which the commands of the chapter run.
struct NewProgram(PathBuf);

impl NewProgram {
    fn command(&self, words: &[&str]) -> Command {
        let installed = Path::new(env!("CARGO_BIN_EXE_cargo-toolkit")).parent().unwrap();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(&self.0).stdin(Stdio::piped()).stdout(Stdio::piped());
        for variable in ["RUSTFLAGS", "RUST_BACKTRACE"] {
            command.env_remove(variable);
        }
        command
            .stderr(Stdio::piped())
            .env("PATH", format!("{}:{}", installed.display(), std::env::var("PATH").unwrap()))
            .env("CARGO_TARGET_DIR", target())
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_NET_OFFLINE", "true");
        command
    }

    fn start(&self, words: &[&str]) -> DevClient {
        DevClient::new(self.command(words).spawn().unwrap())
    }

    /// Replaces a text in the tools.
    fn edit(&self, from: &str, to: &str) {
        let file = self.0.join("src/tools.rs");
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(file, text.replace(from, to)).unwrap();
    }
}

/// Calls the tool of the new program.
fn share(client: &DevClient) -> String {
    client.request("tools/call", r#"{"name":"money_share","arguments":{"cents":1000,"people":4}}"#)
}

#[test]
#[ignore = "builds a program with a server and its dependencies: `.ci/run`"]
fn the_commands_of_the_chapter_serve_a_new_program() {
    let chapter = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/dev.md");
    let chapter = fs::read_to_string(chapter).unwrap();
    let lines = chapter.lines().filter(|line| line.starts_with("cargo ") && !line.starts_with("cargo install"));
    let lines = lines.map(|line| line.split('#').next().unwrap().split_whitespace().collect::<Vec<_>>());
    let [stdio, http, install] = &lines.collect::<Vec<_>>()[..] else {
        panic!("the chapter has other commands");
    };
    let folder = tempfile::tempdir().unwrap();
    let program = NewProgram(folder.path().join("my-tools"));
    let new = Command::new(env!("CARGO_BIN_EXE_cargo-toolkit")).args(["toolkit", "new"]).arg(&program.0).output();
    assert!(new.unwrap().status.success());
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::copy(project.join("Cargo.lock"), program.0.join("Cargo.lock")).unwrap();
    fs::copy(project.join("rust-toolchain.toml"), program.0.join("rust-toolchain.toml")).unwrap();
    let manifest = fs::read_to_string(program.0.join("Cargo.toml")).unwrap();
    let manifest = manifest.replace("crates/cli\" }", "crates/cli\", features = [\"explorer\"] }");
    fs::write(program.0.join("Cargo.toml"), manifest).unwrap();
    // As its user has done before.
    assert!(program.command(&["cargo", "build"]).output().unwrap().status.success());

    let client = program.start(stdio);
    client.initialize();
    assert!(share(&client).contains("250"));
    program.edit("checked_div(people)", "checked_div(people + 1)");
    assert!(client.errors().starts_with("No errors"));
    assert!(share(&client).contains("200"), "{}", share(&client));
    program.edit("checked_div(people + 1)", "checked_div(people + one)");
    assert!(client.errors().contains("cannot find value `one`"), "{}", client.errors());
    assert!(share(&client).contains("200") && share(&client).contains("`dev_errors` has the errors"));
    program.edit("checked_div(people + one)", "checked_div(people)");
    assert!(client.errors().starts_with("No errors"));
    client.close();

    // The entry of a client starts the same.
    let printed = program.command(&[&install[..], &["--print"]].concat()).output().unwrap();
    let entry: Value = serde_json::from_slice(&printed.stdout).unwrap_or_else(|_| panic!("{printed:?}"));
    let entry = &entry["mcpServers"]["my-tools"];
    let words = std::iter::once(&entry["command"]).chain(entry["args"].as_array().unwrap());
    let words: Vec<&str> = words.map(|word| word.as_str().unwrap()).collect();
    let client = program.start(&words);
    client.initialize();
    assert!(share(&client).contains("250"));
    client.close();

    // At another port than that of the chapter, which may be in use.
    let words: Vec<&str> = http.iter().map(|word| if *word == "8000" { "0" } else { word }).collect();
    let dev = program.start(&words);
    let address = dev.wait("address", |received| {
        let (_, address) = received.log.split_once("explorer at http://")?;
        Some(address.split_once("/explorer")?.0.to_owned())
    });
    let catalog = || request(&address, "GET", "/explorer/catalog");
    assert!(catalog().contains("\"money_share\""), "{}", catalog());
    program.edit("pub fn share", "pub fn divide");
    dev.wait("new program", |received| (received.log.matches("built and started").count() == 2).then_some(()));
    assert!(catalog().contains("\"money_divide\""), "{}", catalog());
}
