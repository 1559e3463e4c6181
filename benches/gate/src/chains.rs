//! Chains of calls, each of which uses the result of the one before it.

use toolkit_backends::chain::{Chain, Step};

/// The number of steps of a chain.
pub(crate) const N_STEPS: usize = 16;

/// A chain of additions.
pub(crate) fn chain() -> Chain {
    let step = |nth: usize| match nth {
        0 => Step::new("add").arg("a", 17).arg("b", 25),
        nth => Step::new("add").arg("a", 17).take("b", (nth - 1).to_string(), "/sum"),
    };
    (0..N_STEPS).fold(Chain::new(), |chain, nth| chain.then(step(nth).named(nth.to_string())))
}
