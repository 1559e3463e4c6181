//! The threads that read a pipe and run tools.

use std::io::{BufRead, BufReader, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use toolkit::{catalog, tool};

use super::pipes::Pipes;
use super::*;

/// Blocks its thread.
#[tool]
fn block(ms: u64) -> u64 {
    thread::sleep(Duration::from_millis(ms));
    ms
}

/// Computes.
#[tool]
fn spin(ms: u64) -> u64 {
    let end = Instant::now() + Duration::from_millis(ms);
    while Instant::now() < end {
        std::hint::spin_loop();
    }
    ms
}

/// Reverses a text.
#[tool]
fn reverse(text: String) -> String {
    text.chars().rev().collect()
}

fn pipes() -> Pipes {
    let dispatcher = Dispatcher::new(catalog![block, spin, reverse].unwrap()).unwrap();
    Pipes::of(Server::new(dispatcher).unwrap()).0
}

fn line(id: u64, tool: &str, arguments: Value) -> String {
    request(id, "tools/call", call(tool, arguments)).to_string()
}

/// An hour.
const FOREVER: u64 = 3_600_000;

#[tokio::test(flavor = "multi_thread")]
async fn calls_and_pings_that_are_read_with_calls_that_block_are_answered() {
    for tool in ["block", "spin"] {
        // Spinning takes a core from other tests.
        let ms = if tool == "spin" { 5_000 } else { FOREVER };
        let mut pipes = pipes();
        let held = [line(1, tool, json!({ "ms": ms })), line(2, tool, json!({ "ms": ms }))];
        let rest = [line(3, "reverse", json!({ "text": "abc" })), request(4, "ping", json!({})).to_string()];
        let started = Instant::now();
        pipes.write(&[held, rest].concat().join("\n"));
        let mut ids = [pipes.read(), pipes.read()].map(|answer| answer["id"].as_u64().unwrap());
        ids.sort_unstable();
        assert_eq!(ids, [3, 4], "{tool}");
        for id in 5..40 {
            if id % 2 == 0 {
                pipes.write(&line(id, "block", json!({ "ms": FOREVER })));
            } else {
                pipes.write(&line(id, "reverse", json!({ "text": "x" })));
                assert_eq!(pipes.read()["id"], id, "{tool}");
            }
        }
        assert!(ms == FOREVER || started.elapsed() < Duration::from_millis(ms), "nothing waited for `{tool}`");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_blocks_the_thread_that_reads_can_be_cancelled() {
    let mut pipes = pipes();
    pipes.write(&line(1, "block", json!({ "ms": FOREVER })));
    pipes.write(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    // The id is free once the call has ended.
    while pipes.ask(&request(1, "tools/call", call("reverse", json!({ "text": "ab" })))).get("error").is_some() {}
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_writes_much_before_it_reads_is_served() {
    let mut pipes = pipes();
    let text = "x".repeat(20_000);
    for id in 0..100 {
        pipes.write(&line(id, "reverse", json!({ "text": text })));
    }
    let mut ids: Vec<u64> = (0..100).map(|_| pipes.read()["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..100).collect::<Vec<_>>());
}

/// Returns the median duration of an exchange.
fn median(mut exchange: impl FnMut()) -> Duration {
    let mut durations: Vec<Duration> = (0..301)
        .map(|_| {
            let started = Instant::now();
            exchange();
            started.elapsed()
        })
        .collect();
    durations.sort_unstable();
    durations[durations.len() / 2]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_answered_promptly_beside_threads_that_compute() {
    let is_over = Arc::new(AtomicBool::new(false));
    let computing: Vec<_> = (0..3 * thread::available_parallelism().unwrap().get())
        .map(|_| {
            let is_over = Arc::clone(&is_over);
            thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        })
        .collect();
    // The least that an exchange with another thread takes on this machine.
    let (input, mut to) = std::io::pipe().unwrap();
    let (from, mut output) = std::io::pipe().unwrap();
    let echo = thread::spawn(move || {
        for line in BufReader::new(input).lines() {
            writeln!(output, "{}", line.unwrap()).unwrap();
        }
    });
    let mut from = BufReader::new(from);
    let mut read = String::new();
    let least = median(|| {
        writeln!(to, "abc").unwrap();
        read.clear();
        from.read_line(&mut read).unwrap();
    });
    drop(to);
    echo.join().unwrap();
    let mut pipes = pipes();
    let taken = median(|| {
        pipes.write(&line(1, "reverse", json!({ "text": "abc" })));
        assert_eq!(pipes.read()["id"], 1);
    });
    is_over.store(true, Ordering::Relaxed);
    computing.into_iter().for_each(|thread| thread.join().unwrap());
    // A thread that yields waits for a time slice of each thread that computes, 3 ms or more.
    assert!(taken < 4 * least + Duration::from_millis(1), "{taken:?} {least:?}");
}
