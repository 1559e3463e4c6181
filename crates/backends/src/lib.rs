//! What a program adds to the tools of [`toolkit`]: chains of calls.
//!
//! | module | contents |
//! |---|---|
//! | [`chain`] | several calls as data, in which the result of one is an argument of another |
#![forbid(unsafe_code)]

pub mod chain;

pub use self::chain::Chain;
