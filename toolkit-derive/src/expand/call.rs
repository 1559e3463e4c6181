//! The types of a function, and its call.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Path, Type};

use super::input::Input;
use crate::function::Function;
use crate::krate::{at, here};
use crate::parameter::Parameter;

/// Returns the types of the function, and the conversion of its error to a `ToolError`.
pub(super) fn types(function: &Function, input: &Input, returned: &TokenStream, krate: &Path) -> TokenStream {
    let Input { ty, arguments, taken, .. } = input;
    let convert = convert(function.error_span(), krate);
    quote! {
        type __Output = <__Tool as #krate::Function>::Output;
        type __Result = #krate::Case<{ #krate::result_case(
            #krate::Shape::<__Output>::KIND,
            #krate::Data::<__Output>::IS_WRITTEN,
            #krate::Data::<__Output>::IS_DESCRIBED,
        ) }>;

        impl #krate::Function for __Tool {
            type Input = #ty;
            type Arguments = #arguments;
            type Returned = #returned;
            type Output = <#krate::Pick<{ #krate::Returned::<#returned>::FALLIBLE }> as #krate::Succeeds<#returned>>::Output;
            type Encoding = #krate::Returns<{ __Result::encoding(#krate::Shape::<__Output>::KIND) }>;

            fn input(__arguments: #arguments) -> #ty {
                #taken
            }

            fn finish(__returned: #returned) -> #krate::Result<Self::Output, #krate::ToolError> {
                #convert
            }
        }
    }
}

/// Returns the call of the function with its arguments and injected state.
pub(super) fn call(function: &Function, returned: &TokenStream, krate: &Path) -> TokenStream {
    let ident = &function.ident;
    let n_arguments = function.arguments().count();
    let is_sole = n_arguments == 1;
    let mut n_taken = 0;
    let parameters = function.parameters.iter().map(|parameter| match parameter {
        Parameter::Argument(_) if is_sole => quote!(__input),
        Parameter::Argument(_) => {
            let idx = syn::Index::from(n_taken);
            n_taken += 1;
            quote!(__input.#idx)
        }
        Parameter::State(ty) => inject(ty, krate),
    });
    let callee = match &function.owner {
        Some(ty) => {
            let instance = function.takes_self.then(|| inject(ty, krate)).into_iter();
            let parameters = instance.chain(parameters);
            quote!(<#ty>::#ident(#(#parameters),*))
        }
        None => quote!(#ident(#(#parameters),*)),
    };
    match &function.asyncness {
        Some(token) => {
            // rustc reports a future that is not `Send` here, so these tokens are located at `async`.
            let krate = at(krate, token.span());
            quote_spanned! {here(token.span())=>
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

fn inject(ty: &Type, krate: &Path) -> TokenStream {
    let krate = at(krate, ty.span());
    quote_spanned!(here(ty.span())=> #krate::Borrowed::<#ty>::from_host(__host)?)
}

/// Returns the expression that converts `__returned` to a `Result<_, ToolError>`.
pub(crate) fn convert(span: Span, krate: &Path) -> TokenStream {
    let krate = at(krate, span);
    quote_spanned! {here(span)=>
        match #krate::Returned(__returned).split() {
            #krate::Ok(__value) => #krate::Ok(__value),
            #krate::Err(__error) => #krate::Err((&&&&#krate::ErrorOf::new(&__error)).convert_by().convert(__error)),
        }
    }
}
