//! JSON Schemas.

pub mod portable;

mod walk;
