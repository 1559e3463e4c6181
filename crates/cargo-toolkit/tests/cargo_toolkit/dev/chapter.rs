//! The chapter on development, with a new program.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::http::{self, request};
use super::new_program::{NewProgram, share};

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
    let program = NewProgram::new(folder.path().join("my-tools"));

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
    // The errors are on the page, and a model reads them.
    let mut page = http::open(&address, "GET /explorer/events", "");
    program.edit("checked_div(people)", "checked_div(people + one)");
    let shown = http::event(&mut page, "data: {\"buildErrors\"");
    assert!(shown.contains("cannot find value `one`"), "{shown}");
    assert!(http::errors(&address).contains("cannot find value `one`"));
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"money_divide","arguments":{"cents":1000,"people":4}}}"#;
    let result = http::message(&address, call);
    assert!(result.contains("250") && result.contains("`dev_errors` has the errors"), "{result}");
    program.edit("checked_div(people + one)", "checked_div(people + 1)");
    assert!(http::errors(&address).starts_with("No errors"));
    assert!(http::message(&address, call).contains("200"));
}
