//! Timeouts on executors of all kinds.

use std::task::Poll;
use std::thread;
use std::time::Duration;

use test_support::block_on;
use toolkit::call::ErrorKind;
use toolkit::{Dispatcher, catalog, handle, tool};

/// Never ends.
#[tool(namespace = "timers", timeout = "20ms")]
async fn never() -> u8 {
    std::future::pending().await
}

/// Ends when it is polled again.
#[tool(namespace = "timers", timeout = "60m")]
async fn soon() -> u8 {
    let mut was_polled = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut was_polled, true) {
            return Poll::Ready(1);
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

fn dispatcher() -> Dispatcher {
    Dispatcher::new(catalog![never, soon].unwrap()).unwrap()
}

async fn check(dispatcher: &Dispatcher) {
    let error = dispatcher.call("never", "{}").await.unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::TimedOut, "the tool took longer than 20ms"));
    assert_eq!(handle!(never).call(dispatcher, ()).await.unwrap_err().kind(), ErrorKind::TimedOut);
    assert_eq!(dispatcher.call("soon", "{}").await.unwrap().json(), Some(&b"1"[..]));
}

#[test]
fn a_timeout_needs_no_runtime() {
    block_on(check(&dispatcher()));
}

// Tokio panics if a timer is requested from a runtime without timers. Nothing may panic here, because a program may be
// built with `panic = "abort"`.
#[test]
fn a_timeout_needs_no_timers_of_the_runtime_and_panics_nowhere() {
    let default = std::panic::take_hook();
    let this = thread::current().id();
    std::panic::set_hook(Box::new(move |info| {
        if thread::current().id() == this || thread::current().name() == Some("toolkit-timers") {
            eprintln!("{info}");
            std::process::abort();
        }
        default(info);
    }));
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(check(&dispatcher()));
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(check(&dispatcher()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_timeouts_at_once_all_fire() {
    let dispatcher = dispatcher();
    let calls: Vec<_> = (0..500)
        .map(|_| {
            let dispatcher = dispatcher.clone();
            tokio::spawn(async move { dispatcher.call("never", "{}").await.unwrap_err().kind() })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), ErrorKind::TimedOut);
    }
}

#[tokio::test]
async fn the_longest_timeout_there_is_can_be_set() {
    let dispatcher = Dispatcher::builder(catalog![soon].unwrap()).timeout(Duration::MAX).build().unwrap();
    assert!(dispatcher.call("soon", "{}").await.is_ok());
}
