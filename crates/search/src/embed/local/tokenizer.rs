//! A WordPiece tokenizer for BERT, which splits rare words into pieces.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

use super::config::ModelError;
use super::config::{json, shown};

pub(super) struct Tokenizer {
    pieces: HashMap<String, usize>,
    /// The prefix of the pieces after the first one of a word.
    continuing: String,
    max_word: usize,
    normalizer: Normalizer,
    unknown: usize,
    start: usize,
    end: usize,
    max_tokens: usize,
}

/// The maximum number of characters of a word, since the time grows with their square. 100 is usual.
const MAX_WORD: usize = 1000;

/// The supported kinds of the tokenizer's parts.
const KINDS: [(&str, &str); 3] =
    [("normalizer", "BertNormalizer"), ("pre_tokenizer", "BertPreTokenizer"), ("model", "WordPiece")];

/// `tokenizer.json`. Its `truncation` and `padding` are ignored: the length is configured elsewhere, and nothing is
/// padded.
#[derive(Deserialize)]
struct Written {
    normalizer: Normalizer,
    model: Model,
}

#[derive(Deserialize)]
struct Normalizer {
    clean_text: bool,
    handle_chinese_chars: bool,
    strip_accents: Option<bool>,
    lowercase: bool,
}

#[derive(Deserialize)]
struct Model {
    unk_token: String,
    continuing_subword_prefix: String,
    max_input_chars_per_word: usize,
    vocab: HashMap<String, usize>,
}

impl Tokenizer {
    pub(super) fn read(folder: &Path, max_tokens: usize, vocab_size: usize) -> Result<Self, ModelError> {
        let path = folder.join("tokenizer.json");
        let written: Value = json(&path)?;
        for (part, kind) in KINDS {
            let found = &written[part]["type"];
            if found != kind {
                let what = format!("`{part}` is {}, expected {kind}", shown(&found.to_string()));
                return Err(ModelError::Unsupported { path, what });
            }
        }
        let damaged = |reason: String| ModelError::Damaged { path: path.clone(), reason };
        let Written { normalizer, model } =
            serde_json::from_value(written).map_err(|error| damaged(shown(&error.to_string())))?;
        let Model { unk_token, continuing_subword_prefix, max_input_chars_per_word, vocab } = model;
        if let Some((piece, token)) = vocab.iter().find(|(_, token)| **token >= vocab_size) {
            let reason = format!("`{}` is token {token}, but the model has {vocab_size} tokens", shown(piece));
            return Err(damaged(reason));
        }
        let special = |piece: &str| {
            let token = vocab.get(piece).copied();
            token.ok_or_else(|| damaged(format!("the vocabulary has no `{}`", shown(piece))))
        };
        Ok(Self {
            unknown: special(&unk_token)?,
            start: special("[CLS]")?,
            end: special("[SEP]")?,
            continuing: continuing_subword_prefix,
            max_word: max_input_chars_per_word.min(MAX_WORD),
            normalizer,
            max_tokens,
            pieces: vocab,
        })
    }

    /// Returns the tokens of a text, truncated to the maximum of the model; at least the two special ones around it.
    ///
    /// Special tokens in the text, such as `[SEP]`, are read as ordinary text.
    pub(super) fn tokens(&self, text: &str) -> Vec<usize> {
        let mut tokens = vec![self.start];
        let mut word = String::new();
        let mut n_chars = 0;
        self.normalizer.each_char(text, |c| {
            let is_space = c.is_whitespace();
            let is_apart = is_space || is_punctuation(c);
            if is_apart {
                self.add_word(&word, n_chars, &mut tokens);
                word.clear();
                n_chars = 0;
            }
            if is_apart && !is_space {
                self.add_word(c.encode_utf8(&mut [0; 4]), 1, &mut tokens);
            } else if !is_space {
                n_chars += 1;
                if n_chars <= self.max_word {
                    word.push(c);
                }
            }
            tokens.len() < self.max_tokens
        });
        self.add_word(&word, n_chars, &mut tokens);
        tokens.truncate(self.max_tokens - 1);
        tokens.push(self.end);
        tokens
    }

    /// Adds the longest matching pieces from the start of the word, or the unknown token if some part does not match.
    fn add_word(&self, word: &str, n_chars: usize, tokens: &mut Vec<usize>) {
        if word.is_empty() {
            return;
        }
        let n_before = tokens.len();
        let mut rest = if n_chars > self.max_word { None } else { Some(word) };
        let mut piece = String::new();
        while let Some(left) = rest.filter(|left| !left.is_empty()) {
            let prefix = if tokens.len() > n_before { &*self.continuing } else { "" };
            let ends = left.char_indices().map(|(at, c)| at + c.len_utf8());
            let longest = ends.rev().find_map(|end| {
                piece.clear();
                piece.push_str(prefix);
                piece.push_str(&left[..end]);
                Some((*self.pieces.get(&piece)?, end))
            });
            rest = longest.map(|(token, end)| {
                tokens.push(token);
                &left[end..]
            });
        }
        if rest.is_none() {
            tokens.truncate(n_before);
            tokens.push(self.unknown);
        }
    }
}

impl Normalizer {
    /// Calls `hand_on` with each character of the normalized text until it returns false.
    fn each_char(&self, text: &str, mut hand_on: impl FnMut(char) -> bool) {
        let cleaned = text.chars().filter_map(|c| match c {
            _ if !self.clean_text => Some(c),
            '\0' | '\u{FFFD}' => None,
            // BERT treats the other whitespace among the control characters, such as the vertical tab, as control
            // characters.
            '\t' | '\n' | '\r' => Some(' '),
            _ if is_control(c) => None,
            _ if c.is_whitespace() => Some(' '),
            _ => Some(c),
        });
        let spaced = cleaned.flat_map(|c| {
            let is_apart = self.handle_chinese_chars && is_ideograph(c);
            let space = is_apart.then_some(' ');
            space.into_iter().chain([c]).chain(space)
        });
        let lower = |c: char| match self.lowercase {
            true => c.to_lowercase().all(&mut hand_on),
            false => hand_on(c),
        };
        // By default, accents are ignored whenever case is.
        let _ = match self.strip_accents.unwrap_or(self.lowercase) {
            true => spaced.nfd().filter(|c| c.general_category() != GeneralCategory::NonspacingMark).all(lower),
            false => { spaced }.all(lower),
        };
    }
}

fn is_control(c: char) -> bool {
    use GeneralCategory::{Control, Format, PrivateUse};
    matches!(c.general_category(), Control | Format | PrivateUse)
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || c.general_category_group() == GeneralCategoryGroup::Punctuation
}

/// Returns true for the Chinese characters, which are tokens of their own.
fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c),
        0x4E00..=0x9FFF
        | 0x3400..=0x4DBF
        | 0x20000..=0x2A6DF
        | 0x2A700..=0x2B73F
        | 0x2B740..=0x2B81F
        | 0x2B820..=0x2CEAF
        | 0xF900..=0xFAFF
        | 0x2F800..=0x2FA1F)
}
