//! Tokens for a function that has been checked. Nothing in here can fail.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{ItemFn, LitStr, Path, Type, parse_quote};

use crate::attribute::Attribute;
use crate::function::{Argument, Function, Parameter};

/// The function, and its tool beside it.
pub(crate) fn free(func: &ItemFn, function: &Function) -> TokenStream {
    let tool = tool(function);
    quote! {
        // Every argument is a parameter, and is owned.
        #[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)]
        #func
        #tool
    }
}

/// The one hidden item beside a function:
///
/// ```ignore
/// pub const __tool_defined_as_add: Linked<(i64, i64), i64> = {
///     #[derive(Deserialize, JsonSchema)]
///     struct __Arguments { a: i64, b: i64 }
///
///     struct __Tool;
///     impl Function for __Tool { /* its types */ }
///     impl SyncFunction for __Tool { /* the call */ }
///
///     static __ENTRY: Entry = Entry { /* the attribute */ ..sync_entry::<__Tool>("math:add:1.0.0", …) };
///     inventory::submit! { &__ENTRY }
///     unique! { "math:add:1.0.0" }
///     sync_linked::<__Tool>(&__ENTRY)
/// };
/// ```
pub(crate) fn tool(function: &Function) -> TokenStream {
    let outside = krate(&function.attribute);
    let krate: Path = parse_quote!(__toolkit);
    let hidden = hidden_name(&function.ident);
    let vis = &function.vis;
    let input = Input::of(function, &krate, &outside);
    let input_type = &input.ty;
    let returned = function.output.as_ref().map_or_else(|| quote!(()), |ty| quote!(#ty));
    let (checks, types) = (checks(function, &krate), types(function, &input, &returned, &krate));
    let (call, entry) = (call(function, &returned, &krate), entry(function, &krate));
    let (arguments, into_input) = (&input.declaration, &input.conversion);
    let id = id(function);
    let linked = if function.asyncness.is_some() { quote!(async_linked) } else { quote!(sync_linked) };
    quote! {
        #[doc(hidden)]
        #[allow(
            deprecated,
            unused_imports,
            private_interfaces,
            non_camel_case_types,
            non_upper_case_globals,
            trivial_bounds,
            unused_qualifications,
            clippy::all,
            clippy::pedantic,
            clippy::nursery
        )]
        #vis const #hidden: #outside::Linked<#input_type, #returned> = {
            use #outside as __toolkit;
            use #krate::{
                ArgumentStruct as _, Convert as _, Failing as _, FromHost as _, Owns as _, Plain as _, PlainShape as _,
                Unfit as _, UnfitData as _,
            };
            // What the derives use as if the prelude were there.
            use #krate::{Clone as _, Default as _, Into as _, Some, ToOwned as _};

            #arguments
            #into_input
            #checks

            struct __Tool;
            #types
            #call
            #entry

            #krate::inventory::submit! { &__ENTRY }
            #krate::unique! { #id }
            #krate::#linked::<__Tool>(&__ENTRY)
        };
    }
}

