//! Items sent from other tasks and threads, and by several emitters.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use serde_json::json;
use toolkit::call::ErrorKind;
use toolkit::stream::{Emitter, Event};
use toolkit::{Chunks, Context, Dispatcher, ToolError, catalog, tool};

/// The sender of the items of `from`.
#[derive(Clone, Copy, Debug)]
enum Sender {
    Task,
    DetachedTask,
    Thread,
    ManyTasks,
    SelfAndTask,
}

const ALL: [Sender; 5] = [Sender::Task, Sender::DetachedTask, Sender::Thread, Sender::ManyTasks, Sender::SelfAndTask];

/// The channels between the tools of this file and the tests.
#[derive(Clone)]
struct Told(Arc<Mutex<mpsc::Sender<Result<(), ErrorKind>>>>, Arc<AtomicUsize>);

impl Told {
    /// Sends until the end or the first error, and tells how it went.
    async fn send_all(self, items: Emitter<usize>, numbers: impl Iterator<Item = usize> + Send) {
        let mut outcome = Ok(());
        for number in numbers {
            outcome = items.send(number).await.map_err(|error| error.kind());
            if outcome.is_err() {
                break;
            }
            self.1.fetch_add(1, Ordering::SeqCst);
            if number % 3 == 0 {
                tokio::task::yield_now().await;
            }
        }
        let _ = self.0.lock().unwrap().send(outcome);
    }
}

fn told() -> (Told, mpsc::Receiver<Result<(), ErrorKind>>) {
    let (sender, receiver) = mpsc::channel();
    (Told(Arc::new(Mutex::new(sender)), Arc::default()), receiver)
}

/// Numbers below `n`, sent from somewhere.
#[tool(namespace = "emit")]
pub(super) fn numbers(n: usize, ctx: &Context) -> Chunks<usize> {
    let (from, told) = (*ctx.get::<Sender>().expect("the test has set it"), ctx.get::<Told>().expect("so it has"));
    let told = told.clone();
    Chunks::emit(async move |items| {
        match from {
            Sender::Task => {
                tokio::spawn(told.send_all(items, 0..n)).await.map_err(ToolError::internal)?;
            }
            Sender::DetachedTask => drop(tokio::spawn(told.send_all(items, 0..n))),
            Sender::Thread => {
                let runtime = tokio::runtime::Handle::current();
                std::thread::spawn(move || runtime.block_on(told.send_all(items, 0..n)));
            }
            Sender::ManyTasks => {
                for task in 0..10 {
                    tokio::spawn(
                        told.clone().send_all(items.clone(), (0..n).filter(move |number| number % 10 == task)),
                    );
                }
            }
            Sender::SelfAndTask => {
                tokio::spawn(told.clone().send_all(items.clone(), 0..n / 2));
                told.send_all(items, n / 2..n).await;
            }
        }
        Ok(())
    })
}

fn dispatcher() -> Dispatcher {
    Dispatcher::new(catalog![numbers, fails].unwrap()).unwrap()
}

fn hear(hears: &mpsc::Receiver<Result<(), ErrorKind>>) -> Result<(), ErrorKind> {
    hears.recv_timeout(Duration::from_secs(60)).expect("the sender hangs")
}

async fn soon<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), work).await.expect("the stream hangs")
}

async fn check_all() {
    let dispatcher = dispatcher();
    for from in ALL {
        let (told, _hears) = told();
        let context = Context::new().with(from).with(told);
        let arguments = json!({ "n": 200 });
        let mut stream = dispatcher.stream_with(&context, "numbers", &arguments);
        let mut seen = Vec::new();
        let result = loop {
            match soon(stream.next()).await.unwrap().event {
                Event::Chunk(chunk) => seen.push(chunk.value().as_u64().unwrap()),
                Event::Done(result) => break result,
                other => panic!("{from:?}: {other:?}"),
            }
        };
        assert!(soon(stream.next()).await.is_none());
        assert_eq!(result.value(), json!(seen), "{from:?}");
        seen.sort_unstable();
        assert!(seen.iter().copied().eq(0..200), "{from:?}: {seen:?}");
        let whole = soon(dispatcher.call_with(&context, "numbers", &arguments)).await.unwrap();
        assert_eq!(whole.value().as_array().unwrap().len(), 200, "{from:?}");
    }
}

