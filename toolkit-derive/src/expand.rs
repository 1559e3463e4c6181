//! Code generation for a checked function, which cannot fail.

mod call;
mod entry;
mod input;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{ItemFn, Path, parse_quote};

pub(crate) use self::call::convert;
use self::call::{call, types};
use self::entry::entry;
use self::input::Input;
use crate::function::Function;
use crate::krate::{at, here, krate};

/// Returns the function and the hidden item beside it.
pub(crate) fn free(func: &ItemFn, function: &Function) -> TokenStream {
    let tool = tool(function);
    quote! {
        // Arguments of a tool are owned parameters.
        #[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)]
        #func
        #tool
    }
}

/// Returns the hidden item beside a function:
///
/// ```ignore
/// pub const add_is_not_a_tool_add_tool_attribute_…: Linked<(i64, i64), i64> = {
///     #[derive(Deserialize, JsonSchema)]
///     struct __Arguments { a: i64, b: i64 }
///
///     struct __Tool;
///     impl Function for __Tool { /* its types */ }
///     impl SyncFunction for __Tool { /* the call */ }
///
///     static __ENTRY: Entry = Entry { /* the attribute */ ..sync_entry::<__Tool>("math:add:1.0.0", …) };
///     inventory::submit! { &__ENTRY }
///     sync_linked::<__Tool>(&__ENTRY)
/// };
/// ```
pub(crate) fn tool(function: &Function) -> TokenStream {
    let outside = krate(&function.attribute);
    let krate: Path = parse_quote!(__toolkit);
    let hidden = hidden_name(&function.ident);
    let (vis, cfgs) = (&function.vis, &function.cfgs);
    let input = Input::new(function, &krate, &outside);
    let input_type = &input.ty;
    let returned = function.output.as_ref().map_or_else(|| quote!(()), |ty| quote!(#ty));
    let (checks, types) = (checks(function, &krate), types(function, &input, &returned, &krate));
    let (call, entry) = (call(function, &returned, &krate), entry(function, &input, &krate));
    let arguments = &input.declaration;
    let linked = if function.asyncness.is_some() { quote!(async_linked) } else { quote!(sync_linked) };
    quote! {
        #(#cfgs)*
        #[doc(hidden)]
        #[allow(
            dead_code,
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
            use #krate::names::*;

            #arguments
            #checks

            struct __Tool;
            #types
            #call
            #entry

            #krate::inventory::submit! { &__ENTRY }
            #krate::#linked::<__Tool>(&__ENTRY)
        };
    }
}

/// Returns the name of the hidden item, such as `add_is_not_a_tool_add_tool_attribute_…`.
///
/// rustc prints the name in "cannot find value `…` in module `…`", if the function is not a tool. rustc also suggests
/// names that differ in less than a third of their letters, which would be the hidden item of another tool. The suffix, a
/// hash of the name, is long enough to prevent that.
pub(crate) fn hidden_name(ident: &Ident) -> Ident {
    let name = ident.unraw().to_string();
    let hash = letters(&name, name.len() + 22);
    format_ident!("{name}_is_not_a_tool_add_tool_attribute_{hash}", span = ident.span())
}

/// Returns `n` letters that depend on every byte of `text` (FNV-1a, then SplitMix64).
fn letters(text: &str, n: usize) -> String {
    let mut state: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in text.bytes() {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    std::iter::repeat_with(next).take(n).map(|bits| char::from(b'a' + (bits % 26) as u8)).collect()
}

/// Returns assertions about types, each at the tokens that an error of rustc should point to. In one constant, rustc would
/// report only one of them.
fn checks(function: &Function, krate: &Path) -> TokenStream {
    let is_sole = function.arguments().count() == 1;
    let arguments = function.arguments().map(|argument| argument.checks(is_sole, krate));
    let states = function.injected().map(|ty| {
        let krate = at(krate, ty.span());
        quote_spanned!(here(ty.span())=> const _: () = <#ty as #krate::State>::OK;)
    });
    let krate = at(krate, function.output_span());
    let result = quote_spanned! {here(function.output_span())=>
        const _: ((), (), ()) = (
            <<__Result as #krate::Refused<__Output>>::Both as #krate::ToolResult>::OK,
            <<__Result as #krate::Refused<__Output>>::NotConverted as #krate::SerializeResult>::OK,
            <<__Result as #krate::Refused<__Output>>::NotDescribed as #krate::DescribeResult>::OK,
        );
    };
    let blocking = function.attribute.blocking.as_ref().map(|_| {
        quote_spanned! {here(function.output_span())=>
            const _: () = <<#krate::Pick<{ #krate::Shape::<__Output>::KIND == #krate::CHUNKS }>
                as #krate::OrStandIn<__Output>>::Type as #krate::BlockingResult>::OK;
        }
    });
    quote!(#(#arguments)* #(#states)* #result #blocking)
}
