//! The vectors of tools.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::quality::RandomState;

use super::semantic_error::SemanticError;

/// Vectors by hashes of their texts.
#[derive(Default)]
pub(super) struct VectorCache {
    vectors: HashMap<u128, Arc<[f32]>, RandomState>,
    /// Two independent random hashers, so that texts with the same key cannot be constructed.
    hashers: [RandomState; 2],
}

impl VectorCache {
    pub(super) fn has(&self, text: &str) -> bool {
        self.vectors.contains_key(&self.key(text))
    }

    /// Inserts a vector. If its length differs from the others', it is unknown which of them are wrong, so that all are
    /// removed.
    pub(super) fn put(&mut self, text: &str, mut vector: Vec<f32>) -> Result<(), SemanticError> {
        let expected = self.vectors.values().next().map_or(vector.len(), |vector| vector.len());
        if vector.len() != expected {
            self.vectors.clear();
            return Err(SemanticError::Length { expected, found: vector.len() });
        }
        normalize(&mut vector);
        self.vectors.insert(self.key(text), vector.into());
        Ok(())
    }

    /// Returns the vectors of tools by id, and removes all others from the cache.
    pub(super) fn keep(&mut self, tools: &[(String, String)]) -> Vectors {
        let mut kept = HashMap::default();
        let mut vectors = Vectors::default();
        for (id, text) in tools {
            let key = self.key(text);
            let Some(vector) = self.vectors.get(&key) else { continue };
            vectors.length = Some(vector.len());
            kept.insert(key, Arc::clone(vector));
            vectors.tools.push((id.clone(), Arc::clone(vector)));
        }
        self.vectors = kept;
        vectors
    }

    fn key(&self, text: &str) -> u128 {
        let [a, b] = self.hashers.each_ref().map(|hasher| u128::from(hasher.hash_one(text)));
        a << 64 | b
    }
}

/// The normalized vectors of tools, in the order of their ids.
#[derive(Default)]
pub(super) struct Vectors {
    length: Option<usize>,
    tools: Vec<(String, Arc<[f32]>)>,
}

impl Vectors {
    /// Returns the cosine similarity of each tool and the query.
    pub(super) fn near(&self, question: &[f32]) -> Result<impl Iterator<Item = (&str, f32)>, SemanticError> {
        if let Some(expected) = self.length.filter(|expected| *expected != question.len()) {
            return Err(SemanticError::Length { expected, found: question.len() });
        }
        let mut question = question.to_vec();
        normalize(&mut question);
        Ok(self.tools.iter().map(move |(id, vector)| (&**id, dot(&question, vector))))
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    // Eight sums, which the compiler vectorizes.
    let mut sums = [0.0_f32; 8];
    let (a_chunks, b_chunks) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        (0..8).for_each(|lane| sums[lane] += a[lane] * b[lane]);
    }
    sums.iter().sum::<f32>() + rest
}

/// Normalizes a vector. An empty, zero or non-finite vector becomes zero, which is similar to nothing.
fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    if !(length.is_finite() && length > 0.0) {
        return vector.fill(0.0);
    }
    vector.iter_mut().for_each(|x| *x = (f64::from(*x) / length) as f32);
}
