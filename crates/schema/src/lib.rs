//! Checked JSON Schemas: a schema is checked once, and then checks values while serde reads or writes them.
//!
//! [`Schema`] is the contract for a value: it comes from a Rust type ([`Schema::input`], [`Schema::output`]), from a
//! JSON value ([`Schema::from_value`]) or from text, and reports each [`Violation`] with its place and its rule. Draft
//! 2020-12 and draft-07 are supported, without references to other documents. Untrusted schemas and values take bounded
//! time, memory and stack.
//!
//! ```
//! use serde_json::json;
//! use toolkit_schema::Schema;
//!
//! let schema = Schema::from_value(json!({
//!     "type": "object",
//!     "properties": { "name": { "type": "string" }, "age": { "type": "integer", "minimum": 0 } },
//!     "required": ["name"],
//! }))?;
//! assert!(schema.is_valid(&json!({ "name": "ann", "age": 41 })));
//!
//! let violations = schema.validate(&json!({ "age": -1 })).unwrap_err();
//! let messages: Vec<_> = violations.iter().map(ToString::to_string).collect();
//! assert_eq!(messages, ["/age must be at least 0, got -1", "/name is required"]);
//! # Ok::<(), toolkit_schema::SchemaError>(())
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`generate`] | the schema of a Rust type |
//! | [`close`] | objects that accept no other properties than those they declare |
//! | [`inline`] | references replaced by what they refer to |
//! | [`view`] | a schema as one shape of values, for forms and other texts |
//! | [`types`] | sets of JSON types |
//!
//! `toolkit` exports this crate as `toolkit::schema`.
//!
//! The other modules are what the crates of this workspace share. They depend on an exact version of this crate, and a
//! later one may change these modules.
//!
//! # Source
//!
//! | module | part |
//! |---|---|
//! | `schema` | a checked schema, which validates values |
//! | `check`, `patterns`, `cost`, `graph`, `reference`, `dialect` | the checks of a schema, and its validator; see `check` |
//! | `plan` | validation while JSON is read or written, for the keywords that look at one value at a time |
//! | `evaluate`, `interrupt` | validation of a tree, for schemas that have a plan; its end when the call is cancelled |
//! | `violation`, `error`, `failure` | what is wrong with a value, and with a schema |
//! | `generate`, `portable`, `doc_link`, `close`, `explore` | a schema from a Rust type: generated, rewritten in portable keywords and without links to items, closed, and completed with what the type reads |
//! | `format`, `base64` | descriptions and patterns of string formats; bytes as text |
//! | `suggest`, `excerpt` | the name that is nearest to a mistyped one (`violation` offers it), and foreign text in messages, also its invisible characters |
//! | `types`, `values`, `tagged`, `alias`, `example`, `contradiction` | facts about the values of a schema: their types, whether all are objects and any is finite, their tag, the aliases of names, small values, contradictions |
//! | `normal`, `merge`, `root` | a schema whose references are to definitions; several schemas of one value as a single one; input schemas whose root is a plain object |
//! | `pointer`, `walk`, `order` | JSON Pointers, the schemas within a schema, and the order of its keys |
//! | `json`, `tree`, `repair` | JSON text that is read within limits, with the digits of its numbers, and repaired where nothing is lost |
//! | `number`, `equality`, `width` | numbers, compared by value; the bounds that only repeat the width of a type |
//! | `compare` | two schemas, compared by the values that they accept |

/// The README, so that its example runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod alias;
mod base64;
mod check;
pub mod close;
pub mod compare;
pub mod contradiction;
mod cost;
mod dialect;
mod doc_link;
pub mod equality;
mod error;
mod evaluate;
pub mod example;
pub mod excerpt;
pub mod explore;
mod failure;
pub mod format;
pub mod generate;
mod graph;
pub mod inline;
mod interrupt;
pub mod json;
pub mod merge;
pub mod normal;
mod number;
pub mod order;
pub mod patterns;
pub mod plan;
pub mod pointer;
pub mod portable;
mod reference;
pub mod repair;
pub mod root;
mod schema;
pub mod suggest;
mod tagged;
pub mod tree;
pub mod types;
pub mod values;
pub mod view;
mod violation;
pub mod walk;
pub mod width;

pub use self::base64::Base64;
pub use self::error::{SchemaDiagnostic, SchemaError, SchemaErrorKind, ValidationError};
pub use self::excerpt::{quoted, shown_id, shown_pointer};
pub use self::format::enforce_formats;
pub use self::interrupt::cancellable;
pub use self::json::{is_too_deep, is_too_deep_below};
pub use self::plan::{CheckPath, PlanObstacle};
pub use self::pointer::child;
pub use self::schema::Schema;
pub use self::violation::{Repairs, Violation, Violations, declared_pointer};
