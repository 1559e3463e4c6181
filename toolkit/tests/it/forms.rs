//! Forms, which are derived from the type of their answer, and what tools receive from the host that asks.

use std::sync::{Arc, Mutex};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use test_support::block_on;
use toolkit::call::ErrorKind;
use toolkit::call::ask::{Answer, Asker, Form, Mode, Question};
use toolkit::dispatch::BoxFuture;
use toolkit::{Context, ToolError};

fn form(properties: Value) -> Result<Value, String> {
    let form = Form::from_schema(&json!({ "type": "object", "properties": properties }));
    form.map(|form| form.schema()["properties"].clone()).map_err(|error| error.to_string())
}

#[test]
fn a_field_has_what_clients_can_show() {
    let choices =
        json!({ "type": "string", "oneOf": [{ "title": "A", "const": "a" }, { "title": "b", "const": "b" }] });
    for (property, expected) in [
        (json!({ "type": "boolean", "default": true, "x": 1 }), json!({ "type": "boolean", "default": true })),
        (
            json!({ "type": "string", "minLength": 1, "maxLength": 9, "pattern": "a", "title": "T", "description": null }),
            json!({ "type": "string", "minLength": 1, "maxLength": 9, "title": "T" }),
        ),
        (json!({ "type": "string", "format": "email" }), json!({ "type": "string", "format": "email" })),
        (json!({ "type": "string", "format": "ipv4" }), json!({ "type": "string" })),
        (
            json!({ "type": "integer", "minimum": 1, "maximum": 9, "multipleOf": 2 }),
            json!({ "type": "integer", "minimum": 1, "maximum": 9 }),
        ),
        (json!({ "type": ["number", "null"], "default": null }), json!({ "type": "number" })),
        (json!({ "enum": ["a", null] }), json!({ "type": "string", "enum": ["a"] })),
        (json!({ "enum": ["a"], "enumNames": ["A"] }), json!({ "type": "string", "enum": ["a"], "enumNames": ["A"] })),
        (json!({ "const": "a" }), json!({ "type": "string", "enum": ["a"] })),
        (json!({ "oneOf": [{ "const": "a", "title": "A" }, { "enum": ["b"] }] }), choices.clone()),
        (json!({ "anyOf": [{ "const": "a", "description": "A" }, { "const": "b" }] }), choices),
        (
            json!({ "anyOf": [{ "type": "string", "title": "inner", "maxLength": 3 }, { "type": "null" }], "title": "outer" }),
            json!({ "type": "string", "maxLength": 3, "title": "outer" }),
        ),
        (
            json!({ "type": "array", "items": { "enum": ["a", "b"] }, "minItems": 1, "maxItems": 2, "uniqueItems": true }),
            json!({ "type": "array", "items": { "type": "string", "enum": ["a", "b"] }, "minItems": 1, "maxItems": 2 }),
        ),
        (
            json!({ "type": "array", "items": { "oneOf": [{ "const": "a", "title": "A" }, { "const": "b" }] } }),
            json!({ "type": "array", "items": { "anyOf": [{ "title": "A", "const": "a" }, { "title": "b", "const": "b" }] } }),
        ),
    ] {
        assert_eq!(form(json!({ "f": property })), Ok(json!({ "f": expected })), "{property}");
    }
}

#[test]
fn a_single_choice_keeps_its_title() {
    let choice = json!({ "const": "a", "title": "A" });
    for (property, expected) in [
        (
            json!({ "type": "array", "items": { "oneOf": [choice] } }),
            json!({ "type": "array", "items": { "anyOf": [choice] } }),
        ),
        (
            json!({ "type": "array", "items": { "anyOf": [choice, { "type": "null" }] }, "title": "T" }),
            json!({ "type": "array", "items": { "anyOf": [choice] }, "title": "T" }),
        ),
        (json!({ "oneOf": [choice], "title": "T" }), json!({ "type": "string", "oneOf": [choice], "title": "T" })),
        (json!({ "anyOf": [choice, { "type": "null" }] }), json!({ "type": "string", "oneOf": [choice] })),
        (
            json!({ "anyOf": [{ "oneOf": [choice] }, { "type": "null" }], "title": "T" }),
            json!({ "type": "string", "oneOf": [choice], "title": "T" }),
        ),
    ] {
        assert_eq!(form(json!({ "f": property })), Ok(json!({ "f": expected })), "{property}");
    }
}

#[test]
fn a_form_has_no_other_fields() {
    for (property, error) in [
        (json!(true), "a form cannot ask for `f`: it is any value"),
        (json!({}), "a form cannot ask for `f`: it is a value of several types"),
        (json!({ "type": ["string", "integer"] }), "a form cannot ask for `f`: it is a value of several types"),
        (json!({ "type": "object" }), "a form cannot ask for `f`: it is of type object"),
        (json!({ "enum": [1] }), "a form cannot ask for `f`: it is a value of several types"),
        (
            json!({ "type": "array", "items": { "type": "string" } }),
            "a form cannot ask for `f`: it is a list, which must be one of choices",
        ),
    ] {
        assert_eq!(form(json!({ "f": property })), Err(error.to_owned()), "{property}");
    }
    for (schema, error) in [
        (json!({ "type": "string" }), "a form cannot ask for `value`: it is not in an object"),
        (
            json!({ "type": "object", "properties": [] }),
            "a form cannot ask for `properties`: it is not an object of schemas",
        ),
    ] {
        assert_eq!(Form::from_schema(&schema).unwrap_err().to_string(), error);
    }
    let many = |n: usize| {
        form(
            (0..n)
                .map(|n| (format!("f{n:03}"), json!({ "type": "boolean" })))
                .collect::<serde_json::Map<_, _>>()
                .into(),
        )
    };
    assert!(many(100).is_ok());
    let error = "a form cannot ask for `f100`: it is one of 101 fields, more than the limit of 100";
    assert_eq!(many(101), Err(error.to_owned()));
}

