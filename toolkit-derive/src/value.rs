//! Reading attributes: the value of one argument (texts, numbers, times, lists and types), doc comments as descriptions, and
//! the report of all errors, so that one build shows them.

use std::fmt::Display;
use std::time::Duration;

use crate::doc_link::without_doc_links;
use crate::json;
use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Macro, Meta, Path, Type};

/// Parses the arguments of an attribute. A malformed argument is reported and omitted, so that errors in the others are
/// reported too.
pub(crate) fn metas(tokens: TokenStream, report: &mut Report) -> Vec<Meta> {
    let mut metas = Vec::new();
    let mut argument = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let comma = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ',').then(|| token.clone());
        if comma.is_none() {
            argument.extend([token]);
        }
        match comma {
            None if tokens.peek().is_some() => {}
            Some(comma) if argument.is_empty() => report.error(comma, "expected an argument before this comma"),
            _ => read(std::mem::take(&mut argument), &mut metas, report),
        }
    }
    metas
}

/// Parses one argument, and those that follow it after a missing comma.
fn read(argument: TokenStream, metas: &mut Vec<Meta>, report: &mut Report) {
    let one = |input: ParseStream<'_>| Ok((input.parse::<Meta>()?, input.parse::<TokenStream>()?));
    let argument = json::objects_as_text(argument);
    let has_no_value = argument.clone().into_iter().last().is_some_and(|last| last.to_string() == "=");
    match one.parse2(argument.clone()) {
        Err(_) if has_no_value => {
            let key = argument.clone().into_iter().next().map(|key| key.to_string()).unwrap_or_default();
            report.error(argument, format!("expected a value after `{key} =`"));
        }
        Err(error) => match braced_list(&argument) {
            Some((key, braces)) => {
                report.error(braces, format!("a list is written in brackets, as in `{key} = [\"…\", \"…\"]`"));
            }
            None => report.push(error),
        },
        Ok((meta, rest)) => match (&meta, rest.clone().into_iter().next()) {
            (_, None) => metas.push(meta),
            (Meta::Path(_), Some(value @ TokenTree::Literal(_))) => {
                report.error(&value, format!("expected `=`, as in `{} = {value}`", key_of(&meta)));
            }
            (_, Some(next)) => {
                report.error(next, "expected `,`");
                metas.push(meta);
                read(rest, metas, report);
            }
        },
    }
}

/// Returns the key and the braces of `key = {"a", "b"}`.
fn braced_list(argument: &TokenStream) -> Option<(Ident, Group)> {
    let tokens: Vec<TokenTree> = argument.clone().into_iter().collect();
    match &tokens[..] {
        [TokenTree::Ident(key), TokenTree::Punct(_), TokenTree::Group(group)]
            if group.delimiter() == Delimiter::Brace =>
        {
            Some((key.clone(), group.clone()))
        }
        _ => None,
    }
}

/// Parses `key = "text"`.
pub(crate) fn text(meta: &Meta, example: &str, report: &mut Report) -> Option<LitStr> {
    let key = key_of(meta);
    match value_of(meta) {
        Some(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) => Some(text.clone()),
        Some(Expr::Macro(call)) if call.mac.path.is_ident("env") => env(&call.mac, report),
        other => {
            let message = format!("`{key}` must be a string literal, as in `{key} = \"{example}\"`");
            match other {
                Some(value) => report.error(value, message),
                None => report.error(meta, message),
            }
            None
        }
    }
}

/// Parses `key = "text"`, and `key = TEXT` or `key = concat!(…)`, which the compiler evaluates after the macro.
pub(crate) fn text_expr(meta: &Meta, example: &str, report: &mut Report) -> Option<Expr> {
    match value_of(meta) {
        Some(Expr::Macro(call)) if call.mac.path.is_ident("env") => {}
        Some(value) if is_constant(value) => return Some(value.clone()),
        _ => {}
    }
    let text = text(meta, example, report)?;
    Some(Expr::Lit(ExprLit { attrs: Vec::new(), lit: Lit::Str(text) }))
}

/// Returns true for an expression that may be a constant text.
fn is_constant(value: &Expr) -> bool {
    matches!(value, Expr::Path(_) | Expr::Macro(_) | Expr::Call(_) | Expr::Block(_) | Expr::Const(_))
}

/// Returns the text, unless it is another constant than a literal.
pub(crate) fn as_literal(text: &Expr) -> Option<&LitStr> {
    match text {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text),
        _ => None,
    }
}

/// `key = env!("CARGO_PKG_VERSION")`: the environment is the compiler's, which is also this macro's.
fn env(call: &Macro, report: &mut Report) -> Option<LitStr> {
    let name: LitStr = match call.parse_body() {
        Ok(name) => name,
        Err(error) => {
            report.push(error);
            return None;
        }
    };
    match std::env::var(name.value()) {
        Ok(value) => Some(LitStr::new(&value, name.span())),
        Err(_) => {
            report.error(&name, format!("the environment variable `{}` is not set", name.value()));
            None
        }
    }
}

