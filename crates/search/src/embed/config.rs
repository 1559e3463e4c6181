//! The configuration of a model.

use std::path::Path;

use serde::Deserialize;

use super::model_error::ModelError;
use super::model_file::{json, optional, shown};
use super::pooling::Pooling;

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
