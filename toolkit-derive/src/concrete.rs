//! `#[concrete(Notes<Memory>, namespace = "…")]`, which instantiates a generic toolset for one type.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{
    Attribute as RustAttribute, GenericArgument, GenericParam, Generics, ItemImpl, Path, PathArguments, Token, Type,
    TypeParamBound, WherePredicate,
};

use crate::attribute::Attribute;
use crate::report::Report;
use crate::value::ungrouped_type;

/// A concrete type of a toolset, and the arguments of its attribute.
pub(crate) struct Concrete {
    pub(crate) ty: Type,
    pub(crate) attribute: Attribute,
    /// The type parameters of the `impl` block with their types.
    pub(crate) parameters: Vec<Parameter>,
}

/// A type parameter of the `impl` block and the type that replaces it.
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) ty: Type,
    /// The only trait bound apart from marker traits, which qualifies associated types such as `S::Item`.
    pub(crate) bound: Option<Path>,
}

/// Returns the types of the toolset: the `Self` type of the block, or the types in `#[concrete]` of a generic block.
pub(crate) fn concrete_types(imp: &mut ItemImpl, shared: &Attribute, report: &mut Report) -> Vec<Concrete> {
    let (named, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut imp.attrs).into_iter().partition(is_concrete);
    imp.attrs = rest;
    let is_generic = !imp.generics.params.is_empty();
    if !is_generic {
        for attr in named {
            report.error(attr, "`#[concrete]` applies to generic toolsets only, and this `impl` block is not generic");
        }
        return vec![Concrete { ty: (*imp.self_ty).clone(), attribute: shared.clone(), parameters: Vec::new() }];
    }
    if let Some(other) = imp.generics.params.iter().find(|param| !matches!(param, GenericParam::Type(_))) {
        report.error(
            other,
            "a toolset can be generic over types only; write one `impl` block for each value or lifetime",
        );
        return Vec::new();
    }
    if named.is_empty() {
        let ty = imp.self_ty.to_token_stream().to_string().replace(' ', "");
        let message = format!(
            "a generic toolset needs one `#[concrete]` attribute for each type, as in `#[concrete({})]`",
            with_example(&ty, &imp.generics)
        );
        report.error(&imp.generics, message);
    }
    let mut all: Vec<Concrete> = Vec::new();
    for attr in &named {
        if let Some(concrete) = concrete(attr, imp, shared, report) {
            let namespace = |other: &Concrete| other.attribute.namespace.as_ref().map(syn::LitStr::value);
            if all.iter().any(|other| namespace(other) == namespace(&concrete)) {
                let message = "the tools of this type have the same ids as those of a type above; give it another \
                               namespace, as in `namespace = \"archive\"`";
                report.error(&concrete.ty, message);
            }
            all.push(concrete);
        }
    }
    all
}

/// Returns `Notes<Memory>` for `Notes<S>`.
fn with_example(ty: &str, generics: &Generics) -> String {
    let mut ty = ty.to_owned();
    for param in generics.type_params() {
        for (before, after) in [("<", ">"), ("<", ","), (",", ">"), (",", ",")] {
            let enclosed = |name: &str| format!("{before}{name}{after}");
            ty = ty.replace(&enclosed(&param.ident.to_string()), &enclosed("Memory"));
        }
    }
    ty
}

fn is_concrete(attr: &RustAttribute) -> bool {
    attr.path().segments.last().is_some_and(|segment| segment.ident == "concrete")
}

// #[concrete(Notes<Memory>)]
// #[concrete(Notes<Disk>, namespace = "archive", read_only)]
struct Arguments {
    ty: Type,
    rest: TokenStream,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ty = input.parse()?;
        input.parse::<Option<Token![,]>>()?;
        Ok(Self { ty, rest: input.parse()? })
    }
}

fn concrete(attr: &RustAttribute, imp: &ItemImpl, shared: &Attribute, report: &mut Report) -> Option<Concrete> {
    let arguments = attr.meta.require_list().and_then(|list| Arguments::parse.parse2(list.tokens.clone()));
    let Arguments { ty, rest } = match arguments {
        Ok(arguments) => arguments,
        Err(_) => {
            report.error(attr, "`#[concrete]` takes a type, as in `#[concrete(Notes<Memory>)]`");
            return None;
        }
    };
    let attribute = Attribute::toolset(rest, report).inherit(shared);
    let parameters = parameters(imp, &ty);
    if parameters.is_none() {
        let message = format!(
            "write the type as the `impl` block does, `{}`, with a type for each parameter",
            imp.self_ty.to_token_stream().to_string().replace(' ', "")
        );
        report.error(&ty, message);
    }
    Some(Concrete { ty, attribute, parameters: parameters? })
}

/// Returns the type parameters of the block for `Self` = `ty`, or `None` if `ty` has another form than the type of the
/// block.
fn parameters(imp: &ItemImpl, ty: &Type) -> Option<Vec<Parameter>> {
    let (generic, concrete) = (generic_arguments(&imp.self_ty)?, generic_arguments(ty)?);
    let is_same = generic.0 == concrete.0 && generic.1.len() == concrete.1.len();
    let parameter = |param: &syn::TypeParam| {
        let is_param = |argument: &GenericArgument| matches!(argument, GenericArgument::Type(Type::Path(path)) if path.path.is_ident(&param.ident));
        let place = generic.1.iter().position(|argument| is_param(argument))?;
        let GenericArgument::Type(ty) = concrete.1.get(place)? else {
            return None;
        };
        let bound = bound(param, &imp.generics);
        Some(Parameter { name: param.ident.to_string(), ty: ty.clone(), bound })
    };
    is_same.then(|| imp.generics.type_params().map(parameter).collect())?
}

/// Returns the last segment of a path type, and its generic arguments.
fn generic_arguments(ty: &Type) -> Option<(String, Vec<&GenericArgument>)> {
    let Type::Path(path) = ungrouped_type(ty) else {
        return None;
    };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    Some((last.ident.to_string(), arguments.args.iter().collect()))
}

/// Returns the trait bound of a parameter, if it has exactly one apart from marker traits.
fn bound(param: &syn::TypeParam, generics: &Generics) -> Option<Path> {
    let mut bounds: Vec<&TypeParamBound> = param.bounds.iter().collect();
    for predicate in generics.where_clause.iter().flat_map(|clause| &clause.predicates) {
        if let WherePredicate::Type(predicate) = predicate
            && let Type::Path(path) = &predicate.bounded_ty
            && path.path.is_ident(&param.ident)
        {
            bounds.extend(&predicate.bounds);
        }
    }
    let mut traits = bounds.into_iter().filter_map(|bound| match bound {
        TypeParamBound::Trait(bound) => Some(&bound.path),
        _ => None,
    });
    // Marker traits have no associated items, so they do not make `S::Item` ambiguous.
    let is_marker = |path: &&Path| {
        let name = path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        ["Send", "Sync", "Sized", "Unpin", "Clone", "Copy", "Debug", "Default"].contains(&name.as_str())
    };
    let first = traits.by_ref().find(|path| !is_marker(path));
    first.filter(|_| !traits.any(|path| !is_marker(&path))).cloned()
}
