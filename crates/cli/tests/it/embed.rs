//! `search --model`.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use super::TOOLS;

#[path = "../../../search/tests/it/embed/tiny.rs"]
mod tiny;

fn search(model: &Path) -> Output {
    let mut command = Command::new(&*TOOLS);
    command.args(["search", "add two numbers", "--json", "--model"]).arg(model).output().unwrap()
}

#[test]
fn the_command_line_searches_with_a_model() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("search-model");
    std::fs::create_dir_all(&folder).unwrap();
    tiny::write(&folder);
    let output = search(&folder);
    let hits: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!((&hits[0]["summary"]["name"], &hits[0]["scoreType"]), (&"add".into(), &"hybrid".into()));
}

#[test]
fn the_error_of_a_missing_model_lists_its_files() {
    let output = search(Path::new("no such folder"));
    let error: Value = serde_json::from_slice(&output.stdout).unwrap();
    let message = error["error"]["message"].as_str().unwrap();
    assert_eq!((output.status.code(), &error["error"]["kind"]), (Some(1), &"model".into()));
    assert!(message.contains("config.json") && message.contains("expected a folder with"), "{message}");
}
