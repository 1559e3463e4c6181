//! The prompts that the conformance suite expects, and one with typed arguments.

use toolkit::prompt::PromptMessage;
use toolkit::{Content, ToolError, prompt, tool};

use super::{ItsServer, PNG};

/// Returns a text.
#[prompt]
fn test_simple_prompt() -> &'static str {
    "This is a simple prompt for testing."
}

/// Returns its arguments.
#[prompt]
fn test_prompt_with_arguments(
    /// First test argument.
    arg1: String,
    /// Second test argument.
    arg2: String,
) -> String {
    format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")
}

/// Embeds a resource.
#[prompt]
#[allow(non_snake_case, reason = "the suite defines the name")]
fn test_prompt_with_embedded_resource(resourceUri: String) -> [PromptMessage; 2] {
    let text = "Embedded resource content for testing.";
    [
        PromptMessage::user(Content::resource_text(resourceUri, "text/plain", text)),
        PromptMessage::user("Please process the embedded resource above."),
    ]
}

/// Shows a picture.
#[prompt]
async fn test_prompt_with_image() -> Vec<PromptMessage> {
    let image = PromptMessage::user(Content::image(PNG, "image/png"));
    vec![image, PromptMessage::user("Please analyze the image above.")]
}

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Style {
    Brief,
    Thorough,
}

/// Reviews a change.
#[prompt(namespace = "code", title = "Review a change")]
fn review(
    /// The code to review.
    code: String,
    style: Option<Style>,
    rounds: Option<u32>,
) -> Result<[PromptMessage; 2], ToolError> {
    let request = format!("{code} {style:?} {rounds:?}");
    Ok([PromptMessage::user(request), PromptMessage::assistant("The first remark:")])
}

/// Removes the prompts and adds them again.
#[tool]
fn test_trigger_prompt_change(its_server: &ItsServer) -> Result<Content, Box<dyn std::error::Error + Send + Sync>> {
    if let Some(server) = its_server.get() {
        let all = server.dispatcher();
        let tools = toolkit::Catalog::new(all.catalog().iter().cloned())?;
        server.replace(all.with_catalog(tools, toolkit::backend::Routes::default())?)?;
        server.replace(all)?;
    }
    Ok(Content::text("changed"))
}
