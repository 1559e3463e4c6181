//! Tests of whole programs and of several packages.

mod code;
mod durable;
mod nats;
mod otc;
