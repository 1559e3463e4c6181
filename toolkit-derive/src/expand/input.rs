//! What becomes of the owned parameters.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{LitStr, Path};

use crate::arg::ArgDefault;
use crate::description;
use crate::function::Function;
use crate::json_name;
use crate::krate::{at, here};
use crate::parameter::Argument;

/// What the function takes, and what the JSON becomes first.
pub(super) struct Input {
    /// The type of the function's input: a tuple, or the lone argument.
    pub(super) ty: TokenStream,
    /// The type that is decoded.
    pub(super) arguments: TokenStream,
    /// What holds the arguments under their names.
    pub(super) declaration: TokenStream,
    /// The input, out of `__arguments`.
    pub(super) taken: TokenStream,
    /// What builds the input schema.
    pub(super) schema: TokenStream,
}

impl Input {
    pub(super) fn of(function: &Function, krate: &Path, outside: &Path) -> Self {
        let arguments: Vec<&Argument> = function.arguments().collect();
        match &arguments[..] {
            [] => Self {
                ty: quote!(()),
                arguments: quote!(#krate::NoArguments),
                declaration: TokenStream::new(),
                taken: quote!({}),
                schema: quote!(#krate::input::<#krate::NoArguments>),
            },
            [lone] if !lone.is_named() => Self::lone(lone, krate),
            _ => Self::named(&arguments, krate, outside),
        }
    }

    /// The argument struct, or one argument under its name: rustc decides as far as it can, and else the schema does.
    fn lone(lone: &Argument, krate: &Path) -> Self {
        let (ty, fits, name) = (&lone.ty, lone.fits(), lone.ident.unraw().to_string());
        let description = description::of(&lone.attrs, krate).unwrap_or_else(|| quote!(""));
        let choice = quote!(#krate::LoneArgument<{ #krate::Lone::<#ty>::IS_STRUCT }, { #fits::CHOICE }>);
        let choice = quote!(<#choice as #krate::Arguments<__Name, #ty>>);
        Self {
            ty: quote!(#ty),
            arguments: quote!(#choice::Arguments),
            declaration: quote! {
                struct __Name;
                impl #krate::Named for __Name {
                    const NAME: &'static #krate::str = #name;
                    const DESCRIPTION: &'static #krate::str = #description;

                    fn form() -> &'static #krate::Form {
                        static FORM: #krate::Form = #krate::Form::undecided();
                        &FORM
                    }
                }
            },
            taken: quote!(#choice::take(__arguments)),
            schema: quote!(#choice::schema),
        }
    }

    /// The schema of the arguments, with the aliases that schemars does not know.
    fn schema(arguments: &[&Argument], krate: &Path) -> TokenStream {
        let mut aliases = arguments.iter().filter_map(|argument| json_name::aliases(argument)).peekable();
        if aliases.peek().is_none() {
            return quote!(#krate::input::<__Arguments>);
        }
        let aliases = aliases.map(|(name, aliases)| quote!((#name, &[#(#aliases),*])));
        quote!(|| #krate::with_aliases(#krate::input::<__Arguments>(), &[#(#aliases),*]))
    }

    /// A struct with the arguments as fields.
    fn named(arguments: &[&Argument], krate: &Path, outside: &Path) -> Self {
        let types = arguments.iter().map(|argument| &argument.ty);
        let taken = arguments.iter().map(|argument| argument.taken(krate));
        let (ty, taken) = match arguments {
            [lone] => {
                let ty = &lone.ty;
                (quote!(#ty), lone.taken(krate))
            }
            _ => (quote!((#(#types,)*)), quote!((#(#taken,)*))),
        };
        let fields = arguments.iter().map(|argument| {
            let Argument { ident, attrs, .. } = argument;
            let ty = argument.field_type(krate);
            let default = argument.default.as_ref().map(|_| {
                let path = LitStr::new(&argument.default_fn().to_string(), ident.span());
                quote!(#[serde(default = #path)])
            });
            quote!(#(#attrs)* #default #ident: #ty)
        });
        let defaults = arguments.iter().map(|argument| argument.default(krate));
        let serde = path_text(outside, "serde");
        let schemars = path_text(outside, "schemars");
        Self {
            ty,
            arguments: quote!(__Arguments),
            declaration: quote! {
                #(#defaults)*
                #[derive(#krate::serde::Deserialize, #krate::schemars::JsonSchema)]
                #[serde(crate = #serde)]
                #[schemars(crate = #schemars)]
                struct __Arguments { #(#fields),* }
            },
            taken,
            schema: Self::schema(arguments, krate),
        }
    }
}

fn path_text(krate: &Path, name: &str) -> LitStr {
    let mut path = krate.clone();
    path.segments.push(Ident::new(name, Span::call_site()).into());
    LitStr::new(&quote!(#path).to_string(), Span::call_site())
}

impl Argument {
    /// The alias for the type unless it borrows, and else for a stand-in.
    fn owned(&self) -> Ident {
        format_ident!("__Owned_{}", self.ident.unraw(), span = self.ty.span())
    }

    /// The alias for whether rustc accepts the type.
    fn fits(&self) -> Ident {
        format_ident!("__Fits_{}", self.ident.unraw(), span = self.ty.span())
    }

    /// Declares the alias, and asks what an answer should point to the type for.
    pub(super) fn checks(&self, is_lone: bool, krate: &Path) -> TokenStream {
        if self.is_converted() {
            return TokenStream::new();
        }
        let krate = at(krate, self.ty.span());
        let (ty, owned, fits) = (&self.ty, self.owned(), self.fits());
        let attribute = self.field_attribute().filter(|_| is_lone).map(|attr| {
            let krate = at(&krate, attr.span());
            let is_struct = quote!(#krate::Lone::<#ty>::IS_STRUCT && #fits::CHOICE);
            quote_spanned!(here(attr.span())=>
                const _: () = <<#krate::Pick<{ #is_struct }> as #krate::OrStandIn<#ty>>::Type as #krate::NamedArgument>::OK;
            )
        });
        quote_spanned! {here(ty.span())=>
            // Of a reference nothing else is asked, since its lifetime would be one more error.
            type #owned = <#krate::Pick<{ !#krate::Candidate::<#ty>::BORROWS }> as #krate::OrStandIn<#ty>>::Type;
            type #fits = #krate::Case<{ #krate::argument_case(
                #krate::Candidate::<#ty>::BORROWS,
                #krate::Candidate::<#owned>::SHARES,
                #krate::Candidate::<#owned>::IS_READ,
                #krate::Candidate::<#owned>::IS_DESCRIBED,
                #krate::Candidate::<#owned>::IS_SENT,
            ) }>;
            const _: ((), (), (), (), (), ()) = (
                <<#fits as #krate::Refused<#ty>>::Borrows as #krate::OwnedArgument>::OK,
                <<#fits as #krate::Refused<#ty>>::Both as #krate::ToolArgument>::OK,
                <<#fits as #krate::Refused<#ty>>::NotConverted as #krate::DeserializeArgument>::OK,
                <<#fits as #krate::Refused<#ty>>::NotDescribed as #krate::DescribeArgument>::OK,
                <<#fits as #krate::Refused<#ty>>::NotSent as #krate::SendArgument>::OK,
                <<#fits as #krate::Refused<#ty>>::Shares as #krate::UnsharedArgument>::OK,
            );
            #attribute
        }
    }

    /// The type of the field: a stand-in where rustc refuses the type, since the derives would refuse it too.
    fn field_type(&self, krate: &Path) -> TokenStream {
        let (ty, fits) = (&self.ty, self.fits());
        if self.is_converted() { quote!(#ty) } else { quote!(<#fits as #krate::OrStandIn<#ty>>::Type) }
    }

    /// The name of the function that makes the default.
    fn default_fn(&self) -> Ident {
        format_ident!("__default_{}", self.ident.unraw(), span = Span::call_site())
    }

    /// The function that makes the default, where there is one.
    fn default(&self, krate: &Path) -> Option<TokenStream> {
        let (ty, name, field) = (&self.ty, self.default_fn(), self.field_type(krate));
        let value = match self.default.as_ref()? {
            ArgDefault::OfType(span) => {
                let krate = at(krate, *span);
                quote_spanned!(here(*span)=> <#ty as #krate::Default>::default())
            }
            ArgDefault::Value(value) => {
                let krate = at(krate, value.span());
                quote_spanned!(here(value.span())=> #krate::ArgumentDefault::<#ty>::into_default(#value))
            }
        };
        let fits = self.fits();
        let value = match self.is_converted() {
            true => value,
            false => quote!(<#fits as #krate::OrStandIn<#ty>>::put(|| #value)),
        };
        Some(quote!(fn #name() -> #field { #value }))
    }

    fn taken(&self, krate: &Path) -> TokenStream {
        let (ident, ty, fits) = (&self.ident, &self.ty, self.fits());
        if self.is_converted() {
            quote!(__arguments.#ident)
        } else {
            quote!(<#fits as #krate::OrStandIn<#ty>>::take(__arguments.#ident))
        }
    }
}
