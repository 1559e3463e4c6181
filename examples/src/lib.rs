//! A catalog of real tools, written as a course: each file is one lesson that builds on the earlier ones.
//!
//! | lesson | topics |
//! |---|---|
//! | [`math`] | turning a function into a tool; structured results; deprecating a tool |
//! | [`units`] | a choice from a documented list; an error that names the valid choices |
//! | [`text`] | limits in the schema; patterns from untrusted callers |
//! | [`dates`] | argument types of other crates; nested structs and defaults; a custom error type |
//! | [`json`] | arguments of any shape; separate results for programs and for models |
//! | [`root`] | injected state, and how it confines the tools |
//! | [`tables`] | a small query language made of enums: sources, conditions, sort orders |
//! | [`files`] | a toolset: methods of one instance; effects, and hints about them |
//! | [`pictures`] | content instead of data |
//! | [`search`] | long-running work: a separate thread, progress, cancellation |
//! | [`git`] | asynchronous work: another program with a timeout; results that are streamed |
//! | [`resources`] | resources, so that a client can read what a result links to |

pub mod math;
pub mod units;

pub mod text;

pub mod dates;

pub mod json;

pub mod root;

pub mod tables;

pub mod files;

pub mod pictures;

pub mod search;

pub mod git;

pub mod resources;

mod walk;

pub use self::root::Root;
