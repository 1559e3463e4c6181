//! A parameter: an argument from the caller's JSON, or something that the host lends.

use proc_macro2::{Ident, TokenTree};
use syn::{Attribute, Meta, Pat, PatType, Type, TypeReference};

use crate::description::is_doc;
use crate::report::Report;
use crate::value::ungrouped_type;

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
    pub(crate) attrs: Vec<Attribute>,
    /// Marked `#[arg]`: never the argument struct.
    pub(crate) is_arg: bool,
}

/// What a parameter is, and what is wrong with it.
pub(crate) fn parameter(typed: &PatType, report: &mut Report) -> Option<Parameter> {
    if let Some(cfg) = typed.attrs.iter().find(|attr| attr.path().is_ident("cfg")) {
        report.error(
            cfg,
            "an argument cannot come and go with `#[cfg]`; put it on the whole function, once for each case",
        );
    }
    if let Type::Reference(reference) = ungrouped_type(&typed.ty) {
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
    if let Type::ImplTrait(ty) = ungrouped_type(&typed.ty) {
        report.error(ty, "`impl Trait` makes the function generic; a tool has one schema, so name a concrete type");
        return None;
    }
    if let Some(attr) =
        typed.attrs.iter().find(|attr| attr.path().is_ident("arg") && attr.meta.require_path_only().is_err())
    {
        report.error(attr, "`#[arg]` takes nothing");
    }
    let for_field =
        |attr: &&Attribute| is_doc(attr) || attr.path().is_ident("serde") || attr.path().is_ident("schemars");
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

impl Argument {
    /// Whether it goes under its own name, whatever its type.
    pub(crate) fn is_named(&self) -> bool {
        self.is_arg || self.is_converted()
    }

    /// Whether an attribute replaces what the type's own derives would do.
    pub(crate) fn is_converted(&self) -> bool {
        let conversions = ["with", "deserialize_with", "schema_with", "skip", "skip_deserializing"];
        let names =
            |attr: &Attribute| match &attr.meta {
                Meta::List(list) => list.tokens.clone().into_iter().any(
                    |token| matches!(token, TokenTree::Ident(ident) if conversions.iter().any(|name| ident == name)),
                ),
                _ => false,
            };
        self.attrs.iter().any(names)
    }
}
