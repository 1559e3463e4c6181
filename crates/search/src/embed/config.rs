//! The files of a model: its configuration, pooling and weights, which are read with bounds.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use ndarray::{Array1, Array2};
use safetensors::{Dtype, SafeTensors};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toolkit_runtime::read_regular_file;

/// The configuration of a model.
pub(crate) struct Config {
    pub(crate) n_layers: usize,
    pub(crate) n_heads: usize,
    pub(crate) width: usize,
    pub(crate) inner_width: usize,
    pub(crate) vocab_size: usize,
    pub(crate) n_positions: usize,
    pub(crate) n_types: usize,
    pub(crate) epsilon: f32,
    pub(crate) pooling: Pooling,
    /// The maximum number of tokens, including the special ones before and after the text.
    pub(crate) max_tokens: usize,
}

/// `config.json`.
#[derive(Deserialize)]
struct Written {
    model_type: String,
    hidden_act: String,
    hidden_size: usize,
    intermediate_size: usize,
    num_attention_heads: usize,
    num_hidden_layers: usize,
    max_position_embeddings: usize,
    type_vocab_size: usize,
    vocab_size: usize,
    layer_norm_eps: f32,
    #[serde(default = "absolute")]
    position_embedding_type: String,
}

fn absolute() -> String {
    "absolute".to_owned()
}

/// `sentence_bert_config.json`.
#[derive(Default, Deserialize)]
struct Sentences {
    max_seq_length: Option<usize>,
}

impl Config {
    pub(crate) fn read(folder: &Path) -> Result<Self, ModelError> {
        let path = folder.join("config.json");
        let unsupported = |what: String| ModelError::Unsupported { path: path.clone(), what };
        let written: Written = json(&path)?;
        if written.model_type != "bert" || written.position_embedding_type != "absolute" {
            return Err(unsupported(format!(
                "the model is `{}` with {} positions, expected `bert` with absolute positions",
                shown(&written.model_type),
                shown(&written.position_embedding_type)
            )));
        }
        if written.hidden_act != "gelu" {
            return Err(unsupported(format!("the activation is `{}`, expected `gelu`", shown(&written.hidden_act))));
        }
        let Written { hidden_size: width, num_attention_heads: n_heads, max_position_embeddings, .. } = written;
        if width == 0
            || n_heads == 0
            || width % n_heads != 0
            || max_position_embeddings < 2
            || written.type_vocab_size == 0
        {
            let reason = format!(
                "invalid dimensions: {width} numbers, {n_heads} heads, {max_position_embeddings} positions and {} types",
                written.type_vocab_size
            );
            return Err(ModelError::Damaged { path, reason });
        }
        let sentences: Sentences = optional(&folder.join("sentence_bert_config.json"))?;
        let max_tokens = sentences.max_seq_length.unwrap_or(max_position_embeddings).clamp(2, max_position_embeddings);
        Ok(Self {
            n_layers: written.num_hidden_layers,
            n_heads,
            width,
            inner_width: written.intermediate_size,
            vocab_size: written.vocab_size,
            n_positions: max_position_embeddings,
            n_types: written.type_vocab_size,
            epsilon: written.layer_norm_eps,
            pooling: Pooling::read(folder)?,
            max_tokens,
        })
    }
}

// Errors of loading a model.

