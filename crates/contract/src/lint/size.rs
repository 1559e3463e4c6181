//! The checks of lint rules for definitions that cost many tokens: long and repeated texts, repeated schemas, and bytes as
//! lists of numbers.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;
use toolkit::Tool;
use toolkit_schema::{child, inline, root, walk};

use super::diagnostic::{LintDiagnostic, Rule, quoted};

/// The longest description of a tool and of a parameter without a diagnostic, in characters: about 250 and 100 tokens.
const MAX_DESCRIPTION: [usize; 2] = [1_000, 400];
/// The shortest schema that counts as a repeated definition, in bytes of JSON.
const MIN_DEFINITION: usize = 240;
/// The shortest sentence that counts as boilerplate, in characters.
const MIN_SENTENCE: usize = 40;
/// The number of tools from which a sentence is boilerplate.
const MIN_TOOLS: usize = 3;

/// Estimates the tokens of a text of this length.
fn tokens(n_bytes: usize) -> usize {
    n_bytes.div_ceil(4)
}

/// Checks a tool by itself.
pub(super) fn check(tool: &Tool, diagnostics: &mut Vec<LintDiagnostic>) {
    check_length(tool, "description", tool.description(), MAX_DESCRIPTION[0], diagnostics);
    let contract = inline::inlined(tool.input().as_value());
    check_schema(tool, "inputSchema", &contract, &mut BTreeMap::new(), diagnostics);
    // A model reads the schema in which the fields of a choice at the root are merged.
    let mut listed = contract;
    root::list(&mut listed);
    let mut seen: BTreeMap<String, Vec<String>> = BTreeMap::new();
    check_schema(tool, "inputSchema", &listed, &mut seen, &mut Vec::new());
    for (text, places) in seen.into_iter().filter(|(_, places)| places.len() > 1) {
        let message = format!(
            "is repeated at {}, which costs about {} tokens; take it once, such as in one list",
            places[1..].join(", "),
            tokens(text.len()) * (places.len() - 1),
        );
        diagnostics.push(LintDiagnostic::new(Rule::RepeatedDefinition, tool, &places[0], message));
    }
}

fn check_length(tool: &Tool, place: &str, text: &str, most: usize, diagnostics: &mut Vec<LintDiagnostic>) {
    let n_chars = text.chars().count();
    if n_chars > most {
        let message = format!(
            "has {n_chars} characters, which cost about {} tokens in each request; keep what a model needs to choose and \
             call the tool",
            tokens(text.len()),
        );
        diagnostics.push(LintDiagnostic::new(Rule::LongDescription, tool, place, message));
    }
}

/// Checks the parts of an input schema, and collects the places of each large one. Those within a repeated one are not
/// collected again.
fn check_schema(
    tool: &Tool,
    place: &str,
    schema: &Value,
    seen: &mut BTreeMap<String, Vec<String>>,
    diagnostics: &mut Vec<LintDiagnostic>,
) {
    let Value::Object(keywords) = schema else { return };
    walk::each_at(keywords, |keyword, token, sub| {
        let place = token.below(child(place, keyword));
        if let Some(text) = sub.get("description").and_then(Value::as_str) {
            check_length(tool, &place, text, MAX_DESCRIPTION[1], diagnostics);
        }
        if is_bytes(sub) {
            let message = "is a list of numbers from 0 to 255, but models send bytes as base64; take `toolkit::Base64`, or \
                           switch this rule off if these are numbers";
            diagnostics.push(LintDiagnostic::new(Rule::BytesAsNumbers, tool, &place, message));
        }
        let is_first = match definition(sub) {
            Some(text) => {
                let places = seen.entry(text).or_default();
                places.push(place.clone());
                places.len() == 1
            }
            None => true,
        };
        if is_first {
            check_schema(tool, &place, sub, seen, diagnostics);
        }
    });
}

/// Returns the text of a schema without its own description, if it is large enough to count.
fn definition(schema: &Value) -> Option<String> {
    let mut schema = schema.clone();
    schema.as_object_mut()?.shift_remove("description");
    let text = schema.to_string();
    (text.len() >= MIN_DEFINITION).then_some(text)
}

/// Returns true for a list of any length of integers from 0 to 255, which is the schema of a `Vec<u8>`.
fn is_bytes(schema: &Value) -> bool {
    let is_byte = |item: &Value| {
        item["type"] == "integer" && (&item["minimum"], &item["maximum"]) == (&Value::from(0), &Value::from(255))
    };
    let is_list = schema["type"] == "array"
        || schema["type"].as_array().is_some_and(|types| types.iter().any(|name| name == "array"));
    is_list && schema.get("maxItems").is_none() && schema.get("items").is_some_and(is_byte)
}

/// Reports sentences that many tools repeat, each once at the first of them.
pub(super) fn compare(tools: &[&Tool], diagnostics: &mut Vec<LintDiagnostic>) {
    let mut by_sentence: HashMap<&str, Vec<&Tool>> = HashMap::new();
    for tool in tools {
        for sentence in sentences(tool.description()) {
            let with_it = by_sentence.entry(sentence).or_default();
            // Versions of one tool may have the same description.
            if with_it.iter().all(|other| other.id().unversioned() != tool.id().unversioned()) {
                with_it.push(tool);
            }
        }
    }
    for (sentence, with_it) in by_sentence.into_iter().filter(|(_, with_it)| with_it.len() >= MIN_TOOLS) {
        let message = format!(
            "has a sentence that {} tools repeat, which costs about {} tokens: {}; write it once, in the instructions of \
             the server",
            with_it.len(),
            tokens(sentence.len()) * (with_it.len() - 1),
            quoted(sentence),
        );
        diagnostics.push(LintDiagnostic::new(Rule::RepeatedSentence, with_it[0], "description", message));
    }
}

/// Returns the long sentences of a text.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let sentences = text.split('\n').flat_map(|line| line.split(". "));
    let sentences = sentences.map(|sentence| sentence.trim().trim_end_matches('.'));
    sentences.filter(|sentence| sentence.chars().count() >= MIN_SENTENCE)
}