#[test]
fn only_fields_are_required() {
    for (required, expected) in
        [(json!(["a", "x", 1]), json!(["a"])), (json!(["x"]), Value::Null), (json!(null), Value::Null)]
    {
        let schema = json!({ "type": "object", "properties": { "a": { "type": "boolean" } }, "required": required });
        let form = Form::from_schema(&schema).unwrap();
        assert_eq!(form.schema().get("required").cloned().unwrap_or_default(), expected);
        assert_eq!(form.schema()["type"], "object");
    }
}

/// Declares types with one field, whose name or attribute makes it a secret or not.
macro_rules! secrets {
    ($($(#[$attr:meta])* $field:ident: $is_secret:literal,)*) => {
        #[test]
        fn secrets_are_not_asked_for_in_forms() {
            $({
                #[derive(Deserialize, JsonSchema)]
                #[allow(dead_code, non_snake_case)]
                struct Asked {
                    $(#[$attr])*
                    $field: String,
                }
                let form = Form::of::<Asked>();
                assert_eq!(form.is_err(), $is_secret, stringify!($field));
                if let Err(error) = form {
                    let reason = "it is a secret, which the client and its model could read; ask with a URL";
                    assert_eq!(error.to_string(), format!("a form cannot ask for `{}`: {reason}", stringify!($field)));
                    assert_eq!(error.field(), stringify!($field));
                }
            })*
        }
    };
}

secrets! {
    password: true,
    userPassword: true,
    db_passwd: true,
    api_key: true,
    apiKey: true,
    APIKEY: true,
    private_key: true,
    access_key_id: true,
    key: false,
    keyword: false,
    sort_key: false,
    tokens: false,
    token_1: true,
    secretary: false,
    #[schemars(extend("writeOnly" = true))]
    hidden: true,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Person {
    #[schemars(length(min = 2))]
    name: String,
    age: Option<u8>,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// A host that gives these answers, the last one first, and keeps the messages of the questions.
struct Host {
    answers: Mutex<Vec<Answer>>,
    messages: Arc<Mutex<Vec<String>>>,
}

impl Asker for Host {
    fn can_ask(&self, mode: Mode) -> bool {
        mode == Mode::Form
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, ToolError>> {
        self.messages.lock().unwrap().push(question.message().to_owned());
        let answer = self.answers.lock().unwrap().pop();
        Box::pin(async { answer.ok_or_else(|| ToolError::failed("no more answers")) })
    }
}

fn host(answers: impl IntoIterator<Item = Answer>) -> (Context, Arc<Mutex<Vec<String>>>) {
    let messages = Arc::default();
    let mut answers: Vec<Answer> = answers.into_iter().collect();
    answers.reverse();
    let host = Host { answers: Mutex::new(answers), messages: Arc::clone(&messages) };
    (Context::new().with_asker(host), messages)
}

#[test]
fn an_answer_is_read_as_the_type_of_the_tool() {
    let (context, _) = host([Answer::Accepted(json!({ "name": "Ada", "age": null }))]);
    let person: Person = block_on(context.ask("Who?")).unwrap();
    assert_eq!(person, Person { name: "Ada".to_owned(), age: None });
    let (context, _) = host([Answer::Accepted(json!({ "value": 7 }))]);
    assert_eq!(block_on(context.ask::<u8>("How many?")).unwrap(), 7);
    assert_eq!(Form::of::<Nothing>().unwrap_err().to_string(), "a form has no fields; ask for a `bool`");
}

#[test]
fn an_answer_that_is_not_valid_is_asked_for_again() {
    let wrong = || Answer::Accepted(json!({ "name": "A" }));
    let (context, messages) = host([wrong(), Answer::Accepted(json!({ "name": "Ada", "age": 3 }))]);
    let person: Person = block_on(context.ask("Who?")).unwrap();
    assert_eq!(person.age, Some(3));
    let messages = messages.lock().unwrap();
    assert_eq!(messages[0], "Who?");
    assert!(messages.len() == 2 && messages[1].starts_with("Who?") && messages[1].contains("name"), "{messages:?}");
    let (context, messages) = host([wrong(), wrong(), wrong(), wrong(), wrong()]);
    assert!(block_on(context.ask::<Person>("Who?")).is_err());
    assert_eq!(messages.lock().unwrap().len(), 3);
}

#[test]
fn a_question_without_an_answer_is_an_error_with_the_reason() {
    for (answer, kind, message) in [
        (Answer::Declined, ErrorKind::Declined, "the user declined"),
        (Answer::Cancelled, ErrorKind::Declined, "the user closed the question without an answer"),
        (
            Answer::Unsupported,
            ErrorKind::CannotAsk,
            "the tool asks the user, and the client cannot show a form to its user",
        ),
    ] {
        let (context, _) = host([answer.clone()]);
        assert_eq!(block_on(context.try_ask::<u8>("?")).unwrap(), answer.clone().map(|_| 0));
        let (context, _) = host([answer]);
        let error = block_on(context.ask::<u8>("?")).unwrap_err();
        assert_eq!((error.kind(), error.message()), (kind, message));
    }
    let (context, messages) = host([]);
    assert!(context.can_ask(Mode::Form) && !context.can_ask(Mode::Url) && !Context::new().can_ask(Mode::Form));
    assert_eq!(block_on(context.ask_url("?", "https://a.example")).unwrap(), Answer::Unsupported);
    assert_eq!(block_on(Context::new().try_ask::<u8>("?")).unwrap(), Answer::Unsupported);
    assert!(messages.lock().unwrap().is_empty());
}
