//! `#[toolset]` on a module: arguments shared by all of its tools.
//!
//! The arguments of the module become the first argument, `__module(…)`, of each attribute inside. A constant that each
//! tool reads would work across files, but then the id of a tool would be unknown during its expansion, and rustc and the linker
//! could not report duplicate ids.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute as RustAttribute, Item, ItemMod, Meta, MetaList, parse_quote};

use crate::recover;
use crate::report::Report;

/// The argument that carries the arguments of the module to an attribute inside it.
pub(crate) const MODULE: &str = "__module";

/// Expands `#[toolset]` on a module, whose arguments have been checked.
pub(crate) fn expand(arguments: &TokenStream, mut module: ItemMod, mut report: Report) -> TokenStream {
    match &mut module.content {
        None => {
            let message = "`#[toolset]` needs an inline module, as in `mod files { … }`; for a module in another file, \
                           put the arguments on each `#[tool]`";
            report.error(module.semi, message);
        }
        Some((_, items)) => {
            let n_tools = propagate(arguments, items);
            if n_tools == 0 {
                report.error(&module.ident, "this module has no tools; mark at least one function with `#[tool]`");
            }
        }
    }
    let errors = report.into_errors();
    quote!(#module #errors)
}

/// Adds the arguments to all tools and toolsets among the items, and returns their number.
fn propagate(arguments: &TokenStream, items: &mut [Item]) -> usize {
    let mut n_tools = 0;
    for item in items {
        let own = match item {
            Item::Fn(func) => func.attrs.iter_mut().find(|attr| recover::is_tool(attr)),
            Item::Impl(imp) => imp.attrs.iter_mut().find(|attr| is_toolset(attr)),
            Item::Mod(module) if module.attrs.iter().any(is_toolset) => {
                module.attrs.iter_mut().find(|attr| is_toolset(attr))
            }
            Item::Mod(ItemMod { content: Some((_, items)), .. }) => {
                n_tools += propagate(arguments, items);
                None
            }
            _ => None,
        };
        if let Some(attr) = own {
            add(arguments, attr);
            n_tools += 1;
        }
    }
    n_tools
}

/// Inserts the arguments of the module before those of the attribute.
fn add(arguments: &TokenStream, attr: &mut RustAttribute) {
    let own = match &attr.meta {
        Meta::Path(_) => TokenStream::new(),
        Meta::List(list) => list.tokens.clone(),
        // The attribute reports this error when it expands.
        Meta::NameValue(_) => return,
    };
    let path = attr.path().clone();
    let list: MetaList = parse_quote!(#path(__module(#arguments), #own));
    attr.meta = list.into();
}

fn is_toolset(attr: &RustAttribute) -> bool {
    attr.path().segments.last().is_some_and(|segment| segment.ident == "toolset")
}
