//! `cargo toolkit`: on a package without a binary, for new packages, in the guide, and during development.

mod dev;
mod programs;
