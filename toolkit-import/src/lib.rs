//! Implementation detail of the `toolkit` crate, which documents this macro.
//!
//! A file goes through `manifest` (what tools it has), then each schema through `simplify` (what a type can say of it)
//! and `types` (the type itself, by `typify`, or something plainer); `tidy` reads what `typify` wrote, `write`
//! writes it as ours, and `expand` puts the module together. Every mistake is an error at the literal it comes from.

mod arguments;
mod branches;
mod doc;
mod expand;
mod manifest;
mod name;
mod pointer;
mod simplify;
mod suggest;
mod tidy;
mod types;
mod words;
mod write;

use proc_macro::TokenStream;

/// Expands `import!`, which `toolkit` documents.
#[proc_macro]
pub fn import(input: TokenStream) -> TokenStream {
    expand::import(input.into()).unwrap_or_else(|error| error.to_compile_error()).into()
}
