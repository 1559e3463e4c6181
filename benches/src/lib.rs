//! Shared parts of the benchmarks: rows that run in turns on a shared machine, and generated programs to measure.

pub mod allocations;
pub mod measure;
pub mod program;
pub mod ways;
