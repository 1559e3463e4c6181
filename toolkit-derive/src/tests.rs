//! Tests of the macros, whose expansions are tokens outside of rustc too.
//!
//! Spans are lost there, so `tests/ui` tests the places of errors.

mod entries;
mod messages;
mod programs;
mod snapshots;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream};
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItemFn, Item, ItemStruct, LitStr, Macro, Meta};

use crate::{catalog, tool};

/// Expands the macros of this crate in a program, and returns their errors.
fn errors(program: &str) -> Vec<String> {
    let mut errors = Errors::default();
    errors.visit_file(&syn::parse_file(program).expect("a program is Rust"));
    errors.0
}

/// The messages of `compile_error!` in the expansion of a program.
#[derive(Default)]
struct Errors(Vec<String>);

impl Errors {
    /// Expands the first attribute of this crate, and then those in its expansion. Returns false if there is none.
    fn expand(&mut self, item: &impl ToTokens) -> bool {
        let Attributed { mut attributes, item } = syn::parse2(item.to_token_stream()).expect("an item has attributes");
        let macros = ["tool", "prompt", "toolset"];
        let Some(idx) = attributes.iter().position(|attribute| macros.contains(&&*name(attribute))) else {
            return false;
        };
        let attribute = attributes.remove(idx);
        let arguments = match &attribute.meta {
            Meta::List(list) => list.tokens.clone(),
            _ => TokenStream::new(),
        };
        let item = quote!(#(#attributes)* #item);
        let expansion = match &*name(&attribute) {
            "tool" => tool::tool(arguments, item),
            "prompt" => tool::prompt(arguments, item),
            _ => tool::toolset(arguments, item),
        };
        self.visit_file(&syn::parse2(expansion).expect("an expansion is Rust"));
        true
    }
}

impl Visit<'_> for Errors {
    fn visit_item(&mut self, item: &Item) {
        if !self.expand(item) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, method: &ImplItemFn) {
        if !self.expand(method) {
            visit::visit_impl_item_fn(self, method);
        }
    }

    fn visit_item_struct(&mut self, item: &ItemStruct) {
        let derives = |attribute: &Attribute| attribute.meta.to_token_stream().to_string().contains("ShowError");
        if item.attrs.iter().any(derives) {
            let expansion = tool::show_error(item.to_token_stream());
            self.visit_file(&syn::parse2(expansion).expect("an expansion is Rust"));
        }
    }

    fn visit_macro(&mut self, call: &Macro) {
        let name = call.path.segments.last().map(|segment| segment.ident.to_string());
        let expansion = match name.as_deref() {
            Some("compile_error") => {
                let message: LitStr = call.parse_body().expect("an error has a message");
                return self.0.push(message.value());
            }
            Some("catalog") => catalog::catalog(call.tokens.clone()),
            Some("handle") => catalog::handle(call.tokens.clone()),
            _ => return,
        };
        self.visit_expr(&syn::parse2(expansion).expect("an expansion is an expression"));
    }
}

/// An item, or a method, and its outer attributes.
struct Attributed {
    attributes: Vec<Attribute>,
    item: TokenStream,
}

impl Parse for Attributed {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(Self { attributes: Attribute::parse_outer(input)?, item: input.parse()? })
    }
}

/// Returns the last segment of the path of an attribute.
fn name(attribute: &Attribute) -> String {
    attribute.path().segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default()
}
