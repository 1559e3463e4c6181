//! Splitting of text into words for the search.
//!
//! Tools have identifiers as names and prose as descriptions, and queries are prose. All are split in the same way:
//! `read_file`, `readFile`, `read-file` and "read file" are the same two words.

mod stop_words;

use std::ops::Range;

use frostem::{Algorithm, Stemmer};

use self::stop_words::{is_stop_word, is_stop_word_in_query};

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
