//! The limits of a program, none of which it can catch.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use test_support::programs::{Ended, program, run_to_end, small_limits};
use toolkit_code::FailureKind::{Cancelled, Memory, Size, Steps, Syntax, Time};
use toolkit_code::engine::{Engine, JavaScript, State};
use toolkit_code::{FailureKind, Limits};

fn with(limits: Limits, code: &str) -> Ended {
    run_to_end(&mut JavaScript::new(limits, Arc::default()), &program(code))
}

fn kind(limits: Limits, code: &str) -> FailureKind {
    with(limits, code).done.outcome.expect_err(code).kind
}

#[test]
fn a_program_cannot_catch_the_end_of_its_steps() {
    for code in [
        "try { for (;;); } catch { return 1 }",
        "try { for (;;); } finally { return 1 }",
        "for (;;) { try { for (;;); } catch { } }",
        "return Promise.race([(async () => { for (;;); })(), 1])",
        "(async () => { for (;;); })().catch(() => 1); return 1",
        "try { await tools.fail({}) } catch { for (;;); }",
        "return { toJSON() { try { for (;;); } catch { return 1 } } }",
    ] {
        assert_eq!(kind(small_limits(), code), Steps, "{code}");
    }
}

#[test]
fn jobs_are_steps() {
    assert_eq!(kind(small_limits().steps(20_000), "for (;;) await null"), Steps);
    assert!(with(small_limits().steps(200_000), "for (let i = 0; i < 1000; i++) await null").done.outcome.is_ok());
}

#[test]
fn the_time_of_a_program_ends() {
    let limits = small_limits().steps(u64::MAX).run_time(Duration::from_millis(50));
    assert_eq!(kind(limits, "for (;;);"), Time);
    assert_eq!(kind(limits, "for (;;) await null"), Time);
    assert_eq!(kind(limits, "try { for (;;); } catch { return 1 }"), Time);
}

#[test]
fn another_thread_stops_a_program() {
    let stop = Arc::new(AtomicBool::new(false));
    let stopper = Arc::clone(&stop);
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        stopper.store(true, Ordering::Relaxed);
    });
    let limits = Limits::default().steps(u64::MAX).run_time(Duration::from_secs(300));
    let mut engine = JavaScript::new(limits, Arc::clone(&stop));
    let State::Done(done) = engine.start(&program("for (;;);")).state else { panic!() };
    assert_eq!(done.outcome.unwrap_err().kind, Cancelled);
    thread.join().unwrap();
    let State::Done(done) = JavaScript::new(Limits::default(), stop).start(&program("return 1")).state else {
        panic!()
    };
    assert_eq!(done.outcome.unwrap_err().kind, Cancelled);
}

#[test]
fn memory_is_limited() {
    assert_eq!(kind(small_limits(), "const a = []; for (;;) a.push({})"), Memory);
    assert_eq!(kind(small_limits(), "(() => { let a = null; for (;;) a = { a } })()"), Memory);
    assert_eq!(kind(small_limits().memory_bytes(1000), "return 1"), Memory);
    assert_eq!(kind(small_limits(), "const f = () => f(); f()"), Memory);
    let code = "const a = []; for (;;) a.push(new TextEncoder().encode('x'.repeat(100000)))";
    assert_eq!(kind(small_limits(), code), Memory);
    let ended = with(small_limits().memory_bytes(64 << 20), "return 'x'.repeat(1 << 25).length");
    assert_eq!(ended.value(), 1 << 25);
    assert!(ended.usage.memory_bytes > 50_000, "{:?}", ended.usage);
}

#[test]
fn texts_are_limited() {
    let limits = small_limits().code_bytes(20);
    assert_eq!(kind(limits, "return 'xxxxxxxxxxxxxxxx'"), Size);
    assert_eq!(kind(limits, ""), Syntax);
    assert_eq!(kind(small_limits().value_bytes(10), "return 'xxxxxxxxx'"), Size);
    assert_eq!(with(small_limits().value_bytes(11), "return 'xxxxxxxxx'").value(), "xxxxxxxxx");
    let ended =
        with(small_limits().message_bytes(20), "try { await tools.echo('x'.repeat(30)) } catch (e) { return e.name }");
    assert_eq!((ended.value(), ended.calls.len()), ("RangeError".into(), 0));
}

#[test]
fn output_beyond_the_limit_is_dropped_and_counted() {
    let ended = with(small_limits().output_bytes(10), "print('12345'); print('67890'); print('äöü'); return 1");
    assert_eq!(ended.lines(), ["12345", "6789", "[7 bytes of output were dropped: at most 10 are kept]"]);
    assert_eq!(ended.value(), 1);
    let ended = with(small_limits().output_bytes(4), "print('aää'); await tools.echo({}); print('b')");
    assert_eq!(ended.lines(), ["aä", "[3 bytes of output were dropped: at most 4 are kept]"]);
    let ended = with(small_limits().output_bytes(100), "for (let i = 0; i < 1000; i++) print('')");
    assert_eq!(ended.lines().len(), 100);
}

#[test]
fn the_message_names_the_limit_and_what_to_do() {
    for (code, words) in [
        ("for (;;);", ["1000000 steps", "check for a loop"]),
        ("const a = []; for (;;) a.push({})", ["exceeds its memory", "less data at a time"]),
        ("const f = () => f(); f()", ["nested too deeply", "check for a recursion"]),
        ("return 'x'.repeat(2e6)", ["1048576 bytes", "return only what is needed"]),
    ] {
        let message = with(small_limits(), code).done.outcome.unwrap_err().message;
        assert!(words.iter().all(|words| message.contains(words)), "{message}");
    }
}
