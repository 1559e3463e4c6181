use std::sync::Arc;

use futures_util::FutureExt;
use toolkit::resource::ResourceWatch;

use super::{ENTRY_BYTES, MAX_BYTES, MAX_URI_LEN, MAX_URIS, Subscriptions, check};
use crate::proxy_uri::encode;

fn subscribe(subscriptions: &Subscriptions, session: &str, uri: &str) -> bool {
    subscriptions.subscribe(session, uri, ResourceWatch::default()).is_ok()
}

#[test]
fn a_session_is_notified_once_of_each_resource_that_it_has_subscribed_to() {
    let subscriptions = Subscriptions::default();
    assert!(subscribe(&subscriptions, "one", "a:1") && subscribe(&subscriptions, "one", "a:2"));
    assert!(subscribe(&subscriptions, "other", "a:2"));
    assert_eq!(subscriptions.is_subscribed("one", "a:1").ok(), Some(true));
    assert_eq!(subscriptions.is_subscribed("other", "a:1").ok(), Some(false));
    assert_eq!(subscriptions.is_subscribed("third", "a:1").ok(), Some(false));
    for uri in ["a:2", "a:1", "a:2", "a:3"] {
        subscriptions.updated(uri);
    }
    let one = subscriptions.of_session("one");
    assert_eq!(one.next().now_or_never().as_deref(), Some("a:2"));
    subscriptions.updated("a:2");
    assert_eq!(one.next().now_or_never().as_deref(), Some("a:1"));
    subscriptions.unsubscribe("one", "a:2");
    assert_eq!(one.next().now_or_never(), None);
    assert_eq!(subscriptions.of_session("other").next().now_or_never().as_deref(), Some("a:2"));
    subscriptions.end("other");
    assert_eq!(subscriptions.is_subscribed("other", "a:2").ok(), Some(false));
}

#[test]
fn a_stream_is_notified_until_it_is_dropped() {
    let subscriptions = Subscriptions::default();
    let stream = subscriptions.of_stream(vec![("a:1".to_owned(), ResourceWatch::default())]);
    subscriptions.updated("a:1");
    subscriptions.updated("a:2");
    assert_eq!(stream.next().now_or_never().as_deref(), Some("a:1"));
    assert_eq!(stream.next().now_or_never(), None);
    drop(stream);
    let _other = subscriptions.of_stream(Vec::new());
    assert_eq!(subscriptions.inboxes().streams.len(), 1);
}

#[test]
fn a_session_has_a_limited_number_of_subscriptions() {
    let subscriptions = Subscriptions::default();
    for n in 0..MAX_URIS {
        assert!(subscribe(&subscriptions, "one", &format!("a:{n}")));
    }
    assert!(!subscribe(&subscriptions, "one", "a:more"));
    assert!(subscribe(&subscriptions, "one", "a:0") && subscribe(&subscriptions, "other", "a:more"));
    let uris = |n, len| vec!["a".repeat(len); n];
    for (uris, is_accepted) in [
        (uris(MAX_URIS, 1), true),
        (uris(MAX_URIS + 1, 1), false),
        (uris(1, MAX_URI_LEN), true),
        (uris(1, MAX_URI_LEN + 1), false),
    ] {
        assert_eq!(check(&uris).is_ok(), is_accepted);
    }
}

#[test]
fn sessions_without_a_connection_are_forgotten_when_memory_is_short() {
    let subscriptions = Subscriptions::default();
    let long = "a".repeat(MAX_BYTES / 4);
    for session in ["1", "2", "3"] {
        assert!(subscribe(&subscriptions, session, &long));
    }
    let connected = subscriptions.of_session("1");
    assert!(subscribe(&subscriptions, "4", &long));
    let is_subscribed = |session: &str| subscriptions.is_subscribed(session, &long).unwrap();
    assert_eq!(["1", "2", "3", "4"].map(is_subscribed), [true, false, true, true]);
    let connected = [connected, subscriptions.of_session("3"), subscriptions.of_session("4")];
    assert!(!subscribe(&subscriptions, "5", &long));
    assert_eq!(["1", "3", "4", "5"].map(is_subscribed), [true, true, true, false]);
    drop(connected);
    for session in ["1", "3", "4", "5"] {
        subscriptions.unsubscribe(session, &long);
        subscriptions.end(session);
    }
    assert_eq!(subscriptions.inboxes().n_bytes, 0);
    let _ = subscriptions.of_session("six");
    assert_eq!(subscriptions.inboxes().n_bytes, "six".len() + ENTRY_BYTES);
}

#[test]
fn the_idle_subscriber_of_a_backend_that_is_oldest_is_forgotten() {
    let subscriptions = Subscriptions::default();
    let (files, mail) = (encode("files", "a:1"), encode("mail", "a:1"));
    for (session, uri) in [("mail", &mail), ("one", &files), ("two", &files), ("three", &files)] {
        assert!(subscribe(&subscriptions, session, uri));
    }
    let connected = subscriptions.of_session("one");
    let sessions = || {
        let mut names: Vec<Arc<str>> = subscriptions.inboxes().sessions.keys().cloned().collect();
        names.sort();
        names.join(" ")
    };
    assert!(subscriptions.forget_idle_subscriber("files", "two"));
    assert_eq!(sessions(), "mail one two");
    assert!(!subscriptions.forget_idle_subscriber("files", "two"));
    assert!(subscriptions.forget_idle_subscriber("files", "mail"));
    assert_eq!(sessions(), "mail one");
    drop(connected);
}

#[test]
fn changes_of_the_list_are_seen_by_each_receiver() {
    let subscriptions = Subscriptions::default();
    let mut changes = subscriptions.list_changes();
    assert!(!changes.has_changed().unwrap());
    subscriptions.list_changed();
    assert!(changes.has_changed().unwrap() && *changes.borrow_and_update() == 1);
}
