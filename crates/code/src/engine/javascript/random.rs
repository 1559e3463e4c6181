//! Random numbers that can be repeated.

use std::cell::Cell;

/// The sequence of numbers that a seed selects (SplitMix64).
#[derive(Default)]
pub(super) struct Random(Cell<u64>);

impl Random {
    pub(super) fn set_seed(&self, seed: u64) {
        self.0.set(seed);
    }

    /// Returns the next number, from 0 inclusive to 1 exclusive.
    pub(super) fn next(&self) -> f64 {
        let state = self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0.set(state);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
        let number = ((mixed ^ (mixed >> 31)) >> 11) as f64;
        number / 9_007_199_254_740_992.0
    }
}
