//! `#[toolset]` on a module: what all of its tools have in common, written once.
//!
//! The arguments of the module become the first argument of each attribute inside, `__module(…)`. A constant that each
//! tool looks up would work across files, but then the id of a tool would not be known while its macro expands, and the
//! linker could not find two tools with one id.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute as RustAttribute, Item, ItemMod, Meta, MetaList, parse_quote};

use crate::recover;
use crate::report::Report;

/// The argument by which an attribute inside of a module gets those of the module.
pub(crate) const MODULE: &str = "__module";

/// Expands `#[toolset]` on a module, whose arguments have been checked.
pub(crate) fn expand(arguments: &TokenStream, mut module: ItemMod, mut report: Report) -> TokenStream {
    match &mut module.content {
        None => {
            let message = "an attribute cannot see into another file; write the module in place, as in \
                           `mod files { … }`, or put the arguments on each `#[tool]`";
            report.error(module.semi, message);
        }
        Some((_, items)) => {
            let n_tools = pass_on(arguments, items);
            if n_tools == 0 {
                report.error(&module.ident, "no function of this module is a tool; mark those that are with `#[tool]`");
            }
        }
    }
    let errors = report.into_errors();
    quote!(#module #errors)
}

/// Passes the arguments on to all tools and toolsets among the items, and counts them.
fn pass_on(arguments: &TokenStream, items: &mut [Item]) -> usize {
    let mut n_tools = 0;
    for item in items {
        let own = match item {
            Item::Fn(func) => func.attrs.iter_mut().find(|attr| recover::is_tool(attr)),
            Item::Impl(imp) => imp.attrs.iter_mut().find(|attr| is_toolset(attr)),
            Item::Mod(module) if module.attrs.iter().any(is_toolset) => {
                module.attrs.iter_mut().find(|attr| is_toolset(attr))
            }
            Item::Mod(ItemMod { content: Some((_, items)), .. }) => {
                n_tools += pass_on(arguments, items);
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

/// Puts the arguments of the module before those of the attribute.
fn add(arguments: &TokenStream, attr: &mut RustAttribute) {
    let own = match &attr.meta {
        Meta::Path(_) => TokenStream::new(),
        Meta::List(list) => list.tokens.clone(),
        // The attribute itself reports it.
        Meta::NameValue(_) => return,
    };
    let path = attr.path().clone();
    let list: MetaList = parse_quote!(#path(__module(#arguments), #own));
    attr.meta = list.into();
}

fn is_toolset(attr: &RustAttribute) -> bool {
    attr.path().segments.last().is_some_and(|segment| segment.ident == "toolset")
}
