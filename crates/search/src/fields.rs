//! The searched fields of a tool, with its words and stems.

use std::collections::BTreeSet;

use serde_json::Value;

use super::ranking::{Field, Weights};
use super::words::{each_word_of_name, each_word_of_prose, stem};
use toolkit::tool::Tool;

/// The maximum number of searched words of a tool.
const MAX_WORDS: usize = 4096;
/// The maximum number of searched subschemas of a schema.
const MAX_SUBSCHEMAS: usize = 1024;
/// The maximum length of a searched text in bytes.
const MAX_TEXT_LEN: usize = 1 << 16;

/// Calls `found` with each searched word of a tool and its field.
pub(super) fn each_word_of(tool: &Tool, mut found: impl FnMut(Field, &str)) {
    let mut room = MAX_WORDS;
    let mut found = |field: Field, word: &str| {
        if room > 0 {
            room -= 1;
            found(field, word);
        }
    };
    each_word_of_name(head(tool.name()), |word| found(Field::Name, word));
    let mut add = |field: Field, text: &str| each_word_of_prose(head(text), |word| found(field, word));
    if let Some(namespace) = tool.id().namespace() {
        add(Field::Namespace, namespace);
    }
    let metadata = tool.metadata();
    let tags = metadata.tags.iter().chain(&metadata.aliases).chain(&metadata.category);
    tags.for_each(|tag| add(Field::Tags, tag));
    if let Some(title) = metadata.title.as_deref().or(metadata.annotations.title.as_deref()) {
        add(Field::Lead, title);
    }
    let (lead, rest) = first_sentence(head(tool.description()));
    add(Field::Lead, lead);
    add(Field::Description, rest);
    each_text_of_schema(tool.input().as_value(), &mut add);
}

fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT_LEN)]
}

/// Splits a description after its first sentence.
fn first_sentence(description: &str) -> (&str, &str) {
    let description = description.trim();
    let mut chars = description.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|&(_, next)| next);
        let ends = match c {
            '.' | '!' | '?' => next.is_some_and(char::is_whitespace),
            '。' => true,
            '\n' => next == Some('\n'),
            _ => false,
        };
        if ends {
            return description.split_at(at + c.len_utf8());
        }
    }
    (description, "")
}

fn each_text_of_schema(root: &Value, add: &mut impl FnMut(Field, &str)) {
    let mut room = MAX_SUBSCHEMAS;
    let mut pending = vec![root];
    while let Some(Value::Object(schema)) = pending.pop() {
        for (keyword, value) in schema {
            match (keyword.as_str(), value) {
                ("description", Value::String(text)) => {
                    add(Field::ArgumentDescription, text);
                }
                ("enum", Value::Array(choices)) => {
                    choices.iter().filter_map(Value::as_str).for_each(|choice| add(Field::Choice, choice));
                }
                ("const", Value::String(choice)) => add(Field::Choice, choice),
                ("properties", Value::Object(properties)) => {
                    for (name, schema) in properties {
                        add(Field::Argument, name);
                        follow(schema, &mut pending, &mut room);
                    }
                }
                ("$defs" | "definitions" | "patternProperties", Value::Object(schemas)) => {
                    schemas.values().for_each(|schema| follow(schema, &mut pending, &mut room));
                }
                ("allOf" | "anyOf" | "oneOf" | "prefixItems" | "items", Value::Array(schemas)) => {
                    schemas.iter().for_each(|schema| follow(schema, &mut pending, &mut room));
                }
                ("items" | "additionalProperties", schema) => follow(schema, &mut pending, &mut room),
                _ => {}
            }
        }
    }
}

/// Adds a subschema to the pending ones, up to the maximum.
fn follow<'s>(schema: &'s Value, pending: &mut Vec<&'s Value>, room: &mut usize) {
    if schema.is_object() && *room > 0 {
        *room -= 1;
        pending.push(schema);
    }
}

/// The distinct words and stems of a tool.
pub(super) struct ToolWords {
    pub(super) words: BTreeSet<String>,
    pub(super) stems: BTreeSet<String>,
}

impl ToolWords {
    pub(super) fn new(tool: &Tool, weights: &Weights) -> Self {
        let mut words = BTreeSet::new();
        each_word_of(tool, |field, word| {
            if weights.get(field) > 0 && !words.contains(word) {
                words.insert(word.to_owned());
            }
        });
        let stems = words.iter().map(|word| stem(word).into_owned()).collect();
        Self { words, stems }
    }
}
