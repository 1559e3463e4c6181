//! Generation of the final types.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Path, Type};

use crate::name;
use crate::parse::{Enum, Field, Items, Newtype, Shape, Struct, Variant, inner};

/// The direction of values, which determines the serde trait that a type derives.
#[derive(Clone, Copy)]
pub(crate) enum Direction {
    Input,
    Output,
}

/// Paths in generated code.
pub(crate) struct Paths {
    private: TokenStream,
    direction: Direction,
    /// The path of serde, as text for the attribute `serde(crate)`.
    serde: String,
}

impl Paths {
    pub(crate) fn new(krate: &Path, direction: Direction) -> Self {
        let private = quote!(#krate::__private);
        let text: String = private.to_string().split_whitespace().collect();
        Self { private, direction, serde: format!("{text}::serde") }
    }

    fn derives(&self) -> TokenStream {
        let Self { private, serde, .. } = self;
        let serde_trait = match self.direction {
            Direction::Input => quote!(Serialize),
            Direction::Output => quote!(Deserialize),
        };
        quote! {
            #[derive(
                ::core::clone::Clone, ::core::fmt::Debug, ::core::cmp::PartialEq, #private::serde::#serde_trait,
            )]
            #[serde(crate = #serde)]
        }
    }
}

/// Generates the types. `about` is the doc comment of the root if its schema has no description.
pub(crate) fn generate(items: &Items, root: &str, about: &str, paths: &Paths) -> TokenStream {
    let about = |name: &Ident, text: &str| match name::doc_text(text) {
        text if !text.is_empty() => text,
        _ if name == root => about.to_owned(),
        _ => format!(" The type `{name}` of the schema."),
    };
    let structs = items.structs.iter().map(|item| struct_item(item, &about(&item.name, &item.doc), paths));
    let enums = items.enums.iter().map(|item| enum_item(item, &about(&item.name, &item.doc), paths));
    let newtypes = items.newtypes.iter().map(|item| newtype_item(item, &about(&item.name, &item.doc), paths));
    let types = quote!(#(#structs)* #(#enums)* #(#newtypes)*);
    with_private_paths(types, paths)
}

fn struct_item(Struct { name, fields, .. }: &Struct, about: &str, paths: &Paths) -> TokenStream {
    let derives = paths.derives();
    let declared = fields.iter().map(|field| declared(field, &quote!(pub)));
    let (mut required, optional): (Vec<&Field>, Vec<&Field>) = fields.iter().partition(|field| field.is_required);
    // Otherwise a server that reorders its properties would swap arguments of the same type.
    required.sort_by_key(|field| field.name.to_string());
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
            /// Creates a value with the required fields, sorted by name.
            pub fn new(#(#parameters),*) -> Self {
                Self { #(#values,)* #(#absent: ::core::default::Default::default(),)* }
            }
        }
    });
    // Setters with these names would hide the constructors.
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
    match name::doc_text(&field.doc) {
        text if !text.is_empty() => text,
        _ => format!(" `{}`.", name::visible(field.json.as_deref().unwrap_or("additional properties"))),
    }
}

fn enum_item(choice: &Enum, about: &str, paths: &Paths) -> TokenStream {
    let Enum { name, serde, variants, .. } = choice;
    let derives = paths.derives();
    let is_of_texts = variants.iter().all(|variant| matches!(variant.shape, Shape::Unit));
    let copy = is_of_texts.then(|| quote!(#[derive(::core::marker::Copy, ::core::cmp::Eq, ::core::hash::Hash)]));
    let declared = variants.iter().map(|Variant { name, doc, serde, shape }| {
        let about = match name::doc_text(doc) {
            text if !text.is_empty() => text,
            _ => format!(" The variant `{name}`."),
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
    let conversions = conversions(choice);
    quote! {
        #[doc = #about]
        #derives
        #copy
        #(#serde)*
        pub enum #name { #(#declared,)* }
        #conversions
    }
}

/// Generates `From` for the field of each variant whose type is unique.
fn conversions(Enum { name, variants, .. }: &Enum) -> TokenStream {
    let held = variants.iter().filter_map(|variant| match &variant.shape {
        Shape::Tuple(types) => <&[Type; 1]>::try_from(&**types).ok().map(|[ty]| (&variant.name, ty)),
        _ => None,
    });
    let held: Vec<(&Ident, &Type)> = held.collect();
    let same = |ty: &Type| held.iter().filter(|(_, other)| text(other) == text(ty)).count();
    let alone = held.iter().filter(|(_, ty)| same(ty) == 1);
    alone.map(|(variant, ty)| from(name, ty, &quote!(Self::#variant))).collect()
}

fn newtype_item(Newtype { name, ty, .. }: &Newtype, about: &str, paths: &Paths) -> TokenStream {
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

/// Returns the parameter type of a setter or constructor, and the conversion to the field.
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

/// Returns true if the parameter is `impl Into`. Numbers are excluded, since literals would need a suffix, and so are lists,
/// which are collected.
fn converts(ty: &Type) -> bool {
    !matches!(&*text(ty), "i64" | "u64" | "bool") && inner(ty, "Vec").is_none()
}

fn is_text(ty: &Type) -> bool {
    text(ty) == "::std::string::String"
}

fn text(ty: &Type) -> String {
    ty.to_token_stream().to_string().replace(' ', "")
}

/// Replaces `::serde` and `::serde_json` with the reexports of `toolkit`.
fn with_private_paths(tokens: TokenStream, paths: &Paths) -> TokenStream {
    let mut replaced: Vec<TokenTree> = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let mut inside = Group::new(group.delimiter(), with_private_paths(group.stream(), paths));
                inside.set_span(group.span());
                replaced.push(inside.into());
            }
            TokenTree::Ident(ident) if (ident == "serde" || ident == "serde_json") && follows_root(&replaced) => {
                // The path of `toolkit` replaces the leading `::`.
                replaced.truncate(replaced.len() - 2);
                replaced.extend(paths.private.clone());
                replaced.extend(quote!(::#ident));
            }
            token => replaced.push(token),
        }
    }
    replaced.into_iter().collect()
}

/// Returns true if the next token is the first segment of a path with a leading `::`.
fn follows_root(before: &[TokenTree]) -> bool {
    let is_colon = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':');
    let [rest @ .., a, b] = before else { return false };
    is_colon(a) && is_colon(b) && !matches!(rest.last(), Some(TokenTree::Ident(_)))
}
