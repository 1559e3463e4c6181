//! The parameters of a tool: arguments from the caller's JSON with their unique names, and state injected by the host.

use std::collections::HashMap;

use proc_macro2::{Ident, Span, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, GenericArgument, Lifetime, LitStr, Meta, Pat, PatType, Path, PathArguments, Type, TypeReference,
    parse_quote_spanned,
};

use crate::arg::{Arg, ArgDefault, arg};
use crate::field;
use crate::literal_bounds;
use crate::scan::{UnsupportedPart, scan};
use crate::value::{Report, is_doc, ungrouped_type};

/// A parameter of a tool function.
pub(crate) enum Parameter {
    /// An owned parameter, or a `&str`, `&[T]` or an `Option` of these, decoded from the caller's JSON.
    Argument(Argument),
    /// A `&T` parameter, provided by the host. This is `T`.
    State(Type),
}

/// A parameter that is decoded from the caller's JSON.
pub(crate) struct Argument {
    pub(crate) ident: Ident,
    /// The owned type, to which the JSON is decoded.
    pub(crate) ty: Type,
    /// The written type as the macro names it, if the function borrows the argument: with `'static` for its lifetime.
    pub(crate) borrows: Option<Box<Type>>,
    /// The doc comments and the attributes of serde and schemars.
    pub(crate) attrs: Vec<Attribute>,
    /// True for `#[arg]`: the parameter is never the argument struct.
    pub(crate) is_arg: bool,
    /// The value of an absent argument.
    pub(crate) default: Option<ArgDefault>,
}

/// Classifies a parameter, and reports its errors.
pub(crate) fn parameter(typed: &PatType, krate: &Path, report: &mut Report) -> Option<Parameter> {
    for name in ["cfg", "cfg_attr"] {
        if let Some(cfg) = typed.attrs.iter().find(|attr| attr.path().is_ident(name)) {
            let message =
                format!("`#[{name}]` is not supported on an argument; write one function for each configuration");
            report.error(cfg, message);
        }
    }
    let borrows = borrowed_argument(&typed.ty);
    if let (Type::Reference(reference), None) = (ungrouped_type(&typed.ty), &borrows) {
        return state(typed, reference, report).map(Parameter::State);
    }
    let ident = match &*typed.pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => pat.ident.clone(),
        other => {
            report.error(other, named_instead(other, &typed.ty));
            return None;
        }
    };
    if let (Some((found, at)), None) = (scan(&typed.ty).first(), &borrows) {
        let message = match found {
            UnsupportedPart::Reference { .. } | UnsupportedPart::Lifetime => owned_advice(&typed.ty),
            UnsupportedPart::ImplTrait => {
                "`impl Trait` makes the function generic; a tool has one schema, so name a concrete type".to_owned()
            }
            UnsupportedPart::Infer | UnsupportedPart::Never => {
                "name the type of the argument; its schema is derived from it".to_owned()
            }
        };
        report.error(at, message);
        return None;
    }
    let arg = arg(&typed.attrs, report);
    for attr in &typed.attrs {
        field::check(attr, &typed.ty, report);
    }
    literal_bounds::check(&typed.attrs, arg.as_ref().and_then(|arg| arg.default.as_ref()), report);
    let for_field =
        |attr: &&Attribute| is_doc(attr) || attr.path().is_ident("serde") || attr.path().is_ident("schemars");
    let ty = match &borrows {
        Some(ty) => parse_quote_spanned!(typed.ty.span()=> <#ty as #krate::BorrowedArgument>::Owned),
        None => (*typed.ty).clone(),
    };
    Some(Parameter::Argument(Argument {
        ident,
        ty,
        borrows: borrows.map(Box::new),
        attrs: typed.attrs.iter().filter(for_field).cloned().collect(),
        is_arg: arg.is_some(),
        default: arg.and_then(|Arg { default }| default),
    }))
}

