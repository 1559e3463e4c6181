//! Chains of calls: parsing, checking, sequential and parallel execution.

mod attempts;
mod cases;
mod check;
mod inside;
mod json;
mod laws;
mod memory;
mod parallel;
mod run;
mod steps;
mod tools;
mod waits;

use serde_json::{Value, json};
use test_support::ran;
use toolkit::call::ErrorKind;
use toolkit::{CancelToken, Context, ToolError};
use toolkit_backends::chain::{Chain, ChainDiagnosticKind, Step};

use self::tools::{Script, dispatcher};
