//! Checks of serde and schemars attributes on a parameter.
//!
//! The parameter becomes a field of a struct. Without these checks, each derive would report the same error, and so would
//! the uses of the derived traits.

use proc_macro2::TokenTree;
use quote::ToTokens;
use syn::{Attribute, Expr, ExprLit, ExprPath, Lit, LitStr, Meta, PathArguments, Type, TypePath};

use crate::value::{Report, key_of, metas, suggest, ungrouped_type, value_of};

/// The attributes that the macros of other crates have on parameters.
pub(crate) const OF_OTHER_MACROS: [&str; 5] = ["desc", "description", "param", "tool", "validate"];

const SERDE: &[&str] = &[
    "alias",
    "borrow",
    "bound",
    "default",
    "deserialize_with",
    "flatten",
    "getter",
    "rename",
    "serialize_with",
    "skip",
    "skip_deserializing",
    "skip_serializing",
    "skip_serializing_if",
    "with",
];

const SCHEMARS: &[&str] = &[
    "bound",
    "contains",
    "default",
    "description",
    "email",
    "example",
    "extend",
    "flatten",
    "inner",
    "ip",
    "ipv4",
    "ipv6",
    "length",
    "pattern",
    "range",
    "regex",
    "rename",
    "required",
    "schema_with",
    "serialize_with",
    "skip",
    "skip_deserializing",
    "skip_serializing",
    "skip_serializing_if",
    "title",
    "transform",
    "url",
    "with",
];

/// Reports errors in an attribute of a parameter of type `ty`.
pub(crate) fn check(attr: &Attribute, ty: &Type, report: &mut Report) {
    let path = attr.path();
    if let Some(name) = OF_OTHER_MACROS.iter().find(|name| path.is_ident(name)) {
        let message = match *name {
            "validate" => {
                "`#[tool]` knows no `validate`; write the rules in `#[schemars(…)]`, as in `#[schemars(range(min = 1))]`"
            }
            "tool" => {
                "remove it: the fields of a struct that is the only parameter are the arguments, and other parameters are arguments by themselves"
            }
            _ => "write the description of an argument as a doc comment on it, as in `/// The path of the file.`",
        };
        return report.error(attr, message);
    }
    match &attr.meta {
        Meta::List(list) if path.is_ident("serde") => {
            for meta in metas(list.tokens.clone(), report) {
                check_serde(&meta, report);
            }
        }
        Meta::List(list) if path.is_ident("schemars") => {
            // `!default` overrides `default` of the serde attribute.
            let is_override = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '!');
            if !list.tokens.clone().into_iter().any(|token| is_override(&token)) {
                for meta in metas(list.tokens.clone(), report) {
                    check_schemars(&meta, ty, report);
                }
            }
        }
        Meta::List(_) => {}
        other if path.is_ident("serde") || path.is_ident("schemars") => {
            let name = path.to_token_stream();
            report.error(other, format!("`#[{name}]` takes a list, as in `#[{name}(rename = \"…\")]`"));
        }
        _ => {}
    }
}

fn check_serde(meta: &Meta, report: &mut Report) {
    let key = key_of(meta);
    match key.as_str() {
        "flatten" | "skip" | "skip_serializing" | "skip_deserializing" | "borrow" if matches!(meta, Meta::Path(_)) => {}
        "default" if matches!(meta, Meta::Path(_)) => {}
        "rename" | "bound" if matches!(meta, Meta::List(_)) => {}
        "borrow" => {}
        "flatten" | "skip" | "skip_serializing" | "skip_deserializing" => {
            report.error(meta, format!("`{key}` takes no value; write `#[serde({key})]`"));
        }
        "default"
            if value_of(meta).is_some_and(|value| !matches!(value, Expr::Lit(ExprLit { lit: Lit::Str(_), .. }))) =>
        {
            report.error(value_of(meta), "`default` names a function, as in `default = \"path::to::function\"`; for a value, write `#[arg(default = …)]`");
        }
        "alias" | "rename" | "bound" => drop(text(meta, "\"…\"", report)),
        key if SERDE.contains(&key) => {
            if let Some(text) = text(meta, "\"path::to::function\"", report)
                && text.parse::<ExprPath>().is_err()
            {
                report.error(&text, format!("`{}` is not a path; `{key}` names a function or a module", text.value()));
            }
        }
        key if SCHEMARS.contains(&key) => {
            report.error(meta.path(), format!("`{key}` is an attribute of schemars; write `#[schemars({key}…)]`"));
        }
        key => report.error(meta.path(), unknown("serde", key, SERDE)),
    }
}

fn text(meta: &Meta, example: &str, report: &mut Report) -> Option<LitStr> {
    match value_of(meta) {
        Some(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) => return Some(text.clone()),
        Some(value) => {
            report.error(value, format!("`{0}` must be a string literal, as in `{0} = {example}`", key_of(meta)))
        }
        None => report.error(meta, format!("`{0}` needs a value, as in `{0} = {example}`", key_of(meta))),
    }
    None
}

