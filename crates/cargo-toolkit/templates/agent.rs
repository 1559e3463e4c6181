//! An agent: a model answers a question, and calls the tools in `tools.rs` for it.

mod tools;

use std::error::Error;

use serde_json::{Value, json};
use toolkit::{Catalog, Context, Dispatcher};
use toolkit_providers::anthropic;
use toolkit_providers::reply::StopReason;

/// The maximum number of requests for one answer.
const MAX_TURNS: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let question = std::env::args()
        .nth(1)
        .ok_or("the first argument is the question")?;
    let variable = |name: &str| std::env::var(name).map_err(|error| format!("{name}: {error}"));
    let (key, model) = (variable("ANTHROPIC_API_KEY")?, variable("ANTHROPIC_MODEL")?);
    let dispatcher = Dispatcher::new(Catalog::linked()?)?;
    // A response with an error has a body, which `answer` reads.
    let client = ureq::Agent::from(
        ureq::Agent::config_builder()
            .http_status_as_error(false)
            .build(),
    );
    let text = answer(&dispatcher, &model, &question, |request| {
        let mut response = client
            .post("https://api.anthropic.com/v1/messages")
            .header("anthropic-version", "2023-06-01")
            .header("content-type", "application/json")
            .header("x-api-key", &key)
            .send(request.to_string())?;
        Ok(response.body_mut().read_to_string()?)
    })?;
    println!("{text}");
    Ok(())
}

/// Sends a question to a model, and the results of the tools that it calls, until it answers.
fn answer(
    dispatcher: &Dispatcher,
    model: &str,
    question: &str,
    mut send: impl FnMut(&Value) -> Result<String, Box<dyn Error>>,
) -> Result<String, Box<dyn Error>> {
    let tools = anthropic::tools(dispatcher.catalog(), Default::default(), Default::default())?;
    let mut messages = vec![json!({ "role": "user", "content": question })];
    for _ in 0..MAX_TURNS {
        let request = json!({ "model": model, "max_tokens": 4096, "tools": tools.json, "messages": messages });
        let reply = anthropic::MESSAGES.read(&*send(&request)?, &tools.names)?;
        messages.extend_from_slice(reply.messages());
        match reply.stop_reason() {
            StopReason::End => return Ok(reply.text().to_owned()),
            StopReason::ToolCalls => {
                messages.extend(reply.run_sync(dispatcher, &Context::new()).messages()?)
            }
            StopReason::Paused => {}
            reason => return Err(format!("the model stopped without an answer: {reason}").into()),
        }
    }
    Err(format!("the model has not answered after {MAX_TURNS} requests").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_reads_the_result_of_its_call() {
        let call = json!({ "type": "tool_use", "id": "1", "name": "money_share", "input": { "cents": 9, "people": 3 } });
        let reply = |reason: &str, block: Value| {
            json!({ "type": "message", "role": "assistant", "stop_reason": reason, "content": [block] }).to_string()
        };
        // The last reply is sent first.
        let mut replies = vec![
            reply("end_turn", json!({ "type": "text", "text": "3 cents" })),
            reply("tool_use", call),
        ];
        let mut last = Value::Null;
        let dispatcher = Dispatcher::new(Catalog::linked().unwrap()).unwrap();
        let text = answer(&dispatcher, "model", "How much does each pay?", |request| {
            last = request.clone();
            replies.pop().ok_or_else(|| "no reply is left".into())
        });
        assert_eq!(text.unwrap(), "3 cents");
        assert_eq!(last["messages"][2]["content"][0]["content"], "3");
    }
}
