//! Tools that a host adjusts, state that is computed for each call, and errors with data.

use serde_json::{Value, json};
use toolkit::call::ErrorKind;
use toolkit::catalog::DiagnosticKind;
use toolkit::mcp::{Revision, write_error};
use toolkit::{Catalog, Context, Dispatcher, ToolError, catalog, tool};

/// Copies a text.
#[tool(namespace = "adjusted", blocking, aliases = ["clone"], examples = [{ "text": "a", "times": 2 }])]
fn copy(text: String, times: u8, suffix: Option<String>) -> String {
    text.repeat(times.into()) + &suffix.unwrap_or_default()
}

#[tokio::test]
async fn a_fixed_argument_is_in_each_call_and_no_caller_sees_or_sends_it() {
    let copy = catalog![copy].unwrap().resolve("copy").unwrap().clone();
    let copy = copy.with_argument_fixed("times", 2).unwrap().with_name("double").with_description("Doubles a text.");
    let copy = copy.with_argument_fixed("suffix", "!").unwrap();
    let catalog = Catalog::new([copy]).unwrap();
    catalog.check(Default::default()).unwrap();
    let tool = catalog.resolve("adjusted:double").unwrap();
    assert_eq!(tool.input().as_value()["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), ["text"]);
    assert_eq!((tool.description(), &tool.examples()[..]), ("Doubles a text.", &[json!({ "text": "a" })][..]));
    assert!(catalog.get("copy").is_none());

    let dispatcher = Dispatcher::new(catalog).unwrap();
    assert_eq!(dispatcher.call("double", json!({ "text": "ab" })).await.unwrap().value(), "abab!");
    let error = dispatcher.call("double", json!({ "text": "ab", "times": 9 })).await.unwrap_err();
    assert_eq!(error.message(), "the arguments do not match the schema\n- /times is not an argument");
    let error = dispatcher.call("double", json!({ "text": 1 })).await.unwrap_err();
    assert!(error.message().ends_with("for example: {\"text\":\"a\"}"), "{error}");
}

#[test]
fn a_fixed_value_must_match_the_schema_of_an_argument() {
    let catalog = catalog![copy].unwrap();
    let fixed = |name, value: Value| {
        let error = catalog.resolve("copy").unwrap().with_argument_fixed(name, value).unwrap_err();
        let diagnostic = error.iter().next().unwrap();
        assert_eq!(diagnostic.kind(), DiagnosticKind::InvalidDefault);
        diagnostic.message().to_owned()
    };
    assert_eq!(fixed("time", json!(1)), "the tool has no argument `time`; did you mean `times`?");
    assert_eq!(fixed("times", json!(300)), "the fixed value of `times` must be at most 255");
}

struct User(String);

/// Greets the caller.
#[tool(namespace = "adjusted")]
fn greet(user: &User) -> String {
    format!("Hello, {}", user.0)
}

/// Takes a reason.
#[tool(namespace = "adjusted")]
fn refuse(reason: u8) -> Result<(), ToolError> {
    Err(ToolError::failed("refused").with_data(json!([reason])))
}

#[test]
fn state_is_computed_for_each_call_and_given_in_tests() {
    let of_call = |context: &Context| match context.get::<&'static str>() {
        Some(name) => Ok(User((*name).to_owned())),
        None => Err(ToolError::failed("no user")),
    };
    let dispatcher = Dispatcher::builder(catalog![greet].unwrap()).state_per_call(of_call).build().unwrap();
    for name in ["Ada", "Bob"] {
        let result = dispatcher.call_sync_with(&Context::new().with(name), "greet", "{}").unwrap();
        assert_eq!(result.value(), format!("Hello, {name}"));
    }
    let error = dispatcher.call_sync("greet", "{}").unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Failed, "no user"));

    let in_test = Dispatcher::builder(catalog![greet].unwrap()).state(User("Cy".to_owned())).build().unwrap();
    assert_eq!(in_test.call_sync("greet", "{}").unwrap().value(), "Hello, Cy");
    let twice = Dispatcher::builder(catalog![greet].unwrap()).state(User(String::new())).state_per_call(of_call);
    assert_eq!(twice.build().unwrap_err().iter().next().unwrap().kind(), DiagnosticKind::DuplicateState);
    let panics = |_: &Context| -> Result<User, ToolError> { panic!("of the host") };
    let dispatcher = Dispatcher::builder(catalog![greet].unwrap()).state_per_call(panics).build().unwrap();
    assert_eq!(dispatcher.call_sync("greet", "{}").unwrap_err().kind(), ErrorKind::Panicked);
}

#[test]
fn an_error_has_data_for_the_program_and_the_model() {
    let error =
        Dispatcher::new(catalog![refuse].unwrap()).unwrap().call_sync("refuse", r#"{"reason": 7}"#).unwrap_err();
    assert_eq!(error.data(), Some(&json!([7])));
    for (revision, structured) in
        [(Revision::V2025_11_25, json!({ "result": [7] })), (Revision::V2026_07_28, json!([7]))]
    {
        let result: Value = serde_json::from_slice(&write_error(&error, revision)).unwrap();
        assert_eq!((&result["structuredContent"], &result["isError"]), (&structured, &json!(true)));
        assert_eq!(result["content"][1]["text"], "[7]");
    }
}