fn check_schemars(meta: &Meta, ty: &Type, report: &mut Report) {
    let key = key_of(meta);
    match (key.as_str(), meta) {
        ("range" | "length", Meta::List(list)) => {
            for bound in metas(list.tokens.clone(), report) {
                let name = key_of(&bound);
                if !["min", "max", "equal"].contains(&name.as_str()) {
                    report.error(bound.path(), unknown(&key, &name, &["min", "max", "equal"]));
                }
            }
            check_kind(meta, &key, ty, report);
        }
        ("range" | "length", _) => {
            report.error(meta, format!("`{key}` takes bounds, as in `{key}(min = 1, max = 9)`"));
        }
        ("regex", Meta::List(list)) => {
            for pattern in metas(list.tokens.clone(), report) {
                if pattern.path().is_ident("pattern")
                    && let Some(value) = value_of(&pattern)
                {
                    check_pattern(value, report);
                }
            }
            check_kind(meta, &key, ty, report);
        }
        ("pattern", Meta::List(list)) => {
            if let Ok(value) = syn::parse2::<Expr>(list.tokens.clone()) {
                check_pattern(&value, report);
            }
            check_kind(meta, &key, ty, report);
        }
        ("pattern" | "regex", _) => {
            report.error(meta, "write the pattern in parentheses, as in `regex(pattern = r\"^[a-z]+$\")`");
        }
        (key, _) if SCHEMARS.contains(&key) => {}
        (key, _) if SERDE.contains(&key) => {
            report.error(meta.path(), format!("`{key}` is an attribute of serde; write `#[serde({key}…)]`"));
        }
        (key, _) => report.error(meta.path(), unknown("schemars", key, SCHEMARS)),
    }
}

fn unknown(attribute: &str, key: &str, keys: &[&str]) -> String {
    match suggest(key, keys) {
        Some(near) => format!("unknown `{attribute}` attribute `{key}`; did you mean `{near}`?"),
        None => format!("unknown `{attribute}` attribute `{key}`; expected one of `{}`", keys.join("`, `")),
    }
}

/// Reports a keyword that does not apply to the type, which schemars would silently drop from the schema.
fn check_kind(meta: &Meta, keyword: &str, ty: &Type, report: &mut Report) {
    let Some(kind) = kind(ty) else {
        return;
    };
    let advice = match (keyword, kind) {
        ("range", JsonKind::Number)
        | ("length", JsonKind::Text | JsonKind::List)
        | ("regex" | "pattern", JsonKind::Text) => return,
        ("range", JsonKind::Text | JsonKind::List) => "`range` applies to numbers; use `length` for strings and lists",
        ("length", JsonKind::Number) => "`length` applies to strings and lists; use `range` for numbers",
        ("range", JsonKind::Bool) => "`range` applies to numbers",
        ("length", JsonKind::Bool) => "`length` applies to strings and lists",
        ("regex" | "pattern", JsonKind::List) => {
            "a pattern applies to strings; for the items of a list, write `inner(…)`"
        }
        _ => "a pattern applies to strings",
    };
    report.error(meta, advice);
}

/// The JSON kind of a type of the standard library.
#[derive(Clone, Copy)]
pub(crate) enum JsonKind {
    Number,
    Text,
    List,
    Bool,
}

/// Returns the kind of a type, if its name determines it.
pub(crate) fn kind(ty: &Type) -> Option<JsonKind> {
    let path = match ungrouped_type(ty) {
        // The owned type of a borrowed argument, `<&str as …>::Owned`.
        Type::Path(TypePath { qself: Some(qself), .. }) => return kind(&qself.ty),
        Type::Path(path) => path,
        Type::Slice(_) => return Some(JsonKind::List),
        Type::Reference(reference) => return kind(&reference.elem),
        _ => return None,
    };
    let last = path.path.segments.last()?;
    let kind = match last.ident.to_string().as_str() {
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" | "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "f32"
        | "f64" => JsonKind::Number,
        "String" | "str" => JsonKind::Text,
        "bool" => JsonKind::Bool,
        "Vec" => JsonKind::List,
        "Option" => match &last.arguments {
            PathArguments::AngleBracketed(arguments) => match arguments.args.first()? {
                syn::GenericArgument::Type(inner) => kind(inner)?,
                _ => return None,
            },
            _ => return None,
        },
        _ => return None,
    };
    Some(kind)
}

/// Reports a pattern that is invalid in every dialect of regular expressions.
fn check_pattern(value: &Expr, report: &mut Report) {
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = value else {
        return;
    };
    if let Err(reason) = pattern(&text.value()) {
        report.error(text, format!("not a regular expression: {reason}"));
    }
}

/// Returns the reason that a pattern is invalid both in ECMA-262, the dialect of JSON Schema, and in `regex-syntax`, which
/// lacks lookaround and backreferences and has other escapes.
fn pattern(text: &str) -> Result<(), String> {
    use regex_syntax::ast::ErrorKind;
    let Err(error) = regex_syntax::ast::parse::Parser::new().parse(text) else {
        return Ok(());
    };
    let reason = match error.kind() {
        ErrorKind::ClassUnclosed => "`[` is never closed",
        ErrorKind::ClassRangeInvalid => "the range in `[…]` runs backward",
        ErrorKind::GroupUnclosed => "`(` is never closed",
        ErrorKind::GroupUnopened => "`)` was never opened",
        ErrorKind::EscapeUnexpectedEof => "it ends in `\\`",
        ErrorKind::RepetitionMissing => "the repetition has nothing to repeat",
        ErrorKind::RepetitionCountInvalid => "the repetition `{m,n}` has a minimum above its maximum",
        _ => return Ok(()),
    };
    Err(reason.to_owned())
}

#[cfg(test)]
mod tests {
    use super::pattern;

    #[test]
    fn rejects_patterns_that_are_invalid_in_every_dialect() {
        for good in [r"^[a-z]+$", r"(?=x)y", r"(a)\1", r"\/", r"\cA", r"[\d-x]", r"(?<name>x)", r"\p{Letter}", "a{2}"] {
            assert_eq!(pattern(good), Ok(()), "{good}");
        }
        for bad in ["[", "(", ")", "a{3,2}", "*a", "\\", "[z-a]"] {
            assert!(pattern(bad).is_err(), "{bad}");
        }
    }
}
