//! `#[tool]` and `#[prompt]` on a free function, `#[toolset]` on an `impl` block, and `#[derive(ShowError)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::visit_mut::VisitMut;
use syn::{DeriveInput, ImplItem, ImplItemFn, Item, ItemImpl, Meta, Path, ReceiverKind, Type, parse_quote};

use crate::attribute::{Attribute, RecordKind, krate};
use crate::concrete::{Concrete, Parameter, Substitute, concrete_types};
use crate::function::{Function, keyword};
use crate::value::{Report, key_of, metas, unknown};
use crate::{expand, module};

/// Expands `#[tool]` on a free function.
pub(crate) fn tool(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut report = Report::default();
    let attribute = Attribute::tool(arguments, &mut report);
    free(attribute, item, report)
}

/// Expands `#[prompt]` on a free function.
pub(crate) fn prompt(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut report = Report::default();
    let attribute = Attribute::prompt(arguments, &mut report);
    free(attribute, item, report)
}

fn free(attribute: Attribute, item: TokenStream, mut report: Report) -> TokenStream {
    let item = match syn::parse2::<Item>(item.clone()) {
        Ok(item) => item,
        Err(error) => {
            report.push(error);
            let errors = report.into_errors();
            return quote::quote!(#item #errors);
        }
    };
    let Item::Fn(mut func) = item else {
        report_unsupported_item(attribute.kind, &item, &mut report);
        return module::without_tool(item, report.into_errors().unwrap_or_default());
    };
    let function = Function::of_free(&func, attribute, &mut report);
    if let Some(errors) = report.into_errors() {
        return module::without_tool(Item::Fn(func), errors);
    }
    module::strip(&mut func.sig);
    expand::free(&func, &function)
}

fn report_unsupported_item(kind: RecordKind, item: &Item, report: &mut Report) {
    let message = match item {
        Item::Struct(_) => "put it on a function that takes this struct as its argument",
        Item::Enum(_) => "put it on a function that takes this enum as its argument",
        Item::Impl(_) => "put `#[toolset]` on an `impl` block",
        Item::Mod(_) => "put `#[toolset]` on a module to set arguments of all its tools",
        Item::Trait(_) => "for a trait, put it on a function that calls its methods",
        Item::Verbatim(tokens) if tokens.clone().into_iter().any(|token| token.to_string() == "fn") => {
            "this is a method of a trait: put it on a method in an `impl` block with `#[toolset]`, or on a free function"
        }
        _ => "wrap this item in a function",
    };
    report.error(keyword(item), format!("`#[{}]` applies to functions; {message}", kind.name()));
}

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
                "`#[toolset]` applies to `impl` blocks and modules; put `#[tool]` on a free function",
            );
            return module::without_tool(other, report.into_errors().unwrap_or_default());
        }
    };
    let types = concrete_types(&mut imp, &attribute, &mut report);
    let tools: Vec<Vec<Function>> = tools(&imp, &types, &mut report);
    if let Some(errors) = report.into_errors() {
        return module::without_tool(Item::Impl(imp), errors);
    }
    for item in &mut imp.items {
        if let ImplItem::Fn(method) = item
            && is_tool(method)
        {
            method.attrs.retain(|attr| !module::is_tool(attr));
            module::strip(&mut method.sig);
            // Arguments of a tool are owned parameters.
            method.attrs.insert(0, parse_quote!(#[allow(clippy::too_many_arguments, clippy::needless_pass_by_value)]));
        }
    }
    let blocks = types.iter().zip(&tools).map(|(Concrete { ty, .. }, tools)| {
        let consts = tools.iter().map(expand::tool);
        quote!(impl #ty { #(#consts)* })
    });
    quote!(#imp #(#blocks)*)
}

/// Returns the tools of each type.
fn tools(imp: &ItemImpl, types: &[Concrete], report: &mut Report) -> Vec<Vec<Function>> {
    if let Some((path, _)) = &imp.trait_ {
        report.error(
            path,
            "`#[toolset]` does not apply to trait impls; call the trait method from a method of an inherent `impl` block",
        );
    }
    let methods: Vec<&ImplItemFn> = imp
        .items
        .iter()
        .filter_map(|item| match item {
            ImplItem::Fn(method) if is_tool(method) => Some(method),
            _ => None,
        })
        .collect();
    if methods.is_empty() {
        report.error(&imp.self_ty, "this `impl` block has no tools; mark at least one method with `#[tool]`");
    }
    let mut all = Vec::new();
    for (idx, concrete) in types.iter().enumerate() {
        // The methods are the same for each type, so their errors are reported once.
        let mut discarded = Report::default();
        let report = if idx == 0 { &mut *report } else { &mut discarded };
        all.push(methods.iter().map(|method| method_tool(method, concrete, report)).collect());
    }
    all
}

fn method_tool(method: &ImplItemFn, concrete: &Concrete, report: &mut Report) -> Function {
    let attr = method.attrs.iter().find(|attr| module::is_tool(attr));
    let kind = if attr.is_some_and(module::is_prompt) { RecordKind::Prompt } else { RecordKind::Tool };
    let arguments = attr.map(|attr| match &attr.meta {
        Meta::List(list) => list.tokens.clone(),
        Meta::Path(_) => TokenStream::new(),
        Meta::NameValue(pair) => {
            let name = kind.name();
            report.error(&pair.value, format!("`#[{name}]` takes a list, as in `#[{name}(name = \"…\")]`"));
            TokenStream::new()
        }
    });
    let attribute = match kind {
        RecordKind::Tool => Attribute::tool(arguments.unwrap_or_default(), report),
        RecordKind::Prompt => Attribute::prompt(arguments.unwrap_or_default(), report),
    };
    let mut attribute = attribute.inherit(&concrete.attribute);
    let mut sig = method.sig.clone();
    if let Some(receiver) = sig.receiver()
        && !is_shared(&receiver.kind)
    {
        report.error(
            receiver,
            "a tool must take `&self`, since concurrent calls share one instance; put a lock inside to change it",
        );
    }
    // The generated items are inside a constant, where `Self` is not available.
    let ty = &concrete.ty;
    let mut of_self = Substitute { name: "Self", ty, bound: None };
    of_self.visit_signature_mut(&mut sig);
    for text in [&mut attribute.title, &mut attribute.description].into_iter().flatten() {
        of_self.visit_expr_mut(text);
    }
    for Parameter { name, ty, bound } in &concrete.parameters {
        Substitute { name, ty, bound: bound.as_ref() }.visit_signature_mut(&mut sig);
    }
    Function::of(&sig, &method.attrs, method.vis.clone(), Some(ty.clone()), attribute, report)
}

/// Returns true for `&self` and `self: &Self`.
fn is_shared(kind: &ReceiverKind) -> bool {
    match kind {
        ReceiverKind::Reference(_, _, mutability) => mutability.is_none(),
        ReceiverKind::Typed(_, ty) => matches!(&**ty, Type::Reference(reference) if reference.mutability.is_none()),
        _ => false,
    }
}

fn is_tool(method: &ImplItemFn) -> bool {
    method.attrs.iter().any(module::is_tool)
}

pub(crate) fn show_error(item: TokenStream) -> TokenStream {
    let input = match syn::parse2::<DeriveInput>(item) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    let (mut report, mut path) = (Report::default(), None);
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("show_error")) {
        let tokens = match &attribute.meta {
            Meta::List(list) => list.tokens.clone(),
            _ => TokenStream::new(),
        };
        for meta in metas(tokens, &mut report) {
            match &*key_of(&meta) {
                "crate" => path = krate(&meta, &mut report),
                key => report.error(meta.path(), unknown("show_error", key, &["crate"])),
            }
        }
    }
    let ident = &input.ident;
    if !input.generics.params.is_empty() {
        let message = format!(
            "a type with generic parameters cannot derive `ShowError`, because each type is registered; implement \
             `From<{ident}<…>> for ToolError` to choose what a model reads"
        );
        report.error(&input.generics, message);
    }
    if let Some(errors) = report.into_errors() {
        return errors;
    }
    let krate: Path = path.unwrap_or_else(|| parse_quote!(::toolkit));
    quote! {
        const _: () = {
            impl #krate::__private::Registered for #ident {}
            impl #krate::ShowError for #ident {}
            #krate::__private::inventory::submit! { #krate::__private::ShownType::new::<#ident>() }
        };
    }
}
