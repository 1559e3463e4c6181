//! Tests of whole programs and of several packages.

mod durable;
mod nats;
mod otc;
