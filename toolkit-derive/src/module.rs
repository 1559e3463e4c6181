//! `#[toolset]` on a module: arguments shared by all of its tools.
//!
//! The arguments of the module become the first argument, `__module(…)`, of each attribute inside. A constant that each
//! tool reads would work across files, but then the id of a tool would be unknown during its expansion, and rustc and the linker
//! could not report duplicate ids.
//!
//! Also the expansion in case of errors: the item of the author without the tool, so that its uses cause no further errors.

use proc_macro2::TokenStream;
use quote::quote;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Attribute as RustAttribute, FnArg, Item, ItemMod, Meta, MetaList, Signature, parse_quote};

use crate::field::OF_OTHER_MACROS;
use crate::value::{Report, is_doc};

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
            Item::Fn(func) => func.attrs.iter_mut().find(|attr| is_tool(attr)),
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

/// Returns the item without the attributes of this crate, followed by the errors.
pub(crate) fn without_tool(mut item: Item, errors: TokenStream) -> TokenStream {
    Strip.visit_item_mut(&mut item);
    quote!(#item #errors)
}

/// Removes the attributes that rustc does not accept on parameters.
pub(crate) fn strip(signature: &mut Signature) {
    Strip.visit_signature_mut(signature);
}

struct Strip;

impl VisitMut for Strip {
    fn visit_fn_arg_mut(&mut self, arg: &mut FnArg) {
        let attrs = match arg {
            FnArg::Receiver(receiver) => &mut receiver.attrs,
            FnArg::Typed(typed) => &mut typed.attrs,
        };
        attrs.retain(|attr| !is_ours(attr));
    }

    fn visit_impl_item_fn_mut(&mut self, method: &mut syn::ImplItemFn) {
        method.attrs.retain(|attr| !is_tool(attr));
        visit_mut::visit_impl_item_fn_mut(self, method);
    }

    // Functions inside the body may have attributes of other macros.
    fn visit_block_mut(&mut self, _: &mut syn::Block) {}
}

/// Returns true for `#[tool]` and `#[prompt]` under any path.
pub(crate) fn is_tool(attr: &Attribute) -> bool {
    is_prompt(attr) || attr.path().segments.last().is_some_and(|segment| segment.ident == "tool")
}

/// Returns true for `#[prompt]` under any path.
pub(crate) fn is_prompt(attr: &Attribute) -> bool {
    attr.path().segments.last().is_some_and(|segment| segment.ident == "prompt")
}

fn is_ours(attr: &Attribute) -> bool {
    let names = ["arg", "serde", "schemars"].into_iter().chain(OF_OTHER_MACROS);
    is_doc(attr) || names.into_iter().any(|name| attr.path().is_ident(name))
}
