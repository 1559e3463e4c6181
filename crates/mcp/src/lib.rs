//! Messages of the Model Context Protocol (MCP), for [`toolkit-mcp-server`] and [`toolkit-mcp-client`].
//!
//! This crate is an implementation detail of those and has no stable API. It does no I/O.
//!
//! | module | contains |
//! | --- | --- |
//! | `message` | incoming messages, borrowed from their bytes |
//! | `fields` | messages of programs that do not keep to the protocol |
//! | `rpc` | outgoing messages, as bytes, and errors with their codes |
//! | `meta` | the `_meta` of requests, and the revisions of the protocol |
//! | `param_headers` | arguments that HTTP headers repeat |
//! | `json_text` | texts of JSON values |
//!
//! [`toolkit-mcp-server`]: https://docs.rs/toolkit-mcp-server
//! [`toolkit-mcp-client`]: https://docs.rs/toolkit-mcp-client
#![forbid(unsafe_code)]

mod fields;
mod json_text;
mod message;
mod meta;
mod param_headers;
mod rpc;

pub use self::fields::Fields;
pub use self::json_text::{is_id, text};
pub use self::message::{CallRequest, Malformed, Message};
pub use self::meta::{
    BATCHES, CLIENT_CAPABILITIES, CLIENT_INFO, InputAnswers, LEGACY, LOG_LEVEL, MODERN, Meta, PROTOCOL_VERSION,
    SKILLS_EXTENSION, UI_EXTENSION, missing, parse_level, supported,
};
pub use self::param_headers::{ParamHeader, decoded, encoded};
pub use self::rpc::{Code, RpcError, json_bytes, meta_fields, notification, request, response, with_meta};
