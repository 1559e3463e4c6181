//! Tests of the results of benches, of their plots, and of the comparison of two runs.

mod committed;
mod compare;
