//! The lock as a file.

use super::*;

fn scratch(name: &str) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("toolkit-lock-{}-{name}.json", std::process::id()))
}

fn catalog(input: Value) -> Catalog {
    let tool = Tool::builder("tool").namespace("n").version("1.0.0").description("…").input(input);
    Catalog::new([tool.build().unwrap()]).unwrap()
}

#[test]
fn a_lock_is_read_as_it_was_written_with_one_tool_after_the_other() {
    let lock = lock("1.0.0", &object(json!({ "b": {}, "a": {} }), &["a"]), Some(&json!({ "type": "string" })));
    let text = lock.to_json();
    assert_eq!(Lock::from_json(&text).unwrap(), lock);
    assert_eq!(Lock::from_json(&text).unwrap().to_json(), text);
    assert!(text.starts_with("{\n  \"lockVersion\": 1,\n  \"tools\": [\n") && text.ends_with("}\n"));
    let manifest = json!({ "tools": [{ "name": "tool", "inputSchema": { "type": "object" } }] });
    assert_eq!(Lock::from_json(&manifest.to_string()).unwrap().tools().count(), 1);
    assert!(Lock::from_json("[1, 2]").unwrap().tools().next().is_none());
    assert!(Lock::from_json("{").is_err());
}

#[test]
fn a_test_of_one_line_writes_the_file_first_and_then_holds_to_it() {
    let path = scratch("holds");
    let old = object(json!({ "n": { "type": "integer" } }), &[]);
    catalog(old.clone()).expect_lock(&path).unwrap();
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.contains("\"lockVersion\": 1"));

    let wider = object(json!({ "n": { "type": "number" } }), &[]);
    catalog(wider).expect_lock(&path).unwrap();
    let narrower = object(json!({ "n": { "type": "integer", "maximum": 3 } }), &[]);
    let problems = catalog(narrower).expect_lock(&path).unwrap_err().to_string();
    assert!(problems.contains("breaking: n:tool:1.0.0 input /properties/n refuses what it accepted"), "{problems}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), written, "the file is left alone");
    std::fs::write(&path, "{").unwrap();
    assert!(catalog(old).expect_lock(&path).unwrap_err().to_string().contains(path.to_str().unwrap()));
    std::fs::remove_file(&path).unwrap();
}
