//! Tests of the catalog of tools, of the example programs, and of what README and `SECURITY.md` say.

mod agent;
mod catalogue;
mod common;
mod data;
mod dates;
#[cfg(unix)]
mod files;
#[cfg(unix)]
mod git;
mod numbers;
mod output;
mod readme;
mod resources;
mod security;
mod statements;
mod text;