/// Returns the message for a pattern. Extractors of other libraries have patterns of this form.
fn named_instead(pattern: &Pat, ty: &Type) -> String {
    let wrapper = match pattern {
        Pat::TupleStruct(pattern) => pattern.path.segments.last().map(|last| last.ident.to_string()),
        _ => None,
    };
    let inner = match ungrouped_type(ty) {
        Type::Path(path) => path.path.segments.last().and_then(|last| match &last.arguments {
            PathArguments::AngleBracketed(arguments) => arguments.args.first(),
            _ => None,
        }),
        _ => None,
    };
    match (wrapper.as_deref(), inner) {
        (Some("Parameters" | "Json" | "Form" | "Query" | "Path"), Some(GenericArgument::Type(inner))) => {
            format!("a tool takes its arguments without an extractor; write `arguments: {}`", format_type(inner))
        }
        (Some("State" | "Extension"), Some(GenericArgument::Type(inner))) => {
            format!("a tool borrows state without an extractor; write `state: &{}`", format_type(inner))
        }
        _ => "name this argument and destructure it in the body; its name is the JSON property the model sends"
            .to_owned(),
    }
}

/// Returns the type of an argument that the function borrows, `&str`, `&[T]` or an `Option` of these, with `'static` for its
/// lifetime. The type check decides whether `str` is that of the language.
fn borrowed_argument(ty: &Type) -> Option<Type> {
    let reference = match ungrouped_type(ty) {
        Type::Reference(reference) => reference,
        ty => optional_reference(ty)?,
    };
    let is_borrowed = match ungrouped_type(&reference.elem) {
        Type::Slice(slice) => scan(&slice.elem).is_empty(),
        Type::Path(path) => path.qself.is_none() && path.path.segments.last().is_some_and(|last| last.ident == "str"),
        _ => false,
    };
    if !is_borrowed || reference.mutability.is_some() || static_lifetime(reference).is_some() {
        return None;
    }
    let mut ty = ty.clone();
    WithStatic.visit_type_mut(&mut ty);
    Some(ty)
}

fn static_lifetime(reference: &TypeReference) -> Option<&Lifetime> {
    reference.lifetime.as_ref().filter(|lifetime| lifetime.ident == "static")
}

/// Replaces the lifetimes of references with `'static`.
struct WithStatic;

impl VisitMut for WithStatic {
    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        reference.lifetime = Some(Lifetime::new("'static", reference.and_token.span));
        visit_mut::visit_type_reference_mut(self, reference);
    }
}

fn state(typed: &PatType, reference: &TypeReference, report: &mut Report) -> Option<Type> {
    if let Some(mutability) = &reference.mutability {
        report.error(
            mutability,
            "a tool cannot borrow mutably, since calls run concurrently; borrow `&T` and put a lock inside",
        );
        return None;
    }
    let owned = owned_form(&reference.elem);
    if let (Some(lifetime), Some(_)) = (static_lifetime(reference), &owned) {
        report.error(lifetime, "an argument is borrowed for one call and not for `'static`; remove the lifetime");
        return None;
    }
    if let Some(owned) = owned {
        report.error(reference, format!("tool arguments are decoded from JSON, so they must be owned; use `{owned}`"));
        return None;
    }
    if let Some(lifetime) = static_lifetime(reference) {
        report.error(lifetime, "injected state is borrowed for one call and not for `'static`; remove the lifetime");
        return None;
    }
    if let Some((_, at)) = scan(&reference.elem).iter().find(|(found, _)| *found == UnsupportedPart::ImplTrait) {
        report.error(at, "injected state is looked up by its type; name the type, or borrow a `dyn Trait`");
        return None;
    }
    for name in ["arg", "serde", "schemars"] {
        if let Some(attr) = typed.attrs.iter().find(|attr| attr.path().is_ident(name)) {
            report.error(
                attr,
                format!("`#[{name}]` has no effect on injected state; remove it, or pass the parameter by value"),
            );
        }
    }
    Some((*reference.elem).clone())
}

