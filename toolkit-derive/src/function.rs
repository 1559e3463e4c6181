//! The analyzed signature of a tool function, the checks of its examples, and the paths and spans of generated code.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    Attribute as RustAttribute, Expr, FnArg, Item, ItemFn, LitStr, Path, PathArguments, ReturnType, Safety, Signature,
    Type, Visibility, parse_quote,
};

use crate::attribute::{Attribute, RecordKind};
use crate::field::{self, kind};
use crate::json::{self, Json};
use crate::name::check_name;
use crate::parameter::{self, Argument, Parameter, parameter};
use crate::value::{self, Report, as_literal, suggest, ungrouped_type};
use crate::{module, scan};

/// Returns the keyword of an item, such as `struct`.
pub(crate) fn keyword(item: &Item) -> TokenStream {
    match item {
        Item::Const(item) => item.const_token.to_token_stream(),
        Item::Struct(item) => item.struct_token.to_token_stream(),
        Item::Enum(item) => item.enum_token.to_token_stream(),
        Item::Fn(item) => item.sig.fn_token.to_token_stream(),
        Item::Impl(item) => item.impl_token.to_token_stream(),
        Item::Mod(item) => item.mod_token.to_token_stream(),
        Item::Trait(item) => item.trait_token.to_token_stream(),
        // A method without a body, such as that of a trait.
        Item::Verbatim(tokens) => {
            let mut tokens = tokens.clone().into_iter();
            tokens.find(|token| token.to_string() == "fn").map_or_else(|| item.to_token_stream(), Into::into)
        }
        other => other.to_token_stream(),
    }
}