/// Parses `key`, `key = true` or `key = false`.
pub(crate) fn flag(meta: &Meta, report: &mut Report) -> Option<bool> {
    match (meta, value_of(meta)) {
        (Meta::Path(_), _) => Some(true),
        (_, Some(Expr::Lit(ExprLit { lit: Lit::Bool(value), .. }))) => Some(value.value),
        (_, other) => {
            let key = key_of(meta);
            let message = format!("`{key}` is a flag; write `{key}` or `{key} = false`");
            match other {
                Some(value) => report.error(value, message),
                None => report.error(meta, message),
            }
            None
        }
    }
}

/// Parses `key = ["text", "text"]`.
pub(crate) fn texts(meta: &Meta, example: &str, report: &mut Report) -> Option<Vec<LitStr>> {
    let items = list(meta, example, report)?;
    let mut texts = Vec::new();
    for item in items {
        match as_literal(item) {
            Some(text) => texts.push(text.clone()),
            None => not_a_text(meta, item, example, report),
        }
    }
    Some(texts)
}

/// Does the same as [`texts`], and accepts constants.
pub(crate) fn text_exprs(meta: &Meta, example: &str, report: &mut Report) -> Option<Vec<Expr>> {
    let items = list(meta, example, report)?;
    let mut texts = Vec::new();
    for item in items {
        match as_literal(item).is_some() || is_constant(item) {
            true => texts.push(item.clone()),
            false => not_a_text(meta, item, example, report),
        }
    }
    Some(texts)
}

fn list<'m>(meta: &'m Meta, example: &str, report: &mut Report) -> Option<impl Iterator<Item = &'m Expr> + use<'m>> {
    if let Some(Expr::Array(array)) = value_of(meta) {
        return Some(array.elems.iter().map(ungrouped));
    }
    let key = key_of(meta);
    let message = format!("`{key}` must be a list of string literals, as in `{key} = [\"{example}\"]`");
    match value_of(meta) {
        Some(value) => report.error(value, message),
        None => report.error(meta, message),
    }
    None
}

fn not_a_text(meta: &Meta, item: &Expr, example: &str, report: &mut Report) {
    let key = key_of(meta);
    report.error(item, format!("the items of `{key}` must be string literals, as in `\"{example}\"`"));
}

/// Parses a duration of whole milliseconds such as `"30s"`, `"500ms"` or `"2m"`.
pub(crate) fn duration(text: &LitStr, report: &mut Report) -> Option<Duration> {
    let value = text.value();
    let time = crate::duration::parse(&value);
    let time = time.filter(|time| !time.is_zero() && time.subsec_nanos() % 1_000_000 == 0);
    if time.is_none() {
        report.error(text, format!("`{value}` is not a duration; write `\"500ms\"`, `\"30s\"` or `\"2m\"`"));
    }
    time
}

pub(crate) fn value_of(meta: &Meta) -> Option<&Expr> {
    match meta {
        Meta::NameValue(pair) => Some(ungrouped(&pair.value)),
        _ => None,
    }
}

/// Removes the invisible groups around fragments that `macro_rules!` substitutes.
pub(crate) fn ungrouped(mut value: &Expr) -> &Expr {
    while let Expr::Group(group) = value {
        value = &group.expr;
    }
    value
}

pub(crate) fn key_of(meta: &Meta) -> String {
    meta.path().to_token_stream().to_string()
}

/// Removes parentheses, and the invisible groups around fragments that `macro_rules!` substitutes.
pub(crate) fn ungrouped_type(mut ty: &Type) -> &Type {
    loop {
        ty = match ty {
            Type::Group(group) => &group.elem,
            Type::Paren(paren) => &paren.elem,
            ty => return ty,
        };
    }
}

/// The errors found so far.
#[derive(Default)]
pub(crate) struct Report(Option<syn::Error>);

impl Report {
    /// Adds an error that points to these tokens.
    pub(crate) fn error(&mut self, at: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(at, message));
    }

    pub(crate) fn push(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Returns the errors as `compile_error!` invocations, if there are any.
    pub(crate) fn into_errors(self) -> Option<TokenStream> {
        self.0.map(|errors| errors.to_compile_error())
    }
}

/// Returns the candidate most similar to `typed`, if it is similar enough to be a typo.
pub(crate) fn suggest<'a>(typed: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let distance = |candidate: &&&str| strsim::osa_distance(typed, candidate);
    let nearest = candidates.iter().min_by_key(distance)?;
    (distance(&nearest) <= nearest.len() / 3 + 1).then_some(nearest)
}

