//! A function, as a tool sees it.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Attribute as RustAttribute, FnArg, Item, ItemFn, Lifetime, LitStr, Meta, Pat, PatType, PathArguments, ReturnType,
    Safety, Signature, Type, TypeReference, Visibility,
};

use crate::attribute::Attribute;
use crate::name::check_name;
use crate::report::Report;
use crate::{description, expand, recover};

/// Expands `#[tool]` on a free function.
pub(crate) fn tool(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut report = Report::default();
    let attribute = Attribute::tool(arguments, &mut report);
    let item = match syn::parse2::<Item>(item.clone()) {
        Ok(item) => item,
        Err(error) => {
            report.push(error);
            let errors = report.into_errors();
            return quote::quote!(#item #errors);
        }
    };
    let Item::Fn(mut func) = item else {
        report_no_function(&item, &mut report);
        return recover::expand(item, report.into_errors().unwrap_or_default());
    };
    let function = Function::of_free(&func, attribute, &mut report);
    if let Some(errors) = report.into_errors() {
        return recover::expand(Item::Fn(func), errors);
    }
    recover::strip(&mut func.sig);
    expand::free(&func, &function)
}

fn report_no_function(item: &Item, report: &mut Report) {
    let message = match item {
        Item::Struct(_) => "put it on the function that takes this struct as its argument",
        Item::Enum(_) => "put it on the function that takes this enum as its argument",
        Item::Impl(_) => "an `impl` block takes `#[toolset]`",
        Item::Mod(_) => "put it on each function of the module",
        Item::Trait(_) => "a trait has no body to call, so put it on a function that uses the trait",
        _ => "call it from one that is the tool",
    };
    report.error(keyword(item), format!("`#[tool]` goes on a function; {message}"));
}

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
    pub(crate) asyncness: Option<syn::Token![async]>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) output: Option<Type>,
    pub(crate) description: TokenStream,
    pub(crate) deprecated: Option<LitStr>,
}

/// A parameter.
pub(crate) enum Parameter {
    /// Owned: it comes from the caller's JSON.
    Argument(Argument),
    /// Borrowed: it comes from the host. This is the type behind the `&`.
    Borrowed(Type),
}

/// An owned parameter.
pub(crate) struct Argument {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    /// Doc comments, and attributes of serde and schemars.
    pub(crate) attrs: Vec<RustAttribute>,
    /// Marked `#[arg]`: never the argument struct.
    pub(crate) is_arg: bool,
}

