//! A bounded map of vectors.

use std::collections::HashMap;

/// The SHA-256 digest of a text.
pub(super) type Key = [u8; 32];

/// The maximum number of vectors.
pub(super) const CAPACITY: usize = 200_000;

/// A map of vectors by the digests of their texts. A vector beyond the maximum number removes all others.
#[derive(Default)]
pub(super) struct VectorMap {
    /// The number of dimensions, once there is a vector.
    pub(super) dimensions: Option<usize>,
    pub(super) vectors: HashMap<Key, Vec<f32>>,
}

impl VectorMap {
    /// Inserts a vector. One with another number of dimensions is ignored; the search reports it as an error.
    pub(super) fn put(&mut self, key: Key, vector: Vec<f32>) {
        if vector.is_empty() || *self.dimensions.get_or_insert(vector.len()) != vector.len() {
            return;
        }
        if self.vectors.len() >= CAPACITY && !self.vectors.contains_key(&key) {
            self.vectors.clear();
        }
        self.vectors.insert(key, vector);
    }
}
