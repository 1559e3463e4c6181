//! Calls, and what programs do with their results.

use serde_json::{Value, json};
use test_support::programs::{answer, program, run_with, small_limits};
use toolkit_code::FailureKind;
use toolkit_code::engine::{Answer, Engine, JavaScript, State, TOO_MANY_CALLS, Thrown};

use crate::engine::{engine, run};

#[test]
fn a_missing_await_is_an_error_where_the_result_is_used() {
    for (code, says) in [
        ("return calls.sum", "`sum` is read from a Promise in place of its result: await it first"),
        ("const { items } = calls", "`items` is read from a Promise"),
        ("return calls.items || []", "`items` is read from a Promise"),
        ("for (const call of calls) print(call)", "a Promise is used in place of its result: await it first"),
        ("return `sum: ${calls}`", "a Promise is used"),
        ("return calls + 1", "a Promise is used"),
        ("return JSON.stringify(calls)", "`toJSON` is read from a Promise"),
        ("const all = Promise.all([calls])\nreturn all.map((call) => call)", "`map` is read from a Promise"),
        ("const get = async () => calls\nreturn get().sum", "`sum` is read from a Promise"),
    ] {
        let summary = run(&format!("const calls = tools.echo({{}})\n{code}")).summary();
        assert!(summary.starts_with("exception: TypeError: ") && summary.contains(says), "{code}: {summary}");
        assert!(summary.contains("; the call in line 1 is not awaited"), "{code}: {summary}");
    }
}

#[test]
fn a_promise_is_an_ordinary_object() {
    let code = "const call = tools.echo({})
        call.note = 1
        const { then, missing = 2 } = { ...call }
        return [call.note, call instanceof Promise, call instanceof Object, `${Object.prototype.toString.call(call)}`,
            call.hasOwnProperty('sum'), 'sum' in call, call.constructor === Promise, [].concat(call).length, missing,
            await call, await call.then(() => 3).finally(() => 4)]";
    let value = json!([1, true, true, "[object Promise]", false, false, true, 1, 2, {}, 3]);
    assert_eq!(run(code).value(), value);
}

#[test]
fn calls_that_are_made_together_are_one_step() {
    let ended = run("return Promise.all([1, 2, 3].map((a) => tools.math.add({ a, b: 1 })))");
    assert_eq!(ended.value(), json!([2, 3, 4]));
    assert_eq!(ended.steps[0], 3);
}

