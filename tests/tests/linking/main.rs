//! Linking and packaging of tools, and imports, with complete programs.
//!
//! They are built in a separate target directory, which takes minutes. `cargo test` alone omits these tests, `.ci/run` does not.

mod default_features;
mod imports;
mod programs;
