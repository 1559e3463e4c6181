//! Models that run in this process: the encoder of BERT, from the tokens of a text to its vector, and its tokenizer, which
//! splits rare words into pieces (WordPiece).
//!
//! Devlin et al., "BERT" (arXiv 1810.04805), with the tensor names of published weights. Texts are computed one by one,
//! so that neither padding nor masks are needed.

use std::collections::HashMap;
use std::num::NonZero;
use std::path::Path;
use std::thread;

use ndarray::{Array1, Array2, ArrayViewMut1, Axis, Slice};
use serde::Deserialize;
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

use crate::embed::config::Config;
use crate::embed::model_error::ModelError;
use crate::embed::model_file::{json, shown};
use crate::embed::pooling::Pooling;
use crate::embed::weights::{Tensors, Weights};
use crate::{Embedder, EmbedderError};

/// A sentence-embedding model of the BERT family, such as all-MiniLM-L6-v2, that runs on the CPU of this process.
///
/// The vector of a text depends neither on the other texts nor on the number of threads. Long texts are truncated to
/// the number of tokens that the model was trained for, 256 for all-MiniLM-L6-v2.
///
/// ```no_run
/// use toolkit_search::Semantic;
/// use toolkit_search::embed::LocalModel;
///
/// let model = LocalModel::open("models/all-MiniLM-L6-v2")?;
/// assert_eq!(model.dimensions(), 384);
/// let semantic = Semantic::new(model);
/// # Ok::<(), toolkit_search::embed::ModelError>(())
/// ```
pub struct LocalModel {
    tokenizer: Tokenizer,
    bert: Bert,
}

impl LocalModel {
    /// Loads a model from a folder in the format of sentence-transformers: `config.json`, `tokenizer.json`,
    /// `model.safetensors`, and optionally `sentence_bert_config.json`, `modules.json` and the `config.json` of the
    /// pooling.
    ///
    /// # Errors
    ///
    /// Returns an error if a file is missing or damaged, or if the model is of another kind. Supported are BERT models
    /// with WordPiece tokens, GELU, 32-bit weights, and mean or first-token pooling.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, ModelError> {
        let folder = folder.as_ref();
        let config = Config::read(folder)?;
        let tokenizer = Tokenizer::read(folder, config.max_tokens, config.vocab_size)?;
        let bert = Bert::read(&config, &Weights::read(folder)?)?;
        Ok(Self { tokenizer, bert })
    }

    /// Returns the number of dimensions of a vector.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.bert.dimensions()
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        self.bert.vector(&self.tokenizer.tokens(text))
    }
}

/// Distributes texts among the cores of the machine.
impl Embedder for LocalModel {
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
        let n_threads = thread::available_parallelism().map_or(1, NonZero::get).min(texts.len());
        if n_threads <= 1 {
            return Ok(texts.iter().map(|text| self.vector(text)).collect());
        }
        let embed = |texts: &[&str]| -> Vec<_> { texts.iter().map(|text| self.vector(text)).collect() };
        // All threads are joined before an error is returned, since a scope panics if a thread that was not joined has
        // panicked.
        let made: Vec<thread::Result<Vec<Vec<f32>>>> = thread::scope(|scope| {
            let shares = texts.chunks(texts.len().div_ceil(n_threads));
            let threads: Vec<_> = shares.map(|share| scope.spawn(move || embed(share))).collect();
            threads.into_iter().map(thread::ScopedJoinHandle::join).collect()
        });
        let made: thread::Result<Vec<Vec<Vec<f32>>>> = made.into_iter().collect();
        Ok(made.map_err(|_| "the model panicked")?.into_iter().flatten().collect())
    }
}

toolkit::debug_fields!(it, LocalModel { dimensions: it.dimensions() });

struct Bert {
    words: Array2<f32>,
    /// The position embeddings, with the type embedding of the first and only sentence added to each.
    positions: Array2<f32>,
    norm: Norm,
    layers: Vec<Layer>,
    n_heads: usize,
    pooling: Pooling,
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    attended: Linear,
    attended_norm: Norm,
    inner: Linear,
    outer: Linear,
    outer_norm: Norm,
}

impl Bert {
    fn read(config: &Config, weights: &Weights) -> Result<Self, ModelError> {
        let tensors = weights.tensors()?;
        let width = config.width;
        let types = tensors.matrix("embeddings.token_type_embeddings.weight", config.n_types, width)?;
        let positions = tensors.matrix("embeddings.position_embeddings.weight", config.n_positions, width)?;
        let first_type = types.row(0);
        Ok(Self {
            words: tensors.matrix("embeddings.word_embeddings.weight", config.vocab_size, width)?,
            positions: positions + first_type,
            norm: Norm::read(&tensors, "embeddings.LayerNorm", config)?,
            layers: (0..config.n_layers).map(|nth| Layer::read(&tensors, nth, config)).collect::<Result<_, _>>()?,
            n_heads: config.n_heads,
            pooling: config.pooling,
        })
    }

