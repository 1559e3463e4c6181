//! Prompts: arguments from texts, results as messages, completions and defects.

use serde_json::{Value, json};
use toolkit::call::ErrorKind;
use toolkit::catalog::Instances;
use toolkit::prompt::{CompletionReference, CompletionRequest, PromptMessage, Role};
use toolkit::{Content, Context, Dispatcher, ToolError, catalog, prompt, tool, toolset};

#[derive(Clone, Copy, Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Style {
    /// One sentence for each remark.
    Brief,
    Thorough,
}

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Range {
    from: u32,
    to: u32,
}

/// Reviews a change.
#[prompt(namespace = "code", title = "Review a change", tags = ["writing"], meta = r#"{"example.com/rank": 1}"#)]
#[expect(clippy::too_many_arguments, reason = "one argument of each kind")]
fn review(
    /// The code to review.
    code: String,
    /// The style of the review.
    style: Option<Style>,
    rounds: Option<u32>,
    #[arg(default = 0.5)] weight: f64,
    #[arg(default)] strict: bool,
    #[arg(default)] files: Vec<String>,
    lines: Option<Range>,
    #[serde(rename = "for")] reader: Option<String>,
) -> String {
    format!("{code} {style:?} {rounds:?} {weight} {strict} {files:?} {lines:?} {reader:?}")
}

/// Translates a text.
#[prompt]
fn translate(#[serde(alias = "input")] text: String, #[serde(alias = "lang")] language: Option<String>) -> String {
    format!("{text} {language:?}")
}

#[tokio::test]
async fn an_alias_of_an_argument_is_accepted_and_not_listed() {
    let catalog = catalog![translate].unwrap();
    let arguments = catalog.prompts().next().unwrap().arguments();
    let listed: Vec<(&str, bool)> = arguments.iter().map(|one| (one.name.as_str(), one.required)).collect();
    assert_eq!(listed, [("text", true), ("language", false)]);
    let dispatcher = Dispatcher::new(catalog).unwrap();
    let messages = dispatcher.prompt("translate", json!({ "input": "a", "lang": "de" })).await.unwrap();
    assert_eq!(messages[0].content.as_text(), Some("a Some(\"de\")"));
}