#[test]
fn a_request_names_what_it_wants_and_its_line() {
    let ended = run("\
await tools.math.add({ a: 1, b: 2 });
await tools.echo();
await call('echo', { a: 1 });
await chain([{ tool: 'echo' }]);
await search('issues', 5);
await namespaces();
await describe('a', ['b', 'c']);
await examples('a', 2);
await sleep(20);");
    let calls: Vec<Value> = ended.calls.iter().map(|call| serde_json::from_str(call).unwrap()).collect();
    let requests = [
        json!({ "run_tool": { "id": "math:add:1.0.0", "args": { "a": 1, "b": 2 } } }),
        json!({ "run_tool": { "id": "echo", "args": {} } }),
        json!({ "run_tool": { "id": "echo", "args": { "a": 1 } } }),
        json!({ "run_chain": { "steps": [{ "tool": "echo" }] } }),
        json!({ "search_tools": { "query": "issues", "limit": 5 } }),
        json!("list_namespaces"),
        json!({ "describe_tool": { "ids": ["a", "b", "c"] } }),
        json!({ "list_tool_examples": { "id": "a", "max": 2 } }),
        json!({ "sleep": { "ms": 20 } }),
    ];
    for (idx, request) in requests.into_iter().enumerate() {
        assert_eq!(calls[idx], json!({ "id": idx + 1, "line": idx + 1, "request": request }));
    }
}

#[test]
fn a_failed_call_throws_an_error_with_its_fields() {
    let ended = run("\
try {
  await tools.math.add({ a: 'one' });
} catch (error) {
  const { name, kind, tool, retryable, violations, message, stack } = error;
  return [name, kind, tool, retryable, violations, message, error instanceof ToolError, error instanceof Error,
    `${error}`, /program.js:2:/.test(stack)];
}");
    let message = "/a must be an integer";
    let fields = json!([
        "ToolError", "invalid_arguments", "math:add:1.0.0", false, [{ "location": "/a" }], message, true, true,
        "ToolError: /a must be an integer", true
    ]);
    assert_eq!(ended.value(), fields);
}

#[test]
fn an_uncaught_failure_of_a_call_names_the_tool() {
    let failure = run("await tools.fail({})").done.outcome.unwrap_err();
    assert_eq!((failure.kind, failure.tool.as_deref()), (FailureKind::Tool, Some("fail")));
}

#[test]
fn a_call_beyond_the_number_of_calls_has_a_kind_of_its_own() {
    let mut engine = engine();
    let State::Waiting(calls) = engine.start(&program("await tools.echo({})")).state else { panic!() };
    let thrown = Thrown {
        kind: TOO_MANY_CALLS.to_owned(),
        message: "too many".to_owned(),
        tool: None,
        retryable: false,
        violations: None,
    };
    let answer = Answer { id: calls[0].id, at: 0, outcome: Err(thrown), content: None };
    let State::Done(done) = engine.resume(vec![answer]).state else { panic!() };
    assert_eq!(done.outcome.unwrap_err().kind, FailureKind::Calls);
}

#[test]
fn calls_that_nothing_awaits_are_waited_for() {
    let ended = run("tools.math.add({ a: 1, b: 2 }).then((sum) => print(sum)); return 1;");
    assert_eq!((ended.value(), ended.lines()), (json!(1), vec!["3"]));
    let ended =
        run("const sums = []; [1, 2].forEach(async (a) => sums.push(await tools.math.add({ a, b: 1 }))); return sums;");
    assert_eq!(ended.value(), json!([2, 3]));
    let ended = run("return { sum: tools.math.add({ a: 1, b: 2 }), all: [Promise.resolve(5)] };");
    assert_eq!(ended.value(), json!({ "sum": 3, "all": [5] }));
}

#[test]
fn a_failed_call_that_nothing_awaits_is_printed() {
    let ended = run("tools.fail({});\nreturn 1;");
    assert_eq!(ended.lines(), ["not awaited: the server is restarting (line 1, col 6)"]);
    assert!(ended.printed[0].is_error);
    assert!(run("const failed = tools.fail({}); await sleep(5); try { await failed } catch {}").printed.is_empty());
}

#[test]
fn running_calls_are_waited_for_after_the_failure_of_the_program() {
    let mut engine = engine();
    let step = engine.start(&program("tools.echo({}).then(() => tools.echo({})); throw new Error('stop');"));
    let State::Waiting(calls) = step.state else { panic!("{step:?}") };
    let State::Done(done) = engine.resume(vec![answer(&calls[0], 0)]).state else { panic!() };
    assert_eq!(done.outcome.unwrap_err().message, "stop");
}

#[test]
fn pauses_are_not_waited_for_after_the_end_of_the_program() {
    let ended = run("return Promise.race([tools.math.add({ a: 1, b: 2 }), sleep(60_000)]);");
    assert_eq!((ended.value(), ended.steps), (json!(3), vec![2]));
}

#[test]
fn timers_run_in_the_order_of_their_answers() {
    let code = "\
setTimeout((a, b) => print('second', a, b), 20, 1, 2);
setTimeout(() => print('first'), 10);
clearTimeout(setTimeout(() => print('never'), 5));
await sleep(30);";
    let ended = run_with(&mut engine(), &program(code), |calls| {
        let ms =
            |call: &toolkit_code::engine::Call| format!("{:?}", call.request).len() as u64 * 1000 + u64::from(call.id);
        let _ = ms;
        let next = calls.iter().position(|call| format!("{:?}", call.request).contains("ms: 10")).unwrap_or(0);
        calls.remove(next)
    });
    assert_eq!(ended.lines(), ["first", "second 1 2"]);
}

#[test]
fn blocks_of_content_are_references_that_a_program_shows() {
    let ended = run("const image = await tools.image({}); show(image); return image;");
    assert_eq!(
        ended.value(),
        json!({ "content": [{ "type": "image", "mimeType": "image/png", "call": 1, "block": 0 }] })
    );
    assert_eq!(ended.done.shown.iter().map(|shown| (shown.call, shown.block)).collect::<Vec<_>>(), [(1, 0)]);
    let ended = run("const blocks = content(await tools.image({})); show({ ...blocks[0] }); return content(3).length;");
    assert_eq!((ended.value(), ended.done.shown.len()), (json!(0), 1));
    assert_eq!(run("return tools.nothing({})").value(), Value::Null);
}

#[test]
fn content_beside_a_structured_value_is_kept() {
    let mut engine = JavaScript::new(small_limits(), std::sync::Arc::default());
    let code = "const result = await tools.echo({}); return [result, content(result)[0].text];";
    let State::Waiting(calls) = engine.start(&program(code)).state else { panic!() };
    let raw = |json: &str| serde_json::value::RawValue::from_string(json.to_owned()).unwrap();
    let content = Some(raw(r#"[{"type":"text","text":"hi"}]"#));
    let answer = Answer { id: calls[0].id, at: 0, outcome: Ok(raw(r#"{"a":1}"#)), content };
    let State::Done(done) = engine.resume(vec![answer]).state else { panic!() };
    assert_eq!(done.outcome.unwrap().get(), r#"[{"a":1},"hi"]"#);
}

#[test]
fn an_answer_to_no_call_is_ignored() {
    let mut engine = engine();
    let State::Waiting(calls) = engine.start(&program("return tools.math.add({ a: 1, b: 2 })")).state else { panic!() };
    let mut other = answer(&calls[0], 0);
    other.id = 99;
    let State::Waiting(more) = engine.resume(vec![other]).state else { panic!() };
    assert!(more.is_empty());
    let State::Done(done) = engine.resume(vec![answer(&calls[0], 0), answer(&calls[0], 0)]).state else { panic!() };
    assert_eq!(done.outcome.unwrap().get(), "3");
}

#[test]
fn an_engine_that_was_not_started_and_one_that_has_ended_answer_with_a_failure() {
    let State::Done(done) = engine().resume(Vec::new()).state else { panic!() };
    assert!(done.outcome.is_err());
    let mut engine = engine();
    let State::Done(_) = engine.start(&program("return 1")).state else { panic!() };
    let State::Done(done) = engine.resume(Vec::new()).state else { panic!() };
    assert!(done.outcome.is_err());
}