/// Returns the message for an unknown argument of an attribute.
pub(crate) fn unknown(attribute: &str, key: &str, keys: &[&str]) -> String {
    match (suggest(key, keys), of_other_macros(key)) {
        (_, Some(remedy)) => format!("unknown `{attribute}` argument `{key}`; {remedy}"),
        (Some(near), None) => format!("unknown `{attribute}` argument `{key}`; did you mean `{near}`?"),
        (None, None) => format!("unknown `{attribute}` argument `{key}`; expected one of `{}`", keys.join("`, `")),
    }
}

/// Returns what to write instead of an argument that the macros of other crates have.
fn of_other_macros(key: &str) -> Option<&'static str> {
    Some(match key {
        "read_only_hint" => "write `read_only`",
        "destructive_hint" => "write `destructive`",
        "idempotent_hint" => "write `idempotent`",
        "open_world_hint" => "write `open_world`",
        "annotations" => "write the hints as arguments, as in `read_only` or `destructive = false`",
        "params" | "parameters" => "describe parameters with doc comments on them",
        "aggr" => "remove it: the fields of a struct that is the only parameter are the arguments",
        "required" => "an argument is required unless its type is an `Option` or it has `#[arg(default)]`",
        "input_schema" | "output_schema" | "schema" => {
            "schemas are derived from the types of parameters and results; change them with `#[schemars(…)]`"
        }
        _ => return None,
    })
}

/// Returns the doc comment as an expression of type `&'static str`, or `None` if it is absent or blank.
///
/// The value of `#[doc = include_str!("…")]` is unknown to a macro, so the expression is a `concat!` in this case.
pub(crate) fn from_attrs(attrs: &[Attribute], krate: &Path) -> Option<TokenStream> {
    let docs: Vec<&Expr> = attrs.iter().filter_map(doc).collect();
    let lines: Vec<Option<String>> = docs.iter().map(|doc| literal(doc)).collect();
    if lines.iter().all(Option::is_some) {
        let text = without_doc_links(&visible(&lines.into_iter().flatten().collect::<Vec<_>>().join("\n")));
        let text = text.trim();
        return (!text.is_empty()).then(|| quote!(#text));
    }
    let parts = docs.iter().zip(&lines).map(|(doc, line)| match line {
        Some(line) => quote!(#line, "\n"),
        None => quote!(#doc, "\n"),
    });
    Some(quote!(#krate::concat!(#(#parts),*)))
}

/// Removes the lines of Rust examples that rustdoc hides.
fn visible(text: &str) -> String {
    let mut shown = Vec::new();
    // The fence of the code block, and true for a block of Rust.
    let mut block: Option<(&str, bool)> = None;
    for line in text.lines() {
        let bare = line.trim_start();
        let fence = ["```", "~~~"].into_iter().find(|fence| bare.starts_with(fence));
        block = match (block, fence) {
            (None, Some(fence)) => Some((fence, is_rust(bare.trim_start_matches(['`', '~'])))),
            (Some((open, _)), Some(fence)) if open == fence => None,
            (block, _) => block,
        };
        match block {
            Some((_, true)) if bare == "#" || bare.starts_with("# ") => {}
            Some((_, true)) if bare.starts_with("##") => shown.push(line.replacen("##", "#", 1)),
            _ => shown.push(line.to_owned()),
        }
    }
    shown.join("\n")
}

/// Returns true if rustdoc tests a code block with these words after its fence.
fn is_rust(words: &str) -> bool {
    const WORDS: [&str; 6] = ["rust", "no_run", "should_panic", "standalone_crate", "test_harness", "standalone"];
    let mut words = words.split([',', ' ', '\t', '{', '}']).filter(|word| !word.is_empty());
    words.all(|word| {
        let starts = ["ignore", "compile_fail", "edition"].iter().any(|start| word.starts_with(start));
        starts || WORDS.contains(&word)
    })
}

pub(crate) fn is_doc(attr: &Attribute) -> bool {
    doc(attr).is_some()
}

fn doc(attr: &Attribute) -> Option<&Expr> {
    match &attr.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => Some(ungrouped(&pair.value)),
        _ => None,
    }
}

/// Returns the text of a doc literal without the space that follows `///`.
fn literal(doc: &Expr) -> Option<String> {
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = doc else {
        return None;
    };
    let text = text.value();
    // rustdoc also removes the leading stars of a block comment.
    let is_starred = |line: &str| line.trim_start().starts_with('*') || line.trim().is_empty();
    let stars = text.lines().count() > 1 && text.lines().skip(1).all(is_starred);
    let bare = |line: &'_ str| match stars {
        true => line.trim_start().trim_start_matches('*').to_owned(),
        false => line.to_owned(),
    };
    let text: String = text.lines().map(bare).collect::<Vec<_>>().join("\n");
    let lines = text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end());
    Some(lines.collect::<Vec<_>>().join("\n"))
}
