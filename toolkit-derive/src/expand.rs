//! Tokens for a function that has been checked. Nothing in here can fail.

mod call;
mod entry;
mod input;
mod krate;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{ItemFn, Path, parse_quote};

pub(crate) use self::call::convert;
use self::call::{call, types};
use self::entry::{entry, id};
use self::input::Input;
pub(crate) use self::krate::{at, here, krate};
use crate::function::Function;

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
    let (vis, cfgs) = (&function.vis, &function.cfgs);
    let input = Input::of(function, &krate, &outside);
    let input_type = &input.ty;
    let returned = function.output.as_ref().map_or_else(|| quote!(()), |ty| quote!(#ty));
    let (checks, types) = (checks(function, &krate), types(function, &input, &returned, &krate));
    let (call, entry) = (call(function, &returned, &krate), entry(function, &input, &krate));
    let arguments = &input.declaration;
    let id = id(function);
    // Where rustc says that the crate has two tools of that id.
    let name_at = at(&krate, function.ident.span());
    let unique = quote_spanned!(here(function.ident.span())=> #name_at::unique! { #id });
    let linked = if function.asyncness.is_some() { quote!(async_linked) } else { quote!(sync_linked) };
    quote! {
        #(#cfgs)*
        #[doc(hidden)]
        #[allow(
            deprecated,
            unused_imports,
            private_interfaces,
            non_camel_case_types,
            non_upper_case_globals,
            non_snake_case,
            unused_parens,
            unused_qualifications,
            clippy::all,
            clippy::pedantic,
            clippy::nursery
        )]
        #vis const #hidden: #outside::Linked<#input_type, #returned> = {
            use #outside as __toolkit;
            use #krate::{
                ArgumentStruct as _, Convert as _, Failing as _, FromHost as _, Owns as _, OwnsAlone as _, Plain as _,
                PlainShape as _, Unfit as _, UnfitData as _,
            };
            // What the derives use as if the prelude were there.
            use #krate::{Clone as _, Default as _, Into as _, Some, ToOwned as _};

            #arguments
            #checks

            struct __Tool;
            #types
            #call
            #entry

            #krate::inventory::submit! { &__ENTRY }
            #unique
            #krate::#linked::<__Tool>(&__ENTRY)
        };
    }
}

/// The name of the hidden item. It reads as a sentence in "cannot find value `…` in module `…`", which is what rustc
/// says of a re-export that left the tool behind.
pub(crate) fn hidden_name(ident: &Ident) -> Ident {
    format_ident!("__tool_defined_as_{}", ident.unraw(), span = ident.span())
}

/// Questions put to rustc, each at the tokens that an answer should point to.
fn checks(function: &Function, krate: &Path) -> TokenStream {
    let is_lone = function.arguments().count() == 1;
    let arguments = function.arguments().map(|argument| argument.checks(is_lone, krate));
    let states = function.lent().map(|ty| {
        let krate = at(krate, ty.span());
        quote_spanned!(here(ty.span())=> const _: () = #krate::is_state::<#ty>();)
    });
    let krate = at(krate, function.output_span());
    let output = quote_spanned! {here(function.output_span())=>
        type __Refused = #krate::Pick<{ __Tool::KIND == #krate::UNFIT }>;
        const _: () = #krate::is_tool_output::<
            <__Refused as #krate::OrStandIn<<__Tool as #krate::Function>::Output>>::Type,
        >();
    };
    quote!(#(#arguments)* #(#states)* #output)
}