/// A tool function and its attribute, before expansion.
pub(crate) struct Function {
    pub(crate) attribute: Attribute,
    /// The `Self` type, if the function is a method or an associated function.
    pub(crate) owner: Option<Type>,
    pub(crate) takes_self: bool,
    pub(crate) ident: Ident,
    pub(crate) vis: Visibility,
    /// The `#[cfg]` attributes, which the generated item needs too.
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
                "`#[tool]` on a method requires `#[toolset]` on the surrounding `impl` block, where `#[tool]` must be \
                 written out: `#[toolset]` does not see attributes that another macro adds",
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
        let kind = attribute.kind.name();
        check_signature(sig, kind, report);
        if let Some(twice) = attrs.iter().filter(|attr| module::is_tool(attr)).nth(usize::from(owner.is_some())) {
            let name = if module::is_prompt(twice) { "prompt" } else { "tool" };
            report.error(twice, format!("duplicate `#[{name}]`; a function is one tool or one prompt"));
        }
        let name = sig.ident.unraw().to_string();
        if attribute.name.is_none()
            && let Err(reason) = check_name(&name)
        {
            report.error(&sig.ident, format!("the name of a {kind} {reason}; set a valid name with `name = \"…\"`"));
        }
        if let (Some(blocking), Some(_)) = (&attribute.blocking, sig.asyncness) {
            report.error(blocking, "`blocking` applies to synchronous functions; remove either `blocking` or `async`");
        }
        let krate = krate(&attribute);
        let description = match &attribute.description {
            Some(text) => Some(const_text(text, false, &krate)),
            None => value::from_attrs(attrs, &krate),
        };
        if description.is_none() && !attribute.names_description {
            let reader = match attribute.kind {
                RecordKind::Tool => "a model reads it to decide whether to call the tool",
                RecordKind::Prompt => "a user reads it to select the prompt",
            };
            let message = format!("missing description; add a doc comment to this function ({reader})");
            report.error(&sig.ident, message);
        }
        let mut parameters = Vec::new();
        for input in &sig.inputs {
            if let FnArg::Typed(typed) = input {
                parameters.extend(parameter(typed, &krate, report));
            }
        }
        let arguments = parameters.iter().filter_map(|parameter| match parameter {
            Parameter::Argument(argument) => Some(argument),
            Parameter::State(_) => None,
        });
        parameter::check_json_names(arguments.clone(), report);
        check_examples(&attribute.examples, &arguments.collect::<Vec<_>>(), report);
        let output = match &sig.output {
            ReturnType::Default => None,
            ReturnType::Type(_, ty) => {
                scan::check_output(ty, report);
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

    /// Returns the name of the tool.
    pub(crate) fn name(&self) -> String {
        match &self.attribute.name {
            Some(name) => name.value(),
            None => self.ident.unraw().to_string(),
        }
    }

    pub(crate) fn arguments(&self) -> impl Iterator<Item = &Argument> {
        self.parameters.iter().filter_map(|parameter| match parameter {
            Parameter::Argument(argument) => Some(argument),
            Parameter::State(_) => None,
        })
    }
}

impl Function {
    /// Returns the types of the injected state, starting with the instance of a method.
    pub(crate) fn injected(&self) -> impl Iterator<Item = &Type> {
        let instance = self.owner.iter().filter(|_| self.takes_self);
        instance.chain(self.parameters.iter().filter_map(|parameter| match parameter {
            Parameter::State(ty) => Some(ty),
            Parameter::Argument(_) => None,
        }))
    }

    /// Returns the span for errors about the returned type: `T` of a type spelled `Result<T, E>`.
    pub(crate) fn output_span(&self) -> Span {
        self.result_span(0)
    }

    /// Returns the span for errors about the error type: `E` of a type spelled `Result<T, E>`.
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

fn check_signature(sig: &Signature, kind: &str, report: &mut Report) {
    if !sig.generics.params.is_empty() && sig.generics.type_params().count() + sig.generics.const_params().count() == 0
    {
        let message = format!(
            "`{}` cannot have lifetime parameters; injected state is borrowed for one call, so write `&T`",
            sig.ident
        );
        report.error(&sig.generics, message);
    } else if !sig.generics.params.is_empty() {
        let message = format!(
            "`{}` cannot be generic; a {kind} has one name and one schema, so write one function per concrete type",
            sig.ident
        );
        report.error(&sig.generics, message);
    }
    if let Safety::Unsafe(token) = &sig.safety {
        let message = format!("a {kind} cannot be `unsafe`; a model cannot uphold safety requirements");
        report.error(token, message);
    }
}

/// Returns the note of `#[deprecated]`.
fn deprecation(attr: &RustAttribute) -> Option<LitStr> {
    if !attr.path().is_ident("deprecated") {
        return None;
    }
    let mut note = None;
    // rustc reports a malformed attribute.
    let _ = attr.parse_nested_meta(|meta| {
        let value: LitStr = meta.value()?.parse()?;
        if meta.path.is_ident("note") {
            note = Some(value);
        }
        Ok(())
    });
    note.or_else(|| Some(LitStr::new("do not use it", attr.path().get_ident()?.span())))
}

/// Returns a text that is a literal, or a constant that the compiler evaluates.
pub(crate) fn const_text(text: &Expr, may_be_blank: bool, krate: &Path) -> TokenStream {
    if let Expr::Lit(_) = text {
        return text.to_token_stream();
    }
    let krate = at(krate, text.span());
    let check = (!may_be_blank).then(|| {
        let message = "the description is empty; a model reads it to decide whether to call the tool";
        quote_spanned!(here(text.span())=> const _: () = #krate::assert!(!__TEXT.trim_ascii().is_empty(), #message);)
    });
    quote_spanned!(here(text.span())=> { const __TEXT: &'static #krate::str = #text; #check __TEXT })
}

/// Returns the path of `toolkit::__private`, which generated code uses.
pub(crate) fn krate(attribute: &Attribute) -> Path {
    match &attribute.krate {
        Some(path) => parse_quote!(#path::__private),
        None => parse_quote!(::toolkit::__private),
    }
}

/// Returns `span` with the hygiene of the macro call, so that generated variables resolve even if the author's tokens
/// come from another macro.
pub(crate) fn here(span: Span) -> Span {
    Span::call_site().located_at(span)
}

/// Returns the path located at `span`: rustc reports errors at the first token of a path.
pub(crate) fn at(krate: &Path, span: Span) -> Path {
    let mut krate = krate.clone();
    for segment in &mut krate.segments {
        segment.ident.set_span(segment.ident.span().located_at(span));
    }
    if let Some(colons) = &mut krate.leading_colon {
        colons.spans = colons.spans.map(|colon| colon.located_at(span));
    }
    krate
}

/// Reports examples that are not JSON objects, or that have an unknown argument or a value of the wrong kind.
pub(crate) fn check_examples(examples: &[Expr], arguments: &[&Argument], report: &mut Report) {
    // `Catalog::check` reports those in constants.
    for example in examples.iter().filter_map(as_literal) {
        match json::members(&example.value()) {
            Err(reason) => report.error(example, reason),
            // The macro cannot see whether any other sole argument is an argument struct.
            Ok(_) if arguments.len() == 1 && !arguments[0].is_named() && kind(&arguments[0].ty).is_none() => {}
            Ok(members) => {
                for (name, found) in members {
                    if let Err(reason) = check_member(&name, found, arguments) {
                        report.error(example, reason);
                    }
                }
            }
        }
    }
}

fn check_member(name: &str, found: Json, arguments: &[&Argument]) -> Result<(), String> {
    let names: Option<Vec<Vec<String>>> = arguments.iter().map(|argument| parameter::json_names(argument)).collect();
    // The macro cannot see the names that `flatten` adds.
    let Some(names) = names else {
        return Ok(());
    };
    let Some(place) = names.iter().position(|names| names.iter().any(|other| other == name)) else {
        let all: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
        return Err(match suggest(name, &all) {
            Some(near) => format!("the example has `{name}`, which is not an argument; did you mean `{near}`?"),
            None => format!("the example has `{name}`, which is not an argument"),
        });
    };
    let argument = arguments[place];
    let Some(expected) = kind(&argument.ty).filter(|_| !argument.has_conversion()) else {
        return Ok(());
    };
    let (fits, expected) = match expected {
        field::JsonKind::Number => (matches!(found, Json::Integer | Json::Number), "a number"),
        field::JsonKind::Text => (found == Json::String, "a string"),
        field::JsonKind::List => (found == Json::Array, "an array"),
        field::JsonKind::Bool => (found == Json::Bool, "a boolean"),
    };
    // `null` counts as absent.
    match fits || found == Json::Null {
        true => Ok(()),
        false => Err(format!("the example has {} for `{name}`, which must be {expected}", found.name())),
    }
}
