use std::sync::Arc;

use futures_util::FutureExt;
use toolkit::resource::ResourceWatch;

use super::{ENTRY_BYTES, MAX_BYTES, MAX_URI_LEN, MAX_URIS, Subscriptions, check};
use crate::proxy_uri::encode;

fn subscribe(subscriptions: &Subscriptions, session: &str, uri: &str) -> bool {
    // Each session is that of another caller, up to a dash.
    let caller = session.split('-').next().unwrap();
    subscriptions.subscribe(session, caller, uri, ResourceWatch::default()).is_ok()
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
    let one = subscriptions.of_session("one", "one");
    assert_eq!(one.next().now_or_never().as_deref(), Some("a:2"));
    subscriptions.updated("a:2");
    assert_eq!(one.next().now_or_never().as_deref(), Some("a:1"));
    subscriptions.unsubscribe("one", "a:2");
    assert_eq!(one.next().now_or_never(), None);
    assert_eq!(subscriptions.of_session("other", "other").next().now_or_never().as_deref(), Some("a:2"));
    subscriptions.end("other");
    assert_eq!(subscriptions.is_subscribed("other", "a:2").ok(), Some(false));
}

#[test]
fn a_stream_is_notified_until_it_is_dropped() {
    let subscriptions = Subscriptions::default();
    let stream = subscriptions.of_stream("one", vec![("a:1".to_owned(), ResourceWatch::default())]);
    subscriptions.updated("a:1");
    subscriptions.updated("a:2");
    assert_eq!(stream.next().now_or_never().as_deref(), Some("a:1"));
    assert_eq!(stream.next().now_or_never(), None);
    drop(stream);
    let _other = subscriptions.of_stream("one", Vec::new());
    assert_eq!(subscriptions.inboxes.lock().streams.len(), 1);
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
    let long = "a".repeat(MAX_BYTES / 8);
    for session in ["a-1", "a-2", "a-3", "a-4"] {
        assert!(subscribe(&subscriptions, session, &long));
    }
    let is_subscribed = |session: &str| subscriptions.is_subscribed(session, &long).unwrap();
    let connected = subscriptions.of_session("a-1", "a");
    // The caller has its share, and its oldest session makes room for another one.
    assert!(subscribe(&subscriptions, "a-5", &long));
    assert_eq!(["a-1", "a-2", "a-3", "a-4", "a-5"].map(is_subscribed), [true, false, true, true, true]);
    let others = ["a-3", "a-4", "a-5"].map(|session| subscriptions.of_session(session, "a"));
    assert!(!subscribe(&subscriptions, "a-6", &long));
    // Others have room all the same.
    assert!(subscribe(&subscriptions, "b-1", &long) && subscribe(&subscriptions, "c-1", &long));
    drop((connected, others));
    // A caller with less takes the room of one with more.
    assert!(subscribe(&subscriptions, "b-2", &long) && is_subscribed("b-1") && !is_subscribed("a-1"));
    for session in ["a-1", "a-3", "a-4", "a-5", "a-6", "b-1", "b-2", "c-1"] {
        subscriptions.unsubscribe(session, &long);
        subscriptions.end(session);
    }
    let held = |caller: &str| subscriptions.bytes.held_by(&caller.into());
    assert_eq!(["a", "b", "c"].map(held), [0, 0, 0]);
    let _ = subscriptions.of_session("six", "six");
    assert_eq!(held("six"), ("six".len() + ENTRY_BYTES) as u64);
}

#[test]
fn streams_count_towards_the_share_of_their_caller() {
    let subscriptions = Subscriptions::default();
    let uri = |n: usize| format!("{n}{}", "a".repeat(MAX_URI_LEN));
    let subscribed = |caller: &str| {
        let watched = (0..MAX_URIS / 4).map(|n| (uri(n), ResourceWatch::default())).collect();
        let stream = subscriptions.of_stream(caller, watched);
        let n_subscribed = (0..MAX_URIS / 4).filter(|n| stream.has(&uri(*n))).count();
        (stream, n_subscribed)
    };
    let streams: Vec<_> = (0..8).map(|_| subscribed("a")).collect();
    let n_subscribed: usize = streams.iter().map(|(_, n_subscribed)| n_subscribed).sum();
    assert!(n_subscribed * MAX_URI_LEN <= MAX_BYTES / 2 && n_subscribed > MAX_URIS / 2, "{n_subscribed}");
    assert_eq!(subscribed("b").1, MAX_URIS / 4);
    drop(streams);
    assert_eq!(subscriptions.bytes.held_by(&"a".into()), 0);
}

#[test]
fn the_idle_subscriber_of_a_backend_that_is_oldest_is_forgotten() {
    let subscriptions = Subscriptions::default();
    let (files, mail) = (encode("files", "a:1"), encode("mail", "a:1"));
    for (session, uri) in [("mail", &mail), ("one", &files), ("two", &files), ("three", &files)] {
        assert!(subscribe(&subscriptions, session, uri));
    }
    let connected = subscriptions.of_session("one", "one");
    let sessions = || {
        let mut names: Vec<Arc<str>> = subscriptions.inboxes.lock().sessions.keys().cloned().collect();
        names.sort();
        names.join(" ")
    };
    assert!(subscriptions.forget_idle_subscriber("files", "two", "other"));
    assert_eq!(sessions(), "mail one two");
    assert!(!subscriptions.forget_idle_subscriber("files", "two", "other"));
    assert!(subscriptions.forget_idle_subscriber("files", "mail", "two"));
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