impl Function {
    pub(crate) fn of_free(func: &ItemFn, attribute: Attribute, report: &mut Report) -> Self {
        if let Some(FnArg::Receiver(receiver)) = func.sig.inputs.first() {
            report.error(
                receiver.self_token,
                "`#[tool]` on a method needs `#[toolset]` on the surrounding `impl` block, which tells the dispatcher \
                 where `self` comes from",
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
        let krate = expand::krate(&attribute);
        let description = match &attribute.description {
            Some(text) => Some(quote::quote!(#text)),
            None => description::of(attrs, &krate),
        };
        if description.is_none() {
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
        let output = match &sig.output {
            ReturnType::Default => None,
            ReturnType::Type(_, ty) => {
                check_output(ty, report);
                Some((**ty).clone())
            }
        };
        Self {
            owner,
            takes_self: sig.receiver().is_some(),
            ident: sig.ident.clone(),
            vis,
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
        if let Type::Path(path) = ungrouped(ty)
            && let Some(last) = path.path.segments.last().filter(|last| last.ident == "Result")
            && let PathArguments::AngleBracketed(arguments) = &last.arguments
            && let Some(argument) = arguments.args.get(idx)
        {
            return argument.span();
        }
        ty.span()
    }
}

impl Argument {
    /// Whether an attribute replaces what the type's own derives would do.
    pub(crate) fn is_converted(&self) -> bool {
        let conversions = ["with", "deserialize_with", "schema_with", "skip", "skip_deserializing"];
        let names =
            |attr: &RustAttribute| match &attr.meta {
                Meta::List(list) => list.tokens.clone().into_iter().any(
                    |token| matches!(token, TokenTree::Ident(ident) if conversions.iter().any(|name| ident == name)),
                ),
                _ => false,
            };
        self.attrs.iter().any(names)
    }
}

fn check_signature(sig: &Signature, report: &mut Report) {
    if !sig.generics.params.is_empty() {
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

fn parameter(typed: &PatType, report: &mut Report) -> Option<Parameter> {
    if let Some(cfg) = typed.attrs.iter().find(|attr| attr.path().is_ident("cfg")) {
        report.error(
            cfg,
            "an argument cannot come and go with `#[cfg]`; put it on the whole function, once for each case",
        );
    }
    if let Type::Reference(reference) = ungrouped(&typed.ty) {
        return borrowed(typed, reference, report).map(Parameter::Borrowed);
    }
    let ident = match &*typed.pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => pat.ident.clone(),
        other => {
            report.error(
                other,
                "name this argument and destructure it in the body; its name is the JSON property the model sends",
            );
            return None;
        }
    };
    if let Type::ImplTrait(ty) = ungrouped(&typed.ty) {
        report.error(ty, "`impl Trait` makes the function generic; a tool has one schema, so name a concrete type");
        return None;
    }
    if let Some(attr) =
        typed.attrs.iter().find(|attr| attr.path().is_ident("arg") && attr.meta.require_path_only().is_err())
    {
        report.error(attr, "`#[arg]` takes nothing");
    }
    let for_field = |attr: &&RustAttribute| {
        description::is_doc(attr) || attr.path().is_ident("serde") || attr.path().is_ident("schemars")
    };
    Some(Parameter::Argument(Argument {
        ident,
        ty: (*typed.ty).clone(),
        attrs: typed.attrs.iter().filter(for_field).cloned().collect(),
        is_arg: typed.attrs.iter().any(|attr| attr.path().is_ident("arg")),
    }))
}

fn borrowed(typed: &PatType, reference: &TypeReference, report: &mut Report) -> Option<Type> {
    if let Some(mutability) = &reference.mutability {
        report.error(
            mutability,
            "a tool cannot borrow mutably, since several calls run at once; borrow `&T` and put a lock inside",
        );
        return None;
    }
    for name in ["arg", "serde", "schemars"] {
        if let Some(attr) = typed.attrs.iter().find(|attr| attr.path().is_ident(name)) {
            report.error(
                attr,
                format!("`#[{name}]` means nothing on a borrowed parameter, which the host lends; remove it, or own the argument"),
            );
        }
    }
    Some((*reference.elem).clone())
}

fn check_output(ty: &Type, report: &mut Report) {
    if let Type::ImplTrait(ty) = ungrouped(ty) {
        report.error(ty, "name the type that the tool returns; its schema is derived from it");
        return;
    }
    let mut borrows = Borrows(None);
    borrows.visit_type(ty);
    if borrows.0.is_some() {
        report.error(ty, "a tool returns what it owns; clone what it borrows");
    }
}

/// Finds a lifetime that is not `'static`.
struct Borrows(Option<()>);

impl Visit<'_> for Borrows {
    fn visit_type_reference(&mut self, reference: &TypeReference) {
        if reference.lifetime.is_none() {
            self.0 = Some(());
        }
        visit::visit_type_reference(self, reference);
    }

    fn visit_lifetime(&mut self, lifetime: &Lifetime) {
        if lifetime.ident != "static" {
            self.0 = Some(());
        }
    }
}

/// What `macro_rules!` passes on stands in an invisible group.
pub(crate) fn ungrouped(mut ty: &Type) -> &Type {
    while let Type::Group(group) = ty {
        ty = &group.elem;
    }
    ty
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
