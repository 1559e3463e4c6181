//! Implementation detail of the `toolkit` crate, which documents these macros.
//!
//! A function goes through `attribute` (what the author wrote) and `function` (what it means), each of which reports
//! every mistake it finds; then through `expand`, which cannot fail, or `recover`, which keeps the function.

mod arg;
mod attribute;
mod concrete;
mod description;
mod example;
mod expand;
mod field;
mod free;
mod function;
mod inherit;
mod json;
mod json_name;
mod krate;
mod list;
mod module;
#[allow(dead_code, reason = "shared with `toolkit`, which shows more of it")]
mod name;
mod parameter;
mod recover;
mod report;
mod requirements;
mod returned;
mod scan;
#[cfg(test)]
mod snapshots;
mod substitute;
#[allow(dead_code, reason = "shared with `toolkit`, which shows more of it")]
mod tags;
mod toolset;
mod value;

use proc_macro::TokenStream;

/// Expands `#[tool]`, which `toolkit` documents.
#[proc_macro_attribute]
pub fn tool(arguments: TokenStream, item: TokenStream) -> TokenStream {
    free::tool(arguments.into(), item.into()).into()
}

/// Expands `#[toolset]`, which `toolkit` documents.
#[proc_macro_attribute]
pub fn toolset(arguments: TokenStream, item: TokenStream) -> TokenStream {
    toolset::toolset(arguments.into(), item.into()).into()
}

/// An explicit catalogue: `catalog![math::add, weather::forecast, Notebook::append]?`.
///
/// Each path names a function where it is defined: a re-export under another name, or of the function alone, leaves
/// its tool behind. A tool that stands twice is refused while compiling. For a renamed `toolkit`, the list starts with
/// `crate = ::path,`.
#[proc_macro]
pub fn catalog(input: TokenStream) -> TokenStream {
    list::catalog(input.into()).into()
}

/// The typed handle of a tool: `handle!(math::add).call(&dispatcher, (1, 2)).await`.
///
/// The path is as for `catalog!`.
#[proc_macro]
pub fn handle(input: TokenStream) -> TokenStream {
    list::handle(input.into()).into()
}
