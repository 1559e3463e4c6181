//! The documents, so that their examples are compiled and run.

#[cfg(doctest)]
pub mod guide;

/// README; [`guide`] does the same for `docs/`.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
