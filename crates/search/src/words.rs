//! Splitting of text into words for the search: stop words, and the shapes that rule out most words without a
//! comparison.
//!
//! Tools have identifiers as names and prose as descriptions, and queries are prose. All are split in the same way:
//! `read_file`, `readFile`, `read-file` and "read file" are the same two words.

mod common;

use std::collections::BTreeSet;
use std::ops::Range;

use frostem::{Algorithm, Stemmer};
use serde_json::Value;
use toolkit::tool::Tool;

pub(super) use self::common::is_common;
use crate::ranking::{Field, Weights};

/// The length in bytes at which words are truncated. Longer ones may be encoded data, and are not searched.
const MAX_WORD_LEN: usize = 64;

/// Calls `found` with each word of a text in lowercase.
///
/// A word is a run of letters and digits. Identifiers are also split by case (`XMLParser` is `xml` and `parser`,
/// `userIDs` is `user` and `ids`). Digits stay with the letters before them, and both are also words of their own if
/// they are longer than one character: `base64` is `base64`, `base` and `64`. In scripts without spaces, each character
/// is a word.
pub(super) fn each_word(text: &str, mut found: impl FnMut(&str)) {
    each_word_at(text, |_, word| found(word));
}

/// Does the same as [`each_word`], with the byte range of each word.
pub(super) fn each_word_at(text: &str, mut found: impl FnMut(Range<usize>, &str)) {
    let mut lower = String::new();
    let place = |part: &str| {
        let start = part.as_ptr().addr() - text.as_ptr().addr();
        start..start + part.len()
    };
    for run in text.split(|c: char| !is_of_word(c)) {
        // Fast path for prose: most words consist of lowercase letters only.
        if run.len() <= MAX_WORD_LEN && run.bytes().all(|byte| byte.is_ascii_lowercase()) {
            if !run.is_empty() {
                found(place(run), run);
            }
            continue;
        }
        // "don't" is one word, but "user's" contains the word "user", and "l'eau" the word "eau".
        if run.contains(is_apostrophe) {
            set_lower(run.trim_matches(is_apostrophe), &mut lower);
            if is_stop_word(&lower) {
                found(place(run), &lower);
                continue;
            }
        }
        for run in run.split(is_apostrophe) {
            let mut rest = run;
            while !rest.is_empty() {
                let (part, after) = rest.split_at(end_of_part(rest));
                rest = after;
                set_lower(part, &mut lower);
                emit_with_digits(&lower, |word| found(place(part), word));
            }
        }
    }
}

/// Calls `found` with the words of a name except stop words, or with all words if all are stop words.
pub(super) fn each_word_of_name(name: &str, found: impl FnMut(&str)) {
    each_word_except(name, is_stop_word, found);
}

/// Calls `found` with the words of a query except stop words, or with all words if all are stop words.
pub(super) fn each_word_of_query(query: &str, found: impl FnMut(&str)) {
    each_word_except(query, is_stop_word_in_query, found);
}

fn each_word_except(text: &str, is_stop_word: fn(&str) -> bool, mut found: impl FnMut(&str)) {
    let mut has_stop_words_only = true;
    each_word(text, |word| {
        if !is_stop_word(word) {
            has_stop_words_only = false;
            found(word);
        }
    });
    if has_stop_words_only {
        each_word(text, found);
    }
}

/// Calls `found` with the words of prose except stop words.
pub(super) fn each_word_of_prose(text: &str, mut found: impl FnMut(&str)) {
    each_word(text, |word| {
        if !is_stop_word(word) {
            found(word);
        }
    });
}

/// Returns the weight of a word in the length of a tool, in halves of a word. A character of a script without spaces
/// counts half, since words have about two of them.
pub(super) fn halves(word: &str) -> u32 {
    let mut chars = word.chars();
    let is_character = chars.next().is_some_and(is_written_without_spaces) && chars.next().is_none();
    if is_character { 1 } else { 2 }
}

/// Returns the stem of an English word.
pub(super) fn stem(word: &str) -> std::borrow::Cow<'_, str> {
    // Words of other languages may be cut, but in the same way in tools and queries.
    Stemmer::new(Algorithm::English).stem(word)
}

