//! Implementation detail of the `toolkit` crate, which documents this macro.
//!
//! `expand` reads the tools of a file and assembles the module. For each schema, `simplify` keeps the keywords that a Rust type
//! can express, and `types` generates types with `typify`, or falls back to simpler ones. `parse` reads the output of `typify`,
//! and `generate` writes the final types. Each error points to the literal that causes it.
#![expect(missing_docs, reason = "rustdoc would append it to the documentation of the re-export in `toolkit`")]

mod arguments;
mod expand;
mod generate;
mod name;
mod parse;
#[expect(dead_code, reason = "a link to a file of `toolkit-schema`, which uses all of it")]
mod pointer;
mod simplify;
mod types;

use proc_macro::TokenStream;

#[proc_macro]
pub fn import(input: TokenStream) -> TokenStream {
    expand::import(input.into()).unwrap_or_else(|error| error.to_compile_error()).into()
}
