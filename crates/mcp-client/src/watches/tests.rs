use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt;
use toolkit::resource::ResourceChange;

use super::*;

/// Creates watches that count the reported updates.
fn watches() -> (Arc<Watches>, Arc<AtomicUsize>) {
    let (updates, n_updates) = (ResourceChanges::new(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&n_updates);
    updates.listen(move |change| {
        counted.fetch_add(usize::from(matches!(change, ResourceChange::Updated(_))), Ordering::Relaxed);
        ControlFlow::Continue(())
    });
    (Arc::new(Watches::new(updates)), n_updates)
}

fn wanted(watches: &Watches) -> (Vec<String>, usize) {
    let wanted = watches.wanted();
    (wanted.uris.iter().map(ToString::to_string).collect(), wanted.pending.len())
}

#[test]
fn a_resource_is_wanted_until_its_last_watch_ends() {
    let (watches, _) = watches();
    let mut changes = watches.changes();
    let mut first = watches.add("a:1", None).unwrap();
    assert!(changes.has_changed().unwrap());
    changes.mark_unchanged();
    let (second, other) = (watches.add("a:1", None).unwrap(), watches.add("a:2", None).unwrap());
    assert_eq!(wanted(&watches), (vec!["a:1".to_owned(), "a:2".to_owned()], 2));
    assert!(first.subscribed().now_or_never().is_none());
    watches.settle("a:1", Ok(()));
    watches.settle("unknown:", Ok(()));
    assert_eq!(first.subscribed().now_or_never(), Some(Ok(())));
    assert_eq!(wanted(&watches).1, 1);
    drop((first, other));
    assert_eq!(wanted(&watches), (vec!["a:1".to_owned()], 0));
    changes.mark_unchanged();
    drop(second);
    assert!(changes.has_changed().unwrap());
    assert_eq!(wanted(&watches), (vec![], 0));
}

#[test]
fn a_refused_resource_is_asked_for_again_by_the_next_watch() {
    let (watches, _) = watches();
    let mut first = watches.add("a:1", None).unwrap();
    watches.settle("a:1", Err("no".into()));
    assert_eq!(first.subscribed().now_or_never(), Some(Err("no".into())));
    assert_eq!(wanted(&watches), (vec![], 0));
    let _second = watches.add("a:1", None).unwrap();
    assert_eq!(wanted(&watches), (vec!["a:1".to_owned()], 1));
}

#[test]
fn a_renewed_subscription_may_have_missed_an_update() {
    let (watches, n_updates) = watches();
    let _watch = watches.add("a:1", None).unwrap();
    watches.settle("a:1", Ok(()));
    watches.settle("a:1", Ok(()));
    assert_eq!(n_updates.load(Ordering::Relaxed), 0);
    watches.lose();
    assert_eq!(wanted(&watches).1, 1);
    watches.settle("a:1", Ok(()));
    assert_eq!(n_updates.load(Ordering::Relaxed), 1);
    watches.lose();
    watches.settle("a:1", Err("no".into()));
    assert_eq!(n_updates.load(Ordering::Relaxed), 1);
}

#[test]
fn the_number_of_watched_resources_and_the_length_of_their_uris_are_limited() {
    let (watches, _) = watches();
    let of_caller = |n: usize| watches.add(&n.to_string(), Some("alice"));
    let watched: Vec<Watch> = (0..MAX_WATCHED / 2).map(|n| of_caller(n).unwrap()).collect();
    assert_eq!(of_caller(MAX_WATCHED).err(), Some(BudgetExceeded { owner: 0, held: 500, max: 1_000 }));
    assert!(of_caller(0).is_ok() && watches.add("more", Some("bob")).is_ok());
    drop(watched);
    assert!(of_caller(MAX_WATCHED).is_ok());
    let longest = format!("a:{}", "x".repeat(MAX_URI_LEN - 2));
    for (uri, expected) in
        [("a:", true), ("a", false), ("a:\n", false), (&*longest, true), (&*format!("{longest}x"), false)]
    {
        assert_eq!(is_uri(uri), expected);
    }
}
