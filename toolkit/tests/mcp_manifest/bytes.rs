//! The same catalog has the same bytes, in every process.

use super::tools::*;
use super::*;

#[test]
fn two_builds_of_a_catalog_have_the_same_bytes() {
    for revision in REVISIONS {
        assert_eq!(text(revision), text(revision));
    }
    // The order of tools does not matter, as it depends on linking.
    let (a, b) = (
        catalog![send, plan, folder, old::tick, new::tick].unwrap(),
        catalog![new::tick, old::tick, folder, plan, send].unwrap(),
    );
    for revision in REVISIONS {
        let text = |catalog| {
            let list = list_tools(catalog, revision, Naming::Name);
            list.unwrap().to_string()
        };
        assert_eq!(text(&a), text(&b));
    }
}

#[test]
fn all_keys_are_sorted_except_the_names_of_properties() {
    for revision in REVISIONS {
        let text = text(revision);
        let mut sorted: Value = serde_json::from_str(&text).unwrap();
        toolkit::schema::order::sort(&mut sorted);
        assert_eq!(text, sorted.to_string());
    }
}

#[test]
fn another_process_has_the_same_bytes() {
    const PATH: &str = "TOOLKIT_TEST_LIST_TO";
    let texts = || REVISIONS.map(text).join("\n");
    if let Some(path) = std::env::var_os(PATH) {
        std::fs::write(path, texts()).unwrap();
        return;
    }
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mcp-list-{}.json", std::process::id()));
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "bytes::another_process_has_the_same_bytes"])
        .env(PATH, &path)
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let other = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(texts(), other);
}
