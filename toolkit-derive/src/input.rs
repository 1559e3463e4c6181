//! Decoding of the owned parameters.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, LitStr, Path, parse_quote_spanned};

use crate::arg::ArgDefault;
use crate::function::{Function, at, here};
use crate::parameter::{self, Argument};
use crate::value;

/// The types of the input, and the code that decodes it.
pub(crate) struct FunctionInput {
    /// The type of the function's input: a tuple, or the sole argument.
    pub(crate) ty: TokenStream,
    /// The type that the JSON is decoded to.
    pub(crate) arguments: TokenStream,
    /// The declaration of the struct with the arguments.
    pub(crate) declaration: TokenStream,
    /// The expression that converts `__arguments` to the input.
    pub(crate) taken: TokenStream,
    /// The function that builds the input schema.
    pub(crate) schema: TokenStream,
    /// True if the declaration contains `__SOLE` instead of a struct.
    pub(crate) is_sole: bool,
}

impl FunctionInput {
    pub(crate) fn new(function: &Function, krate: &Path, outside: &Path) -> Self {
        let arguments: Vec<&Argument> = function.arguments().collect();
        match &arguments[..] {
            [] => Self {
                ty: quote!(()),
                arguments: quote!(#krate::NoArguments),
                declaration: TokenStream::new(),
                taken: quote!({}),
                schema: quote!(#krate::input::<#krate::NoArguments>),
                is_sole: false,
            },
            [sole] if !sole.is_named() => Self::sole(sole, krate),
            [sole] if sole.is_flattened() => Self::whole(sole, krate),
            _ => Self::named(&arguments, krate, outside),
        }
    }

    /// Decodes the sole argument as the argument struct, or as an argument under its name. rustc decides where the type
    /// is enough, and otherwise the schema at run time.
    fn sole(sole: &Argument, krate: &Path) -> Self {
        let (ty, fits, name) = (&sole.ty, sole.fits(), sole.ident.unraw().to_string());
        let description = value::from_attrs(&sole.attrs, krate).unwrap_or_else(|| quote!(""));
        let read = quote!(<#fits as #krate::OrStandIn<#ty>>);
        Self {
            ty: quote!(#ty),
            arguments: quote!(#read::Type),
            declaration: quote! {
                static __SOLE: #krate::Sole =
                    #krate::Sole::new(#name, #description, #krate::SoleType::<#ty>::IS_STRUCT);
            },
            taken: quote!(#read::take(__arguments)),
            schema: quote!(|| #krate::sole_input::<#read::Type>(&__SOLE)),
            is_sole: true,
        }
    }

    /// Decodes the whole input as the type of the sole argument, such as a map. As the flattened field of a struct, serde
    /// would buffer it, and read no keys that are numbers.
    fn whole(sole: &Argument, krate: &Path) -> Self {
        let (ty, fits) = (&sole.ty, sole.fits());
        let description = value::from_attrs(&sole.attrs, krate).unwrap_or_else(|| quote!(""));
        let read = quote!(<#fits as #krate::OrStandIn<#ty>>);
        Self {
            ty: quote!(#ty),
            arguments: quote!(#read::Type),
            declaration: TokenStream::new(),
            taken: quote!(#read::take(__arguments)),
            schema: quote!(|| #krate::whole_input::<#read::Type>(#description)),
            is_sole: false,
        }
    }

    /// Returns the function that builds the schema of the arguments, with the aliases, which schemars ignores.
    fn schema(arguments: &[&Argument], krate: &Path) -> TokenStream {
        let mut aliases = arguments.iter().filter_map(|argument| parameter::json_aliases(argument)).peekable();
        if aliases.peek().is_none() {
            return quote!(#krate::input::<__Arguments>);
        }
        let aliases = aliases.map(|(name, aliases)| quote!((#name, &[#(#aliases),*])));
        quote!(|| #krate::with_aliases(#krate::input::<__Arguments>(), &[#(#aliases),*]))
    }

    /// Decodes the arguments as fields of a generated struct.
    fn named(arguments: &[&Argument], krate: &Path, outside: &Path) -> Self {
        let types = arguments.iter().map(|argument| &argument.ty);
        let taken = arguments.iter().map(|argument| argument.taken(krate));
        let (ty, taken) = match arguments {
            [sole] => {
                let ty = &sole.ty;
                (quote!(#ty), sole.taken(krate))
            }
            _ => (quote!((#(#types,)*)), quote!((#(#taken,)*))),
        };
        let fields = arguments.iter().map(|argument| {
            let ident = &argument.ident;
            let attrs = argument.field_attributes(krate);
            let ty = argument.field_type();
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
            is_sole: false,
        }
    }
}

fn path_text(krate: &Path, name: &str) -> LitStr {
    let mut path = krate.clone();
    path.segments.push(Ident::new(name, Span::call_site()).into());
    LitStr::new(&quote!(#path).to_string(), Span::call_site())
}

impl Argument {
    /// Returns the attributes of the field. The doc comment is that of `value::from_attrs` if it is a literal, since a derive
    /// keeps the stars of a block comment and hidden lines.
    fn field_attributes(&self, krate: &Path) -> Vec<Attribute> {
        let (docs, mut attrs): (Vec<Attribute>, Vec<Attribute>) = self.attrs.iter().cloned().partition(value::is_doc);
        let text = value::from_attrs(&docs, krate).and_then(|text| syn::parse2::<LitStr>(text).ok());
        match (text, docs.first()) {
            (Some(text), Some(first)) => {
                let text = LitStr::new(&text.value(), first.span());
                attrs.insert(0, parse_quote_spanned!(first.span()=> #[doc = #text]));
            }
            _ => attrs.splice(..0, docs).for_each(drop),
        }
        attrs
    }

    /// Returns the name of the alias for the type, or for a stand-in if the type borrows.
    fn owned(&self) -> Ident {
        format_ident!("__Owned_{}", self.ident.unraw(), span = self.ty.span())
    }

    /// Returns the name of the alias that encodes which bounds the type satisfies.
    fn fits(&self) -> Ident {
        format_ident!("__Fits_{}", self.ident.unraw(), span = self.ty.span())
    }

    /// Returns the name of the alias for the type of the field: a stand-in if a bound is missing, which the derives would
    /// report again.
    fn field(&self) -> Ident {
        format_ident!("__Field_{}", self.ident.unraw(), span = self.ty.span())
    }

    /// Returns the aliases, and assertions whose errors point to the type.
    pub(crate) fn checks(&self, is_sole: bool, krate: &Path) -> TokenStream {
        if self.has_conversion() {
            return TokenStream::new();
        }
        let krate = at(krate, self.ty.span());
        let (ty, owned, fits, field) = (&self.ty, self.owned(), self.fits(), self.field());
        let attribute = self.field_attribute().filter(|_| is_sole).map(|attr| {
            let krate = at(&krate, attr.span());
            let is_struct = quote!(#krate::SoleType::<#ty>::IS_STRUCT && #fits::CHOICE);
            quote_spanned!(here(attr.span())=>
                const _: () = <<#krate::Pick<{ #is_struct }> as #krate::OrStandIn<#ty>>::Type as #krate::NamedArgument>::OK;
            )
        });
        quote_spanned! {here(ty.span())=>
            // A reference gets no further assertions, since each would add an error about its lifetime.
            type #owned = <#krate::Pick<{ !#krate::Candidate::<#ty>::BORROWS }> as #krate::OrStandIn<#ty>>::Type;
            type #field = <#fits as #krate::OrStandIn<#ty>>::Type;
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

    /// Returns the type of the field.
    fn field_type(&self) -> TokenStream {
        let (ty, field) = (&self.ty, self.field());
        if self.has_conversion() { quote!(#ty) } else { quote!(#field) }
    }

    /// Returns the name of the function that creates the default.
    fn default_fn(&self) -> Ident {
        format_ident!("__default_{}", self.ident.unraw(), span = Span::call_site())
    }

    /// Returns the function that creates the default, if there is one.
    fn default(&self, krate: &Path) -> Option<TokenStream> {
        let (ty, name, field) = (&self.ty, self.default_fn(), self.field_type());
        let value = match self.default.as_ref()? {
            ArgDefault::Type(span) => {
                let krate = at(krate, *span);
                quote_spanned!(here(*span)=> <#ty as #krate::Default>::default())
            }
            ArgDefault::Value(value) => {
                let krate = at(krate, value.span());
                quote_spanned!(here(value.span())=> #krate::ArgumentDefault::<#ty>::into_default(#value))
            }
        };
        let fits = self.fits();
        let value = match self.has_conversion() {
            true => value,
            false => quote!(<#fits as #krate::OrStandIn<#ty>>::put(|| #value)),
        };
        Some(quote!(fn #name() -> #field { #value }))
    }

    fn taken(&self, krate: &Path) -> TokenStream {
        let (ident, ty, fits) = (&self.ident, &self.ty, self.fits());
        if self.has_conversion() {
            quote!(__arguments.#ident)
        } else {
            quote!(<#fits as #krate::OrStandIn<#ty>>::take(__arguments.#ident))
        }
    }
}
