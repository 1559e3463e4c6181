//! A history within a number of tokens.

use serde_json::Value;

/// The origin of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    System,
    User,
    Model,
    /// Results of calls.
    Results,
}

/// Messages that are removed together: those of the user, or a reply with the results of its calls.
struct Group {
    messages: Vec<Value>,
    n_tokens: usize,
    is_of_user: bool,
    /// True if the group has a summary of the messages before it.
    is_summary: bool,
}

/// Removes the oldest groups of messages so that the others have at most `max_tokens` tokens.
pub(super) fn trim(messages: Vec<Value>, max_tokens: usize, count: &dyn Fn(&str) -> usize) -> Vec<Value> {
    let (mut kept, mut groups) = grouped(messages, count);
    let of_system: usize = kept.iter().map(|message| count(&message.to_string())).sum();
    let mut n_tokens = of_system + groups.iter().map(|group| group.n_tokens).sum::<usize>();
    let mut first = 0;
    // Whole turns, up to the last message of the user or the first summary.
    while n_tokens > max_tokens {
        let Some(next) = (first + 1..groups.len()).find(|&place| groups[place].is_of_user) else { break };
        if groups[first..next].iter().any(|group| group.is_summary) {
            break;
        }
        n_tokens -= groups[first..next].iter().map(|group| group.n_tokens).sum::<usize>();
        first = next;
    }
    groups.drain(..first);
    // Replies with their results. The last group stays, and so do messages of the user.
    let mut place = 0;
    while n_tokens > max_tokens && place + 1 < groups.len() {
        if groups[place].is_of_user || groups[place].is_summary {
            place += 1;
            continue;
        }
        n_tokens -= groups.remove(place).n_tokens;
    }
    kept.extend(groups.into_iter().flat_map(|group| group.messages));
    kept
}

/// Returns the system messages at the start, and the groups after them.
fn grouped(messages: Vec<Value>, count: &dyn Fn(&str) -> usize) -> (Vec<Value>, Vec<Group>) {
    let mut system = Vec::new();
    let mut groups: Vec<Group> = Vec::new();
    let mut before = Origin::System;
    for message in messages {
        let origin = origin(&message);
        if origin == Origin::System && groups.is_empty() {
            system.push(message);
            continue;
        }
        // A later system message belongs to what is around it.
        let starts_group = match (before, origin) {
            (_, Origin::System) => false,
            (Origin::System, _) => groups.is_empty(),
            (Origin::User, Origin::User) | (Origin::Model, Origin::Model) => false,
            (_, Origin::Results) => false,
            _ => true,
        };
        if starts_group || groups.is_empty() {
            let is_of_user = origin == Origin::User;
            groups.push(Group { messages: Vec::new(), n_tokens: 0, is_of_user, is_summary: false });
        }
        if origin != Origin::System {
            before = origin;
        }
        if let Some(group) = groups.last_mut() {
            group.n_tokens += count(&message.to_string());
            group.is_summary |= is_summary(&message);
            group.messages.push(message);
        }
    }
    (system, groups)
}

/// Returns the origin of a message of any API.
fn origin(message: &Value) -> Origin {
    let kind = message["type"].as_str().unwrap_or_default();
    let is_result = |block: &Value| {
        matches!(block["type"].as_str(), Some("tool_result")) || block.get("toolResult").is_some() || {
            block.get("functionResponse").or_else(|| block.get("function_response")).is_some()
        }
    };
    let has_results = || {
        let blocks = message.get("content").or_else(|| message.get("parts"));
        blocks.and_then(Value::as_array).is_some_and(|blocks| blocks.iter().any(is_result))
    };
    match message["role"].as_str() {
        Some("system" | "developer") => Origin::System,
        Some("tool") => Origin::Results,
        Some("user") if has_results() => Origin::Results,
        Some("user") => Origin::User,
        Some(_) => Origin::Model,
        None if kind == "user_input" => Origin::User,
        None if matches!(kind, "function_result" | "function.result" | "mcp_approval_response") => Origin::Results,
        // A provider that ran the call itself has written its output, too, which stays with the call in either case.
        None if kind.ends_with("_output") && kind != "model_output" => Origin::Results,
        None => Origin::Model,
    }
}

/// Returns true if the provider has written a summary of the messages before.
fn is_summary(message: &Value) -> bool {
    let is_one = |json: &Value| json["type"].as_str().is_some_and(|kind| kind.starts_with("compaction"));
    is_one(message) || message["content"].as_array().is_some_and(|blocks| blocks.iter().any(is_one))
}
