//! The file format of a lock.

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
    assert!(Lock::from_json("{").is_err());
}

#[test]
fn a_lock_with_an_invalid_entry_is_rejected() {
    let told = |lock: Value| Lock::from_json(&lock.to_string()).unwrap_err().to_string();
    let tool = json!({ "name": "tool", "inputSchema": { "type": "object" } });
    assert!(told(json!([tool, 2])).starts_with("not a manifest: invalid tool 1 ``\n"));
    assert!(told(json!([tool, tool])).ends_with("1 `tool`\n  the tool at index 0 has the same id"));
    let mut of_today: Value = serde_json::from_str(&lock("1.0.0", &object(json!({}), &[]), None).to_json()).unwrap();
    of_today["tools"][0].as_object_mut().unwrap().shift_remove("name");
    assert!(told(of_today.clone()).contains("name"), "{}", told(of_today));
    assert_eq!(
        told(json!({ "lockVersion": 2, "tools": [] })),
        "not a manifest: unsupported `lockVersion` 2; expected 1"
    );
}

#[test]
fn a_test_of_one_line_compares_with_the_file() {
    let path = scratch("holds");
    let old = object(json!({ "n": { "type": "integer" } }), &[]);
    let problems = expect_lock(&catalog(old.clone()), &path).unwrap_err().to_string();
    assert!(problems.contains("`TOOLKIT_BLESS=1 cargo test` creates it"), "{problems}");
    assert!(!path.exists(), "a lock that was deleted is not made up for");
    let written = Lock::from_catalog(&catalog(old.clone())).to_json();
    std::fs::write(&path, &written).unwrap();
    expect_lock(&catalog(old.clone()), &path).unwrap();

    let wider = object(json!({ "n": { "type": "number" } }), &[]);
    expect_lock(&catalog(wider), &path).unwrap();
    let narrower = object(json!({ "n": { "type": "integer", "maximum": 3 } }), &[]);
    let problems = expect_lock(&catalog(narrower), &path).unwrap_err().to_string();
    assert!(
        problems.contains("breaking: n:tool:1.0.0 input /properties/n rejects values that it accepted"),
        "{problems}"
    );
    let accept = format!("{} has the tools that callers know", path.display());
    let last = problems.lines().last().unwrap();
    assert!(last.starts_with(&accept) && last.ends_with("`TOOLKIT_BLESS=1 cargo test`"), "{problems}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), written, "the file is left alone");
    std::fs::write(&path, "{").unwrap();
    assert!(expect_lock(&catalog(old), &path).unwrap_err().to_string().contains(path.to_str().unwrap()));
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_lock_is_written_on_demand_only() {
    let path = scratch("blessed");
    let blessed = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "lock::files::compares_with_the_named_file"])
        .env("TOOLKIT_BLESS", "1")
        .env("TOOLKIT_TEST_LOCK", &path)
        .output()
        .unwrap();
    assert!(blessed.status.success(), "{}", String::from_utf8_lossy(&blessed.stdout));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), Lock::from_catalog(&catalog(object(json!({}), &[]))).to_json());
    std::fs::remove_file(&path).unwrap();
}

/// Run by the test above in a process with the variables.
#[test]
fn compares_with_the_named_file() {
    if let Some(path) = std::env::var_os("TOOLKIT_TEST_LOCK") {
        expect_lock(&catalog(object(json!({}), &[])), path).unwrap();
    }
}
