//! `cargo toolkit` on a package without a binary.

mod programs;
