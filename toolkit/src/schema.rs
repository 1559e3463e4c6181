//! JSON Schemas.

pub mod close;
pub mod inline;
pub mod portable;

mod walk;
