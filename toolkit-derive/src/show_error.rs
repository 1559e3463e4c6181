//! `#[derive(ShowError)]`: the implementation of the trait, and the registration of the type.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Meta, Path, parse_quote};

use crate::attribute::krate;
use crate::report::{Report, unknown};
use crate::value::{key_of, metas};

pub(crate) fn show_error(item: TokenStream) -> TokenStream {
    let input = match syn::parse2::<DeriveInput>(item) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let (mut report, mut path) = (Report::default(), None);
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("show_error")) {
        let tokens = match &attribute.meta {
            Meta::List(list) => list.tokens.clone(),
            _ => TokenStream::new(),
        };
        for meta in metas(tokens, &mut report) {
            match &*key_of(&meta) {
                "crate" => path = krate(&meta, &mut report),
                key => report.error(meta.path(), unknown("show_error", key, &["crate"])),
            }
        }
    }
    let ident = &input.ident;
    if !input.generics.params.is_empty() {
        let message = format!(
            "a type with generic parameters cannot derive `ShowError`, because each type is registered; implement \
             `From<{ident}<…>> for ToolError` to choose what a model reads"
        );
        report.error(&input.generics, message);
    }
    if let Some(errors) = report.into_errors() {
        return errors;
    }
    let krate: Path = path.unwrap_or_else(|| parse_quote!(::toolkit));
    quote! {
        const _: () = {
            impl #krate::__private::Registered for #ident {}
            impl #krate::ShowError for #ident {}
            #krate::__private::inventory::submit! { #krate::__private::ShownType::new::<#ident>() }
        };
    }
}
