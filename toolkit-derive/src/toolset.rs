//! `#[toolset]` on an `impl` block.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::visit_mut::{self, VisitMut};
use syn::{
    ExprPath, ImplItem, ImplItemFn, Item, ItemImpl, LitStr, Meta, MetaList, Path, QSelf, ReceiverKind, Type,
    parse_quote,
};

use crate::attribute::Attribute;
use crate::function::{Function, keyword};
use crate::report::Report;
use crate::{expand, module, recover};

/// Expands `#[toolset]`.
pub(crate) fn toolset(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut report = Report::default();
    let attribute = Attribute::toolset(arguments.clone(), &mut report);
    let item = match syn::parse2::<Item>(item.clone()) {
        Ok(item) => item,
        Err(error) => {
            report.push(error);
            let errors = report.into_errors();
            return quote!(#item #errors);
        }
    };
    let mut imp = match item {
        Item::Impl(imp) => imp,
        Item::Mod(module) => return module::expand(&arguments, module, report),
        other => {
            report.error(
                keyword(&other),
                "`#[toolset]` goes on an `impl` block or a module; a function of its own takes `#[tool]`",
            );
            return recover::expand(other, report.into_errors().unwrap_or_default());
        }
    };
    let tools = tools(&imp, &attribute, &mut report);
    if let Some(errors) = report.into_errors() {
        return recover::expand(Item::Impl(imp), errors);
    }
    for item in &mut imp.items {
        if let ImplItem::Fn(method) = item
            && is_tool(method)
        {
            method.attrs.retain(|attr| !recover::is_tool(attr));
            recover::strip(&mut method.sig);
            // Every argument is a parameter, and is owned.
            method.attrs.insert(0, parse_quote!(#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)]));
        }
    }
    let consts = tools.iter().map(expand::tool);
    let ty = &imp.self_ty;
    quote! {
        #imp
        impl #ty { #(#consts)* }
    }
}

fn tools(imp: &ItemImpl, shared: &Attribute, report: &mut Report) -> Vec<Function> {
    if !imp.generics.params.is_empty() {
        report.error(&imp.generics, "a toolset cannot be generic; write one `impl` block per concrete type");
    }
    if let Some((path, _)) = &imp.trait_ {
        report.error(
            path,
            "a toolset is an inherent `impl` block; a method of a trait can be called from one of its own",
        );
    }
    let methods = imp.items.iter().filter_map(|item| match item {
        ImplItem::Fn(method) if is_tool(method) => Some(method),
        _ => None,
    });
    let tools: Vec<Function> = methods.map(|method| tool(method, &imp.self_ty, shared, report)).collect();
    if tools.is_empty() {
        report.error(&imp.self_ty, "no method is a tool; mark those that are with `#[tool]`");
    }
    tools
}

fn tool(method: &ImplItemFn, self_ty: &Type, shared: &Attribute, report: &mut Report) -> Function {
    let arguments = method.attrs.iter().find(|attr| recover::is_tool(attr)).map(|attr| match &attr.meta {
        Meta::List(list) => list.tokens.clone(),
        Meta::Path(_) => TokenStream::new(),
        Meta::NameValue(pair) => {
            report.error(&pair.value, "`#[tool]` takes a list, as in `#[tool(name = \"…\")]`");
            TokenStream::new()
        }
    });
    let attribute = Attribute::tool(arguments.unwrap_or_default(), report).inherit(shared);
    let mut sig = method.sig.clone();
    if let Some(receiver) = sig.receiver()
        && !is_shared(&receiver.kind)
    {
        report.error(
            receiver,
            "the dispatcher lends one instance to all calls; take `&self`, and put a lock inside to change it",
        );
    }
    // Items inside a constant cannot name `Self`.
    NameSelf(self_ty).visit_signature_mut(&mut sig);
    Function::of(&sig, &method.attrs, method.vis.clone(), Some(self_ty.clone()), attribute, report)
}

/// `&self`, or `self: &Self`.
fn is_shared(kind: &ReceiverKind) -> bool {
    match kind {
        ReceiverKind::Reference(_, _, mutability) => mutability.is_none(),
        ReceiverKind::Typed(_, ty) => matches!(&**ty, Type::Reference(reference) if reference.mutability.is_none()),
        _ => false,
    }
}

fn is_tool(method: &ImplItemFn) -> bool {
    method.attrs.iter().any(recover::is_tool)
}

/// Puts the type in place of `Self`.
struct NameSelf<'t>(&'t Type);

impl NameSelf<'_> {
    /// `<Type>::rest` for `Self::rest`.
    fn qualified(&self, path: &Path) -> Option<(QSelf, Path)> {
        let is_self = path.leading_colon.is_none() && path.segments.first().is_some_and(|first| first.ident == "Self");
        let rest = path.segments.iter().skip(1);
        let (ty, rest) = (self.0, quote!(#(::#rest)*));
        let qualified: ExprPath = syn::parse2(quote!(<#ty> #rest)).ok().filter(|_| is_self)?;
        Some((qualified.qself?, qualified.path))
    }
}

impl VisitMut for NameSelf<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        match ty {
            Type::Path(path) if path.qself.is_none() && path.path.is_ident("Self") => *ty = self.0.clone(),
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

    // Attributes of parameters are copied onto fields of a struct, which is another `Self`.
    fn visit_meta_list_mut(&mut self, list: &mut MetaList) {
        list.tokens = self.in_tokens(list.tokens.clone());
    }
}

impl NameSelf<'_> {
    fn in_tokens(&self, tokens: TokenStream) -> TokenStream {
        let ty = self.0;
        let tokens = tokens.into_iter().map(|token| match token {
            TokenTree::Ident(ident) if ident == "Self" => quote!(<#ty>),
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), self.in_tokens(group.stream()));
                inner.set_span(group.span());
                TokenTree::from(inner).into()
            }
            TokenTree::Literal(literal) => match syn::parse_str::<LitStr>(&literal.to_string()) {
                // serde takes paths as text.
                Ok(text) if text.value().starts_with("Self::") => {
                    let path = text.value().replacen("Self", &quote!(<#ty>).to_string(), 1);
                    LitStr::new(&path, literal.span()).to_token_stream()
                }
                _ => TokenTree::from(literal).into(),
            },
            token => token.into(),
        });
        tokens.collect()
    }
}
