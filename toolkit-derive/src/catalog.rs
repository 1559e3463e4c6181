//! `catalog![…]` and `handle!(…)`, which take paths of tool functions.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Path, PathArguments, Token, parse_quote};

use crate::expand::{convert, hidden_name};
use crate::function::{at, here};

/// Expands `catalog!`.
pub(crate) fn catalog(input: TokenStream) -> TokenStream {
    let Paths { krate, paths } = match syn::parse2(input) {
        Ok(paths) => paths,
        Err(error) => return error.to_compile_error(),
    };
    let private: Path = parse_quote!(#krate::__private);
    let entries: Vec<TokenStream> = paths
        .iter()
        .map(|path| {
            let tool = hidden(path);
            quote!(#tool.entry())
        })
        .collect();
    let checks = paths.iter().enumerate().map(|(idx, path)| {
        let (entry, earlier) = (&entries[idx], &entries[..idx]);
        let private = at(&private, last(path).span());
        quote_spanned!(here(last(path).span())=> const _: () = #private::not_in(#entry, &[#(#earlier),*]);)
    });
    let catalog = quote!({
        #(#checks)*
        #private::catalog_of(&[#(#entries),*])
    });
    expression(&krate, catalog)
}

/// Expands `handle!`.
pub(crate) fn handle(input: TokenStream) -> TokenStream {
    let Paths { krate, paths } = match syn::parse2(input) {
        Ok(paths) => paths,
        Err(error) => return error.to_compile_error(),
    };
    let Some(path) = paths.first().filter(|_| paths.len() == 1) else {
        let message = "expected the path of one function, as in `handle!(math::add)`";
        return syn::Error::new(Span::call_site(), message).to_compile_error();
    };
    let private: Path = parse_quote!(#krate::__private);
    let tool = hidden(path);
    let convert = convert(last(path).span(), &private);
    let handle = quote!({
        #[allow(unused_imports)]
        use #private::{Convert as _, Failing as _, Plain as _};
        #private::Linked::handle(#tool, |__returned| #convert)
    });
    expression(&krate, handle)
}

/// Wraps the expression in a macro whose name explains the error that rustc reports for a use in item position.
fn expression(krate: &Path, value: TokenStream) -> TokenStream {
    quote!(#krate::only_valid_inside_a_function! { #value })
}

/// The arguments of `catalog![crate = ::renamed, math::add, weather::forecast]`.
struct Paths {
    krate: Path,
    paths: Vec<Path>,
}

impl Parse for Paths {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut krate: Path = parse_quote!(::toolkit);
        if input.peek(Token![crate]) && input.peek2(Token![=]) {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            krate = input.call(Path::parse_mod_style)?;
            input.parse::<Option<Token![,]>>()?;
        }
        let paths = Punctuated::<Path, Token![,]>::parse_terminated_with(input, tool_path)?;
        Ok(Self { krate, paths: paths.into_iter().collect() })
    }
}

/// Parses the path of a function, or of a method such as `Notes<Memory>::append`.
fn tool_path(input: ParseStream<'_>) -> syn::Result<Path> {
    let mut path: Path = input.parse()?;
    if let Some(PathArguments::AngleBracketed(arguments)) = path.segments.last().map(|last| &last.arguments) {
        return Err(syn::Error::new_spanned(
            arguments,
            "a tool cannot have generic arguments; only the type of a method can",
        ));
    }
    for segment in &mut path.segments {
        if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
            arguments.colon2_token.get_or_insert_with(Default::default);
        }
    }
    Ok(path)
}

/// Returns the path of the hidden item beside the function at `path`.
fn hidden(path: &Path) -> Path {
    let mut path = path.clone();
    if let Some(last) = path.segments.last_mut() {
        last.ident = hidden_name(&last.ident);
    }
    path
}

fn last(path: &Path) -> Ident {
    let last = path.segments.last();
    last.map_or_else(|| Ident::new("_tool", Span::call_site()), |segment| segment.ident.clone())
}
