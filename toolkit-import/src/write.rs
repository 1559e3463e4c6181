//! Types as the author of a program sees them.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Path, Type};

use crate::doc;
use crate::tidy::{Choice, Field, Items, Shape, Struct, Variant, Wrapper, inner};

/// Which way values go: a type that goes one way needs the code of one way only, and that of serde is most of it.
#[derive(Clone, Copy)]
pub(crate) enum Way {
    In,
    Out,
}

/// Where generated code finds what it names.
pub(crate) struct Paths {
    private: TokenStream,
    way: Way,
    /// As the text that serde's attribute takes.
    serde: String,
}

impl Paths {
    pub(crate) fn of(krate: &Path, way: Way) -> Self {
        let private = quote!(#krate::__private);
        let text: String = private.to_string().split_whitespace().collect();
        Self { private, way, serde: format!("{text}::serde") }
    }

    fn derives(&self) -> TokenStream {
        let Self { private, serde, .. } = self;
        let way = match self.way {
            Way::In => quote!(Serialize),
            Way::Out => quote!(Deserialize),
        };
        quote! {
            #[derive(
                ::core::clone::Clone, ::core::fmt::Debug, ::core::cmp::PartialEq, #private::serde::#way,
            )]
            #[serde(crate = #serde)]
        }
    }
}