/// An error of loading a model.
///
/// ```
/// use toolkit_search::embed::{LocalModel, ModelError};
///
/// let error = LocalModel::open("models/missing").unwrap_err();
/// assert!(matches!(&error, ModelError::File { path, .. } if path.ends_with("config.json")));
/// assert!(error.to_string().contains("expected a folder with `config.json`, `tokenizer.json` and `model.safetensors`"));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum ModelError {
    /// A file is missing, or could not be read.
    #[non_exhaustive]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The I/O error.
        error: io::Error,
    },
    /// The content of a file is invalid.
    #[non_exhaustive]
    Damaged {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The model is of an unsupported kind.
    #[non_exhaustive]
    Unsupported {
        /// The file with the unsupported setting.
        path: PathBuf,
        /// The unsupported setting.
        what: String,
    },
    /// A tensor is missing or has a shape that does not match the configuration.
    #[non_exhaustive]
    Tensor {
        /// The name of the tensor.
        name: String,
        /// The expected shape.
        expected: Vec<usize>,
        /// The shape of the tensor; `None` if it is missing.
        found: Option<Vec<usize>>,
    },
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, error } => write!(
                f,
                "{}: {error}; expected a folder with `config.json`, `tokenizer.json` and `model.safetensors`",
                path.display()
            ),
            Self::Damaged { path, reason } => {
                write!(f, "{}: {reason}; download the model again", path.display())
            }
            Self::Unsupported { path, what } => {
                write!(f, "{}: {what}; use a model like all-MiniLM-L6-v2", path.display())
            }
            Self::Tensor { name, expected, found: Some(found) } => {
                write!(f, "the tensor `{name}` has the shape {found:?}, but `config.json` requires {expected:?}")
            }
            Self::Tensor { name, expected, found: None } => {
                write!(f, "the tensor `{name}` of the shape {expected:?} is missing in `model.safetensors`")
            }
        }
    }
}

impl std::error::Error for ModelError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::File { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// The maximum size of a JSON file; vocabularies of many languages take about 20 MB.
const MAX_JSON_BYTES: u64 = 64 << 20;

/// Reads a JSON file.
pub(crate) fn json<T: DeserializeOwned>(path: &Path) -> Result<T, ModelError> {
    let bytes = bytes(path, MAX_JSON_BYTES)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| ModelError::Damaged { path: path.to_owned(), reason: shown(&error.to_string()) })
}

/// Reads a JSON file, or returns the default if it does not exist.
pub(crate) fn optional<T: DeserializeOwned + Default>(path: &Path) -> Result<T, ModelError> {
    match json(path) {
        Err(ModelError::File { error, .. }) if error.kind() == ErrorKind::NotFound => Ok(T::default()),
        read => read,
    }
}

/// Returns text from a file on one line, truncated.
pub(crate) fn shown(text: &str) -> String {
    /// The maximum length in characters.
    const MAX: usize = 200;
    let mut shown = String::new();
    for c in text.chars().take(MAX) {
        match c {
            '"' | '\'' | '\\' => shown.push(c),
            _ => shown.extend(c.escape_debug()),
        }
    }
    shown
}

/// Reads a file of at most `max` bytes.
pub(crate) fn bytes(path: &Path, max: u64) -> Result<Vec<u8>, ModelError> {
    read_regular_file(path, max).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => {
            ModelError::Damaged { path: path.to_owned(), reason: format!("the file has more than {max} bytes") }
        }
        _ => ModelError::File { path: path.to_owned(), error },
    })
}

/// The maximum size; models that run on a CPU in reasonable time are much smaller.
const MAX_BYTES: u64 = 4 << 30;

/// The content of the file, from which tensors are copied one by one.
pub(crate) struct Weights {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Weights {
    pub(crate) fn read(folder: &Path) -> Result<Self, ModelError> {
        let path = folder.join("model.safetensors");
        let bytes = bytes(&path, MAX_BYTES)?;
        Ok(Self { path, bytes })
    }

    pub(crate) fn tensors(&self) -> Result<Tensors<'_>, ModelError> {
        let tensors = SafeTensors::deserialize(&self.bytes)
            .map_err(|error| ModelError::Damaged { path: self.path.clone(), reason: error.to_string() })?;
        // The tensors of a complete model have a prefix before the names of the encoder's.
        let prefix = if tensors.tensor("bert.embeddings.word_embeddings.weight").is_ok() { "bert." } else { "" };
        Ok(Tensors { path: &self.path, tensors, prefix })
    }
}

/// The tensors by name.
pub(crate) struct Tensors<'w> {
    path: &'w Path,
    tensors: SafeTensors<'w>,
    prefix: &'static str,
}

