//! Tools that ask the user, most of them as the conformance suite expects.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolkit::call::ask::{Answer, Form, Question, UnsupportedMode};
use toolkit::{Context, ToolError, tool};

#[derive(Deserialize, JsonSchema, Serialize)]
struct User {
    /// User's response
    username: String,
    /// User's email address
    email: String,
}

/// Asks for a name and an address.
#[tool]
async fn test_elicitation(message: String, ctx: &Context) -> Result<String, ToolError> {
    let answer = ctx.try_ask::<User>(message).await?;
    Ok(format!("User response: {}", shown(answer)?))
}

#[derive(Deserialize, JsonSchema, Serialize)]
#[serde(default)]
struct Defaults {
    name: String,
    age: i64,
    score: f64,
    status: Status,
    verified: bool,
}

#[derive(Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Active,
    Inactive,
    Pending,
}

impl Default for Defaults {
    fn default() -> Self {
        Self { name: "John Doe".to_owned(), age: 30, score: 95.5, status: Status::Active, verified: true }
    }
}

/// Asks with a default for each kind of field.
#[tool]
async fn test_elicitation_sep1034_defaults(ctx: &Context) -> Result<String, ToolError> {
    Ok(format!("Elicitation completed: {}", shown(ctx.try_ask::<Defaults>("Please review").await?)?))
}

/// Asks with each kind of choice, one of which Rust types do not have.
#[tool]
async fn test_elicitation_sep1330_enums(ctx: &Context) -> Result<String, ToolError> {
    let options = json!(["option1", "option2", "option3"]);
    let titled = json!([
        { "const": "value1", "title": "First" },
        { "const": "value2", "title": "Second" },
        { "const": "value3", "title": "Third" },
    ]);
    let form = Form::from_schema(&json!({
        "type": "object",
        "properties": {
            "untitledSingle": { "type": "string", "enum": options },
            "titledSingle": { "type": "string", "oneOf": titled },
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": { "type": "array", "items": { "type": "string", "enum": options } },
            "titledMulti": { "type": "array", "items": { "anyOf": titled } },
        },
    }));
    let question = Question::from_form("Please choose", form.map_err(ToolError::internal)?);
    Ok(format!("Elicitation completed: {}", shown(ctx.ask_question(&question).await?)?))
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

/// Greets the user.
#[tool]
async fn test_input_required_result_elicitation(ctx: &Context) -> Result<String, ToolError> {
    let form = Form::of::<Name>().map_err(ToolError::internal)?;
    let question = Question::from_form("What is your name?", form).with_key("user_name");
    match ctx.ask_question(&question).await? {
        Answer::Accepted(content) => match content["name"].as_str() {
            Some(name) => Ok(format!("Hello, {name}!")),
            None => Err(ToolError::failed("a name is a text")),
        },
        Answer::Unsupported => Err(UnsupportedMode::new(question.mode()).into()),
        answer => Err(ToolError::failed(format!("no name: {answer:?}"))),
    }
}

#[derive(Deserialize, JsonSchema)]
struct Confirmation {
    ok: bool,
}

/// Asks for a confirmation.
#[tool]
async fn test_input_required_result_request_state(ctx: &Context) -> Result<String, ToolError> {
    let Confirmation { ok } = ctx.ask("Please confirm").await?;
    Ok(format!("state-ok: {ok}"))
}

/// Asks for a confirmation, whose state the suite changes.
#[tool]
async fn test_input_required_result_tampered_state(ctx: &Context) -> Result<String, ToolError> {
    let Confirmation { ok } = ctx.ask("Please confirm").await?;
    Ok(format!("confirmed: {ok}"))
}

#[derive(Deserialize, JsonSchema)]
struct Color {
    color: String,
}

/// Asks two questions, one after the other.
#[tool]
async fn test_input_required_result_multi_round(ctx: &Context) -> Result<String, ToolError> {
    let Name { name } = ctx.ask("Step 1: What is your name?").await?;
    let Color { color } = ctx.ask("Step 2: What is your favorite color?").await?;
    Ok(format!("{name} likes {color}"))
}

/// Asks the user to open a page.
#[tool]
async fn test_url(ctx: &Context) -> Result<String, ToolError> {
    Ok(match ctx.ask_url("Open the page.", "https://example.com/connect").await? {
        Answer::Accepted(()) => "opened",
        Answer::Declined => "declined",
        Answer::Cancelled => "cancelled",
        Answer::Unsupported => "unsupported",
    }
    .to_owned())
}

fn shown<T: Serialize>(answer: Answer<T>) -> Result<String, ToolError> {
    let (action, content) = match answer {
        Answer::Accepted(content) => ("accept", serde_json::to_value(content).map_err(ToolError::internal)?),
        Answer::Declined => ("decline", Value::Null),
        Answer::Cancelled => ("cancel", Value::Null),
        Answer::Unsupported => return Err(ToolError::failed("the client cannot ask its user")),
    };
    Ok(format!("action={action}, content={content}"))
}
