//! Programs that are repeated from their answers.

use std::fmt::Write as _;

use proptest::prelude::*;
use test_support::programs::{answer, program, run_to_end, run_with};
use toolkit_code::engine::{Answer, Call, Engine, State, Step};

use crate::engine::engine;

const PROGRAM: &str = "\
const seen = new Map();
for (let i = 0; i < 2000; i++) seen.set(`k${i % 97}`, (seen.get(`k${i % 97}`) ?? 0) + Math.random());
const sums = await Promise.all([...seen.keys()].slice(0, 5).map((key, i) => tools.math.add({ a: i, b: key.length })));
try { await tools.fail({}); } catch (error) { console.log(error.message, Date.now()); }
await sleep(10);
return [sums, 'aab'.replace(/a+/g, (a) => a.length), [...seen.values()][0]];";

#[test]
fn steps_are_the_same_in_each_run() {
    let first = run_to_end(&mut engine(), &program(PROGRAM));
    let value = first.value();
    for _ in 0..100 {
        let ended = run_to_end(&mut engine(), &program(PROGRAM));
        assert_eq!(ended.usage.steps, first.usage.steps);
        assert_eq!((ended.value(), &ended.calls, &ended.printed), (value.clone(), &first.calls, &first.printed));
    }
}

/// A task of a program: some calls, one after the other.
#[derive(Clone, Debug)]
enum Act {
    Add(i32),
    Fail,
    Sleep(u8),
    Spin(u16),
    Random,
    Now,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        any::<i32>().prop_map(Act::Add),
        Just(Act::Fail),
        any::<u8>().prop_map(Act::Sleep),
        (0..20_000_u16).prop_map(Act::Spin),
        Just(Act::Random),
        Just(Act::Now),
    ]
}

fn code(tasks: &[Vec<Act>]) -> String {
    let mut code = "const log = [];\nawait Promise.all([\n".to_owned();
    for task in tasks {
        code.push_str("  (async () => {\n");
        for act in task {
            match act {
                Act::Add(a) => writeln!(code, "    log.push(await tools.math.add({{ a: {a}, b: log.length }}));"),
                Act::Fail => writeln!(code, "    try {{ await tools.fail({{}}) }} catch (e) {{ log.push(e.kind) }}"),
                Act::Sleep(ms) => writeln!(code, "    await sleep({ms});"),
                Act::Spin(n) => writeln!(code, "    for (let i = 0; i < {n}; i++); await null;"),
                Act::Random => writeln!(code, "    log.push(Math.random());"),
                Act::Now => writeln!(code, "    log.push(Date.now()); print(log.length);"),
            }
            .unwrap();
        }
        code.push_str("  })(),\n");
    }
    code.push_str("]);\nreturn log;");
    code
}

/// Runs a program again from its answers, which are given in groups, and returns its last step and its calls.
fn replay(code: &str, answers: &[Answer], group: usize) -> (Step, Vec<String>) {
    let mut engine = engine();
    let mut step = engine.start(&program(code));
    let mut calls = Vec::new();
    let mut note = |step: &Step| {
        if let State::Waiting(new) = &step.state {
            calls.extend(new.iter().map(|call| serde_json::to_string(call).unwrap()));
        }
    };
    note(&step);
    for answers in answers.chunks(group) {
        step = engine.resume(answers.to_vec());
        note(&step);
    }
    (step, calls)
}

proptest! {
    #![proptest_config(test_support::random(64))]

    #[test]
    fn the_answers_in_their_order_repeat_a_program(
        tasks in prop::collection::vec(prop::collection::vec(act(), 0..6), 1..6),
        picks in prop::collection::vec(any::<prop::sample::Index>(), 64),
        group in 1..4_usize,
    ) {
        let code = code(&tasks);
        let mut answers: Vec<Answer> = Vec::new();
        let mut picks = picks.iter().cycle();
        let ended = run_with(&mut engine(), &program(&code), |calls: &mut Vec<Call>| {
            let call = calls.remove(picks.next().unwrap().index(calls.len()));
            answers.push(answer(&call, program("").started_at + 5 * (answers.len() as u64 + 1)));
            call
        });
        let (step, calls) = replay(&code, &answers, group);
        let State::Done(done) = step.state else { panic!("it waits for more") };
        let value: serde_json::Value = serde_json::from_str(done.outcome.unwrap().get()).unwrap();
        prop_assert_eq!(value, ended.value());
        prop_assert_eq!(step.usage.steps, ended.usage.steps);
        if group == 1 {
            prop_assert_eq!(calls, ended.calls);
        }
    }
}