#[tokio::test]
async fn items_come_from_any_task_or_thread() {
    check_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn so_they_do_on_several_threads() {
    check_all().await;
}

async fn check_drops() {
    let dispatcher = dispatcher();
    for from in ALL {
        for n_read in [0, 1, 2, 17, 40] {
            let (told, hears) = told();
            let context = Context::new().with(from).with(told.clone());
            let mut stream = dispatcher.stream_with(&context, "numbers", json!({ "n": 1_000_000 }));
            for _ in 0..n_read {
                assert!(matches!(soon(stream.next()).await.unwrap().event, Event::Chunk(_)));
            }
            drop(stream);
            // Let the senders proceed as far as they can, whether they were stopped or not.
            tokio::task::yield_now().await;
            drop(context);
            let n_sent = Arc::clone(&told.1);
            drop(told);
            while let Ok(outcome) = hears.recv_timeout(Duration::from_secs(60)) {
                assert_eq!(outcome, Err(ErrorKind::Cancelled), "{from:?} after {n_read}");
                tokio::task::yield_now().await;
            }
            assert!(n_sent.load(Ordering::SeqCst) <= n_read + 20, "{from:?} after {n_read}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sender_ends_with_an_error_once_the_stream_is_dropped() {
    check_drops().await;
}

#[tokio::test]
async fn a_sender_that_waits_is_woken_when_the_stream_is_dropped() {
    let (told, hears) = told();
    let mut chunks = Chunks::emit(|items| {
        tokio::spawn(told.send_all(items, 0..10));
        async { Ok(()) }
    });
    assert_eq!(soon(chunks.next()).await.unwrap().unwrap(), 0);
    // The second item is in the slot, and its sender waits.
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert!(hears.try_recv().is_err());
    drop(chunks);
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert_eq!(hear(&hears), Err(ErrorKind::Cancelled));
}

#[tokio::test]
async fn an_emitter_that_outlives_its_stream_fails_at_once() {
    let kept = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&kept);
    let mut chunks = Chunks::emit(move |items| {
        *keep.lock().unwrap() = Some(items);
        async { Err("it went wrong".into()) }
    });
    assert_eq!(soon(chunks.next()).await.unwrap().unwrap_err().message(), "it went wrong");
    assert!(soon(chunks.next()).await.is_none());
    let items: Emitter<u8> = kept.lock().unwrap().take().unwrap();
    let error = soon(items.send(1)).await.unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Cancelled, "the receiver of the items was dropped"));
}

/// Fails while another task sends.
#[tool(namespace = "emit")]
pub(super) fn fails(ctx: &Context) -> Chunks<usize> {
    let told = ctx.get::<Told>().expect("the test has set it").clone();
    Chunks::emit(async move |items| {
        tokio::spawn(told.send_all(items.clone(), 0..1_000_000));
        items.send(7).await?;
        Err("it went wrong".into())
    })
}

#[tokio::test]
async fn an_error_of_the_function_ends_the_stream_and_its_senders() {
    let (told, hears) = told();
    let context = Context::new().with(told);
    let mut stream = dispatcher().stream_with(&context, "fails", "{}");
    let error = loop {
        match soon(stream.next()).await.unwrap().event {
            Event::Chunk(_) => {}
            Event::Error(error) => break error,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(error.message(), "it went wrong");
    assert!(soon(stream.next()).await.is_none());
    let ended = soon(tokio::task::spawn_blocking(move || hear(&hears)));
    assert_eq!(ended.await.unwrap(), Err(ErrorKind::Cancelled));
}

/// A sender that is polled repeatedly keeps one waker, and a dropped one keeps none.
#[tokio::test]
async fn a_send_that_is_given_up_leaves_the_stream_as_it_was() {
    let mut chunks = Chunks::emit(async |items| {
        for number in 0..100 {
            let mut sent = std::pin::pin!(items.send(number));
            let mut is_given_up = false;
            std::future::poll_fn(|cx| {
                is_given_up = sent.as_mut().poll(cx).is_pending();
                std::task::Poll::Ready(())
            })
            .await;
            assert!(is_given_up);
            tokio::task::yield_now().await;
        }
        Ok(())
    });
    let mut seen = Vec::new();
    while let Some(item) = soon(chunks.next()).await {
        seen.push(item.unwrap());
    }
    assert!(seen.is_sorted() && seen.contains(&0), "{seen:?}");
}
