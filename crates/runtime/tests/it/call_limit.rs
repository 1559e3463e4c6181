//! Permits of calls, and the calls that wait for one.

use std::task::{Context, Waker};

use futures_util::FutureExt;
use toolkit_runtime::{CallLimiter, CallPermit};

/// Acquires permits for a tool until there are no more.
fn take_all(limiter: &CallLimiter, tool: &str) -> Vec<CallPermit> {
    std::iter::from_fn(|| limiter.try_acquire(tool, None).ok()).collect()
}

#[test]
fn each_tool_gets_permits_up_to_three_times_those_that_are_left() {
    for (n_permits, expected) in
        [(0, vec![1, 0]), (1, vec![1, 0]), (4, vec![3, 1, 0]), (8, vec![6, 2, 0]), (64, vec![48, 12, 3, 1, 0])]
    {
        let limiter = CallLimiter::new(n_permits);
        let tools = ["a", "b", "c", "d", "e"];
        let taken: Vec<Vec<_>> = tools.iter().take(expected.len()).map(|tool| take_all(&limiter, tool)).collect();
        assert_eq!(taken.iter().map(Vec::len).collect::<Vec<_>>(), expected, "of {n_permits}");
        assert_eq!(limiter.n_running(), expected.iter().sum::<usize>());
        drop(taken);
        assert_eq!(limiter.n_running(), 0);
        assert_eq!(take_all(&limiter, "a").len(), expected[0], "again of {n_permits}");
    }
}

#[test]
fn each_caller_has_a_share_whichever_tools_it_calls() {
    let limiter = CallLimiter::new(64);
    let of_caller = |caller: &str| -> Vec<_> {
        (0..64).filter_map(|tool| limiter.try_acquire(tool.to_string(), Some(caller)).ok()).collect()
    };
    let taken = ["alice", "bob", "carol"].map(of_caller);
    assert_eq!(taken.each_ref().map(Vec::len), [48, 12, 3]);
    let error = limiter.try_acquire("new", Some("alice")).unwrap_err().to_string();
    assert_eq!(error, "concurrency limit of 48 calls of this caller reached, its share of 64; try again later");
    drop(taken);
    assert_eq!((limiter.n_running(), of_caller("carol").len()), (0, 48));
}

#[tokio::test]
async fn a_caller_that_waits_for_much_delays_no_other_one() {
    let limiter = CallLimiter::new(4);
    let mut alice: Vec<_> = std::iter::from_fn(|| limiter.try_acquire("tool", Some("alice")).ok()).collect();
    let mut waiting: Vec<_> = (0..100).map(|_| Box::pin(limiter.acquire("tool", Some("alice")))).collect();
    assert!(waiting.iter_mut().all(|call| call.as_mut().now_or_never().is_none()));
    let mut bob = Box::pin(limiter.acquire("other", Some("bob")));
    let first = bob.as_mut().now_or_never().expect("a permit is left").unwrap();
    let mut again = Box::pin(limiter.acquire("tool", Some("bob")));
    assert!(again.as_mut().now_or_never().is_none());
    // The calls of bob are fewer than those of alice, who has waited for longer.
    drop(alice.pop());
    assert!(again.now_or_never().is_some_and(|granted| granted.is_ok()));
    drop((alice, first));
    assert!(waiting[0].as_mut().now_or_never().is_some_and(|granted| granted.is_ok()));
}

#[test]
fn the_error_names_the_limit_that_was_reached() {
    let limiter = CallLimiter::new(8);
    let held = take_all(&limiter, "slow");
    let error = limiter.try_acquire("slow", None).unwrap_err().to_string();
    assert_eq!(error, "concurrency limit of 6 calls of one tool reached, its share of 8; try again later");
    let _others = [take_all(&limiter, "a"), take_all(&limiter, "b")];
    let error = limiter.try_acquire("b", None).unwrap_err().to_string();
    assert_eq!((held.len(), &*error), (6, "concurrency limit of 8 calls reached; try again later"));
}

