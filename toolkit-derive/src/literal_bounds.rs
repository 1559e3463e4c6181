//! Bounds and defaults of an argument that are literals and contradict each other.

use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, ExprUnary, Lit, Meta, UnOp};

use crate::arg::ArgDefault;
use crate::value::{Report, key_of, metas, value_of};

/// Reports a `range` or `length` that no value has, and a default outside of it. Other expressions are checked by
/// `Catalog::check`.
pub(crate) fn check(attrs: &[Attribute], default: Option<&ArgDefault>, report: &mut Report) {
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("schemars")) {
        let Meta::List(list) = &attr.meta else { continue };
        // `field` reports a malformed attribute.
        for meta in metas(list.tokens.clone(), &mut Report::default()) {
            if let Meta::List(bounds) = &meta
                && let key @ ("range" | "length") = &*key_of(&meta)
            {
                check_bounds(key, &metas(bounds.tokens.clone(), &mut Report::default()), default, report);
            }
        }
    }
}

fn check_bounds(key: &str, bounds: &[Meta], default: Option<&ArgDefault>, report: &mut Report) {
    let bound = |name: &str| {
        let value = value_of(bounds.iter().find(|bound| bound.path().is_ident(name))?)?;
        Some((value, number(value)?))
    };
    let (least, most) = (bound("min"), bound("max"));
    if let (Some((_, least)), Some((at, most))) = (&least, &most)
        && least > most
    {
        report.error(at, format!("no value is in this `{key}`: the maximum {most} is below the minimum {least}"));
        return;
    }
    let Some(ArgDefault::Value(default)) = default else { return };
    let value = match (key, &**default) {
        ("range", value) => number(value),
        (_, value) => text(value).map(|text| text.chars().count() as f64),
    };
    let Some(value) = value else { return };
    let is_text = if key == "length" { " characters" } else { "" };
    for (limit, is_outside, word) in [
        (&least, least.as_ref().is_some_and(|(_, least)| value < *least), "least"),
        (&most, most.as_ref().is_some_and(|(_, most)| value > *most), "most"),
    ] {
        if let (Some((_, limit)), true) = (limit, is_outside) {
            report.push(syn::Error::new(
                default.span(),
                format!("the default contradicts the `{key}` of this argument: at {word} {limit}{is_text}"),
            ));
        }
    }
}

/// Returns the value of a literal number.
fn number(value: &Expr) -> Option<f64> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Int(int), .. }) => int.base10_parse().ok(),
        Expr::Lit(ExprLit { lit: Lit::Float(float), .. }) => float.base10_parse().ok(),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => number(expr).map(|number| -number),
        _ => None,
    }
}

/// Returns the text of a literal, also before a conversion that keeps it, such as `.to_owned()`.
fn text(value: &Expr) -> Option<String> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        Expr::MethodCall(call) if ["to_owned", "to_string", "into"].iter().any(|name| call.method == name) => {
            text(&call.receiver)
        }
        _ => None,
    }
}
