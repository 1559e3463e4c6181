//! `#[tool]` on a function.

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
        report_no_function(&item, &mut report);
        return recover::expand(item, report.into_errors().unwrap_or_default());
    };
    let function = Function::of_free(&func, attribute, &mut report);
    if let Some(errors) = report.into_errors() {
        return recover::expand(Item::Fn(func), errors);
    }
    recover::strip(&mut func.sig);
    expand::free(&func, &function)
}

fn report_no_function(item: &Item, report: &mut Report) {
    let message = match item {
        Item::Struct(_) => "put it on the function that takes this struct as its argument",
        Item::Enum(_) => "put it on the function that takes this enum as its argument",
        Item::Impl(_) => "an `impl` block takes `#[toolset]`",
        Item::Mod(_) => "a module takes `#[toolset]`, for what its tools have in common",
        Item::Trait(_) => "a trait has no body to call, so put it on a function that uses the trait",
        _ => "call it from one that is the tool",
    };
    report.error(keyword(item), format!("`#[tool]` goes on a function; {message}"));
}
