//! The laws of streams, over every order of actions of the tool and of the reader.

use std::sync::{Arc, Mutex};
use std::task::{Context as TaskContext, Poll, Waker};

use proptest::prelude::*;
use toolkit::dispatch::BoxFuture;
use toolkit::stream::StreamEvent;
use toolkit::{Chunks, ToolError, tool};

use super::*;

/// An action of the tool.
#[derive(Clone, Debug)]
enum Act {
    Report,
    Send,
    Wait,
    Fail,
    Panic,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => Just(Act::Report),
        6 => Just(Act::Send),
        3 => Just(Act::Wait),
        1 => Just(Act::Fail),
        1 => Just(Act::Panic),
    ]
}

/// The script of the tool, and its wakers.
#[derive(Clone, Default)]
struct Script(Arc<Mutex<Vec<Act>>>);

/// Does what the script says.
#[tool(namespace = "stream")]
pub(super) fn scripted(ctx: &Context) -> Chunks<usize> {
    let script = ctx.get::<Script>().cloned().unwrap_or_default().0.lock().unwrap().clone();
    let ctx = ctx.clone();
    Chunks::emit(async move |items| {
        for (idx, act) in script.into_iter().enumerate() {
            match act {
                Act::Report => ctx.progress(idx as f64, None, ""),
                Act::Send => items.send(idx).await?,
                Act::Wait => tokio::task::yield_now().await,
                Act::Fail => return Err(ToolError::failed("as the script says")),
                Act::Panic => panic!("as the script says"),
            }
        }
        Ok(())
    })
}

fn poll(stream: &mut CallStream) -> Option<Option<StreamEvent>> {
    let mut cx = TaskContext::from_waker(Waker::noop());
    let mut next: BoxFuture<'_, _> = Box::pin(stream.next());
    match next.as_mut().poll(&mut cx) {
        Poll::Ready(event) => Some(event),
        Poll::Pending => None,
    }
}

proptest! {
    #![proptest_config(test_support::random(512))]

    #[test]
    fn chunks_come_whole_and_in_order_progress_only_grows_and_one_end_is_last(
        script in prop::collection::vec(act(), 0..40),
    ) {
        let context = Context::new().with(Script(Arc::new(Mutex::new(script.clone()))));
        let mut stream = dispatcher().0.stream_with(&context, "scripted", "{}");
        let (mut chunks, mut progress, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        let mut n_pending = 0;
        loop {
            match poll(&mut stream) {
                Some(Some(event)) => {
                    prop_assert!(ends.is_empty(), "nothing comes after the end");
                    prop_assert_eq!(&event.tool_id, "stream:scripted");
                    match event.event {
                        Event::Chunk(chunk) => chunks.push(chunk.value().as_u64().unwrap() as usize),
                        Event::Progress(report) => progress.push((chunks.len(), report.done as usize)),
                        Event::Done(result) => ends.push(Ok(result.value())),
                        Event::Error(error) => ends.push(Err(error.kind())),
                        other => panic!("{other:?}"),
                    }
                }
                Some(None) => break,
                None => n_pending += 1,
            }
            prop_assert!(n_pending <= script.len() + 1, "it never ends");
        }
        let fatal = script.iter().position(|act| matches!(act, Act::Fail | Act::Panic)).unwrap_or(script.len());
        let sent: Vec<usize> = (0..fatal).filter(|&idx| matches!(script[idx], Act::Send)).collect();
        prop_assert_eq!(&chunks, &sent, "no chunk is lost, and they keep their order");
        prop_assert!(progress.windows(2).all(|pair| pair[0].1 < pair[1].1));
        let last_report = (0..fatal).rev().find(|&idx| matches!(script[idx], Act::Report));
        prop_assert_eq!(progress.last().map(|report| report.1), last_report, "the newest report is never lost");
        for (n_before, done) in progress {
            prop_assert!(sent[..n_before].iter().all(|&chunk| chunk < done), "a report keeps its place among chunks");
        }
        let expected = match script.get(fatal) {
            None => Ok(json!(sent)),
            Some(Act::Fail) => Err(ErrorKind::Failed),
            Some(_) => Err(ErrorKind::Panicked),
        };
        prop_assert_eq!(ends, [expected]);
    }

    #[test]
    fn a_stream_that_is_dropped_anywhere_leaves_the_dispatcher_whole(
        script in prop::collection::vec(act(), 0..40),
        n_read in 0_usize..40,
    ) {
        let (dispatcher, _) = dispatcher();
        let context = Context::new().with(Script(Arc::new(Mutex::new(script))));
        let mut stream = dispatcher.stream_with(&context, "scripted", "{}");
        for _ in 0..n_read {
            let _ = poll(&mut stream);
        }
        drop(stream);
        prop_assert_eq!(dispatcher.call_sync("plain", r#"{"n": 1}"#).unwrap().value(), 2);
    }
}
