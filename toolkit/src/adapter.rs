//! Catalogues in the words of other systems: pure functions, JSON out.
//!
//! | module | whose words | reads them too |
//! |---|---|---|
//! | [`mcp`] | the Model Context Protocol, revisions 2025-11-25 and 2026-07-28 | yes |
//! | [`openai`] | Chat Completions and Responses | yes |
//! | [`anthropic`] | Messages | yes |
//! | [`gemini`] | function declarations, with JSON Schema or OpenAPI's | yes |
//! | [`a2a`] | skills, and the card of an agent | yes |
//! | [`markdown`] | people's | |
//! | `html` (feature `html`) | people's, in a browser | |
//!
//! [`cost`] counts the tokens of what comes out, and [`Export::usage`] says how much of a target's limits a catalogue
//! uses up.
//!
//! What a target has no words for is a [`Loss`] beside the JSON. [`lower`] rewrites a schema for a [`Dialect`], and
//! [`restore`] turns what a model sends for it into what the tool takes.

pub mod a2a;
pub mod anthropic;
pub mod cost;
mod described;
mod dialect;
pub mod gemini;
#[cfg(feature = "html")]
pub mod html;
mod loss;
mod lower;
pub mod markdown;
pub mod mcp;
pub mod openai;
mod reading;
mod request;
mod strictly;

pub use self::described::{Described, Export, description, unsaid};
pub use self::dialect::{Dialect, Limits};
pub use self::loss::{Effect, Loss, Side};
pub use self::lower::{Lowered, lower, restore};
pub use self::request::{RequestLimits, Usage};