/// The types, with `about` as the doc comment of the root where its schema has none.
pub(crate) fn write(items: &Items, root: &str, about: &str, paths: &Paths) -> TokenStream {
    let about = |name: &Ident, text: &str| match doc::text(text) {
        text if !text.is_empty() => text,
        _ if name == root => about.to_owned(),
        _ => format!(" `{name}`, as the schema has it."),
    };
    let structs = items.structs.iter().map(|item| of_struct(item, &about(&item.name, &item.doc), paths));
    let choices = items.choices.iter().map(|item| of_choice(item, &about(&item.name, &item.doc), paths));
    let wrappers = items.wrappers.iter().map(|item| of_wrapper(item, &about(&item.name, &item.doc), paths));
    let written = quote!(#(#structs)* #(#choices)* #(#wrappers)*);
    rooted(written, paths)
}

fn of_struct(Struct { name, fields, .. }: &Struct, about: &str, paths: &Paths) -> TokenStream {
    let derives = paths.derives();
    let declared = fields.iter().map(|field| declared(field, &quote!(pub)));
    let (required, optional): (Vec<&Field>, Vec<&Field>) = fields.iter().partition(|field| field.is_required);
    let default = required.is_empty().then(|| quote!(#[derive(::core::default::Default)]));
    let new = (!required.is_empty()).then(|| {
        let (parameters, values): (Vec<_>, Vec<_>) = required
            .iter()
            .map(|Field { name, ty, .. }| {
                let (taken, value) = argument(name, ty);
                (quote!(#name: #taken), quote!(#name: #value))
            })
            .unzip();
        let absent = optional.iter().map(|field| &field.name);
        quote! {
            /// With what is required, in the order of the names, and nothing else.
            pub fn new(#(#parameters),*) -> Self {
                Self { #(#values,)* #(#absent: ::core::default::Default::default(),)* }
            }
        }
    });
    // A method of one of these names would hide the constructor.
    let has_setter = |field: &&&Field| field.json.is_some() && field.name != "new" && field.name != "default";
    let setters = optional.iter().filter(has_setter).map(|field| {
        let Field { name, ty, .. } = field;
        let (taken, value) = argument(name, ty);
        let about = about_field(field);
        quote! {
            #[doc = #about]
            pub fn #name(mut self, #name: #taken) -> Self {
                self.#name = ::core::option::Option::Some(#value);
                self
            }
        }
    });
    quote! {
        #[doc = #about]
        #derives
        #default
        pub struct #name { #(#declared,)* }
        impl #name { #new #(#setters)* }
    }
}

fn declared(field: &Field, visibility: &TokenStream) -> TokenStream {
    let Field { name, json, ty, is_required, .. } = field;
    let about = about_field(field);
    let Some(json) = json else {
        return quote!(#[doc = #about] #[serde(flatten)] #visibility #name: #ty);
    };
    let rename = (*name != json).then(|| quote!(#[serde(rename = #json)]));
    let (ty, absent) = match is_required {
        true => (quote!(#ty), None),
        false => (
            quote!(::core::option::Option<#ty>),
            Some(quote!(#[serde(default, skip_serializing_if = "::core::option::Option::is_none")])),
        ),
    };
    quote!(#[doc = #about] #rename #absent #visibility #name: #ty)
}

fn about_field(field: &Field) -> String {
    match doc::text(&field.doc) {
        text if !text.is_empty() => text,
        _ => format!(" `{}`.", doc::visible(field.json.as_deref().unwrap_or("the properties that have no name here"))),
    }
}

fn of_choice(choice: &Choice, about: &str, paths: &Paths) -> TokenStream {
    let Choice { name, serde, variants, .. } = choice;
    let derives = paths.derives();
    let is_of_texts = variants.iter().all(|variant| matches!(variant.shape, Shape::Unit));
    let copy = is_of_texts.then(|| quote!(#[derive(::core::marker::Copy, ::core::cmp::Eq, ::core::hash::Hash)]));
    let declared = variants.iter().map(|Variant { name, doc, serde, shape }| {
        let about = match doc::text(doc) {
            text if !text.is_empty() => text,
            _ => format!(" `{name}`, one of several."),
        };
        let fields = match shape {
            Shape::Unit => quote!(),
            Shape::Tuple(types) => quote!((#(#types),*)),
            Shape::Struct(fields) => {
                let fields = fields.iter().map(|field| declared(field, &quote!()));
                quote!({ #(#fields,)* })
            }
        };
        quote!(#[doc = #about] #(#serde)* #name #fields)
    });
    let froms = froms(choice);
    quote! {
        #[doc = #about]
        #derives
        #copy
        #(#serde)*
        pub enum #name { #(#declared,)* }
        #froms
    }
}

/// From what a variant holds, where no other variant holds the same.
fn froms(Choice { name, variants, .. }: &Choice) -> TokenStream {
    let held = variants.iter().filter_map(|variant| match &variant.shape {
        Shape::Tuple(types) => <&[Type; 1]>::try_from(&**types).ok().map(|[ty]| (&variant.name, ty)),
        _ => None,
    });
    let held: Vec<(&Ident, &Type)> = held.collect();
    let same = |ty: &Type| held.iter().filter(|(_, other)| text(other) == text(ty)).count();
    let alone = held.iter().filter(|(_, ty)| same(ty) == 1);
    alone.map(|(variant, ty)| from(name, ty, &quote!(Self::#variant))).collect()
}

fn of_wrapper(Wrapper { name, ty, .. }: &Wrapper, about: &str, paths: &Paths) -> TokenStream {
    let derives = paths.derives();
    let from = from(name, ty, &quote!(Self));
    quote! {
        #[doc = #about]
        #derives
        #[serde(transparent)]
        pub struct #name(pub #ty);
        #from
    }
}

fn from(name: &Ident, ty: &Type, make: &TokenStream) -> TokenStream {
    let of_text = is_text(ty).then(|| {
        quote! {
            impl ::core::convert::From<&str> for #name {
                fn from(value: &str) -> Self { #make(::core::convert::Into::into(value)) }
            }
        }
    });
    quote! {
        impl ::core::convert::From<#ty> for #name {
            fn from(value: #ty) -> Self { #make(value) }
        }
        #of_text
    }
}

/// What a function takes for a field, and how that becomes the field.
fn argument(name: &Ident, ty: &Type) -> (TokenStream, TokenStream) {
    if let Some(item) = inner(ty, "Vec").filter(|item| converts(item)) {
        let taken = quote!(impl ::core::iter::IntoIterator<Item = impl ::core::convert::Into<#item>>);
        let items = quote!(::core::iter::IntoIterator::into_iter(#name));
        let items = quote!(::core::iter::Iterator::map(#items, ::core::convert::Into::into));
        return (taken, quote!(::core::iter::Iterator::collect(#items)));
    }
    if converts(ty) {
        return (quote!(impl ::core::convert::Into<#ty>), quote!(::core::convert::Into::into(#name)));
    }
    (quote!(#ty), quote!(#name))
}

/// Whether a conversion is of use: a number would have to be one of a certain size, and a list is collected.
fn converts(ty: &Type) -> bool {
    !matches!(&*text(ty), "i64" | "u64" | "bool") && inner(ty, "Vec").is_none()
}

fn is_text(ty: &Type) -> bool {
    text(ty) == "::std::string::String"
}

fn text(ty: &Type) -> String {
    ty.to_token_stream().to_string().replace(' ', "")
}

/// The same with `::serde` and `::serde_json` where `toolkit` has them.
fn rooted(tokens: TokenStream, paths: &Paths) -> TokenStream {
    let mut rooted: Vec<TokenTree> = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let mut inside = Group::new(group.delimiter(), self::rooted(group.stream(), paths));
                inside.set_span(group.span());
                rooted.push(inside.into());
            }
            TokenTree::Ident(ident) if (ident == "serde" || ident == "serde_json") && follows_root(&rooted) => {
                // Away with the `::`, which the path begins with if it has one.
                rooted.truncate(rooted.len() - 2);
                rooted.extend(paths.private.clone());
                rooted.extend(quote!(::#ident));
            }
            token => rooted.push(token),
        }
    }
    rooted.into_iter().collect()
}

/// Whether what comes next is the first name of a path that begins with `::`.
fn follows_root(before: &[TokenTree]) -> bool {
    let is_colon = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':');
    let [rest @ .., a, b] = before else { return false };
    is_colon(a) && is_colon(b) && !matches!(rest.last(), Some(TokenTree::Ident(_)))
}
