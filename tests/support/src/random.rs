//! The number of cases of random tests, and their seed.

use proptest::test_runner::{Config, RngSeed};

/// Returns the configuration of a property test with `cases` cases.
///
/// By default a test runs a twentieth of them, from the same seed each time, so that a failure is due to a change. With
/// `TOOLKIT_RANDOM=all` it runs all of them, from a new seed; `PROPTEST_CASES` and `PROPTEST_RNG_SEED` replace both.
#[must_use]
pub fn random(cases: u32) -> Config {
    let is_set = |name: &str| std::env::var_os(name).is_some();
    let is_all = is_all();
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if !is_set("PROPTEST_CASES") {
        config.cases = if is_all { cases } else { (cases / 20).max(8) };
    }
    if !is_all && !is_set("PROPTEST_RNG_SEED") {
        config.rng_seed = RngSeed::Fixed(0x746f_6f6c);
    }
    config
}

/// Returns the elements of a large table that a test runs: every `nth` one, or all of them with `TOOLKIT_RANDOM=all`.
pub fn sample<T>(table: impl IntoIterator<Item = T>, nth: usize) -> impl Iterator<Item = T> {
    table.into_iter().step_by(if is_all() { 1 } else { nth })
}

fn is_all() -> bool {
    std::env::var_os("TOOLKIT_RANDOM").is_some_and(|value| value == "all")
}
