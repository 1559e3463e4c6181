//! A bounded map of vectors.

use std::collections::HashMap;

/// The SHA-256 digest of a text.
pub(super) type Key = [u8; 32];

/// The maximum number of vectors.
pub(super) const CAPACITY: usize = 200_000;

/// A bounded map of vectors by the digests of their texts. When it is full, the least recently used half is removed.
pub(super) struct Lru {
    /// The number of dimensions, once there is a vector.
    pub(super) dimensions: Option<usize>,
    capacity: usize,
    /// A counter of accesses.
    clock: u64,
    vectors: HashMap<Key, (u64, Vec<f32>)>,
}

impl Lru {
    fn with_capacity(capacity: usize) -> Self {
        Self { dimensions: None, capacity, clock: 0, vectors: HashMap::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.vectors.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Key, &[f32])> {
        self.vectors.iter().map(|(key, (_, vector))| (key, &**vector))
    }

    pub(super) fn get(&mut self, key: &Key) -> Option<Vec<f32>> {
        let (last_use, vector) = self.vectors.get_mut(key)?;
        self.clock += 1;
        *last_use = self.clock;
        Some(vector.clone())
    }

    /// Inserts a vector. One with another number of dimensions is ignored; the search reports it as an error.
    pub(super) fn put(&mut self, key: Key, vector: &[f32]) {
        if vector.is_empty() || *self.dimensions.get_or_insert(vector.len()) != vector.len() {
            return;
        }
        if self.vectors.len() >= self.capacity && !self.vectors.contains_key(&key) {
            self.forget_half();
        }
        self.clock += 1;
        self.vectors.insert(key, (self.clock, vector.to_vec()));
    }

    fn forget_half(&mut self) {
        let mut uses: Vec<u64> = self.vectors.values().map(|(last_use, _)| *last_use).collect();
        let middle = uses.len() / 2;
        // Every access has another time.
        let (_, first_kept, _) = uses.select_nth_unstable(middle);
        self.vectors.retain(|_, (last_use, _)| last_use >= first_kept);
    }
}

impl Default for Lru {
    fn default() -> Self {
        Self::with_capacity(CAPACITY)
    }
}

#[cfg(test)]
mod tests {
    use super::Lru;

    #[test]
    fn what_is_used_stays() {
        let mut known = Lru::with_capacity(4);
        let key = |nth: u8| [nth; 32];
        (0..4).for_each(|nth| known.put(key(nth), &[f32::from(nth)]));
        assert_eq!(known.len(), 4, "there is room for all of them");
        known.put(key(3), &[3.0]);
        assert_eq!(known.len(), 4, "it is known already");
        assert_eq!(known.get(&key(0)), Some(vec![0.0]));
        known.put(key(4), &[4.0]);
        let kept: Vec<bool> = (0..5).map(|nth| known.get(&key(nth)).is_some()).collect();
        assert_eq!(kept, [true, false, false, true, true]);
        for nth in 5..100 {
            known.put(key(nth), &[0.0]);
            assert!(known.len() <= 4 && known.get(&key(0)).is_some());
        }
    }
}