/// Returns the message for an argument whose type borrows.
fn owned_advice(ty: &Type) -> String {
    let text = "tool arguments are decoded from JSON, so they must be owned";
    if let Some(inner) = optional_reference(ty)
        && owned_form(&inner.elem).is_none()
    {
        let state = format_type(&inner.elem);
        return format!(
            "injected state cannot be optional; write `&{state}` for state, or `Option<{state}>` for an optional \
             argument"
        );
    }
    let mut owned = ty.clone();
    Own.visit_type_mut(&mut owned);
    match scan(&owned).is_empty() {
        true => format!("{text}; use `{}`", format_type(&owned)),
        false => format!("{text}; use a type without references"),
    }
}

/// Returns the reference in `Option<&T>`.
fn optional_reference(ty: &Type) -> Option<&TypeReference> {
    let Type::Path(path) = ungrouped_type(ty) else {
        return None;
    };
    let last = path.path.segments.last().filter(|last| last.ident == "Option")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match arguments.args.first()? {
        GenericArgument::Type(Type::Reference(reference)) => Some(reference),
        _ => None,
    }
}

/// Returns the owned form of strings and lists, which are always arguments and never state.
fn owned_form(ty: &Type) -> Option<String> {
    match ungrouped_type(ty) {
        Type::Slice(slice) => {
            let mut item = slice.elem.clone();
            Own.visit_type_mut(&mut item);
            Some(format!("Vec<{}>", format_type(&item)))
        }
        Type::Path(path) if path.qself.is_none() => {
            let last = path.path.segments.last()?;
            match last.ident.to_string().as_str() {
                "str" | "String" => Some("String".to_owned()),
                "Vec" => Some(format_type(ty)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Replaces references and borrowed strings with owned types.
struct Own;

impl VisitMut for Own {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::Reference(reference) = ty {
            let owned = owned_form(&reference.elem).and_then(|owned| syn::parse_str(&owned).ok());
            *ty = owned.unwrap_or_else(|| (*reference.elem).clone());
        }
        if let Type::Path(path) = ty
            && let Some(last) = path.path.segments.last()
            && last.ident == "Cow"
            && let PathArguments::AngleBracketed(arguments) = &last.arguments
            && let Some(GenericArgument::Type(inner)) = arguments.args.last()
            && let Some(owned) = owned_form(inner).and_then(|owned| syn::parse_str(&owned).ok())
        {
            *ty = owned;
        }
        visit_mut::visit_type_mut(self, ty);
    }
}

/// Formats a type with the usual spacing.
fn format_type(ty: &Type) -> String {
    let tokens = ty.to_token_stream().to_string();
    let tight =
        [(" :: ", "::"), (" < ", "<"), (" > ", ">"), (" >", ">"), (" ,", ","), ("& ", "&"), ("[ ", "["), (" ]", "]")];
    tight.iter().fold(tokens, |text, (from, to)| text.replace(from, to))
}

impl Argument {
    /// Returns true if the argument is a property under its own name, whatever its type.
    pub(crate) fn is_named(&self) -> bool {
        self.is_arg || self.attrs.iter().any(|attr| !is_doc(attr))
    }

    /// Returns true for `#[serde(flatten)]` without other attributes: the argument is the whole input if it is the only one.
    pub(crate) fn is_flattened(&self) -> bool {
        let flattens = |attr: &Attribute| {
            let word = attr.parse_args::<Ident>();
            attr.path().is_ident("serde") && word.is_ok_and(|word| word == "flatten")
        };
        let mut attrs = self.attrs.iter().filter(|attr| !is_doc(attr));
        attrs.next().is_some_and(flattens) && attrs.next().is_none() && !self.is_arg
    }

    /// Returns an attribute that has no effect if the argument is the argument struct, whose fields are the properties.
    pub(crate) fn field_attribute(&self) -> Option<&Attribute> {
        let is_field = self.is_arg || self.has_conversion() || self.is_flattened();
        self.attrs.iter().find(|attr| !is_doc(attr)).filter(|_| !is_field)
    }

    /// Returns true if an attribute replaces the `Deserialize` or `JsonSchema` implementation of the type.
    pub(crate) fn has_conversion(&self) -> bool {
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

/// Reports each name that an earlier argument already has.
///
/// serde would give the value to the first argument and never fill the second, and rustc does not warn.
pub(crate) fn check_json_names<'a>(arguments: impl Iterator<Item = &'a Argument>, report: &mut Report) {
    let mut first: HashMap<String, &Ident> = HashMap::new();
    for argument in arguments {
        for (name, span) in names(argument) {
            match first.get(&name) {
                None => drop(first.insert(name, &argument.ident)),
                Some(other) if **other == argument.ident => {}
                Some(other) => {
                    let message =
                        format!("the argument `{other}` already has the JSON name `{name}`; rename this argument");
                    report.push(syn::Error::new(span, message));
                }
            }
        }
    }
}

/// Returns the JSON name of the argument and its aliases, or `None` if it has no aliases.
pub(crate) fn json_aliases(argument: &Argument) -> Option<(String, Vec<String>)> {
    let mut names = json_names(argument)?.into_iter();
    Some((names.next()?, names.collect())).filter(|(_, aliases): &(String, Vec<String>)| !aliases.is_empty())
}

/// Returns the JSON name of the argument, then its aliases; `None` if it is flattened or skipped.
pub(crate) fn json_names(argument: &Argument) -> Option<Vec<String>> {
    let names: Vec<String> = names(argument).into_iter().map(|(name, _)| name).collect();
    (!names.is_empty()).then_some(names)
}

/// Returns the JSON name of the argument, then its aliases, each with its span.
fn names(argument: &Argument) -> Vec<(String, Span)> {
    let mut names = SerdeNames::default();
    for attr in argument.attrs.iter().filter(|attr| attr.path().is_ident("serde")) {
        // `field` reports a malformed attribute.
        let _ = names.read(attr);
    }
    if names.is_unnamed {
        return Vec::new();
    }
    let own = names.rename.unwrap_or_else(|| (argument.ident.unraw().to_string(), argument.ident.span()));
    std::iter::once(own).chain(names.aliases).collect()
}

/// The names in the serde attributes of an argument.
#[derive(Default)]
struct SerdeNames {
    rename: Option<(String, Span)>,
    aliases: Vec<(String, Span)>,
    /// True if the argument is skipped, or flattened into the names of its fields.
    is_unnamed: bool,
}

impl SerdeNames {
    fn read(&mut self, attr: &Attribute) -> syn::Result<()> {
        attr.parse_nested_meta(|meta| {
            if meta.path.is_ident("rename") && meta.input.peek(syn::Token![=]) {
                self.rename = Some(text(&meta)?);
            } else if meta.path.is_ident("rename") {
                meta.parse_nested_meta(|meta| {
                    let name = text(&meta)?;
                    if meta.path.is_ident("deserialize") {
                        self.rename = Some(name);
                    }
                    Ok(())
                })?;
            } else if meta.path.is_ident("alias") {
                self.aliases.push(text(&meta)?);
            } else if ["skip", "skip_deserializing", "flatten"].iter().any(|word| meta.path.is_ident(word)) {
                self.is_unnamed = true;
            } else if meta.input.peek(syn::Token![=]) {
                meta.value()?.parse::<syn::Expr>()?;
            } else if meta.input.peek(syn::token::Paren) {
                let content;
                syn::parenthesized!(content in meta.input);
                content.parse::<proc_macro2::TokenStream>()?;
            }
            Ok(())
        })
    }
}

fn text(meta: &syn::meta::ParseNestedMeta<'_>) -> syn::Result<(String, Span)> {
    let text: LitStr = meta.value()?.parse()?;
    Ok((text.value(), text.span()))
}