#[tokio::test]
async fn a_returned_permit_goes_to_the_tool_with_the_fewest_calls() {
    let limiter = CallLimiter::new(4);
    let (mut busy, rare) = (take_all(&limiter, "busy"), take_all(&limiter, "rare"));
    assert_eq!((busy.len(), rare.len()), (3, 1));
    let mut waiting_busy = Box::pin(limiter.acquire("busy", None));
    let mut waiting_rare = Box::pin(limiter.acquire("rare", None));
    assert!(waiting_busy.as_mut().now_or_never().is_none());
    assert!(waiting_rare.as_mut().now_or_never().is_none());
    busy.pop();
    assert!(waiting_busy.as_mut().now_or_never().is_none());
    let permit = waiting_rare.now_or_never().expect("there is a permit").unwrap();
    assert_eq!(limiter.n_running(), 4);
    drop((permit, rare));
    waiting_busy.now_or_never().expect("there is a permit").unwrap();
}

#[tokio::test]
async fn calls_that_wait_come_before_later_ones_of_their_tool() {
    let limiter = CallLimiter::new(4);
    let held = take_all(&limiter, "tool");
    let mut first = Box::pin(limiter.acquire("tool", None));
    assert!(first.as_mut().now_or_never().is_none());
    // The only permit that is left does not suffice for the call that waits.
    assert_eq!((held.len(), limiter.n_running()), (3, 3));
    assert!(limiter.try_acquire("tool", None).is_err());
    let other = limiter.try_acquire("other", None).unwrap();
    drop(other);
    assert!(first.as_mut().now_or_never().is_none());
    drop(held);
    assert!(first.now_or_never().is_some_and(|granted| granted.is_ok()));
}

#[tokio::test]
async fn calls_that_no_longer_wait_lose_no_permit() {
    let limiter = CallLimiter::new(1);
    let held = limiter.try_acquire("tool", None).unwrap();
    let mut dropped = Box::pin(limiter.acquire("tool", None));
    assert!(dropped.as_mut().now_or_never().is_none());
    let mut second = Box::pin(limiter.acquire("tool", None));
    assert!(second.as_mut().now_or_never().is_none());
    drop(dropped);
    drop(held);
    let permit = second.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(permit.is_ready());
    // Dropping a permit that was granted, but not received, returns it.
    let mut third = Box::pin(limiter.acquire("tool", None));
    assert!(third.as_mut().now_or_never().is_none());
    drop(permit);
    drop(third);
    assert_eq!(limiter.n_running(), 0);
    assert!(limiter.try_acquire("tool", None).is_ok());
}

#[tokio::test]
async fn at_least_256_calls_wait_of_which_a_tool_has_three_quarters() {
    for (n_permits, n_waiting) in [(1, 256), (300, 300)] {
        let limiter = CallLimiter::new(n_permits);
        let _held: Vec<_> = (0..n_permits).map(|n| limiter.try_acquire(n.to_string(), None).unwrap()).collect();
        let mut waiting = Vec::new();
        let mut wait = |tool: &str, limiter: &CallLimiter| {
            let (limiter, tool) = (limiter.clone(), tool.to_owned());
            let mut call = Box::pin(async move { limiter.acquire(tool, None).await });
            match call.as_mut().now_or_never() {
                None => waiting.push(call),
                Some(outcome) => return Some(outcome.unwrap_err().to_string()),
            }
            None
        };
        let error = format!("concurrency limit of {n_permits} calls reached; try again later");
        let mut n_slow = 0;
        while wait("slow", &limiter).is_none() {
            n_slow += 1;
        }
        assert_eq!(n_slow, n_waiting * 3 / 4, "of {n_waiting}");
        assert_eq!(wait("slow", &limiter), Some(error.clone()));
        for n in 0..n_waiting - n_slow {
            assert_eq!(wait(&format!("other {n}"), &limiter), None);
        }
        assert_eq!(wait("last", &limiter), Some(error));
        // Calls that were dropped leave their room.
        waiting.clear();
        let mut again = Box::pin(limiter.acquire("last", None));
        assert!(again.as_mut().now_or_never().is_none());
    }
}
