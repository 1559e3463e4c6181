//! Programs that wait for decisions.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use serde_json::{Value, json};
use toolkit::call::ErrorKind;
use toolkit::{Catalog, Context, Dispatcher, Tool, ToolError};
use toolkit_backends::{Backends, LocalBackend};
use toolkit_code::sandbox::Inline;
use toolkit_code::{CodeMode, Execution, FailureKind, Journal, JournalKey, Limits, Outcome, Program};
use toolkit_tower::{Approval, Decision};

/// The number of times that each call has run.
#[derive(Clone, Default)]
struct Counts(Arc<Mutex<BTreeMap<u64, usize>>>);

impl Counts {
    fn add(&self, id: u64) {
        *self.0.lock().unwrap().entry(id).or_default() += 1;
    }
}

/// Returns code mode with one tool, which counts its calls, fails for some of them, and is approved if `decide` says so.
async fn code(counts: &Counts, decide: impl Fn(u64) -> Decision + Send + Sync + 'static) -> CodeMode {
    let counts = counts.clone();
    let local = LocalBackend::new("work");
    let input = json!({
        "type": "object",
        "properties": { "id": { "type": "integer" }, "wait": { "type": "integer" }, "fails": { "type": "boolean" } },
        "required": ["id"],
    });
    local.add(Tool::builder("task").input(input).build().unwrap(), move |arguments: Value, _: Context| {
        let counts = counts.clone();
        async move {
            let id = arguments["id"].as_u64().unwrap();
            counts.add(id);
            let wait = arguments["wait"].as_u64().unwrap_or(0);
            tokio::time::sleep(std::time::Duration::from_millis(wait)).await;
            match arguments["fails"] == true {
                true => Err(ToolError::failed(format!("{id} fails"))),
                false => Ok(json!(id * 10)),
            }
        }
    });
    let backends = Backends::new();
    backends.register(local).unwrap();
    let collected = backends.collect(Catalog::new([]).unwrap()).await;
    let decide = Arc::new(decide);
    let approval = Approval::new(move |request| {
        let decision = decide(request.arguments()["id"].as_u64().unwrap());
        async { decision }
    });
    let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).layer(approval).build().unwrap();
    CodeMode::new(dispatcher, Inline::javascript())
}

fn key() -> JournalKey {
    JournalKey::from_secret("k".repeat(32)).unwrap()
}

/// Moves a journal to another process.
fn moved(journal: &Journal) -> Journal {
    Journal::open(&journal.seal(&key(), "ada"), &key(), "ada").unwrap()
}

fn done(outcome: Outcome) -> Execution {
    match outcome {
        Outcome::Done(execution) => execution,
        outcome => panic!("{outcome:?}"),
    }
}

fn paused(outcome: Outcome) -> Journal {
    match outcome {
        Outcome::Paused(journal) => journal,
        outcome => panic!("{outcome:?}"),
    }
}