impl Tensors<'_> {
    pub(crate) fn matrix(&self, name: &str, rows: usize, columns: usize) -> Result<Array2<f32>, ModelError> {
        let numbers = self.numbers(name, &[rows, columns])?;
        Array2::from_shape_vec((rows, columns), numbers)
            .map_err(|error| ModelError::Damaged { path: self.path.to_owned(), reason: error.to_string() })
    }

    pub(crate) fn vector(&self, name: &str, length: usize) -> Result<Array1<f32>, ModelError> {
        Ok(Array1::from_vec(self.numbers(name, &[length])?))
    }

    fn numbers(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ModelError> {
        let wrong = |found| ModelError::Tensor { name: name.to_owned(), expected: shape.to_owned(), found };
        let tensor = self.tensors.tensor(&format!("{}{name}", self.prefix)).map_err(|_| wrong(None))?;
        if tensor.shape() != shape {
            return Err(wrong(Some(tensor.shape().to_owned())));
        }
        if tensor.dtype() != Dtype::F32 {
            let what = format!("the tensor `{name}` has the type {:?}, expected F32", tensor.dtype());
            return Err(ModelError::Unsupported { path: self.path.to_owned(), what });
        }
        let (numbers, _) = tensor.data().as_chunks::<4>();
        Ok(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }
}

// The pooling of token vectors.

/// The method that combines token vectors into the vector of a text.
#[derive(Clone, Copy)]
pub(crate) enum Pooling {
    Mean,
    First,
}

/// An entry of `modules.json`, a stage of the model.
#[derive(Deserialize)]
struct Module {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    path: String,
}

/// The `config.json` of a pooling, which may combine several methods.
#[derive(Deserialize)]
#[serde(default)]
struct Pools {
    pooling_mode_cls_token: bool,
    pooling_mode_mean_tokens: bool,
    pooling_mode_max_tokens: bool,
    pooling_mode_mean_sqrt_len_tokens: bool,
    pooling_mode_weightedmean_tokens: bool,
    pooling_mode_lasttoken: bool,
}

impl Default for Pools {
    fn default() -> Self {
        Self {
            pooling_mode_cls_token: false,
            pooling_mode_mean_tokens: true,
            pooling_mode_max_tokens: false,
            pooling_mode_mean_sqrt_len_tokens: false,
            pooling_mode_weightedmean_tokens: false,
            pooling_mode_lasttoken: false,
        }
    }
}

impl Pooling {
    pub(crate) fn read(folder: &Path) -> Result<Self, ModelError> {
        let modules: Vec<Module> = optional(&folder.join("modules.json"))?;
        if modules.is_empty() {
            let path = folder.join("1_Pooling").join("config.json");
            return Self::from_config(&optional(&path)?, &path);
        }
        let path = folder.join(pooling_folder(&modules, folder)?).join("config.json");
        Self::from_config(&json(&path)?, &path)
    }

    fn from_config(pools: &Pools, path: &Path) -> Result<Self, ModelError> {
        let is_other = pools.pooling_mode_max_tokens
            || pools.pooling_mode_mean_sqrt_len_tokens
            || pools.pooling_mode_weightedmean_tokens
            || pools.pooling_mode_lasttoken;
        match (pools.pooling_mode_mean_tokens, pools.pooling_mode_cls_token, is_other) {
            (true, false, false) => Ok(Self::Mean),
            (false, true, false) => Ok(Self::First),
            _ => {
                let what = "the pooling is neither the mean of the tokens nor the first token".to_owned();
                Err(ModelError::Unsupported { path: path.to_owned(), what })
            }
        }
    }
}

/// Returns the folder of the pooling, if all stages of the model are supported. A normalization makes no difference,
/// since vectors are compared by direction.
fn pooling_folder<'m>(modules: &'m [Module], folder: &Path) -> Result<&'m str, ModelError> {
    let unsupported = |what| ModelError::Unsupported { path: folder.join("modules.json"), what };
    let kinds: Vec<&str> = modules.iter().map(|module| module.kind.rsplit('.').next().unwrap_or_default()).collect();
    let ([transformer, pooling, ..], ["Transformer", "Pooling"] | ["Transformer", "Pooling", "Normalize"]) =
        (modules, &*kinds)
    else {
        let kinds = shown(&kinds.join(", "));
        return Err(unsupported(format!(
            "the modules are {kinds}, expected Transformer, Pooling and optionally Normalize"
        )));
    };
    let is_below = |path: &str| Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    if !transformer.path.is_empty() || !is_below(&pooling.path) {
        return Err(unsupported("the modules are not in their usual folders".to_owned()));
    }
    Ok(&pooling.path)
}
