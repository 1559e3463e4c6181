//! Implementation detail of the `toolkit` crate, which documents these macros.
//!
//! `attribute` parses the arguments of an attribute, and `function` analyzes the signature; both report every error that
//! they find. `expand` then generates the tool and cannot fail. If there are errors, `module::without_tool` emits the
//! function without the tool.
//!
//! | module | part |
//! |---|---|
//! | `tool`, `module`, `concrete`, `catalog` | the entry of each macro |
//! | `attribute`, `arg`, `requirements` | the arguments of the attributes: which there are, and which exclude each other |
//! | `value`, `json`, `doc_link` | the value of one argument: texts, numbers, types, JSON; doc comments as descriptions, without links to items |
//! | `name`, `tags`, `duration` | the rules for names, tags and durations |
//! | `literal_bounds` | defaults outside of their own bounds |
//! | `function`, `parameter`, `field`, `scan` | the signature: arguments and state, attributes of serde, types without a schema |
//! | `expand`, `input` | the generated code |
#![expect(missing_docs, reason = "rustdoc would append it to the documentation of the re-export in `toolkit`")]

mod arg;
mod attribute;
mod catalog;
mod concrete;
mod doc_link;
mod duration;
mod expand;
mod field;
mod function;
mod input;
mod json;
mod literal_bounds;
mod module;
#[allow(dead_code, reason = "shared with `toolkit`, which uses more of it")]
mod name;
mod parameter;
mod requirements;
mod scan;
#[allow(dead_code, reason = "shared with `toolkit`, which uses more of it")]
mod tags;
#[cfg(test)]
mod tests;
mod tool;
mod value;

use proc_macro::TokenStream;

#[proc_macro_attribute]
pub fn tool(arguments: TokenStream, item: TokenStream) -> TokenStream {
    tool::tool(arguments.into(), item.into()).into()
}

#[proc_macro_attribute]
pub fn prompt(arguments: TokenStream, item: TokenStream) -> TokenStream {
    tool::prompt(arguments.into(), item.into()).into()
}

#[proc_macro_attribute]
pub fn toolset(arguments: TokenStream, item: TokenStream) -> TokenStream {
    tool::toolset(arguments.into(), item.into()).into()
}

#[proc_macro_derive(ShowError, attributes(show_error))]
pub fn show_error(item: TokenStream) -> TokenStream {
    tool::show_error(item.into()).into()
}

#[proc_macro]
pub fn catalog(input: TokenStream) -> TokenStream {
    catalog::catalog(input.into()).into()
}

#[proc_macro]
pub fn handle(input: TokenStream) -> TokenStream {
    catalog::handle(input.into()).into()
}
