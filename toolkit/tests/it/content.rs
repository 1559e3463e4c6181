//! Blocks of content, and errors with content.

use std::error::Error;
use std::time::Duration;

use serde_json::{Value, json};
use toolkit::call::ErrorKind;
use toolkit::{Content, Structured, ToolError};

#[test]
fn each_kind_of_block_is_written_and_read_as_in_mcp() {
    let link = Content::resource_link("docs:///a", "a");
    let described = link.clone().with_title("T").with_description("D").with_mime_type("text/plain").with_size(7);
    for (block, written) in [
        (Content::text("é"), json!({ "type": "text", "text": "é" })),
        (Content::from("a"), json!({ "type": "text", "text": "a" })),
        (Content::from(String::from("a")), json!({ "type": "text", "text": "a" })),
        (Content::image(&[0, 255], "image/png"), json!({ "type": "image", "data": "AP8=", "mimeType": "image/png" })),
        (Content::audio(&[0], "audio/wav"), json!({ "type": "audio", "data": "AA==", "mimeType": "audio/wav" })),
        (link, json!({ "type": "resource_link", "uri": "docs:///a", "name": "a" })),
        (
            described,
            json!({
                "type": "resource_link", "uri": "docs:///a", "name": "a", "title": "T", "description": "D",
                "mimeType": "text/plain", "size": 7,
            }),
        ),
        (
            Content::resource_text("docs:///a", "text/plain", "x"),
            json!({ "type": "resource", "resource": { "uri": "docs:///a", "mimeType": "text/plain", "text": "x" } }),
        ),
    ] {
        assert_eq!(json!(block), written);
        assert_eq!(serde_json::from_value::<Content>(written).unwrap(), block);
    }
    // A block with fields that are not known is kept as it is.
    for other in [json!({ "type": "text", "text": "a", "annotations": {} }), json!({ "type": "video", "url": "x" })] {
        let block: Content = serde_json::from_value(other.clone()).unwrap();
        assert!(matches!(block, Content::Other(_)) && json!(block) == other);
        assert_eq!(block.as_text(), other["text"].as_str());
    }
}

#[test]
fn only_a_link_has_a_title_a_description_a_type_and_a_size() {
    for block in [Content::text("a"), Content::image(&[], "image/png"), Content::resource_text("a:b", "c/d", "e")] {
        let changed = block.clone().with_title("T").with_description("D").with_mime_type("x/y").with_size(7);
        assert_eq!(changed, block);
        assert_eq!(block.as_text().is_some(), matches!(block, Content::Text { .. }));
    }
    let structured = Structured::new(1, [Content::text("a"), Content::text("b")]);
    assert_eq!((structured.value, structured.content.len()), (1, 2));
}

#[test]
fn the_uris_of_an_error_change_in_every_kind_of_block() {
    let other = |value: Value| serde_json::from_value::<Content>(value).unwrap();
    let error = ToolError::failed("no").with_content([
        Content::text("docs:///a"),
        Content::resource_link("docs:///a", "a"),
        Content::resource_text("docs:///a", "text/plain", "docs:///a"),
        other(json!({ "type": "resource_link", "uri": "docs:///a", "name": "a", "icons": [] })),
        other(json!({ "type": "resource", "resource": { "uri": "docs:///a", "text": "" }, "icons": [] })),
        other(json!({ "type": "other", "uri": "docs:///a" })),
    ]);
    let changed = error.map_uris(|uri| format!("proxy:{uri}"));
    let uris: Vec<_> = changed.content().iter().map(|block| json!(block)).collect();
    let expected = [None, Some("proxy:docs:///a"), None, Some("proxy:docs:///a"), None, Some("docs:///a")];
    assert_eq!(uris.iter().map(|block| block["uri"].as_str()).collect::<Vec<_>>(), expected);
    let inside: Vec<_> = uris.iter().filter_map(|block| block["resource"]["uri"].as_str()).collect();
    assert_eq!(inside, ["proxy:docs:///a"; 2]);
    assert_eq!(uris[2]["resource"]["text"], "docs:///a");
}

#[test]
fn an_error_has_what_its_author_adds() {
    let error = ToolError::failed("no").with_content([Content::text("a")]).with_data(json!({ "n": 1 }));
    assert_eq!(error.data(), Some(&json!({ "n": 1 })));
    let texts: Vec<_> = error.content().iter().filter_map(Content::as_text).collect();
    assert_eq!(texts, ["a", r#"{"n":1}"#]);
    assert_eq!((error.kind(), error.is_retryable(), error.retry_after()), (ErrorKind::Failed, false, None));
    let error = error.retryable(None);
    assert!(error.is_retryable() && error.retry_after().is_none());
    let error = error.retryable(Duration::from_secs(3));
    assert!(error.is_retryable() && error.retry_after() == Some(Duration::from_secs(3)));
    // A map whose keys are no text has no JSON.
    let keys = std::collections::BTreeMap::from([((1, 2), 3)]);
    assert_eq!(ToolError::failed("no").with_data(keys).kind(), ErrorKind::Internal);
    for kind in [ErrorKind::Overloaded, ErrorKind::TimedOut, ErrorKind::Unavailable] {
        assert!(ToolError::new(kind, "").is_retryable(), "{kind:?}");
    }
    assert!(!ToolError::cancelled().is_retryable());
    assert_eq!(ToolError::cancelled().to_string(), "the call was cancelled");
}

#[test]
fn the_cause_of_an_error_is_shown_or_hidden() {
    let cause = || std::io::Error::other("the cause");
    let (shown, hidden) = (ToolError::shown(cause()), ToolError::internal(cause()));
    assert_eq!((shown.kind(), shown.message()), (ErrorKind::Failed, "the cause"));
    assert_eq!((hidden.kind(), hidden.message()), (ErrorKind::Internal, "the tool failed with an internal error"));
    for error in [shown, hidden, ToolError::failed("no").caused_by(cause())] {
        assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("the cause"));
    }
    // An error of a tool stays what it is.
    let declined = || ToolError::new(ErrorKind::Declined, "no");
    for error in [ToolError::shown(declined()), ToolError::internal(declined())] {
        assert_eq!((error.kind(), error.message(), error.source().is_none()), (ErrorKind::Declined, "no", true));
    }
}