#[tokio::test]
async fn a_program_waits_for_an_approval_and_continues_in_another_process() {
    let counts = Counts::default();
    let program = "console.log('begun')
        const first = await tools.work.task({ id: 1 })
        const second = await tools.work.task({ id: 2 })
        return first + second";
    let code_before = code(&counts, |id| match id {
        2 => Decision::Later("ticket 7".to_owned()),
        _ => Decision::Approve,
    })
    .await;
    let outcome = code_before.start(&Context::new(), Limits::default(), Program::javascript(program)).await.unwrap();
    let journal = paused(outcome);
    assert_eq!(journal.waiting(), ["the call waits for approval: ticket 7"]);
    assert_eq!(journal.n_calls(), 1);

    let after = code(&counts, |_| Decision::Approve).await;
    let execution = done(after.resume(&Context::new(), Limits::default(), moved(&journal)).await.unwrap());
    assert_eq!((execution.value(), &*execution.stdout()), (json!(30), "begun\n"));
    let calls = execution.calls.iter().map(|call| (call.args.get(), call.result.as_ref().unwrap().get()));
    assert_eq!(calls.collect::<Vec<_>>(), [(r#"{"id":1}"#, "10"), (r#"{"id":2}"#, "20")]);
    assert_eq!(*counts.0.lock().unwrap(), BTreeMap::from([(1, 1), (2, 1)]));
}

#[tokio::test]
async fn a_denied_call_throws_after_the_pause() {
    let counts = Counts::default();
    let program = "try { await tools.work.task({ id: 1 }) } catch (error) { return error.kind }";
    let before = code(&counts, |_| Decision::Later(String::new())).await;
    let outcome = before.start(&Context::new(), Limits::default(), Program::javascript(program)).await.unwrap();
    let after = code(&counts, |_| Decision::Deny("no".to_owned())).await;
    let resumed = after.resume(&Context::new(), Limits::default(), paused(outcome)).await.unwrap();
    assert_eq!(done(resumed).value(), "denied");
    assert!(counts.0.lock().unwrap().is_empty());
}

#[tokio::test]
async fn calls_beside_the_one_that_waits_finish_first() {
    let counts = Counts::default();
    let program = "const ids = [1, 2, 3, 4]
        return await Promise.all(ids.map(id => tools.work.task({ id, wait: id * 20 })))";
    let before = code(&counts, |id| if id == 1 { Decision::Later(String::new()) } else { Decision::Approve }).await;
    let outcome = before.start(&Context::new(), Limits::default(), Program::javascript(program)).await.unwrap();
    let journal = paused(outcome);
    assert_eq!(journal.n_calls(), 3);
    let after = code(&counts, |_| Decision::Approve).await;
    let execution = done(after.resume(&Context::new(), Limits::default(), journal).await.unwrap());
    assert_eq!(execution.value(), json!([10, 20, 30, 40]));
    assert!(counts.0.lock().unwrap().values().all(|&count| count == 1), "{:?}", counts.0);
}

#[tokio::test]
async fn without_pauses_a_program_gets_the_error() {
    let counts = Counts::default();
    let before = code(&counts, |_| Decision::Later("ticket 7".to_owned())).await;
    let program = "try { await tools.work.task({ id: 1 }) } catch (error) { return [error.kind, error.message] }";
    let execution = before.run(Program::javascript(program)).await.unwrap();
    assert_eq!(execution.value(), json!(["pending", "work:task: the call waits for approval: ticket 7"]));
}

#[tokio::test]
async fn a_sealed_journal_is_opened_with_its_key_for_its_purpose_alone() {
    let before = code(&Counts::default(), |_| Decision::Later(String::new())).await;
    let program = Program::javascript("await tools.work.task({ id: 1 })");
    let journal = paused(before.start(&Context::new(), Limits::default(), program).await.unwrap());
    let sealed = journal.seal(&key(), "ada");
    assert!(Journal::open(&sealed, &key(), "ada").is_ok());
    assert!(Journal::open(&sealed, &key(), "eve").is_err());
    let other = JournalKey::from_secret("x".repeat(32)).unwrap();
    assert!(Journal::open(&sealed, &other, "ada").is_err());
    for idx in 0..sealed.len() {
        let mut changed = sealed.clone().into_bytes();
        changed[idx] = if changed[idx] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(changed).unwrap();
        assert!(Journal::open(&changed, &key(), "ada").is_err(), "{idx}");
    }
}

#[tokio::test]
async fn a_journal_of_another_program_is_refused() {
    let counts = Counts::default();
    let before = code(&counts, |id| if id == 2 { Decision::Later(String::new()) } else { Decision::Approve }).await;
    let program = Program::javascript("await tools.work.task({ id: 1 }); await tools.work.task({ id: 2 })");
    let journal = paused(before.start(&Context::new(), Limits::default(), program).await.unwrap());
    let json = serde_json::to_value(&journal).unwrap();
    for (path, value) in [
        ("/program/code", json!("await tools.work.task({ id: 9 }); await tools.work.task({ id: 2 })")),
        ("/entries/0/request/run_tool/args", json!({ "id": 9 })),
        ("/entries/0/answer/id", json!(7)),
    ] {
        let mut changed = json.clone();
        *changed.pointer_mut(path).unwrap() = value;
        let changed: Journal = serde_json::from_str(&changed.to_string()).unwrap();
        let execution = done(before.resume(&Context::new(), Limits::default(), changed).await.unwrap());
        assert_eq!(execution.failure().unwrap().kind, FailureKind::Violation, "{path}: {execution:?}");
    }
    assert_eq!(*counts.0.lock().unwrap(), BTreeMap::from([(1, 1)]), "no call ran");
    let mut newer = json.clone();
    newer["version"] = json!(2);
    let newer: Result<Journal, _> = serde_json::from_str(&newer.to_string());
    let resumed = before.resume(&Context::new(), Limits::default(), newer.unwrap()).await;
    assert!(resumed.is_err(), "a journal of another version");
}

/// A statement of a random program.
#[derive(Clone, Debug)]
enum Statement {
    /// A call that is awaited, and whether it fails.
    Call(bool),
    /// Calls in parallel, by their waits in milliseconds.
    All(Vec<u8>),
    /// A call that is awaited later.
    Later,
    Print,
}

fn statement() -> impl Strategy<Value = Statement> {
    prop_oneof![
        any::<bool>().prop_map(Statement::Call),
        prop::collection::vec(0..12u8, 1..6).prop_map(Statement::All),
        Just(Statement::Later),
        Just(Statement::Print),
    ]
}

/// Writes a program, and returns the number of its calls.
fn written(statements: &[Statement]) -> (String, u64) {
    let (mut text, mut id, mut later) = ("const values = [], open = []\n".to_owned(), 0, 0);
    let mut next = || {
        id += 1;
        id
    };
    for statement in statements {
        match statement {
            Statement::Call(fails) => text.push_str(&format!(
                "try {{ values.push(await tools.work.task({{ id: {}, fails: {fails} }})) }} catch (e) {{ values.push(e.message) }}\n",
                next()
            )),
            Statement::All(waits) => {
                let calls = waits.iter().map(|wait| format!("tools.work.task({{ id: {}, wait: {wait} }})", next()));
                let calls: Vec<String> = calls.collect();
                text.push_str(&format!("values.push(await Promise.all([{}]))\n", calls.join(", ")));
                // The order of the answers is visible.
                let calls: Vec<String> = waits
                    .iter()
                    .map(|wait| format!("tools.work.task({{ id: {}, wait: {wait} }}).then(v => console.log(v))", next()))
                    .collect();
                text.push_str(&format!("await Promise.all([{}])\n", calls.join(", ")));
            }
            Statement::Later => {
                later += 1;
                text.push_str(&format!("open.push(tools.work.task({{ id: {}, wait: 5 }}))\n", next()));
            }
            Statement::Print => text.push_str("console.log(values.length, Math.random(), Date.now())\n"),
        }
    }
    if later > 0 {
        text.push_str("values.push(await Promise.all(open))\n");
    }
    text.push_str("return values\n");
    (text, id)
}

proptest! {
    #![proptest_config(test_support::random(600))]

    /// A program that is interrupted before each of its calls makes each call once, and sees the same answers.
    #[test]
    fn no_interruption_repeats_a_call_or_changes_what_a_program_did(
        statements in prop::collection::vec(statement(), 1..6)
    ) {
        let (program, n_calls) = written(&statements);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let counts = Counts::default();
            // Each call is approved when it is asked for the second time.
            let asked = Arc::new(Mutex::new(BTreeMap::new()));
            let decide = move |id: u64| {
                let mut asked = asked.lock().unwrap();
                *asked.entry(id).or_insert(0) += 1;
                if asked[&id] == 1 { Decision::Later(String::new()) } else { Decision::Approve }
            };
            let code = code(&counts, decide).await;
            let mut outcome = code.start(&Context::new(), Limits::default(), Program::javascript(program.clone())).await.unwrap();
            let mut printed: Vec<String> = Vec::new();
            let execution = loop {
                match outcome {
                    Outcome::Done(execution) => break execution,
                    Outcome::Paused(journal) => {
                        outcome = code.resume(&Context::new(), Limits::default(), moved(&journal)).await.unwrap();
                    }
                    outcome => panic!("{outcome:?}"),
                }
            };
            prop_assert!(execution.failure().is_none(), "{program}: {execution:?}");
            let counts = counts.0.lock().unwrap().clone();
            prop_assert_eq!(&counts, &(1..=n_calls).map(|id| (id, 1)).collect::<BTreeMap<_, _>>());
            prop_assert_eq!(execution.calls.len() as u64, n_calls);
            printed.extend(execution.stdout().lines().map(str::to_owned));
            prop_assert_eq!(printed.iter().filter(|line| line.contains('.')).count(), statements.iter().filter(|s| matches!(s, Statement::Print)).count());
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn pending_is_an_error_before_the_tool() {
    assert_eq!(ErrorKind::Pending.stage(), toolkit::call::Stage::Approve);
    assert_eq!(ErrorKind::Pending.name(), "pending");
}
