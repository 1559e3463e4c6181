//! Replies and results of Mistral's chat completions.

use serde_json::{Value, json};
use toolkit::catalog::ExportedNames;

use crate::openai::chat::{Completion, Rules, read_completion};
use crate::reply::{Accumulate, Answer, Assembled, Format, InvalidReply, Item, Parsed};

/// The format of Mistral's chat completions.
#[derive(Debug)]
pub(super) struct Chat;

const NAME: &str = "Mistral Chat Completions";

impl Format for Chat {
    fn name(&self) -> &'static str {
        NAME
    }

    fn accumulate(&self) -> Box<dyn Accumulate> {
        Box::new(Completion::new(NAME))
    }

    fn read(&self, reply: Assembled, names: &ExportedNames) -> Result<Parsed, InvalidReply> {
        read_completion(NAME, reply, Rules { accepts_id: is_valid_id, accepts_objects: true }, names)
    }

    fn write(&self, items: &[Item<'_>]) -> Vec<Value> {
        let messages = items.iter().map(|item| match item {
            Item::Answer(answer) => message(answer),
            Item::Written(message) => (*message).clone(),
        });
        messages.collect()
    }
}

fn is_valid_id(id: &str) -> bool {
    id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// No message of the user may follow a result, so media become notes.
fn message(answer: &Answer<'_>) -> Value {
    json!({
        "role": "tool",
        "tool_call_id": answer.call.id,
        "name": answer.call.sent_name,
        "content": answer.to_text(),
    })
}
