//! Prompts: messages that a user selects and fills in, here printed as a client would receive them.

use toolkit::prompt::{CompletionReference, CompletionRequest, PromptMessage};
use toolkit::{Catalog, Context, Dispatcher, prompt};

#[derive(Clone, Copy, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Language {
    English,
    French,
    German,
}

/// Translates a text.
#[prompt(namespace = "text", title = "Translate a text")]
fn translate(
    /// The text to translate.
    text: String,
    /// The language of the translation, by default English.
    into: Option<Language>,
    /// The number of variants.
    #[arg(default = 1)]
    variants: u8,
) -> [PromptMessage; 2] {
    let language = match into {
        Some(Language::French) => "French",
        Some(Language::German) => "German",
        Some(Language::English) | None => "English",
    };
    [
        PromptMessage::user(format!("Translate into {language}, in {variants} variants:\n{text}")),
        PromptMessage::assistant("1. "),
    ]
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dispatcher = Dispatcher::new(Catalog::linked()?)?;
    for prompt in dispatcher.catalog().prompts() {
        let arguments: Vec<String> = prompt.arguments().into_iter().map(|argument| argument.name).collect();
        println!("{}({}): {}", prompt.id(), arguments.join(", "), prompt.description());
    }

    let reference = CompletionReference::Prompt("text:translate".to_owned());
    let request = CompletionRequest::new(reference, "into", "g");
    assert_eq!(dispatcher.complete(&Context::new(), &request).await?.values, ["german"]);

    // Clients send texts.
    let arguments = r#"{"text": "Good morning", "into": "german", "variants": "2"}"#;
    let messages = dispatcher.prompt("text:translate", arguments).await?;
    assert_eq!(messages[0], PromptMessage::user("Translate into German, in 2 variants:\nGood morning"));
    println!("{}", serde_json::to_string_pretty(&messages)?);
    Ok(())
}
