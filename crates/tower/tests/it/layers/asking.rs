//! `Approval::ask_caller`: the question to the user of a call.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolkit::call::ErrorKind;
use toolkit::call::ask::{Answer, Asker, Form, Mode, Question};
use toolkit::dispatch::BoxFuture;
use toolkit::{Context, Dispatcher, ToolError, catalog, tool};
use toolkit_tower::{Approval, Decision};

/// Deletes everything.
#[tool(namespace = "asking", destructive)]
fn wipe() -> bool {
    true
}

/// Texts by names of the caller's choice. A struct without a declared field would be a single argument.
#[derive(Deserialize, JsonSchema)]
struct Texts {
    #[serde(default)]
    title: Option<String>,
    #[serde(flatten)]
    others: BTreeMap<String, String>,
}

/// Stores texts.
#[tool(namespace = "asking", destructive)]
fn put(texts: Texts) -> usize {
    texts.others.len() + usize::from(texts.title.is_some())
}

/// Logs in.
#[tool(namespace = "asking", destructive)]
fn login(user: String, #[schemars(extend("writeOnly" = true))] password: String) -> bool {
    user == password
}

fn dispatcher(approval: Approval) -> Dispatcher {
    Dispatcher::builder(catalog![wipe, put, login].unwrap()).layer(approval).build().unwrap()
}

type Questions = Arc<Mutex<Vec<Question>>>;

/// A user who gives one answer, and keeps the questions.
struct User {
    answer: Result<Answer, &'static str>,
    questions: Questions,
}

impl Asker for User {
    fn can_ask(&self, mode: Mode) -> bool {
        mode == Mode::Form
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, ToolError>> {
        self.questions.lock().unwrap().push(question.clone());
        Box::pin(async { self.answer.clone().map_err(ToolError::failed) })
    }
}

fn user(answer: Result<Answer, &'static str>) -> (Context, Questions) {
    let questions = Questions::default();
    (Context::new().with_asker(User { answer, questions: Arc::clone(&questions) }), questions)
}

fn approving() -> (Context, Questions) {
    user(Ok(Answer::Accepted(json!({ "approve": true }))))
}

#[tokio::test]
async fn the_user_of_a_call_decides_about_it() {
    let accepted = |content: Value| Ok(Answer::Accepted(content));
    for (answer, reason) in [
        (accepted(json!({ "approve": true })), None),
        (accepted(json!({ "approve": false })), Some("the user declined it")),
        (accepted(json!({ "approve": "true" })), Some("the user declined it")),
        (accepted(json!({})), Some("the user declined it")),
        (Ok(Answer::Declined), Some("the user declined it")),
        (Ok(Answer::Cancelled), Some("the user closed the question without an answer")),
        (Ok(Answer::Unsupported), Some("its client cannot ask the user")),
        (Err("the client has gone"), Some("the client has gone")),
    ] {
        let (context, questions) = user(answer.clone());
        let called = dispatcher(Approval::ask_caller()).call_with(&context, "wipe", "{}").await;
        let error = called.err().map(|error| (error.kind(), error.message().to_owned()));
        let expected = reason.map(|reason| (ErrorKind::Denied, format!("the call was not approved: {reason}")));
        assert_eq!(error, expected, "{answer:?}");
        let questions = questions.lock().unwrap();
        assert_eq!((questions.len(), questions[0].message()), (1, "Run `asking:wipe`?"));
        let field = json!({ "type": "boolean", "title": "Run the tool with these arguments" });
        let form = json!({ "type": "object", "properties": { "approve": field }, "required": ["approve"] });
        assert_eq!(questions[0].form().map(Form::schema), Some(&form));
    }
}

#[tokio::test]
async fn a_host_decides_about_calls_of_clients_that_cannot_ask() {
    for (fallback, outcome) in [
        (Decision::Approve, None),
        (Decision::ApproveAlways, None),
        (Decision::Deny("no".to_owned()), Some((ErrorKind::Denied, "the call was not approved: no"))),
        (Decision::Later("#7".to_owned()), Some((ErrorKind::Pending, "the call waits for approval: #7"))),
        (Decision::Later(" ".to_owned()), Some((ErrorKind::Pending, "the call waits for approval"))),
    ] {
        let dispatcher = dispatcher(Approval::ask_caller_or(fallback.clone()));
        let error = dispatcher.call("wipe", "{}").await.err();
        let found = error.as_ref().map(|error| (error.kind(), error.message()));
        assert_eq!(found, outcome, "{fallback:?}");
        // Nobody has approved the calls of users who can be asked.
        let (context, questions) = approving();
        assert!(dispatcher.call_with(&context, "wipe", "{}").await.is_ok());
        assert_eq!(questions.lock().unwrap().len(), 1, "{fallback:?}");
    }
}

#[tokio::test]
async fn a_user_reads_each_argument_without_secrets_and_invisible_characters_up_to_a_length() {
    let dispatcher = dispatcher(Approval::ask_caller());
    let asked = async |tool: &str, arguments: Value| {
        let (context, questions) = approving();
        dispatcher.call_with(&context, tool, arguments).await.unwrap();
        let question = questions.lock().unwrap().remove(0);
        let (start, arguments) = question.message().split_once("\n\n").unwrap();
        assert_eq!(start, format!("Run `asking:{tool}` with these arguments?"));
        arguments.to_owned()
    };
    let hidden = asked("login", json!({ "user": "Ada", "password": "hunter2" })).await;
    assert!(hidden.starts_with("user: \"Ada\"\npassword: \"") && !hidden.contains("hunter2"), "{hidden}");
    let invisible = asked("put", json!({ "a\u{200b}": "b\u{202e}c", "d": "e\nf" })).await;
    assert!(!invisible.contains(['\u{200b}', '\u{202e}']), "{invisible}");
    assert_eq!(invisible.lines().count(), 2, "{invisible}");
    // With its quotes, the first text has as many characters as a user reads.
    for (n, end) in [(998, "a\""), (999, "a… (1 more characters)"), (1_998, "a… (1000 more characters)")] {
        let shown = asked("put", json!({ "x": "a".repeat(n) })).await;
        assert!(shown.ends_with(end), "{n}: {}", &shown[shown.len() - 40..]);
    }
}

#[tokio::test]
async fn a_question_that_would_be_too_long_denies_its_call() {
    let dispatcher = dispatcher(Approval::ask_caller());
    for (n, is_asked) in [(60, true), (70, false)] {
        let texts: BTreeMap<String, String> = (0..n).map(|n| (format!("k{n}"), "a".repeat(998))).collect();
        let (context, questions) = approving();
        let error = dispatcher.call_with(&context, "put", json!(texts)).await.err();
        let message = "the call was not approved: its arguments are too long for a question";
        assert_eq!(error.as_ref().map(ToolError::message), (!is_asked).then_some(message));
        assert_eq!(questions.lock().unwrap().len(), usize::from(is_asked));
    }
}
