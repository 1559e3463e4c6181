//! Tests of whole programs and of several packages.

mod cli;
mod code;
mod durable;
mod imports;
mod load;
mod mcp;
mod nats;
mod otc;
