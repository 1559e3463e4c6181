//! Tools, replies and results in the formats of language model providers.
//!
//! | module | format | reads tools |
//! |---|---|---|
//! | [`mcp`](toolkit::mcp) | the Model Context Protocol, revisions 2025-11-25 and 2026-07-28 | yes |
//! | [`openai`] | Chat Completions and Responses | yes |
//! | [`anthropic`] | Messages | yes |
//! | [`gemini`] | function declarations, and functions of Interactions | yes |
//! | [`bedrock`] | Converse | |
//! | [`mistral`], [`ollama`], [`cohere`] | chat, with the tools of Chat Completions | |
//! | [`a2a`] | skills, and the card of an agent | yes |
//! | [`typescript`] | declarations for programs that call tools | |
//! | [`openapi`] | an HTTP API, described by OpenAPI 3.1 | |
//! | [`markdown`] | a Markdown document | |
//! | `html` (feature `html`) | an HTML page | |
//!
//! The functions of these modules are pure and return JSON or text. [`reply`] reads what a model answers, runs its calls
//! with a dispatcher, and writes their results, and [`request`] writes requests; they open no connection. [`cost`] counts the tokens of an exported tool, and
//! [`Export::usage`] compares a catalog with the limits of a provider.
//!
//! Each feature of a tool that a format does not support is reported as a [`Loss`] beside the JSON. [`lower`] rewrites
//! a schema for a [`Dialect`], and [`restore`] converts the arguments that a model sends for it to arguments of the
//! tool.
//!
//! # Source
//!
//! | module | part |
//! |---|---|
//! | `anthropic`, `bedrock` and other names of providers | one provider each: definitions, replies and results; a new one has its `Dialect`, its limits of a request, a row in `request`, and one in `formats` of `toolkit-cli` |
//! | `dialect` | the subset of JSON Schema that a provider accepts, and the rules by which it rejects definitions, as data with their sources |
//! | `loss` | what a format cannot express, and a tool in the format |
//! | `lower` | a schema rewritten for a dialect |
//! | `export`, `request_limits`, `cost` | a catalog in a format, the limits of a request, the tokens of tools |
//! | `reply` | what a model answers; each provider implements its `Api` |
//! | `request` | requests to all APIs, from one table |
//! | `reader` | tools read from the formats of providers |

pub mod a2a;
pub mod anthropic;
pub mod bedrock;
pub mod cohere;
pub mod cost;
mod dialect;
mod export;
pub mod gemini;
#[cfg(feature = "html")]
pub mod html;
mod loss;
mod lower;
pub mod markdown;
pub mod mistral;
pub mod ollama;
pub mod openai;
pub mod openapi;
mod reader;
pub mod reply;
pub mod request;
mod request_limits;
pub mod typescript;

pub use self::dialect::{Dialect, Rule, SchemaLimits};
pub use self::export::Export;
pub use self::loss::{Effect, Loss, Side, ToolExport, unsupported_fields};
pub use self::lower::{Lowered, lower, restore};
pub use self::request_limits::{RequestLimits, Usage};
