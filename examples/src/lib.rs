//! A catalogue of real tools, to be read as a course: one lesson per file, each building on the ones before it.
//!
//! | lesson | what it teaches |
//! |---|---|
//! | [`math`] | a function becomes a tool; structured results; a tool on its way out |
//! | [`units`] | a choice from a documented list; an error that says what would have worked |
//! | [`text`] | limits that stand in the schema; patterns from strangers |
//! | [`dates`] | arguments of other crates' types; nested structs and defaults; an error type of one's own |
//! | [`json`] | arguments of any shape; results that programs and models read differently |
//! | [`root`] | state: what a host lends, and how it keeps the tools inside |
//! | [`tables`] | a small language out of enums: sources, conditions, orders |
//! | [`files`] | a toolset: the methods of one instance; effects, and hints about them |
//! | [`pictures`] | content instead of data |
//! | [`search`] | long work: a thread of its own, progress, cancellation |
//! | [`git`] | asynchronous work: another program, with a time limit; results that come one by one |

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

mod walk;

pub use self::root::Root;
