//! The static record of a tool.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{LitStr, Path};

use super::krate::{at, here};
use crate::function::Function;

/// The record: what the attribute says, over what a function without one has.
pub(super) fn entry(function: &Function, krate: &Path) -> TokenStream {
    let mut fields = vec![metadata(function, krate)];
    let mut field = |name: &str, value: Option<TokenStream>| {
        let name = Ident::new(name, Span::call_site());
        fields.extend(value.map(|value| quote!(#name: #value)));
    };
    let attribute = &function.attribute;
    field("namespace", attribute.namespace.as_ref().map(|namespace| quote!(#krate::Option::Some(#namespace))));
    field("version", attribute.version.as_ref().map(|version| quote!(#krate::Option::Some(#version))));
    let lone = function.arguments().count() == 1 && function.arguments().all(|argument| !argument.is_named());
    field("lone", lone.then(|| quote!(#krate::Option::Some(#krate::takes::<<__Tool as #krate::Function>::Arguments>))));
    let borrowed: Vec<TokenStream> =
        function.lent().map(|ty| quote_spanned!(here(ty.span())=> #krate::Borrowed::<#ty>::STATE)).collect();
    field("states", (!borrowed.is_empty()).then(|| quote!(&[#(#borrowed),*])));

    let (id, name) = (id(function), function.name());
    let kind = match (&function.asyncness, attribute.blocking.is_some()) {
        (Some(_), _) => quote!(async_entry),
        (None, true) => quote!(blocking_entry),
        (None, false) => quote!(sync_entry),
    };
    // The macros tell the place of the tokens that call them.
    let name_at = at(krate, function.ident.span());
    let location = quote_spanned! {function.ident.span()=>
        #name_at::Location { file: #name_at::file!(), line: #name_at::line!(), column: #name_at::column!() }
    };
    quote! {
        static __ENTRY: #krate::Entry = #krate::Entry {
            #(#fields,)*
            ..#krate::#kind::<__Tool>(#id, #name, #location)
        };
    }
}

/// What the attribute and the doc comment say of the tool, one call for each thing said.
fn metadata(function: &Function, krate: &Path) -> TokenStream {
    let attribute = &function.attribute;
    let mut said = TokenStream::new();
    let mut say = |name: &str, value: Option<TokenStream>| {
        let name = Ident::new(name, Span::call_site());
        said.extend(value.map(|value| quote!(.#name(#value))));
    };
    let text = |text: &LitStr| text.to_token_stream();
    let texts = |texts: &[LitStr]| (!texts.is_empty()).then(|| quote!(const { &[#(#krate::text(#texts)),*] }));
    say("title", attribute.title.as_ref().map(text));
    say("category", attribute.category.as_ref().map(text));
    say("deprecated", attribute.deprecated.as_ref().or(function.deprecated.as_ref()).map(text));
    say("meta", attribute.meta.as_ref().map(text));
    say("aliases", texts(&attribute.aliases));
    let examples = &attribute.examples;
    say("examples", (!examples.is_empty()).then(|| quote!(const { &[#(#krate::literal(#examples)),*] })));
    let tags = &attribute.tags;
    say("tags", (!tags.is_empty()).then(|| quote!(const { &[#(#krate::text(#tags)),*] })));
    let icons = attribute.icons.iter().map(|icon| icon.expand(krate));
    say("icons", (!attribute.icons.is_empty()).then(|| quote!(const { &[#(#icons),*] })));
    let requirements = &attribute.requirements;
    say("requirements", (!requirements.is_empty()).then(|| requirements.expand(krate)));
    say(
        "timeout",
        attribute.timeout.map(|limit| {
            let millis = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
            quote!(#millis)
        }),
    );
    let hints = [attribute.read_only, attribute.destructive, attribute.idempotent, attribute.open_world];
    if hints.iter().any(Option::is_some) {
        let hints = hints.map(|hint| match hint {
            Some(hint) => quote!(#krate::Option::Some(#hint)),
            None => quote!(#krate::Option::None),
        });
        say("annotations", Some(quote!(#krate::hints(#(#hints),*))));
    }
    let description = &function.description;
    quote!(metadata: &#krate::described(#description) #said)
}

/// The tool's id, as far as it has parts.
pub(super) fn id(function: &Function) -> String {
    let name = function.name();
    match (&function.attribute.namespace, &function.attribute.version) {
        (Some(namespace), Some(version)) => format!("{}:{name}:{version}", namespace.value()),
        (Some(namespace), None) => format!("{}:{name}", namespace.value()),
        (None, _) => name,
    }
}
