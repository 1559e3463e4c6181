//! The static record of a tool.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{LitStr, Path};

use super::input::Input;
use crate::attribute::Task;
use crate::function::Function;
use crate::krate::{at, here};

/// Returns the record: the values of the attribute over the defaults.
pub(super) fn entry(function: &Function, input: &Input, krate: &Path) -> TokenStream {
    let mut fields = vec![metadata(function, krate)];
    let mut field = |name: &str, value: Option<TokenStream>| {
        let name = Ident::new(name, Span::call_site());
        fields.extend(value.map(|value| quote!(#name: #value)));
    };
    let attribute = &function.attribute;
    field("namespace", attribute.namespace.as_ref().map(|namespace| quote!(#krate::Option::Some(#namespace))));
    field("version", attribute.version.as_ref().map(|version| quote!(#krate::Option::Some(#version))));
    let aliases = &attribute.aliases;
    let requires = !attribute.requirements.is_empty();
    field("requires", requires.then(|| quote!(true)));
    field("show_errors", (attribute.show_errors == Some(true)).then(|| quote!(true)));
    field("aliases", (!aliases.is_empty()).then(|| quote!(&[#(#aliases),*])));
    field(
        "timeout",
        attribute.timeout.map(|limit| {
            let millis = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
            quote!(#krate::Option::Some(#krate::Duration::from_millis(#millis)))
        }),
    );
    let states: Vec<TokenStream> =
        function.injected().map(|ty| quote_spanned!(here(ty.span())=> #krate::Borrowed::<#ty>::STATE)).collect();
    field("states", (!states.is_empty()).then(|| quote!(&[#(#states),*])));
    field("sole", input.is_sole.then(|| quote!(#krate::Option::Some(&__SOLE))));

    let (id, name, schema) = (id(function), function.name(), &input.schema);
    let kind = match (&function.asyncness, attribute.blocking.is_some()) {
        (Some(_), _) => quote!(async_entry),
        (None, true) => quote!(blocking_entry),
        (None, false) => quote!(sync_entry),
    };
    // `file!`, `line!` and `column!` return the position of the tokens that call them.
    let name_at = at(krate, function.ident.span());
    let location = quote_spanned! {function.ident.span()=>
        #name_at::location(#name_at::file!(), #name_at::line!(), #name_at::column!())
    };
    quote! {
        static __ENTRY: #krate::Entry = #krate::Entry {
            #(#fields,)*
            ..#krate::#kind::<__Tool>(#id, #name, #location, #schema)
        };
    }
}

/// Returns the metadata: the values of the attribute and the doc comment over the defaults.
fn metadata(function: &Function, krate: &Path) -> TokenStream {
    let attribute = &function.attribute;
    let some = |value: TokenStream| quote!(#krate::Option::Some(#value));
    let text = |text: &LitStr| some(quote!(#krate::text(#text)));
    let description = &function.description;
    let description = some(quote!(#krate::text(#description)));
    let mut fields = vec![quote!(__metadata.description = #description)];
    let mut field = |name: &str, value: Option<TokenStream>| {
        let name = Ident::new(name, Span::call_site());
        fields.extend(value.map(|value| quote!(__metadata.#name = #value)));
    };
    field("title", attribute.title.as_ref().map(text));
    field("category", attribute.category.as_ref().map(text));
    field("deprecated", attribute.deprecated.as_ref().or(function.deprecated.as_ref()).map(text));
    field("meta", attribute.meta.as_ref().map(|json| some(quote!(#krate::literal(#json)))));
    let tags = &attribute.tags;
    field("tags", (!tags.is_empty()).then(|| quote!(#krate::texts(&[#(#tags),*]))));
    let examples = &attribute.examples;
    field("examples", (!examples.is_empty()).then(|| quote!(#krate::vec![#(#krate::literal(#examples)),*])));
    let icons = attribute.icons.iter().map(|icon| icon.expand(krate));
    field("icons", (!attribute.icons.is_empty()).then(|| quote!(#krate::vec![#(#icons),*])));
    let requirements = &attribute.requirements;
    field("requirements", (!requirements.is_empty()).then(|| requirements.expand(krate)));
    let hints = [
        ("read_only", attribute.read_only),
        ("destructive", attribute.destructive),
        ("idempotent", attribute.idempotent),
        ("open_world", attribute.open_world),
    ];
    let hints = hints.into_iter().filter_map(|(name, hint)| {
        let name = Ident::new(name, Span::call_site());
        hint.map(|hint| quote!(__metadata.annotations.#name = #krate::Option::Some(#hint)))
    });
    fields.extend(hints);
    let task = attribute.task.map(|task| match task {
        Task::Optional => quote!(#krate::TaskSupport::Optional),
        Task::Required => quote!(#krate::TaskSupport::Required),
    });
    fields.extend(task.map(|task| quote!(__metadata.execution.task_support = #krate::Option::Some(#task))));
    quote! {
        metadata: || {
            let mut __metadata = #krate::Metadata::NONE;
            #(#fields;)*
            __metadata
        }
    }
}

/// Returns the id of the tool, without the parts that it does not have.
fn id(function: &Function) -> String {
    let name = function.name();
    match (&function.attribute.namespace, &function.attribute.version) {
        (Some(namespace), Some(version)) => format!("{}:{name}:{version}", namespace.value()),
        (Some(namespace), None) => format!("{}:{name}", namespace.value()),
        (None, _) => name,
    }
}
