//! `#[concrete(Notes<Memory>, namespace = "…")]`, which instantiates a generic toolset for one type, and the substitution of
//! types for `Self` and type parameters.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream, Parser};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute as RustAttribute, ExprPath, GenericArgument, GenericParam, Generics, ItemImpl, LitStr, MetaList, Path,
    PathArguments, QSelf, Token, Type, TypeParamBound, WherePredicate,
};

use crate::attribute::Attribute;
use crate::value::{Report, ungrouped_type};

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

/// The arguments of `#[concrete(Notes<Disk>, namespace = "archive", read_only)]`, of which the type is required.
struct ConcreteArguments {
    ty: Type,
    rest: TokenStream,
}

impl Parse for ConcreteArguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ty = input.parse()?;
        input.parse::<Option<Token![,]>>()?;
        Ok(Self { ty, rest: input.parse()? })
    }
}

fn concrete(attr: &RustAttribute, imp: &ItemImpl, shared: &Attribute, report: &mut Report) -> Option<Concrete> {
    let arguments = attr.meta.require_list().and_then(|list| ConcreteArguments::parse.parse2(list.tokens.clone()));
    let ConcreteArguments { ty, rest } = match arguments {
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

/// Replaces `Self` or a type parameter with a type.
pub(crate) struct Substitute<'t> {
    pub(crate) name: &'t str,
    pub(crate) ty: &'t Type,
    /// The trait that qualifies associated items of the name.
    pub(crate) bound: Option<&'t Path>,
}

impl Substitute<'_> {
    /// Returns `<Type>::rest` for `Self::rest`.
    fn qualified(&self, path: &Path) -> Option<(QSelf, Path)> {
        let is_name =
            path.leading_colon.is_none() && path.segments.first().is_some_and(|first| first.ident == self.name);
        let rest = path.segments.iter().skip(1);
        let (ty, rest) = (self.ty, quote!(#(::#rest)*));
        let ty = match self.bound {
            Some(bound) => quote!(<#ty as #bound>),
            None => quote!(<#ty>),
        };
        let qualified: ExprPath = syn::parse2(quote!(#ty #rest)).ok().filter(|_| is_name)?;
        Some((qualified.qself?, qualified.path))
    }
}

/// Returns a type whose errors point to the name that it replaces.
fn located_at(ty: &Type, place: Span) -> Type {
    let tokens = ty.to_token_stream().into_iter().map(|mut token| {
        token.set_span(token.span().located_at(place));
        token
    });
    syn::parse2(tokens.collect()).unwrap_or_else(|_| ty.clone())
}

impl VisitMut for Substitute<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        match ty {
            Type::Path(path) if path.qself.is_none() && path.path.is_ident(self.name) => {
                *ty = located_at(self.ty, path.path.segments[0].ident.span());
            }
            Type::Path(path) if path.qself.is_none() => {
                if let Some((qself, rest)) = self.qualified(&path.path) {
                    (path.qself, path.path) = (Some(qself), rest);
                }
                visit_mut::visit_type_path_mut(self, path);
            }
            _ => visit_mut::visit_type_mut(self, ty),
        }
    }

    fn visit_expr_path_mut(&mut self, expr: &mut ExprPath) {
        if expr.qself.is_none()
            && let Some((qself, rest)) = self.qualified(&expr.path)
        {
            (expr.qself, expr.path) = (Some(qself), rest);
        }
        visit_mut::visit_expr_path_mut(self, expr);
    }

    // Attributes of parameters are copied to the fields of a struct, where `Self` is another type.
    fn visit_meta_list_mut(&mut self, list: &mut MetaList) {
        list.tokens = self.in_tokens(list.tokens.clone());
    }
}

impl Substitute<'_> {
    fn in_tokens(&self, tokens: TokenStream) -> TokenStream {
        let ty = self.ty;
        let tokens = tokens.into_iter().map(|token| match token {
            TokenTree::Ident(ident) if ident == self.name => quote!(<#ty>),
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), self.in_tokens(group.stream()));
                inner.set_span(group.span());
                TokenTree::from(inner).into()
            }
            TokenTree::Literal(literal) => match syn::parse_str::<LitStr>(&literal.to_string()) {
                // serde takes paths as string literals.
                Ok(text) if text.value().starts_with(&format!("{}::", self.name)) => {
                    let path = text.value().replacen(self.name, &quote!(<#ty>).to_string(), 1);
                    LitStr::new(&path, literal.span()).to_token_stream()
                }
                _ => TokenTree::from(literal).into(),
            },
            token => token.into(),
        });
        tokens.collect()
    }
}