#[tokio::test]
async fn texts_are_parsed_to_the_types_of_the_parameters() {
    let dispatcher = Dispatcher::new(catalog![review].unwrap()).unwrap();
    let text = async |arguments: Value| {
        let messages = dispatcher.prompt("code:review", arguments).await.map_err(|error| error.message().to_owned())?;
        assert_eq!((messages.len(), messages[0].role), (1, Role::User));
        Ok::<_, String>(messages[0].content.as_text().unwrap().to_owned())
    };
    let arguments = json!({
        "code": "3", "style": "thorough", "rounds": " 2 ", "weight": "1", "strict": "true", "files": r#"["a", "b"]"#,
        "lines": r#"{"from": 1, "to": 9}"#, "for": "null",
    });
    let expected = r#"3 Some(Thorough) Some(2) 1 true ["a", "b"] Some(Range { from: 1, to: 9 }) Some("null")"#;
    assert_eq!(text(arguments).await.unwrap(), expected);
    // A text that is no list is the only item, and an empty text stands for an absent argument.
    let arguments = json!({
        "code": "", "style": "", "rounds": "", "weight": "", "strict": "", "files": "a.rs", "lines": "", "for": "",
    });
    assert_eq!(text(arguments).await.unwrap(), r#" None None 0.5 false ["a.rs"] None Some("")"#);
    // Typed values, which a program passes, are accepted too.
    let arguments = json!({ "code": "x", "rounds": 2, "strict": true });
    assert_eq!(text(arguments).await.unwrap(), r#"x None Some(2) 0.5 true [] None None"#);
}

#[tokio::test]
async fn an_error_names_every_wrong_argument_and_what_is_accepted() {
    let dispatcher = Dispatcher::new(catalog![review].unwrap()).unwrap();
    let arguments = json!({ "style": "long", "rounds": "two", "strict": "yes", "lines": r#"{"from": 1}"#, "foo": "" });
    let error = dispatcher.prompt("review", arguments).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArguments);
    for line in [
        "/code is required",
        r#"/style must be one of "thorough", "brief""#,
        "/rounds must be an integer",
        "/strict must be a boolean",
        "/lines/to is required",
        "/foo",
    ] {
        assert!(error.message().contains(line), "{line} is not in {error}");
    }
}

#[test]
fn arguments_are_listed_in_their_order_with_their_descriptions() {
    let catalog = catalog![review].unwrap();
    let prompt = catalog.prompt("review").unwrap();
    let arguments = prompt.arguments();
    let names: Vec<(&str, bool)> = arguments.iter().map(|argument| (&*argument.name, argument.required)).collect();
    let optional = ["style", "rounds", "weight", "strict", "files", "lines", "for"].map(|name| (name, false));
    assert_eq!(names, [&[("code", true)], &optional[..]].concat());
    assert_eq!(arguments[0].description.as_deref(), Some("The code to review."));
    assert_eq!(arguments[1].description.as_deref(), Some("The style of the review."));
    assert_eq!(arguments[2].description, None);
    assert_eq!((prompt.description(), prompt.title()), ("Reviews a change.", Some("Review a change")));
}

#[tokio::test]
async fn enums_and_booleans_are_completed() {
    /// Chooses.
    #[prompt]
    fn choose(
        style: Option<Style>,
        strict: bool,
        #[arg(default)] maybe: Option<bool>,
        text: String,
        #[schemars(extend("enum" = (0..250).map(|n| format!("N{n}")).collect::<Vec<_>>()))] many: String,
    ) -> String {
        format!("{style:?} {strict} {maybe:?} {text} {many}")
    }

    let dispatcher = Dispatcher::new(catalog![choose].unwrap()).unwrap();
    let complete = async |prompt: &str, argument: &str, value: &str| {
        let request = CompletionRequest::new(CompletionReference::Prompt(prompt.to_owned()), argument, value);
        dispatcher.complete(&Context::new(), &request).await
    };
    for (argument, start, values) in [
        ("style", "", &["thorough", "brief"][..]),
        ("style", "T", &["thorough"]),
        ("style", "é", &[]),
        ("strict", "", &["true", "false"]),
        ("maybe", "f", &["false"]),
        ("text", "", &[]),
        ("many", "n249", &["N249"]),
    ] {
        let completion = complete("choose", argument, start).await.unwrap();
        assert_eq!(completion.values, values, "{argument}");
        assert_eq!((completion.total, completion.has_more), (Some(values.len() as u64), false));
    }
    let many = complete("choose", "many", "").await.unwrap();
    assert_eq!((many.values.len(), many.total, many.has_more), (100, Some(250), true));
    let error = complete("choose", "stile", "").await.unwrap_err();
    assert_eq!(error.message(), "the prompt `choose` has no argument `stile`");
    assert_eq!(complete("chose", "style", "").await.unwrap_err().kind(), ErrorKind::UnknownTool);
}

/// Returns content of the user.
#[prompt]
fn picture() -> Content {
    Content::image(b"png", "image/png")
}

/// Returns a conversation.
#[prompt]
async fn conversation(about: String) -> Result<Vec<PromptMessage>, ToolError> {
    if about.is_empty() {
        return Err(ToolError::failed("there is nothing to talk about"));
    }
    Ok(vec![
        PromptMessage::user(format!("Let us talk about {about}.")),
        PromptMessage::assistant("Gladly."),
        PromptMessage::user(Content::resource_text("docs:///a.md", "text/markdown", "# A")),
    ])
}

#[tokio::test]
async fn messages_have_roles_and_all_kinds_of_content() {
    let dispatcher = Dispatcher::new(catalog![picture, conversation].unwrap()).unwrap();
    let messages = dispatcher.prompt("picture", "{}").await.unwrap();
    let image = json!({ "type": "image", "data": "cG5n", "mimeType": "image/png" });
    assert_eq!(serde_json::to_value(messages).unwrap(), json!([{ "role": "user", "content": image }]));
    let messages = dispatcher.prompt("conversation", r#"{"about": "Rust"}"#).await.unwrap();
    assert_eq!(
        messages.iter().map(|message| message.role).collect::<Vec<_>>(),
        [Role::User, Role::Assistant, Role::User]
    );
    let resource = json!({ "uri": "docs:///a.md", "mimeType": "text/markdown", "text": "# A" });
    let content = serde_json::to_value(&messages[2].content).unwrap();
    assert_eq!(content, json!({ "type": "resource", "resource": resource }));
    let error = dispatcher.prompt("conversation", r#"{"about": ""}"#).await.unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Failed, "there is nothing to talk about"));
}

struct Site(&'static str);

#[toolset(namespace = "site")]
impl Site {
    /// Returns the address.
    #[tool]
    fn address(&self) -> &'static str {
        self.0
    }

    /// Summarizes a page.
    #[prompt(name = "summary")]
    async fn summarize(&self, page: u32, dispatcher: &Dispatcher) -> Result<String, ToolError> {
        let tools = dispatcher.catalog().len();
        Ok(format!("{}/{page} {tools}", self.0))
    }
}

#[tokio::test]
async fn prompts_of_a_toolset_borrow_the_state_of_their_instance() {
    let catalog = catalog![Site::address, Site::summarize].unwrap();
    assert_eq!((catalog.len(), catalog.prompts().len()), (1, 1));
    let message = Dispatcher::new(catalog).unwrap_err().to_string();
    assert!(message.contains("missing state of type") && message.contains("site:summary"), "{message}");

    let instances = Instances::new().with("eu", Site("https://eu")).with("us", Site("https://us"));
    let catalog = catalog![Site::address, Site::summarize].unwrap().with_instances(instances).unwrap();
    let dispatcher = Dispatcher::new(catalog).unwrap();
    let messages = dispatcher.prompt("us:summary", r#"{"page": "7"}"#).await.unwrap();
    assert_eq!(messages, [PromptMessage::user("https://us/7 2")]);
}

#[toolset(namespace = "desk", version = "1.0.0", destructive, timeout = "5s")]
mod desk {
    use toolkit::prompt;

    /// Tidies up.
    #[prompt(tags = ["order"])]
    pub(super) fn tidy() -> &'static str {
        "Tidy up."
    }
}

#[tokio::test]
async fn a_module_gives_its_arguments_to_prompts_except_for_hints() {
    let dispatcher = Dispatcher::new(catalog![desk::tidy].unwrap()).unwrap();
    let prompt = dispatcher.catalog().prompt("desk:tidy").unwrap();
    assert_eq!(prompt.id().to_string(), "desk:tidy:1.0.0");
    let hints = prompt.tool().annotations();
    assert_eq!((hints.read_only, hints.destructive), (Some(true), None));
    assert_eq!(prompt.tool().timeout(), Some(std::time::Duration::from_secs(5)));
    assert_eq!(dispatcher.prompt("tidy", "{}").await.unwrap(), [PromptMessage::user("Tidy up.")]);
}

/// A tool and a prompt may have one name.
#[tool(name = "twin")]
fn twin_tool() {}

/// A tool and a prompt may have one name.
#[prompt(name = "twin")]
fn twin() -> &'static str {
    "twin"
}

mod other {
    use toolkit::prompt;

    /// Has the id of another prompt.
    #[prompt(name = "twin")]
    pub(super) fn again() -> String {
        String::new()
    }
}

#[test]
fn prompts_with_the_same_id_are_reported_and_those_of_a_tool_are_not() {
    let catalog = catalog![twin_tool, twin].unwrap();
    assert_eq!((catalog.len(), catalog.prompts().len()), (1, 1));
    let first = catalog![twin].unwrap();
    let prompts = catalog![other::again].unwrap();
    let message = first.with_prompts(prompts.prompts().cloned()).unwrap_err().to_string();
    assert!(message.contains("two prompts have the id `twin`"), "{message}");
}

/// Takes the fields of a struct.
#[prompt]
fn between(range: Range) -> String {
    format!("{} to {}", range.from, range.to)
}

/// Requires a secret.
#[prompt(requires(secret = "KEY"))]
fn secret(ctx: &Context) -> bool_text::Text {
    bool_text::Text(ctx.secret("KEY").is_some())
}

mod bool_text {
    use toolkit::prompt::{PromptMessage, PromptResult};

    /// A result of its own type.
    pub(super) struct Text(pub(super) bool);

    impl PromptResult for Text {
        fn into_messages(self) -> Vec<PromptMessage> {
            vec![PromptMessage::user(self.0.to_string())]
        }
    }
}

#[tokio::test]
async fn a_prompt_takes_the_fields_of_a_struct_and_requires_credentials_like_a_tool() {
    let dispatcher = Dispatcher::new(catalog![between, secret].unwrap()).unwrap();
    let messages = dispatcher.prompt("between", r#"{"from": "1", "to": "2"}"#).await.unwrap();
    assert_eq!(messages, [PromptMessage::user("1 to 2")]);
    assert_eq!(dispatcher.prompt("secret", "{}").await.unwrap_err().kind(), ErrorKind::MissingRequirements);
}
