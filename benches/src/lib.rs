//! What the benchmarks share: taking turns on a machine that others use too, and programs made to be measured.

pub mod allocations;
pub mod measure;
pub mod program;
