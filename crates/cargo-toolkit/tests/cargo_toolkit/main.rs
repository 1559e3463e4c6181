//! `cargo toolkit`: on a package without a binary, for new packages, and in the guide.

mod programs;
