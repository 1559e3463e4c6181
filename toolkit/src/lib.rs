//! Turn a function into a tool that language models can call.
pub mod schema;
