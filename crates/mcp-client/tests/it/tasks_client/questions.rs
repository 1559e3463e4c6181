//! Questions of tasks to the users of their calls.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolkit::call::ask::{Answer, Asker, Mode, Question};
use toolkit::call::{BoxFuture, ErrorKind};
use toolkit::{Context, ToolError};

use super::scripted::{Era, Reply, Scripted};
use super::{ID, build_with, built, completed, created, dispatcher, in_the_end, state, until, working};

/// A user who answers each question with a name, and remembers the questions.
#[derive(Clone, Default)]
pub struct User {
    pub name: &'static str,
    questions: Arc<Mutex<Vec<String>>>,
}

impl User {
    pub fn new(name: &'static str) -> Self {
        Self { name, ..Self::default() }
    }

    pub fn context(&self) -> Context {
        Context::new().with_asker(self.clone())
    }

    pub fn questions(&self) -> Vec<String> {
        self.questions.lock().unwrap().clone()
    }
}

impl Asker for User {
    fn can_ask(&self, _: Mode) -> bool {
        true
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, ToolError>> {
        self.questions.lock().unwrap().push(question.message().to_owned());
        Box::pin(async { Ok(Answer::Accepted(json!({ "name": self.name }))) })
    }
}

/// The `params` of a question.
fn question(message: &str) -> Value {
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
    json!({ "mode": "form", "message": message, "requestedSchema": schema })
}

/// The state of a task of revision 2026-07-28 that asks these questions.
fn asking(questions: &[(&str, &str)]) -> Reply {
    let requests = questions.iter().map(|(key, message)| {
        (String::from(*key), json!({ "method": "elicitation/create", "params": question(message) }))
    });
    let requests: serde_json::Map<String, Value> = requests.collect();
    Reply::Result(state(Era::Modern, "input_required", json!({ "inputRequests": requests })))
}

#[tokio::test]
async fn the_user_of_a_call_answers_the_questions_of_its_task() {
    let mut n_polls = 0;
    let server = Scripted::start(Era::Modern, move |method, _| match method {
        "tools/call" => created(Era::Modern, json!({})),
        "tasks/get" => {
            n_polls += 1;
            match n_polls {
                1 => asking(&[("a", "Who?")]),
                // The server has not processed the answer yet, and asks another question.
                2 => asking(&[("a", "Who?"), ("b", "And who else?")]),
                3 => asking(&[("b", "And who else?")]),
                4 => working(Era::Modern),
                _ => completed(Era::Modern, built()),
            }
        }
        "tasks/update" => Reply::Result(json!({ "resultType": "complete" })),
        method => panic!("{method}"),
    })
    .await;
    let user = User::new("Ada");
    let result = build_with(&server.backend().may_ask(), &user.context()).await.unwrap();
    assert_eq!(result, "built");
    assert_eq!(user.questions(), ["up: Who?", "up: And who else?"]);
    let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
    let updates = server.seen("tasks/update");
    let responses: Vec<&Value> = updates.iter().map(|update| &update.params["inputResponses"]).collect();
    assert_eq!(responses, [&json!({ "a": answer }), &json!({ "b": answer })]);
    assert!(updates.iter().all(|update| update.params["taskId"] == ID && update.name.as_deref() == Some(ID)));
    let capabilities = &server.seen("tools/call")[0].params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(capabilities["elicitation"], json!({ "form": {}, "url": {} }));
    // A server lists its pages for a host that may show them.
    let pages = json!({ "mimeTypes": ["text/html;profile=mcp-app"] });
    assert_eq!(capabilities["extensions"]["io.modelcontextprotocol/ui"], pages);
}

#[tokio::test]
async fn answers_that_were_lost_are_sent_again() {
    let (mut n_updates, mut n_polls) = (0, 0);
    let server = Scripted::start(Era::Modern, move |method, _| match method {
        "tools/call" => created(Era::Modern, json!({})),
        "tasks/update" if n_updates == 0 => {
            n_updates += 1;
            Reply::Status(503)
        }
        "tasks/update" => Reply::Result(json!({ "resultType": "complete" })),
        _ if n_polls == 0 => {
            n_polls += 1;
            asking(&[("a", "Who?")])
        }
        _ => completed(Era::Modern, built()),
    })
    .await;
    let user = User::new("Ada");
    build_with(&server.backend().may_ask(), &user.context()).await.unwrap();
    assert_eq!(user.questions().len(), 1);
    let [first, second] = &server.seen("tasks/update")[..] else { panic!("it is sent twice") };
    assert_eq!(first.params["inputResponses"], second.params["inputResponses"]);
}

#[tokio::test]
async fn a_task_asks_in_at_most_ten_rounds() {
    let mut n_polls = 0;
    let server = Scripted::start(Era::Modern, move |method, _| match method {
        "tools/call" => created(Era::Modern, json!({})),
        "tasks/get" => {
            n_polls += 1;
            asking(&[(&format!("q{n_polls}"), "Who?")])
        }
        _ => Reply::Result(json!({ "resultType": "complete" })),
    })
    .await;
    let user = User::new("Ada");
    let error = build_with(&server.backend().may_ask(), &user.context()).await.unwrap_err();
    assert_eq!(error.message(), "the MCP server `up` asked for more than 10 times");
    assert_eq!(user.questions().len(), 10);
    until(async || server.seen("tasks/cancel").len() == 1).await;
}

#[tokio::test]
async fn requests_that_are_not_questions_are_errors() {
    for (requests, message) in [
        (json!(null), "the MCP server `up` responded with a task that requires input without a question"),
        (json!([]), "the MCP server `up` responded with a task that requires input without a question"),
        (
            json!({ "a": { "method": "sampling/createMessage", "params": {} } }),
            "the tool requires a client capability that this program does not support",
        ),
        (json!({ "a": { "method": "elicitation/create" } }), "the MCP server `up` responded with an invalid question"),
    ] {
        let server = Scripted::start(Era::Modern, move |method, _| match method {
            "tools/call" => created(Era::Modern, json!({})),
            _ => Reply::Result(state(Era::Modern, "input_required", json!({ "inputRequests": requests }))),
        })
        .await;
        let user = User::new("Ada");
        let error = build_with(&server.backend().may_ask(), &user.context()).await.unwrap_err();
        assert!(error.message().starts_with(message), "{error}");
        assert_eq!(user.questions(), [""; 0]);
        until(async || server.seen("tasks/cancel").len() == 1).await;
    }
}

#[tokio::test]
async fn a_server_that_must_not_ask_does_not_reach_the_user() {
    let server = Scripted::start(Era::Modern, move |method, _| match method {
        "tools/call" => created(Era::Modern, json!({})),
        _ => asking(&[("a", "Who?")]),
    })
    .await;
    let user = User::new("Ada");
    let error = build_with(&server.backend(), &user.context()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Failed);
    assert_eq!(user.questions(), [""; 0]);
    let capabilities = &server.seen("tools/call")[0].params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(capabilities.get("elicitation"), None);
}

/// A server of revision 2025-11-25, each task of which asks one question. Their ids are numbers from 1.
async fn asks_while_the_result_is_read(related: fn(&str) -> Option<String>) -> Scripted {
    let (mut n_tasks, mut asked) = (0, HashSet::new());
    Scripted::start(Era::Legacy, move |method, params| {
        let id = params["taskId"].as_str().unwrap_or_default();
        match method {
            "tools/call" => {
                n_tasks += 1;
                created(Era::Legacy, json!({ "taskId": n_tasks.to_string() }))
            }
            "tasks/get" => {
                let state = state(Era::Legacy, "input_required", json!({ "taskId": id }));
                if !asked.insert(id.to_owned()) {
                    return Reply::Result(state);
                }
                let mut question = question(&format!("Who builds {id}?"));
                if let Some(id) = related(id) {
                    question["_meta"] = json!({ "io.modelcontextprotocol/related-task": { "taskId": id } });
                }
                Reply::Ask { question, state }
            }
            "tasks/result" => Reply::Answer,
            _ => Reply::Result(state(Era::Legacy, "cancelled", json!({ "taskId": id }))),
        }
    })
    .await
}

#[tokio::test]
async fn a_task_asks_while_its_result_is_read() {
    for related in [|id: &str| Some(id.to_owned()), |_: &str| None] {
        let server = asks_while_the_result_is_read(related).await;
        let user = User::new("Ada");
        let answer = build_with(&server.backend().may_ask(), &user.context()).await.unwrap();
        assert_eq!(answer["result"]["content"], json!({ "name": "Ada" }));
        assert_eq!(user.questions(), ["up: Who builds 1?"]);
        // The answer names the task.
        let named = &answer["result"]["_meta"]["io.modelcontextprotocol/related-task"]["taskId"];
        assert_eq!(named.as_str(), related("1").as_deref());
    }
}

#[tokio::test]
async fn each_task_asks_the_user_of_its_own_call() {
    let server = asks_while_the_result_is_read(|id| Some(id.to_owned())).await;
    let backend = server.backend().may_ask();
    let dispatcher = dispatcher(&backend).await;
    let users = ["Ada", "Bob", "Cleo", "Dan"].map(User::new);
    let calls = users.each_ref().map(|user| {
        let (dispatcher, context) = (&dispatcher, user.context());
        async move { dispatcher.call_with(&context, "up:build", json!({})).await.unwrap().value() }
    });
    let [ada, bob, cleo, dan] = calls;
    let answers = in_the_end(async { tokio::join!(ada, bob, cleo, dan) }).await;
    let mut asked: Vec<String> = Vec::new();
    for (user, answer) in users.iter().zip([answers.0, answers.1, answers.2, answers.3]) {
        assert_eq!(answer["result"]["content"], json!({ "name": user.name }));
        asked.extend(user.questions());
    }
    asked.sort();
    assert_eq!(asked, ["1", "2", "3", "4"].map(|id| format!("up: Who builds {id}?")));
}

#[tokio::test]
async fn a_question_of_an_unknown_task_reaches_no_user() {
    let server = asks_while_the_result_is_read(|_| Some("other".to_owned())).await;
    let user = User::new("Ada");
    let answer = build_with(&server.backend().may_ask(), &user.context()).await.unwrap();
    assert_eq!(answer["error"]["message"], "the task of the request is not that of a running call");
    assert_eq!(user.questions(), [""; 0]);
}
