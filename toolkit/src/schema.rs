//! JSON Schemas.

pub mod inline;
pub mod portable;

mod walk;
