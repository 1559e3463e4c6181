//! Resources: their records, and the reports of their changes.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use test_support::block_on;
use toolkit::dispatch::BoxFuture;
use toolkit::resource::{
    Resource, ResourceBody, ResourceChange, ResourceChanges, ResourceContents, ResourceTemplate, Resources,
};
use toolkit::{Context, ToolError};

#[test]
fn a_record_is_written_with_the_fields_that_were_set() {
    let resource = Resource::new("a:1", "one");
    assert_eq!(json!(resource), json!({ "uri": "a:1", "name": "one" }));
    let resource = resource.title("T").description("D").mime_type("text/plain").size(7).meta("k", 1);
    let expected = json!({
        "uri": "a:1", "name": "one", "title": "T", "description": "D", "mimeType": "text/plain", "size": 7,
        "_meta": { "k": 1 },
    });
    assert_eq!(json!(resource), expected);
    let template = ResourceTemplate::new("a:{n}", "one").title("T").description("D").mime_type("a/b").meta("k", 1);
    let expected = json!({
        "uriTemplate": "a:{n}", "name": "one", "title": "T", "description": "D", "mimeType": "a/b", "_meta": { "k": 1 },
    });
    assert_eq!(json!(template), expected);
    // Fields of later revisions stay.
    let read = json!({ "uri": "a:1", "name": "one", "icons": [] });
    assert_eq!(json!(serde_json::from_value::<Resource>(read.clone()).unwrap()), read);
}

#[test]
fn contents_are_texts_or_bytes_in_base64() {
    let bytes: [(ResourceBody, Value, usize); 4] = [
        ("é".into(), json!({ "text": "é" }), 2),
        (String::from("ab").into(), json!({ "text": "ab" }), 2),
        ((&[0_u8, 255][..]).into(), json!({ "blob": "AP8=" }), 4),
        (vec![0_u8].into(), json!({ "blob": "AA==" }), 4),
    ];
    for (body, expected, n_bytes) in bytes {
        assert_eq!((json!(body), body.encoded_len()), (expected.clone(), n_bytes));
        let contents = ResourceContents::new("a:1", body).mime_type("a/b").meta("k", 1);
        assert_eq!(contents.as_text(), expected["text"].as_str());
        let mut whole = json!({ "uri": "a:1", "mimeType": "a/b", "_meta": { "k": 1 } });
        whole.as_object_mut().unwrap().extend(expected.as_object().unwrap().clone());
        assert_eq!(json!(contents), whole);
        assert_eq!(serde_json::from_value::<ResourceContents>(whole).unwrap(), contents);
    }
}

#[test]
fn a_change_is_reported_to_each_listener_until_it_breaks() {
    let changes = ResourceChanges::new();
    let heard = Arc::new(Mutex::new(Vec::new()));
    for (name, n_heard) in [("always", usize::MAX), ("once", 1)] {
        let (heard, left) = (Arc::clone(&heard), Mutex::new(n_heard));
        changes.listen(move |change| {
            let change = match change {
                ResourceChange::Updated(uri) => uri.to_owned(),
                _ => "list".to_owned(),
            };
            heard.lock().unwrap().push(format!("{name} {change}"));
            let mut left = left.lock().unwrap();
            *left -= 1;
            if *left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
    }
    changes.updated("a:1");
    changes.clone().list_changed();
    assert_eq!(*heard.lock().unwrap(), ["always a:1", "once a:1", "always list"]);
    assert!(changes.is_same(&changes.clone()) && !changes.is_same(&ResourceChanges::new()));
    let weak = changes.downgrade();
    assert!(weak.upgrade().is_some_and(|other| other.is_same(&changes)));
    drop(changes);
    assert!(weak.upgrade().is_none());
}

/// A provider that has only what every provider must have.
struct Least;

impl Resources for Least {
    fn read<'a>(
        &'a self,
        uri: &'a str,
        _: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Vec<ResourceContents>>, ToolError>> {
        Box::pin(async move { Ok(Some(vec![ResourceContents::new(uri, "text")])) })
    }
}

#[test]
fn a_shared_provider_is_the_provider_itself() {
    let (shared, context) = (Arc::new(Least), Context::new());
    assert!(block_on(shared.list(&context)).unwrap().is_empty());
    assert!(block_on(shared.templates(&context)).unwrap().is_empty());
    assert_eq!(block_on(shared.read("a:1", &context)).unwrap().unwrap()[0].uri, "a:1");
    assert!(block_on(shared.watch("a:1", &context)).is_ok() && shared.changes().is_none());
}
