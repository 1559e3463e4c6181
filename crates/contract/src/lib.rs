//! Contracts of tools: whether a change breaks callers, and whether a tool is well described.
//!
//! A [`Lock`] stores a catalog in a file. Comparing it with the current catalog reports for each change whether it
//! breaks callers, by the meaning of the schemas. [`expect_lock`] does this in a test:
//!
//! ```no_run
//! #[test]
//! fn no_caller_is_broken_unannounced() {
//!     toolkit_contract::expect_lock(&toolkit::Catalog::linked().unwrap(), "tools.lock.json").unwrap();
//! }
//! ```
//!
//! `TOOLKIT_BLESS=1` writes the file, as does `check --lock tools.lock.json --update` on the command line. The command
//! `diff OLD NEW` compares two manifests.
//!
//! Tools are compared by name. If a name, an alias or a version requirement resolves to another version or another tool
//! than before, the two are compared: a breaking 1.1.0 beside 1.0.0 breaks callers that specify no version. These are all
//! callers over MCP and of an export, which have the newest version only. Requirements are those of Cargo, `^` and `~`.
//!
//! Comparing two schemas takes at most 250,000 steps, and comparing two catalogs at most 20,000,000; a step visits one
//! keyword, property or item. A comparison that exceeds its budget has the verdict [`Verdict::Unknown`], which counts
//! as breaking, and the change names the budget.
//!
//! [`lint`](mod@lint) finds tools that are hard to choose, hard to call, or deceptive; [`hosts::check`] finds those that a host such
//! as Cursor cuts or leaves out. A [`matrix::Matrix`] states which
//! versions of components a program supports, and selects the best version on offer.
//!
//! With the feature `calls`, `calls` calls every tool that is declared `read_only` with generated arguments, and reports
//! panics, hangs, results that do not match their schema, and other broken promises.
//!
//! # Source
//!
//! | module | part |
//! |---|---|
//! | `lock` | a catalog as a file, and the test that compares both |
//! | `compare`, `change` | the changes between two catalogs, by name |
//! | `matrix` | the supported versions of components |
//! | `calls` | calls with generated arguments, and the defects that they show |
//! | `hosts` | the limits of the programs that connect to MCP servers |
//! | `lint` | `quality` of valid tools; deceptive text (`poison`), by what it hides and what it demands |
#![forbid(unsafe_code)]

#[cfg(feature = "calls")]
pub mod calls;
pub mod hosts;
pub mod lint;
pub mod matrix;

mod change;
mod compare;
mod lock;

#[cfg(feature = "calls")]
pub use self::calls::calls;
pub use self::change::{Change, Comparison, Part};
pub use self::lock::{Lock, expect_lock};
pub use toolkit_schema::compare::Verdict;
