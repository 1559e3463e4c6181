//! The encoder of BERT, from the tokens of a text to its vector.
//!
//! Devlin et al., "BERT" (arXiv 1810.04805), with the tensor names of published weights. Texts are computed one by one,
//! so that neither padding nor masks are needed.

use ndarray::{Array1, Array2, ArrayViewMut1, Axis, Slice};

use super::config::Config;
use super::config::ModelError;
use super::config::Pooling;
use super::config::{Tensors, Weights};

pub(super) struct Bert {
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
    pub(super) fn read(config: &Config, weights: &Weights) -> Result<Self, ModelError> {
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

    pub(super) fn dimensions(&self) -> usize {
        self.words.ncols()
    }

    /// Returns the vector of a text, normalized. `tokens` is not empty and contains tokens of the vocabulary.
    pub(super) fn vector(&self, tokens: &[usize]) -> Vec<f32> {
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