/// Where generated code finds `toolkit`.
pub(crate) fn krate(attribute: &Attribute) -> Path {
    match &attribute.krate {
        Some(path) => parse_quote!(#path::__private),
        None => parse_quote!(::toolkit::__private),
    }
}

/// The same path, pointing elsewhere: rustc shows where the first token of a path is.
pub(crate) fn at(krate: &Path, span: Span) -> Path {
    let mut krate = krate.clone();
    for segment in &mut krate.segments {
        segment.ident.set_span(segment.ident.span().located_at(span));
    }
    if let Some(colons) = &mut krate.leading_colon {
        colons.spans = colons.spans.map(|colon| colon.located_at(span));
    }
    krate
}

/// The name of the hidden item. It reads as a sentence in "cannot find value `…` in module `…`", which is what rustc
/// says of a re-export that left the tool behind.
pub(crate) fn hidden_name(ident: &Ident) -> Ident {
    format_ident!("__tool_defined_as_{}", ident.unraw(), span = ident.span())
}

fn id(function: &Function) -> String {
    let name = function.name();
    match (&function.attribute.namespace, &function.attribute.version) {
        (Some(namespace), Some(version)) => format!("{}:{name}:{version}", namespace.value()),
        (Some(namespace), None) => format!("{}:{name}", namespace.value()),
        (None, _) => name,
    }
}

/// What the function takes, and what the JSON becomes first.
struct Input {
    /// The type of the function's input: a tuple, or the lone argument.
    ty: TokenStream,
    /// The type that is decoded.
    arguments: TokenStream,
    /// The struct that holds the arguments under their names.
    declaration: TokenStream,
    /// From that struct to the input.
    conversion: TokenStream,
}

impl Input {
    fn of(function: &Function, krate: &Path, outside: &Path) -> Self {
        let arguments: Vec<&Argument> = function.arguments().collect();
        let types = arguments.iter().map(|argument| &argument.ty);
        let (ty, decoded) = match &arguments[..] {
            [] => {
                return Self {
                    ty: quote!(()),
                    arguments: quote!(#krate::NoArguments),
                    declaration: TokenStream::new(),
                    conversion: TokenStream::new(),
                };
            }
            [lone] if lone.is_arg => (quote!((#(#types,)*)), quote!(__Arguments)),
            [lone] => {
                let (ty, fits) = (&lone.ty, lone.fits());
                let is_struct = quote!(#krate::Pick<{ #krate::Lone::<#ty>::IS_STRUCT && #fits::CHOICE }>);
                let picked = quote!(<#is_struct as #krate::Arguments<#ty, __Arguments>>::Arguments);
                (quote!(#ty), if lone.is_converted() { quote!(__Arguments) } else { picked })
            }
            _ => (quote!((#(#types,)*)), quote!(__Arguments)),
        };
        let taken = arguments.iter().map(|argument| argument.taken(krate));
        let value = match &arguments[..] {
            [lone] if !lone.is_arg => lone.taken(krate),
            _ => quote!((#(#taken,)*)),
        };
        let fields = arguments.iter().map(|argument| {
            let Argument { ident, attrs, .. } = argument;
            let ty = argument.field_type(krate);
            quote!(#(#attrs)* #ident: #ty)
        });
        let serde = path_text(outside, "serde");
        let schemars = path_text(outside, "schemars");
        Self {
            declaration: quote! {
                #[derive(#krate::serde::Deserialize, #krate::schemars::JsonSchema)]
                #[serde(crate = #serde)]
                #[schemars(crate = #schemars)]
                struct __Arguments { #(#fields),* }
            },
            conversion: quote! {
                impl #krate::IntoInput<#ty> for __Arguments {
                    fn into_input(self) -> #ty {
                        #value
                    }
                }
            },
            ty,
            arguments: decoded,
        }
    }
}

fn path_text(krate: &Path, name: &str) -> LitStr {
    let mut path = krate.clone();
    path.segments.push(Ident::new(name, Span::call_site()).into());
    LitStr::new(&quote!(#path).to_string(), Span::call_site())
}

fn types(function: &Function, input: &Input, returned: &TokenStream, krate: &Path) -> TokenStream {
    let Input { ty, arguments, .. } = input;
    let convert = convert(function.error_span(), krate);
    quote! {
        impl __Tool {
            const KIND: #krate::u8 = #krate::kind(
                #krate::Shape::<<Self as #krate::Function>::Output>::KIND,
                #krate::Data::<<Self as #krate::Function>::Output>::FITS,
            );
        }

        impl #krate::Function for __Tool {
            type Input = #ty;
            type Arguments = #arguments;
            type Returned = #returned;
            type Output = <#krate::Pick<{ #krate::Returned::<#returned>::FALLIBLE }> as #krate::Succeeds<#returned>>::Output;
            type Encoding = #krate::Returns<{ __Tool::KIND }>;

            fn finish(__returned: #returned) -> #krate::Result<Self::Output, #krate::ToolError> {
                #convert
            }
        }
    }
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

    /// Declares both aliases, and asks what an answer should point to the type for.
    fn checks(&self, krate: &Path) -> TokenStream {
        if self.is_converted() {
            return TokenStream::new();
        }
        let krate = at(krate, self.ty.span());
        let (ty, owned, fits) = (&self.ty, self.owned(), self.fits());
        quote_spanned! {ty.span()=>
            type #owned = <#krate::Pick<{ !#krate::Candidate::<#ty>::BORROWS }> as #krate::OrStandIn<#ty>>::Type;
            type #fits = #krate::Pick<{ !#krate::Candidate::<#ty>::BORROWS && #krate::Candidate::<#owned>::FITS }>;
            const _: () = #krate::is_owned::<{ #krate::Candidate::<#ty>::BORROWS }, #ty>();
            const _: () = #krate::is_tool_argument::<#owned>();
        }
    }

    /// The type of the field: a stand-in where rustc refuses the type, since the derives would refuse it too.
    fn field_type(&self, krate: &Path) -> TokenStream {
        let (ty, fits) = (&self.ty, self.fits());
        if self.is_converted() { quote!(#ty) } else { quote!(<#fits as #krate::OrStandIn<#ty>>::Type) }
    }

    fn taken(&self, krate: &Path) -> TokenStream {
        let (ident, ty, fits) = (&self.ident, &self.ty, self.fits());
        if self.is_converted() {
            quote!(self.#ident)
        } else {
            quote!(<#fits as #krate::OrStandIn<#ty>>::take(self.#ident))
        }
    }
}

/// Questions put to rustc, each at the tokens that an answer should point to.
fn checks(function: &Function, krate: &Path) -> TokenStream {
    let arguments = function.arguments().map(|argument| argument.checks(krate));
    let states = function.lent().map(|ty| {
        let krate = at(krate, ty.span());
        quote_spanned!(ty.span()=> const _: () = #krate::is_state::<#ty>();)
    });
    let krate = at(krate, function.output_span());
    let output = quote_spanned! {function.output_span()=>
        type __Refused = #krate::Pick<{ __Tool::KIND == #krate::UNFIT }>;
        const _: () = #krate::is_tool_output::<
            <__Refused as #krate::OrStandIn<<__Tool as #krate::Function>::Output>>::Type,
        >();
    };
    quote!(#(#arguments)* #(#states)* #output)
}

fn call(function: &Function, returned: &TokenStream, krate: &Path) -> TokenStream {
    let ident = &function.ident;
    let n_arguments = function.arguments().count();
    let lone = n_arguments == 1 && function.arguments().all(|argument| !argument.is_arg);
    let mut n_taken = 0;
    let parameters = function.parameters.iter().map(|parameter| match parameter {
        Parameter::Argument(_) if lone => quote!(__input),
        Parameter::Argument(_) => {
            let idx = syn::Index::from(n_taken);
            n_taken += 1;
            quote!(__input.#idx)
        }
        Parameter::Borrowed(ty) => lend(ty, krate),
    });
    let callee = match &function.owner {
        Some(ty) => {
            let instance = function.takes_self.then(|| lend(ty, krate)).into_iter();
            let parameters = instance.chain(parameters);
            quote!(<#ty>::#ident(#(#parameters),*))
        }
        None => quote!(#ident(#(#parameters),*)),
    };
    match &function.asyncness {
        Some(token) => {
            // A future that is not `Send` is reported here, so all of it points to the word that makes it one.
            let krate = at(krate, token.span());
            quote_spanned! {token.span()=>
                impl #krate::AsyncFunction for __Tool {
                    fn call<'a>(
                        __input: Self::Input,
                        __host: #krate::Host<'a>,
                    ) -> impl #krate::Future<Output = #krate::Result<#returned, #krate::ToolError>> + #krate::Send + 'a {
                        async move { #krate::Ok(#callee.await) }
                    }
                }
            }
        }
        None => quote! {
            impl #krate::SyncFunction for __Tool {
                fn call(__input: Self::Input, __host: #krate::Host<'_>) -> #krate::Result<#returned, #krate::ToolError> {
                    #krate::Ok(#callee)
                }
            }
        },
    }
}

fn lend(ty: &Type, krate: &Path) -> TokenStream {
    let krate = at(krate, ty.span());
    quote_spanned!(ty.span()=> #krate::Borrowed::<#ty>::lend(__host)?)
}

/// The body that makes a `Result<_, ToolError>` of `__returned`.
pub(crate) fn convert(span: Span, krate: &Path) -> TokenStream {
    let krate = at(krate, span);
    quote_spanned! {span=>
        match #krate::Returned(__returned).split() {
            #krate::Ok(value) => #krate::Ok(value),
            #krate::Err(error) => #krate::Err((&&&#krate::ErrorOf::new(&error)).convert_by().convert(error)),
        }
    }
}

fn entry(function: &Function, krate: &Path) -> TokenStream {
    let attribute = &function.attribute;
    let text = |text: &LitStr| quote!(#krate::Option::Some(#text));
    let flag = |flag: bool| quote!(#krate::Option::Some(#flag));
    let description = &function.description;
    let mut fields = vec![quote!(description: #description)];
    let mut field = |name: &str, value: Option<TokenStream>| {
        let name = Ident::new(name, Span::call_site());
        fields.extend(value.map(|value| quote!(#name: #value)));
    };
    let texts = |texts: &[LitStr]| (!texts.is_empty()).then(|| quote!(&[#(#texts),*]));
    field("namespace", attribute.namespace.as_ref().map(text));
    field("version", attribute.version.as_ref().map(|version| quote!(#krate::Option::Some(#version))));
    field("title", attribute.title.as_ref().map(text));
    field("category", attribute.category.as_ref().map(text));
    field("deprecated", attribute.deprecated.as_ref().or(function.deprecated.as_ref()).map(text));
    field("meta", attribute.meta.as_ref().map(text));
    field("aliases", texts(&attribute.aliases));
    field("examples", texts(&attribute.examples));
    let tags = &attribute.tags;
    field("tags", (!tags.is_empty()).then(|| quote!(&[#(#tags),*])));
    let icons = attribute.icons.iter().map(|icon| icon.expand(krate));
    field("icons", (!attribute.icons.is_empty()).then(|| quote!(&[#(#icons),*])));
    let requirements = &attribute.requirements;
    field("requirements", (!requirements.is_empty()).then(|| requirements.expand(krate)));
    field(
        "timeout",
        attribute.timeout.map(|limit| {
            let millis = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
            quote!(#krate::Option::Some(#krate::Duration::from_millis(#millis)))
        }),
    );
    let hints = [
        ("read_only", attribute.read_only),
        ("destructive", attribute.destructive),
        ("idempotent", attribute.idempotent),
        ("open_world", attribute.open_world),
    ];
    let hints = hints.into_iter().filter_map(|(name, hint)| {
        let name = Ident::new(name, Span::call_site());
        hint.map(flag).map(|hint| quote!(#name: #hint))
    });
    let hints: Vec<TokenStream> = hints.collect();
    field(
        "annotations",
        (!hints.is_empty()).then(|| quote!(#krate::Annotations { #(#hints,)* ..#krate::Annotations::NONE })),
    );
    let lone = function.arguments().count() == 1 && function.arguments().all(|argument| !argument.is_arg);
    field("lone", lone.then(|| quote!(#krate::Option::Some(#krate::takes::<<__Tool as #krate::Function>::Arguments>))));
    let borrowed: Vec<TokenStream> =
        function.lent().map(|ty| quote_spanned!(ty.span()=> #krate::Borrowed::<#ty>::STATE)).collect();
    field("states", (!borrowed.is_empty()).then(|| quote!(&[#(#borrowed),*])));

    let (id, name) = (id(function), function.name());
    let kind = match (&function.asyncness, attribute.blocking.is_some()) {
        (Some(_), _) => quote!(async_entry),
        (None, true) => quote!(blocking_entry),
        (None, false) => quote!(sync_entry),
    };
    // The macros tell the place of the tokens that call them.
    let here = at(krate, function.ident.span());
    let location = quote_spanned! {function.ident.span()=>
        #here::Location { file: #here::file!(), line: #here::line!(), column: #here::column!() }
    };
    quote! {
        static __ENTRY: #krate::Entry = #krate::Entry {
            #(#fields,)*
            ..#krate::#kind::<__Tool>(#id, #name, #location)
        };
    }
}
