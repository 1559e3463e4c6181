//! JSON Schemas.

pub mod plan;
