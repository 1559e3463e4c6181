//! Parser of `#[arg(…)]` on a parameter.

use proc_macro2::TokenStream;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Meta, Token};

use crate::value::{Report, key_of, suggest};

/// The arguments of `#[arg(…)]`.
pub(crate) struct Arg {
    pub(crate) default: Option<ArgDefault>,
}

/// The value of an absent argument.
pub(crate) enum ArgDefault {
    /// `default`: the `Default` of the type.
    Type(proc_macro2::Span),
    /// `default = 3`.
    Value(Box<Expr>),
}

/// Parses `#[arg]`, `#[arg(default)]` or `#[arg(default = 3)]` among the attributes of a parameter, and reports its errors.
pub(crate) fn arg(attrs: &[Attribute], report: &mut Report) -> Option<Arg> {
    let mut args = attrs.iter().filter(|attr| attr.path().is_ident("arg"));
    let attr = args.next()?;
    if let Some(twice) = args.next() {
        report.error(twice, "duplicate `#[arg]`; merge the two");
    }
    let mut arg = Arg { default: None };
    let metas = match &attr.meta {
        Meta::Path(_) => return Some(arg),
        Meta::List(list) => match Punctuated::<Meta, Token![,]>::parse_terminated.parse2(list.tokens.clone()) {
            Ok(metas) => metas,
            Err(error) => {
                report.push(error);
                return Some(arg);
            }
        },
        Meta::NameValue(pair) => {
            report.error(&pair.value, "`#[arg]` takes a list, as in `#[arg(default = 3)]`");
            return Some(arg);
        }
    };
    for meta in metas {
        let key = key_of(&meta);
        if key != "default" {
            report.error(meta.path(), unknown(&key));
        } else if arg.default.is_some() {
            report.error(meta.path(), "duplicate `#[arg]` argument `default`");
        } else {
            arg.default = default(meta, report);
        }
    }
    if arg.default.is_some()
        && let Some(other) = attrs.iter().find(|attr| attr.path().is_ident("serde") && names_default(attr))
    {
        report.error(other, "the argument already has a default by `#[arg(default)]`; remove one of the two");
    }
    Some(arg)
}

fn default(meta: Meta, report: &mut Report) -> Option<ArgDefault> {
    match meta {
        Meta::Path(path) => Some(ArgDefault::Type(path.span())),
        Meta::NameValue(pair) => Some(ArgDefault::Value(Box::new(pair.value))),
        Meta::List(list) => {
            report.error(&list, "write the default after `=`, as in `default = 3`");
            None
        }
    }
}

/// Returns the message for an unknown argument of `#[arg]`, with the attribute that has it.
fn unknown(key: &str) -> String {
    const SCHEMARS: &[&str] = &["range", "length", "regex", "pattern", "extend", "inner", "schema_with"];
    match key {
        "description" | "doc" | "desc" | "help" => {
            format!("`#[arg]` takes no `{key}`; describe the argument in a doc comment, `/// …`, above it")
        }
        "name" | "rename" => {
            format!("`#[arg]` takes no `{key}`; name the argument with `#[serde(rename = \"…\")]`")
        }
        "alias" | "aliases" | "skip" | "with" | "flatten" => {
            format!("`#[arg]` takes no `{key}`; write it in `#[serde(…)]`")
        }
        "default_value" | "default_value_t" | "default_values" => {
            format!("`#[arg]` takes no `{key}`; write `default = …`, with a value of the type of the argument")
        }
        "short" | "long" | "value_parser" | "num_args" | "required" | "value_name" | "env" => {
            format!("`#[arg]` takes no `{key}`: it is an argument of a model, and not of a command line; remove it")
        }
        "whole" | "rest" => {
            format!("`#[arg]` takes no `{key}`; for an argument with all other properties, write `#[serde(flatten)]`")
        }
        "min" | "max" | "minimum" | "maximum" => {
            format!("`#[arg]` takes no `{key}`; write `#[schemars(range(min = 1, max = 9))]`")
        }
        key if SCHEMARS.contains(&key) => format!("`#[arg]` takes no `{key}`; write it in `#[schemars(…)]`"),
        key => match suggest(key, &["default"]) {
            Some(_) => format!("unknown `#[arg]` argument `{key}`; did you mean `default`?"),
            None => format!("unknown `#[arg]` argument `{key}`; expected `default`, as in `#[arg(default = 3)]`"),
        },
    }
}

fn names_default(attr: &Attribute) -> bool {
    let mut found = false;
    // `field` reports a malformed attribute.
    let _ = attr.parse_nested_meta(|meta| {
        found |= meta.path.is_ident("default");
        if meta.input.peek(Token![=]) {
            meta.value()?.parse::<Expr>()?;
        } else if meta.input.peek(syn::token::Paren) {
            let content;
            syn::parenthesized!(content in meta.input);
            content.parse::<TokenStream>()?;
        }
        Ok(())
    });
    found
}
