//! JSON Schemas.

pub mod generate;

pub mod close;
pub mod inline;
pub mod portable;

mod walk;
