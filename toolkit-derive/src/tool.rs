//! `#[tool]` on a free function.

use proc_macro2::TokenStream;
use syn::Item;

use crate::attribute::Attribute;
use crate::function::{Function, keyword};
use crate::report::Report;
use crate::{expand, recover};

/// Expands `#[tool]` on a free function.
pub(crate) fn tool(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut report = Report::default();
    let attribute = Attribute::tool(arguments, &mut report);
    let item = match syn::parse2::<Item>(item.clone()) {
        Ok(item) => item,
        Err(error) => {
            report.push(error);
            let errors = report.into_errors();
            return quote::quote!(#item #errors);
        }
    };
    let Item::Fn(mut func) = item else {
        report_unsupported_item(&item, &mut report);
        return recover::expand(item, report.into_errors().unwrap_or_default());
    };
    let function = Function::of_free(&func, attribute, &mut report);
    if let Some(errors) = report.into_errors() {
        return recover::expand(Item::Fn(func), errors);
    }
    recover::strip(&mut func.sig);
    expand::free(&func, &function)
}

fn report_unsupported_item(item: &Item, report: &mut Report) {
    let message = match item {
        Item::Struct(_) => "put it on a function that takes this struct as its argument",
        Item::Enum(_) => "put it on a function that takes this enum as its argument",
        Item::Impl(_) => "put `#[toolset]` on an `impl` block",
        Item::Mod(_) => "put `#[toolset]` on a module to set arguments of all its tools",
        Item::Trait(_) => "for a trait, put it on a function that calls its methods",
        _ => "wrap this item in a function",
    };
    report.error(keyword(item), format!("`#[tool]` applies to functions; {message}"));
}
