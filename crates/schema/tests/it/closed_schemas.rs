//! The schemas of Rust types, closed and rewritten: what they accept and what they refuse.

mod by_hand;
mod case;
mod examples;
mod hostile;
mod laws;
mod manifests;
mod random;
mod sample;
mod zoo;
