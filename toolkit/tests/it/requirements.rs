//! Requirements are checked before a tool runs, and the tool has access to nothing else.

use serde_json::{Value, json};
use toolkit::call::{Context, Credentials, ErrorKind, SecretString, Stage};
use toolkit::tool::Requirements;
use toolkit::{Dispatcher, Tool, ToolError, handle, tool};

/// Tells what it sees.
#[tool(requires(secret = "KEY", secret = "OTHER", oauth2(id = "google", scopes = ["read", "write"]), user_id))]
fn needs_all(ctx: &Context) -> Value {
    let shown = |secret: Option<&SecretString>| secret.map(|secret| secret.expose().to_owned());
    json!([shown(ctx.secret("KEY")), shown(ctx.token("google")), ctx.user_id().ok(), shown(ctx.secret("UNDECLARED"))])
}

/// Tells what it sees, of which it has declared nothing.
#[tool]
async fn needs_nothing(ctx: &Context) -> Vec<bool> {
    vec![ctx.secret("KEY").is_some(), ctx.token("google").is_some(), ctx.user_id().is_ok()]
}

/// Reads the user, which it does not require.
#[tool]
fn forgets(ctx: &Context) -> Result<String, ToolError> {
    Ok(ctx.user_id()?.to_owned())
}

fn dispatcher() -> Dispatcher {
    Dispatcher::new(toolkit::catalog![needs_all, needs_nothing, forgets].unwrap()).unwrap()
}

fn everything() -> Credentials {
    Credentials::new()
        .with_secret("KEY", "s3cr3t")
        .with_secret("OTHER", "0ther")
        .with_secret("UNDECLARED", "n0t y0urs")
        .with_authorization("google", "t0k3n", ["read", "write", "delete"])
        .with_user_id("ada")
}

#[test]
fn a_tool_that_reads_the_user_without_requiring_it_fails_with_what_to_write() {
    let context = Context::new().with_credentials(everything());
    let error = dispatcher().call_sync_with(&context, "forgets", "{}").unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Internal, "the tool failed with an internal error"));
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(cause, "`ctx.user_id()` has no user: write `#[tool(requires(user_id))]`, so that each call has one");
}

#[test]
fn a_tool_has_access_only_to_declared_credentials() {
    let context = Context::new().with_credentials(everything());
    let seen = dispatcher().call_sync_with(&context, "needs_all", "{}").unwrap().value();
    assert_eq!(seen, json!(["s3cr3t", "t0k3n", "ada", null]));
}

#[tokio::test]
async fn a_tool_without_requirements_has_no_credentials() {
    let context = Context::new().with_credentials(everything());
    let dispatcher = dispatcher();
    let seen = dispatcher.call_with(&context, "needs_nothing", "{}").await.unwrap().value();
    assert_eq!(seen, json!([false, false, false]));
    let seen = handle!(needs_nothing).call_with(&context, &dispatcher, ()).await.unwrap();
    assert_eq!(seen, [false, false, false]);
}

#[test]
fn everything_that_is_missing_is_listed_before_the_arguments_are_looked_at() {
    let held = Credentials::new().with_secret("OTHER", "0ther").with_authorization("google", "t0k3n", ["read"]);
    let context = Context::new().with_credentials(held);
    let error = dispatcher().call_sync_with(&context, "needs_all", "not JSON").unwrap_err();
    assert_eq!((error.kind(), error.stage()), (ErrorKind::MissingRequirements, Stage::Require));
    let expected: Requirements = serde_json::from_value(json!({
        "authorization": [{ "id": "google", "oauth2": { "scopes": ["write"] } }],
        "secrets": [{ "id": "KEY" }],
        "user_id": true,
    }))
    .unwrap();
    assert_eq!(*error.missing(), expected);
    assert_eq!(
        error.to_string(),
        "needs_all: the call lacks credentials that the tool requires: the secret `KEY`; an authorization by `google` (`write`); \
         the user's id"
    );
    let error = dispatcher().call_sync("needs_all", "{}").unwrap_err();
    assert_eq!(error.missing().secrets.len(), 2);
    assert_eq!(error.missing().authorization[0].scopes, ["read", "write"]);
}

#[tokio::test]
async fn a_typed_call_has_the_same_requirements() {
    let error = handle!(needs_all).call(&dispatcher(), ()).await.unwrap_err();
    assert_eq!((error.kind(), error.tool()), (ErrorKind::MissingRequirements, Some("needs_all")));
}

#[test]
fn unknown_scopes_are_left_to_the_provider() {
    let held = Credentials::new().with_token("google", "t0k3n");
    let required: Requirements = serde_json::from_value(json!({
        "authorization": [{ "id": "google", "oauth2": { "scopes": ["write"] } }],
    }))
    .unwrap();
    assert!(held.missing(&required).is_empty());
}

#[test]
fn no_value_is_ever_printed() {
    let context = Context::new().with_credentials(everything());
    let printed = format!("{:?} {context:?}", everything());
    for value in ["s3cr3t", "0ther", "n0t y0urs", "t0k3n", "ada"] {
        assert!(!printed.contains(value), "{printed}");
    }
    assert!(printed.contains("KEY") && printed.contains("google"));
}

#[test]
fn requirements_are_checked_as_in_the_cases() {
    let document: Value = serde_json::from_str(include_str!("../cases/requirements.json")).unwrap();
    let definitions = document["definitions"].as_array().unwrap();
    let cases = document["requirements_check"].as_array().unwrap();
    for case in cases {
        let definition = definitions.iter().find(|definition| definition["id"] == case["definition"]).unwrap();
        let requirements = match &definition["requirements"] {
            Value::Null => Requirements::NONE,
            requirements => serde_json::from_value(requirements.clone()).unwrap(),
        };
        let tool = Tool::builder("x").requirements(requirements).build().unwrap();
        let mut held = Credentials::new();
        for token in case["context"]["authorization"].as_array().into_iter().flatten() {
            held = held.with_token(token["id"].as_str().unwrap(), token["token"].as_str().unwrap());
        }
        for secret in case["context"]["secrets"].as_array().into_iter().flatten() {
            held = held.with_secret(secret["id"].as_str().unwrap(), secret["value"].as_str().unwrap());
        }
        if let Some(user_id) = case["context"]["user_id"].as_str() {
            held = held.with_user_id(user_id);
        }
        let missing = held.missing(tool.requirements());
        assert_eq!(missing.is_empty(), case["ok"].as_bool().unwrap(), "{case}");
        let named = |missing: &Requirements| {
            let secrets = missing.secrets.iter().map(|secret| format!("secret {}", secret.id));
            let tokens = missing.authorization.iter().map(|token| format!("authorization {}", token.id));
            secrets.chain(tokens).chain(missing.user_id.then(|| "user_id".to_owned())).collect::<Vec<_>>()
        };
        let expected: Vec<String> = case["missing"].as_str().map(str::to_owned).into_iter().collect();
        assert_eq!(named(&missing), expected, "{case}");
    }
    test_support::ran(cases.len());
}
