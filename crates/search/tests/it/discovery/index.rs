//! Registration and removal of tools.

use std::sync::{Arc, Mutex};

use toolkit::tool::ToolBackend;
use toolkit::{Dispatcher, catalog, toolset};
use toolkit_search::{Change, ChangeKind, Index, IndexError, Query};

use super::{ids, index, tool};

fn local(name: &str) -> ToolBackend {
    ToolBackend::local(name).unwrap()
}

#[test]
fn a_tool_is_found_exactly_while_it_is_registered() {
    let index = Index::new();
    assert!(index.search("email", 5).is_empty());
    index.register(tool("mail:send", "Sends an email."), local("a")).unwrap();
    assert_eq!(ids(&index.search("email", 5)), ["mail:send"]);
    index.unregister("mail:send", &local("a")).unwrap();
    assert!(index.search("email", 5).is_empty());
    assert!(index.snapshot().is_empty());
}

#[test]
fn a_snapshot_is_immutable() {
    let index = index(&[("mail:send", "Sends an email.")]);
    let before = index.snapshot();
    index.update(tool("mail:send", "Posts a letter.")).unwrap();
    assert_eq!(ids(&before.search("email", 5)), ["mail:send"]);
    assert!(index.search("email", 5).is_empty());
    assert_eq!(ids(&index.search("letter", 5)), ["mail:send"]);
    assert_eq!(index.snapshot().version(), before.version() + 1);
}

#[test]
fn a_tool_stays_until_its_last_backend_is_removed() {
    let index = Index::new();
    index.register(tool("a", "Text."), local("one")).unwrap();
    index.register(tool("a", "Text."), ToolBackend::mcp("two").unwrap()).unwrap();
    assert_eq!(index.snapshot().backends("a").len(), 2);
    assert_eq!(index.snapshot().get("a").unwrap().1, &local("one"));
    index.unregister("a", &local("one")).unwrap();
    assert_eq!(index.snapshot().get("a").unwrap().1, &ToolBackend::mcp("two").unwrap());
    index.unregister("a", &ToolBackend::mcp("two").unwrap()).unwrap();
    assert!(index.snapshot().get("a").is_none());
}

#[test]
fn errors_contain_a_solution() {
    let index = index(&[("a", "Text.")]);
    let other = index.register(tool("a", "Other text."), local("b")).unwrap_err();
    assert!(matches!(other, IndexError::OtherDefinition { .. }));
    assert_eq!(
        other.to_string(),
        "the index has another tool `a` with a different definition; update it, or put one of them into a \
         namespace"
    );
    assert_eq!(index.update(tool("b", "")).unwrap_err().to_string(), "the index has no tool `b`");
    let elsewhere = index.unregister("a", &local("b")).unwrap_err();
    assert_eq!(elsewhere.to_string(), "the backend does not run `a`");
    assert!(index.unregister_tool("b").is_err());
}

#[test]
fn a_batch_is_atomic() {
    let index = index(&[("a", "Text.")]);
    let version = index.snapshot().version();
    let batch = [(tool("b", "New."), local("b")), (tool("a", "Other."), local("a")), (tool("c", "New."), local("c"))];
    let errors = index.register_all(batch).unwrap_err();
    assert_eq!(errors.len(), 1);
    assert_eq!((index.snapshot().len(), index.snapshot().version()), (1, version));
    index.register_all([(tool("b", "New."), local("b")), (tool("c", "New."), local("c"))]).unwrap();
    assert_eq!((index.snapshot().len(), index.snapshot().version()), (3, version + 1));
}

#[test]
fn removing_a_server_keeps_tools_with_other_backends() {
    let index = Index::new();
    index.register_server("files", [tool("fs:read", "Reads."), tool("fs:write", "Writes.")]).unwrap();
    index.register(tool("fs:read", "Reads."), local("read")).unwrap();
    assert_eq!(index.unregister_backend(&ToolBackend::mcp("files").unwrap()), 2);
    assert_eq!(ids(&index.search("", 5)), ["fs:read"]);
    assert_eq!(index.unregister_namespace("fs"), 1);
    assert!(index.namespaces().is_empty());
    assert!(index.register_server("", []).is_err());
}

#[test]
fn listeners_are_notified_in_order_after_the_change() {
    let index = Arc::new(Index::new());
    let told = Arc::new(Mutex::new(Vec::new()));
    let (log, seen) = (Arc::clone(&told), Arc::downgrade(&index));
    let subscription = index.on_change(move |change: &Change| {
        // No lock is held: a listener can search and change the index.
        let version = seen.upgrade().unwrap().snapshot().version();
        assert_eq!(version, change.version);
        log.lock().unwrap().push((change.kind, change.tool.clone()));
    });
    index.register(tool("a", "Text."), local("a")).unwrap();
    index.update(tool("a", "Other.")).unwrap();
    index.unregister_tool("a").unwrap();
    index.refresh();
    drop(subscription);
    index.refresh();
    let a = Some("a".to_owned());
    let expected = [
        (ChangeKind::Registered, a.clone()),
        (ChangeKind::Updated, a.clone()),
        (ChangeKind::ToolRemoved, a),
        (ChangeKind::Refreshed, None),
    ];
    assert_eq!(*told.lock().unwrap(), expected);
}

#[test]
fn filters_exclude_other_tools() {
    let read = tool("fs:read", "Reads a file.");
    let index = index(&[("fs:write", "Writes a file."), ("web:read", "Reads a page.")]);
    index.register(read, ToolBackend::mcp("files").unwrap()).unwrap();
    assert_eq!(ids(&index.search(Query::new("read").namespace("web"), 5)), ["web:read"]);
    assert_eq!(ids(&index.search(Query::new("").namespace("fs"), 5)), ["fs:read", "fs:write"]);
    let backend = ToolBackend::mcp("files").unwrap();
    assert_eq!(ids(&index.search(Query::new("file").backend(backend), 5)), ["fs:read"]);
    assert!(index.search(Query::new("file").tag("none"), 5).is_empty());
    let record = serde_json::json!({ "name": "sum", "tags": ["Maths 101"], "category": "Numbers", "inputSchema": {} });
    index.register(toolkit::Tool::from_json(record).unwrap(), local("sum")).unwrap();
    assert_eq!(ids(&index.search(Query::new("").tag("maths 101").tag("none"), 5)), ["sum"]);
    assert_eq!(ids(&index.search(Query::new("sum").category(" nUMBERS "), 5)), ["sum"]);
    assert!(index.search(Query::new("sum").category("numbers").namespace("fs"), 5).is_empty());
}

struct Jira(&'static str);

#[toolset(namespace = "jira", version = "1.2.0")]
impl Jira {
    /// Returns the address of an issue.
    #[tool]
    fn address(&self, issue: u32) -> String {
        format!("{}/{issue}", self.0)
    }
}

#[test]
fn each_instance_of_a_toolset_is_found() {
    let catalog = catalog![Jira::address].unwrap();
    let dispatcher = Dispatcher::builder(catalog).instance("jira_eu", Jira("eu")).instance("jira_us", Jira("us"));
    let index = Index::from_tools(dispatcher.build().unwrap().catalog());
    let hits = index.search("address of an issue", 5);
    let found = ids(&hits);
    assert!(found.contains(&"jira_eu:address:1.2.0") && found.contains(&"jira_us:address:1.2.0"));
}
