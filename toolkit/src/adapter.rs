//! Catalogues in the words of other systems: pure functions, JSON out.

pub mod mcp;
