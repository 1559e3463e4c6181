//! Code mode: programs of language models that call the tools of a catalog.

#![forbid(unsafe_code)]

pub mod engine;
pub mod sandbox;

mod failure;
mod limits;
mod program;

pub use self::failure::{Failure, FailureKind};
pub use self::limits::Limits;
pub use self::program::{Language, Program};