fn emit_with_digits(word: &str, mut found: impl FnMut(&str)) {
    found(word);
    let is_digit = |c: char| c.is_ascii_digit();
    if word.contains(is_digit) && !word.chars().all(is_digit) {
        let mut rest = word;
        while let Some(first) = rest.chars().next() {
            let end = rest.find(|c| is_digit(c) != is_digit(first)).unwrap_or(rest.len());
            if end > 1 {
                found(&rest[..end]);
            }
            rest = &rest[end..];
        }
    }
}

/// Returns the end of the first part of an identifier.
fn end_of_part(run: &str) -> usize {
    let mut chars = run.char_indices().peekable();
    let Some((_, mut before)) = chars.next() else {
        return 0;
    };
    if is_written_without_spaces(before) {
        return before.len_utf8();
    }
    while let Some((at, c)) = chars.next() {
        if is_written_without_spaces(c) {
            return at;
        }
        if c.is_uppercase() {
            let next = chars.peek().map(|&(_, next)| next);
            let ends_acronym = before.is_uppercase()
                && next.is_some_and(char::is_lowercase)
                && !is_plural_of_acronym(&run[at + c.len_utf8()..]);
            if !before.is_uppercase() || ends_acronym {
                return at;
            }
        }
        before = c;
    }
    run.len()
}

/// Returns true if the text after an acronym is a plural `s`, as in "URLs".
fn is_plural_of_acronym(rest: &str) -> bool {
    rest.strip_prefix('s').is_some_and(|after| !after.starts_with(char::is_lowercase))
}

/// Replaces the content of `lower` by `part` in lowercase.
fn set_lower(part: &str, lower: &mut String) {
    lower.clear();
    for c in part.chars() {
        match c {
            '\u{2019}' => lower.push('\''),
            c if c.is_ascii() => lower.push(c.to_ascii_lowercase()),
            c => lower.extend(c.to_lowercase()),
        }
        if lower.len() >= MAX_WORD_LEN {
            return;
        }
    }
}

#[inline]
fn is_of_word(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() || c == '\'' } else { c.is_alphanumeric() || is_apostrophe(c) }
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2019}')
}

fn is_written_without_spaces(c: char) -> bool {
    // Kana, CJK ideographs with their extensions, Thai, Lao and Khmer.
    matches!(u32::from(c), 0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF
        | 0x0E00..=0x0EFF | 0x1780..=0x17FF)
}

/// Returns true if a word is a stop word, or a single letter or digit.
fn is_stop_word(word: &str) -> bool {
    match word.as_bytes() {
        [byte] => byte.is_ascii(),
        [first @ b'a'..=b'z', ..] => {
            let lengths = STOP_LENGTHS[usize::from(first - b'a')];
            word.len() < 16 && lengths & (1 << word.len()) != 0 && STOP_WORDS.binary_search(&word).is_ok()
        }
        _ => false,
    }
}

/// A bit set of the lengths of stop words for each first letter, which rules out most words without a search.
const STOP_LENGTHS: [u16; 26] = {
    let mut lengths = [0; 26];
    let mut at = 0;
    while at < STOP_WORDS.len() {
        let word = STOP_WORDS[at].as_bytes();
        lengths[(word[0] - b'a') as usize] |= 1 << word.len();
        at += 1;
    }
    lengths
};

/// Returns true if a word of a query is a stop word, or one that is only used to ask for something.
fn is_stop_word_in_query(word: &str) -> bool {
    is_stop_word(word) || REQUEST_WORDS.contains(&word)
}

/// Words that are used to ask for something.
#[rustfmt::skip]
const REQUEST_WORDS: [&str; 36] = [
    "able", "additionally", "also", "assist", "can", "dear", "give", "hello", "help", "hey", "hi", "interested",
    "just", "kindly", "let", "like", "look", "looking", "may", "might", "must", "need", "needed", "needs", "ok",
    "okay", "please", "provide", "really", "shall", "tell", "thank", "thanks", "want", "wanted", "will",
];

