//! A function, as a tool sees it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    Attribute as RustAttribute, FnArg, Item, ItemFn, LitStr, PathArguments, ReturnType, Safety, Signature, Type,
    Visibility,
};

use crate::attribute::Attribute;
use crate::krate::krate;
use crate::name::check_name;
use crate::parameter::{Argument, Parameter, parameter};
use crate::report::Report;
use crate::value::ungrouped_type;
use crate::{description, example, json_name, recover, returned};

/// The word that says what an item is.
pub(crate) fn keyword(item: &Item) -> TokenStream {
    match item {
        Item::Const(item) => item.const_token.to_token_stream(),
        Item::Struct(item) => item.struct_token.to_token_stream(),
        Item::Enum(item) => item.enum_token.to_token_stream(),
        Item::Fn(item) => item.sig.fn_token.to_token_stream(),
        Item::Impl(item) => item.impl_token.to_token_stream(),
        Item::Mod(item) => item.mod_token.to_token_stream(),
        Item::Trait(item) => item.trait_token.to_token_stream(),
        other => other.to_token_stream(),
    }
}

/// What is known of a tool before anything is expanded.
pub(crate) struct Function {
    pub(crate) attribute: Attribute,
    /// The type whose method it is.
    pub(crate) owner: Option<Type>,
    pub(crate) takes_self: bool,
    pub(crate) ident: Ident,
    pub(crate) vis: Visibility,
    /// Where it exists at all.
    pub(crate) cfgs: Vec<RustAttribute>,
    pub(crate) asyncness: Option<syn::Token![async]>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) output: Option<Type>,
    pub(crate) description: TokenStream,
    pub(crate) deprecated: Option<LitStr>,
}

impl Function {
    pub(crate) fn of_free(func: &ItemFn, attribute: Attribute, report: &mut Report) -> Self {
        if let Some(FnArg::Receiver(receiver)) = func.sig.inputs.first() {
            report.error(
                receiver.self_token,
                "`#[tool]` on a method needs `#[toolset]` on the surrounding `impl` block, which tells the dispatcher \
                 where `self` comes from; there, it is written as `#[tool]` and not by a macro",
            );
        }
        Self::of(&func.sig, &func.attrs, func.vis.clone(), None, attribute, report)
    }

    pub(crate) fn of(
        sig: &Signature,
        attrs: &[RustAttribute],
        vis: Visibility,
        owner: Option<Type>,
        attribute: Attribute,
        report: &mut Report,
    ) -> Self {
        check_signature(sig, report);
        if let Some(twice) = attrs.iter().filter(|attr| recover::is_tool(attr)).nth(usize::from(owner.is_some())) {
            report.error(twice, "`#[tool]` stands here already; a function is one tool");
        }
        let name = sig.ident.unraw().to_string();
        if attribute.name.is_none()
            && let Err(reason) = check_name(&name)
        {
            report.error(&sig.ident, format!("the name of a tool {reason}; give it one with `name = \"…\"`"));
        }
        if let (Some(blocking), Some(_)) = (&attribute.blocking, sig.asyncness) {
            report.error(
                blocking,
                "an `async` function waits without blocking its thread; remove `blocking`, or the `async`",
            );
        }
        let krate = krate(&attribute);
        let description = match &attribute.description {
            Some(text) => Some(quote::quote!(#text)),
            None => description::of(attrs, &krate),
        };
        if description.is_none() && !attribute.names_description {
            report.error(
                &sig.ident,
                "missing description; add a doc comment to this function (a model reads it to decide whether to call \
                 the tool)",
            );
        }
        let mut parameters = Vec::new();
        for input in &sig.inputs {
            if let FnArg::Typed(typed) = input {
                parameters.extend(parameter(typed, report));
            }
        }
        let arguments = parameters.iter().filter_map(|parameter| match parameter {
            Parameter::Argument(argument) => Some(argument),
            Parameter::Borrowed(_) => None,
        });
        json_name::check(arguments.clone(), report);
        example::check(&attribute.examples, &arguments.collect::<Vec<_>>(), report);
        let output = match &sig.output {
            ReturnType::Default => None,
            ReturnType::Type(_, ty) => {
                returned::check(ty, report);
                Some((**ty).clone())
            }
        };
        Self {
            owner,
            takes_self: sig.receiver().is_some(),
            ident: sig.ident.clone(),
            vis,
            cfgs: attrs.iter().filter(|attr| attr.path().is_ident("cfg")).cloned().collect(),
            asyncness: sig.asyncness,
            parameters,
            output,
            description: description.unwrap_or_default(),
            deprecated: attrs.iter().find_map(deprecation),
            attribute,
        }
    }

    /// The tool's name.
    pub(crate) fn name(&self) -> String {
        match &self.attribute.name {
            Some(name) => name.value(),
            None => self.ident.unraw().to_string(),
        }
    }

    pub(crate) fn arguments(&self) -> impl Iterator<Item = &Argument> {
        self.parameters.iter().filter_map(|parameter| match parameter {
            Parameter::Argument(argument) => Some(argument),
            Parameter::Borrowed(_) => None,
        })
    }
}

impl Function {
    /// The types that the host lends, the instance of a method first.
    pub(crate) fn lent(&self) -> impl Iterator<Item = &Type> {
        let instance = self.owner.iter().filter(|_| self.takes_self);
        instance.chain(self.parameters.iter().filter_map(|parameter| match parameter {
            Parameter::Borrowed(ty) => Some(ty),
            Parameter::Argument(_) => None,
        }))
    }

    /// Where to say that the returned type is none: the first of `Result<_, _>`, if it is spelled so.
    pub(crate) fn output_span(&self) -> Span {
        self.result_span(0)
    }

    /// Where to say that the error is none: the second of `Result<_, _>`, if it is spelled so.
    pub(crate) fn error_span(&self) -> Span {
        self.result_span(1)
    }

    fn result_span(&self, idx: usize) -> Span {
        let Some(ty) = &self.output else {
            return Span::call_site();
        };
        if let Type::Path(path) = ungrouped_type(ty)
            && let Some(last) = path.path.segments.last().filter(|last| last.ident == "Result")
            && let PathArguments::AngleBracketed(arguments) = &last.arguments
            && let Some(argument) = arguments.args.get(idx)
        {
            return argument.span();
        }
        ty.span()
    }
}

fn check_signature(sig: &Signature, report: &mut Report) {
    if !sig.generics.params.is_empty() && sig.generics.type_params().count() + sig.generics.const_params().count() == 0
    {
        let message = format!("`{}` needs no lifetime; the host lends for one call, and `&T` says that", sig.ident);
        report.error(&sig.generics, message);
    } else if !sig.generics.params.is_empty() {
        let message = format!(
            "`{}` cannot be generic; a tool has one name and one schema, so write one function per concrete type",
            sig.ident
        );
        report.error(&sig.generics, message);
    }
    if let Safety::Unsafe(token) = &sig.safety {
        report.error(token, "a tool cannot be `unsafe`; a model cannot keep the promises that the caller owes");
    }
}

/// The note of `#[deprecated]`.
fn deprecation(attr: &RustAttribute) -> Option<LitStr> {
    if !attr.path().is_ident("deprecated") {
        return None;
    }
    let mut note = None;
    // Whatever is wrong in it, rustc says.
    let _ = attr.parse_nested_meta(|meta| {
        let value: LitStr = meta.value()?.parse()?;
        if meta.path.is_ident("note") {
            note = Some(value);
        }
        Ok(())
    });
    note.or_else(|| Some(LitStr::new("do not use it", attr.path().get_ident()?.span())))
}
