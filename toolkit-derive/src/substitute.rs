//! Substitution of types for `Self` and type parameters.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::visit_mut::{self, VisitMut};
use syn::{ExprPath, LitStr, MetaList, Path, QSelf, Type};

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

impl VisitMut for Substitute<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        match ty {
            Type::Path(path) if path.qself.is_none() && path.path.is_ident(self.name) => *ty = self.ty.clone(),
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