    fn dimensions(&self) -> usize {
        self.words.ncols()
    }

    /// Returns the vector of a text, normalized. `tokens` is not empty and contains tokens of the vocabulary.
    fn vector(&self, tokens: &[usize]) -> Vec<f32> {
        let mut states = self.words.select(Axis(0), tokens);
        states += &self.positions.slice_axis(Axis(0), Slice::from(..tokens.len()));
        self.norm.apply(&mut states);
        for layer in &self.layers {
            layer.apply(&mut states, self.n_heads);
        }
        let pooled = match self.pooling {
            Pooling::First => states.row(0).to_owned(),
            Pooling::Mean => states.sum_axis(Axis(0)) / tokens.len() as f32,
        };
        let length = pooled.dot(&pooled).sqrt().max(f32::MIN_POSITIVE);
        (pooled / length).to_vec()
    }
}

impl Layer {
    fn read(tensors: &Tensors<'_>, nth: usize, config: &Config) -> Result<Self, ModelError> {
        let (width, inner_width) = (config.width, config.inner_width);
        let linear = |name: &str, from, to| Linear::read(tensors, &format!("encoder.layer.{nth}.{name}"), from, to);
        let norm = |name: &str| Norm::read(tensors, &format!("encoder.layer.{nth}.{name}"), config);
        Ok(Self {
            query: linear("attention.self.query", width, width)?,
            key: linear("attention.self.key", width, width)?,
            value: linear("attention.self.value", width, width)?,
            attended: linear("attention.output.dense", width, width)?,
            attended_norm: norm("attention.output.LayerNorm")?,
            inner: linear("intermediate.dense", width, inner_width)?,
            outer: linear("output.dense", inner_width, width)?,
            outer_norm: norm("output.LayerNorm")?,
        })
    }

    fn apply(&self, states: &mut Array2<f32>, n_heads: usize) {
        let attended = self.attend(states, n_heads);
        *states += &self.attended.apply(&attended);
        self.attended_norm.apply(states);
        let mut inner = self.inner.apply(states);
        inner.mapv_inplace(gelu);
        *states += &self.outer.apply(&inner);
        self.outer_norm.apply(states);
    }

    /// Computes multi-head self-attention.
    fn attend(&self, states: &Array2<f32>, n_heads: usize) -> Array2<f32> {
        let [query, key, value] = [&self.query, &self.key, &self.value].map(|linear| linear.apply(states));
        let head_width = states.ncols() / n_heads;
        let mut attended = Array2::zeros(states.raw_dim());
        for head in 0..n_heads {
            let columns = Slice::from(head * head_width..(head + 1) * head_width);
            let mut shares = query.slice_axis(Axis(1), columns).dot(&key.slice_axis(Axis(1), columns).t());
            shares /= (head_width as f32).sqrt();
            shares.rows_mut().into_iter().for_each(softmax);
            attended.slice_axis_mut(Axis(1), columns).assign(&shares.dot(&value.slice_axis(Axis(1), columns)));
        }
        attended
    }
}

struct Linear {
    weight: Array2<f32>,
    bias: Array1<f32>,
}

impl Linear {
    fn read(tensors: &Tensors<'_>, name: &str, from: usize, to: usize) -> Result<Self, ModelError> {
        Ok(Self {
            weight: tensors.matrix(&format!("{name}.weight"), to, from)?,
            bias: tensors.vector(&format!("{name}.bias"), to)?,
        })
    }

    fn apply(&self, states: &Array2<f32>) -> Array2<f32> {
        states.dot(&self.weight.t()) + &self.bias
    }
}

/// A layer normalization.
struct Norm {
    weight: Array1<f32>,
    bias: Array1<f32>,
    epsilon: f32,
}

impl Norm {
    fn read(tensors: &Tensors<'_>, name: &str, config: &Config) -> Result<Self, ModelError> {
        Ok(Self {
            weight: tensors.vector(&format!("{name}.weight"), config.width)?,
            bias: tensors.vector(&format!("{name}.bias"), config.width)?,
            epsilon: config.epsilon,
        })
    }

    fn apply(&self, states: &mut Array2<f32>) {
        for mut state in states.rows_mut() {
            let n = state.len() as f32;
            state -= state.sum() / n;
            let deviation = (state.dot(&state) / n + self.epsilon).sqrt();
            state /= deviation;
            state *= &self.weight;
            state += &self.bias;
        }
    }
}

fn softmax(mut row: ArrayViewMut1<'_, f32>) {
    let greatest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    row.mapv_inplace(|x| (x - greatest).exp());
    row /= row.sum();
}

/// The exact GELU, with which the models were trained.
fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + libm::erff(x * std::f32::consts::FRAC_1_SQRT_2))
}

struct Tokenizer {
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
    fn read(folder: &Path, max_tokens: usize, vocab_size: usize) -> Result<Self, ModelError> {
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
    fn tokens(&self, text: &str) -> Vec<usize> {
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
