//! Expansion in case of errors: the author's item without the tool, so that its uses cause no further errors.

use proc_macro2::TokenStream;
use quote::quote;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, FnArg, Item, Signature};

use crate::description::is_doc;

/// Returns the item without the attributes of this crate, followed by the errors.
pub(crate) fn expand(mut item: Item, errors: TokenStream) -> TokenStream {
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

/// Returns true for `#[tool]` under any path.
pub(crate) fn is_tool(attr: &Attribute) -> bool {
    attr.path().segments.last().is_some_and(|segment| segment.ident == "tool")
}

fn is_ours(attr: &Attribute) -> bool {
    is_doc(attr) || ["arg", "serde", "schemars"].iter().any(|name| attr.path().is_ident(name))
}
