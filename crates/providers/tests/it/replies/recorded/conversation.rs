//! Conversations that the APIs accepted: what is written of a reply and its results is what the next request had.

use std::collections::BTreeMap;

use serde_json::Value;
use test_support::block_on;
use test_support::replies::answering;
use toolkit::catalog::ExportedNames;
use toolkit_providers::reply::ResultLimits;

use super::differences::{OTHERS, without_differences};
use super::echo::first_missing;
use super::exchange::{Exchange, for_each_file};
use super::result::{is_results, name, outcome, results};

#[test]
fn accepted_conversations_are_continued_alike() {
    let mut n_alike: BTreeMap<&str, usize> = BTreeMap::new();
    let mut n_skipped: BTreeMap<String, usize> = BTreeMap::new();
    let mut others = Vec::new();
    for_each_file(|exchanges| {
        for exchange in exchanges.values().filter(|exchange| exchange.has_calls()) {
            let Some(next) = exchange.next().and_then(|next| exchanges.get(&next)) else { continue };
            if OTHERS.iter().any(|(name, _)| exchange.name.contains(name)) {
                continue;
            }
            match compare(exchange, next) {
                Ok(()) => *n_alike.entry(exchange.api).or_default() += 1,
                Err(Difference::Skipped(why)) => *n_skipped.entry(format!("{}: {why}", exchange.api)).or_default() += 1,
                Err(Difference::Found(what)) => others.push(format!("{}: {what}", exchange.name)),
            }
        }
    });
    println!("alike: {n_alike:?}\nskipped: {n_skipped:#?}");
    assert!(others.is_empty(), "{} conversations differ:\n{}", others.len(), others.join("\n"));
    test_support::ran(n_alike.values().sum());
}

enum Difference {
    Found(String),
    Skipped(&'static str),
}

fn compare(exchange: &Exchange, next: &Exchange) -> Result<(), Difference> {
    let found = |what: &dyn ToString| Difference::Found(what.to_string());
    let api = exchange.api;
    let names = exchange.names();
    let exported = answering(&names, Vec::new()).map_err(|error| found(&error))?.1;
    let reply = exchange.read(&exported).ok_or(Difference::Skipped("not read yet"))?.map_err(|error| found(&error))?;
    if reply.calls().iter().any(|call| call.tool.is_none()) {
        return Err(Difference::Skipped("calls a tool that the request does not list"));
    }
    let n_before = if exchange.is_linked_by_id() { 0 } else { exchange.messages().len() };
    let recorded = next.messages().split_off(n_before);
    let start = recorded.iter().position(|message| is_results(api, message));
    let start = start.ok_or(Difference::Skipped("the next request has no results"))?;
    let end = start + recorded[start..].iter().take_while(|message| is_results(api, message)).count();

    let written = results(api, &recorded[start..end]);
    let mut outcomes = Vec::new();
    for (idx, call) in reply.calls().iter().enumerate() {
        let result = written.iter().find(|(id, _)| id.as_deref() == Some(&call.id));
        // Gemini and Ollama tell results apart by their names and their order.
        let n_before = reply.calls()[..idx].iter().filter(|other| other.name == call.name).count();
        let mut of_name = written.iter().filter(|(_, result)| name(result) == Some(call.name.as_str()));
        let result = result.or_else(|| of_name.nth(n_before));
        // An id that its API would reject is replaced.
        let result = result.or_else(|| written.get(idx).filter(|_| matches!(api, "mistral" | "ollama")));
        let (_, result) = result.ok_or(Difference::Skipped("a call has no result in the next request"))?;
        outcomes.push(outcome(api, result).ok_or(Difference::Skipped("a result of a kind that no tool returns"))?);
    }
    let (dispatcher, names) = answering(&names, outcomes).map_err(|error| found(&error))?;
    let ours = messages(exchange, &names, &dispatcher, &written)?;
    let (ours, recorded) = (without_differences(api, ours), without_differences(api, recorded[..end].to_vec()));
    let n_results = recorded.iter().rev().take_while(|message| is_results(api, message)).count();
    if exchange.is_linked_by_id() {
        return equal(&recorded, &ours[ours.len() - n_results..]);
    }
    let recorded = aligned(api, recorded, &ours)?;
    equal(&ours[ours.len() - n_results..], &recorded[recorded.len() - n_results..])?;
    // A client may leave out parts of a reply, but whatever it sent is in the messages.
    equal(&recorded, &ours)
}

/// Checks that all values of some messages are in others.
fn equal(some: &[Value], others: &[Value]) -> Result<(), Difference> {
    first_missing(&Value::from(some), &Value::from(others)).map_or(Ok(()), |place| Err(Difference::Found(place)))
}

fn messages(
    exchange: &Exchange,
    names: &ExportedNames,
    dispatcher: &toolkit::Dispatcher,
    written: &[(Option<String>, Value)],
) -> Result<Vec<Value>, Difference> {
    let reply = exchange.read(names).and_then(Result::ok).ok_or(Difference::Skipped("not read"))?;
    if !reply.stop_reason().runs_calls() {
        return Err(Difference::Skipped("a truncated reply, whose calls do not run"));
    }
    let mut results = block_on(reply.run(dispatcher));
    for call in reply.provider_calls().iter().filter(|call| call.needs_result) {
        if let Some((_, result)) = written.iter().find(|(id, _)| *id == call.id) {
            results.set_host_result(call.id.as_deref().unwrap_or_default(), result.clone());
        }
    }
    let mut limits = ResultLimits::default();
    (limits.result_bytes, limits.total_bytes, limits.media_bytes) = (usize::MAX, usize::MAX, usize::MAX);
    let mut messages = reply.messages().to_vec();
    messages.extend(results.messages_within(&limits).map_err(|error| Difference::Found(error.to_string()))?);
    Ok(messages)
}

/// Returns what a client recorded, with null for each part of the reply that it left out.
fn aligned(api: &str, recorded: Vec<Value>, ours: &[Value]) -> Result<Vec<Value>, Difference> {
    if recorded.len() == ours.len() || api != "responses" {
        return Ok(recorded);
    }
    let mut recorded = recorded.into_iter().peekable();
    let mut aligned = Vec::new();
    for item in ours {
        let is_same = |other: &Value| first_missing(other, item).is_none();
        aligned.push(recorded.next_if(is_same).unwrap_or_else(|| item.clone()));
    }
    match recorded.next() {
        None => Ok(aligned),
        Some(item) => Err(Difference::Found(format!("{item} is not among {}", Value::from(ours)))),
    }
}
