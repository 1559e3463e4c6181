//! JSON Schemas.