/// The English stop words of the Snowball project, in ascending order.
#[rustfmt::skip]
const STOP_WORDS: [&str; 175] = [
    "a", "about", "above", "after", "again", "against", "all", "am", "an", "and", "any", "are", "aren't", "as",
    "at", "be", "because", "been", "before", "being", "below", "between", "both", "but", "by", "can't", "cannot",
    "could", "couldn't", "did", "didn't", "do", "does", "doesn't", "doing", "don't", "down", "during", "each",
    "few", "for", "from", "further", "had", "hadn't", "has", "hasn't", "have", "haven't", "having", "he", "he'd",
    "he'll", "he's", "her", "here", "here's", "hers", "herself", "him", "himself", "his", "how", "how's", "i",
    "i'd", "i'll", "i'm", "i've", "if", "in", "into", "is", "isn't", "it", "it's", "its", "itself", "let's", "me",
    "more", "most", "mustn't", "my", "myself", "no", "nor", "not", "of", "off", "on", "once", "only", "or", "other",
    "ought", "our", "ours", "ourselves", "out", "over", "own", "same", "shan't", "she", "she'd", "she'll", "she's",
    "should", "shouldn't", "so", "some", "such", "than", "that", "that's", "the", "their", "theirs", "them",
    "themselves", "then", "there", "there's", "these", "they", "they'd", "they'll", "they're", "they've", "this",
    "those", "through", "to", "too", "under", "until", "up", "us", "very", "was", "wasn't", "we", "we'd", "we'll",
    "we're", "we've", "were", "weren't", "what", "what's", "when", "when's", "where", "where's", "which", "while",
    "who", "who's", "whom", "why", "why's", "with", "won't", "would", "wouldn't", "you", "you'd", "you'll",
    "you're", "you've", "your", "yours", "yourself", "yourselves",
];

/// The length and the letters of a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// A bit set of the letters.
    letters: u32,
    /// The number of characters.
    pub(super) n_chars: u16,
}

impl Shape {
    pub(super) fn new(word: &str) -> Self {
        let letters = word.chars().fold(0, |letters, letter| letters | 1 << (letter as u32 % 32));
        Self { letters, n_chars: u16::try_from(word.chars().count()).unwrap_or(u16::MAX) }
    }

    /// Returns false for words with more than `max_distance` wrong characters. A wrong character changes at most two
    /// bits of the set.
    #[inline]
    pub(super) fn is_near(self, other: Self, max_distance: usize) -> bool {
        usize::from(self.n_chars.abs_diff(other.n_chars)) <= max_distance
            && (self.letters ^ other.letters).count_ones() as usize <= 2 * max_distance
    }

    /// Returns false for words that do not start with a word of this shape.
    #[inline]
    pub(super) fn may_start(self, other: Self) -> bool {
        self.n_chars <= other.n_chars && self.letters & !other.letters == 0
    }
}

/// The maximum number of searched words of a tool.
const MAX_WORDS: usize = 4096;
/// The maximum number of searched subschemas of a schema.
const MAX_SUBSCHEMAS: usize = 1024;
/// The maximum length of a searched text in bytes.
const MAX_TEXT_LEN: usize = 1 << 16;

/// Calls `found` with each searched word of a tool and its field.
pub(crate) fn each_word_of(tool: &Tool, mut found: impl FnMut(Field, &str)) {
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
pub(crate) struct ToolWords {
    pub(crate) words: BTreeSet<String>,
    pub(crate) stems: BTreeSet<String>,
}

impl ToolWords {
    pub(crate) fn new(tool: &Tool, weights: &Weights) -> Self {
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

#[cfg(test)]
mod tests {
    use super::Shape;

    #[test]
    fn shapes_rule_out_neither_near_words_nor_completions() {
        let words = [
            "create", "crate", "craete", "creates", "reate", "cre4te", "delete", "größe", "grosse", "gröser", "größer",
            "検索", "c", "gr",
        ];
        for a in words {
            for b in words {
                let (distance, shapes) = (strsim::osa_distance(a, b), [a, b].map(Shape::new));
                assert!(shapes[0].is_near(shapes[1], distance), "{a} and {b} have the distance {distance}");
                assert!(!b.starts_with(a) || shapes[0].may_start(shapes[1]), "{b} starts with {a}");
            }
        }
        assert!(!Shape::new("create").is_near(Shape::new("delete"), 1));
        assert!(!Shape::new("create").may_start(Shape::new("crate")));
    }
}
