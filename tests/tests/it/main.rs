//! Tests of whole programs and of several packages.

mod code;
mod imports;
mod load;
mod mcp;
