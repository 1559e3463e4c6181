//! Every value that a model sent is in the messages that repeat its reply.

use std::collections::BTreeMap;

use serde_json::Value;
use toolkit::catalog::ExportedNames;

use super::exchange::{Exchange, for_each_file};

#[test]
fn recorded_replies_are_repeated_without_loss() {
    let (mut n_read, mut lost): (BTreeMap<&str, usize>, Vec<String>) = <_>::default();
    for_each_file(|exchanges| {
        for exchange in exchanges.values().filter(|exchange| exchange.has_calls()) {
            let names = ExportedNames::default();
            let Some(reply) = exchange.read(&names) else { continue };
            *n_read.entry(exchange.api).or_default() += 1;
            match reply {
                Err(error) => lost.push(format!("{}: {error}", exchange.name)),
                Ok(reply) if !reply.needs_results() => lost.push(format!("{}: it has no calls", exchange.name)),
                Ok(reply) if exchange.is_whole() => {
                    let mut repeated = Value::from(reply.messages());
                    if matches!(exchange.api, "chat" | "mistral") {
                        without_changes(&mut repeated[0], &sent(exchange)[0]);
                    }
                    if let Some(place) = first_missing(&sent(exchange), &repeated) {
                        lost.push(format!("{}: {place} is lost", exchange.name));
                    }
                }
                Ok(_) => {}
            }
        }
    });
    assert!(lost.is_empty(), "{} of {n_read:?}:\n{}", lost.len(), lost.join("\n"));
    println!("{n_read:?}");
    test_support::ran(n_read.values().sum());
}

/// Restores what has to be changed so that an API accepts it.
fn without_changes(repeated: &mut Value, sent: &Value) {
    // A sound that is not there.
    if sent["audio"]["id"] == "" {
        repeated["audio"] = sent["audio"].clone();
    }
    let (Some(calls), Some(sent)) = (repeated["tool_calls"].as_array_mut(), sent["tool_calls"].as_array()) else {
        return;
    };
    for (call, sent) in calls.iter_mut().zip(sent) {
        let is_id = |id: &str| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if call["id"].as_str().is_some_and(is_id) {
            call["id"] = sent["id"].clone();
        }
        // Arguments that are not JSON.
        let is_replaced = call["function"]["arguments"].as_str().is_some_and(|text| text.contains("INVALID_JSON"));
        if is_replaced {
            call["function"]["arguments"] = sent["function"]["arguments"].clone();
        }
    }
}

/// Returns what a request has to repeat of a reply.
fn sent(exchange: &Exchange) -> Value {
    let reply = exchange.reply();
    match exchange.api {
        "anthropic" => serde_json::json!([{ "role": "assistant", "content": reply["content"] }]),
        "responses" => reply["output"].clone(),
        "chat" | "mistral" => [reply["choices"][0]["message"].clone()].into_iter().collect(),
        "gemini" => [reply["candidates"][0]["content"].clone()].into_iter().collect(),
        "bedrock" => [reply["output"]["message"].clone()].into_iter().collect(),
        _ => [reply["message"].clone()].into_iter().collect(),
    }
}

/// Returns the place of the first value that is not at the same place in `repeated`.
pub(super) fn first_missing(sent: &Value, repeated: &Value) -> Option<String> {
    match (sent, repeated) {
        (Value::Object(sent), Value::Object(repeated)) => sent.iter().find_map(|(key, value)| {
            // An absent field is null.
            let place = first_missing(value, repeated.get(key).unwrap_or(&Value::Null))?;
            Some(format!("/{key}{place}"))
        }),
        (Value::Array(sent), Value::Array(repeated)) if sent.len() == repeated.len() => {
            sent.iter().zip(repeated).enumerate().find_map(|(idx, (sent, repeated))| {
                let place = first_missing(sent, repeated)?;
                Some(format!("/{idx}{place}"))
            })
        }
        // A client leaves out a field or sets it to null.
        (Value::Null, _) => None,
        _ if sent == repeated => None,
        _ => {
            let short = |value: &Value| value.to_string().chars().take(300).collect::<String>();
            Some(format!(": {} against {}", short(sent), short(repeated)))
        }
    }
}
