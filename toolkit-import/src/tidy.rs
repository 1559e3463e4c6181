//! What `typify` wrote, read again: its structs and choices, without what it puts around them.
//!
//! Its types are good; the forty lines of conversions beside each, its use of `Vec` for a list that is absent and its
//! paths to crates that the author may not have are not.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use syn::{Attribute, Expr, ExprLit, Fields, FieldsNamed, File, Ident, Item, Lit, LitStr, Meta, Type};

use crate::name;

/// The types of a schema.
pub(crate) struct Items {
    pub(crate) structs: Vec<Struct>,
    pub(crate) choices: Vec<Choice>,
    pub(crate) wrappers: Vec<Wrapper>,
}

/// An object.
pub(crate) struct Struct {
    pub(crate) name: Ident,
    pub(crate) doc: String,
    pub(crate) fields: Vec<Field>,
}

pub(crate) struct Field {
    pub(crate) name: Ident,
    /// Its name in JSON; `None` where the field holds the properties that nobody named.
    pub(crate) json: Option<String>,
    pub(crate) doc: String,
    /// Without the `Option` of a field that may be absent.
    pub(crate) ty: Type,
    pub(crate) is_required: bool,
}

/// One of several texts or types.
pub(crate) struct Choice {
    pub(crate) name: Ident,
    pub(crate) doc: String,
    /// How serde tells the variants apart.
    pub(crate) serde: Vec<Attribute>,
    pub(crate) variants: Vec<Variant>,
}

pub(crate) struct Variant {
    pub(crate) name: Ident,
    pub(crate) doc: String,
    /// Its name in JSON.
    pub(crate) serde: Vec<Attribute>,
    pub(crate) shape: Shape,
}

pub(crate) enum Shape {
    Unit,
    Tuple(Vec<Type>),
    Struct(Vec<Field>),
}

/// A type around another one.
pub(crate) struct Wrapper {
    pub(crate) name: Ident,
    pub(crate) doc: String,
    pub(crate) ty: Type,
}

/// The types in what `typify` wrote, if there is one named `root` and no two have one name.
pub(crate) fn tidy(written: TokenStream, root: &str) -> Option<Items> {
    let file: File = syn::parse2(written).ok()?;
    let mut items = Items { structs: Vec::new(), choices: Vec::new(), wrappers: Vec::new() };
    let mut names = BTreeSet::new();
    for item in file.items {
        match item {
            Item::Struct(item) => {
                names.insert(item.ident.to_string()).then_some(())?;
                let doc = text_of(&item.attrs);
                match item.fields {
                    Fields::Named(fields) => {
                        let fields = named(fields)?;
                        items.structs.push(Struct { name: item.ident, doc, fields });
                    }
                    Fields::Unnamed(fields) => {
                        let ty = fields.unnamed.into_iter().next()?.ty;
                        items.wrappers.push(Wrapper { name: item.ident, doc, ty });
                    }
                    Fields::Unit => return None,
                }
            }
            Item::Enum(item) => {
                names.insert(item.ident.to_string()).then_some(())?;
                let variants = item.variants.into_iter().map(variant).collect::<Option<_>>()?;
                let doc = text_of(&item.attrs);
                items.choices.push(Choice { name: item.ident, doc, serde: serde_of(item.attrs), variants });
            }
            _ => {}
        }
    }
    names.contains(root).then_some(items)
}

fn variant(variant: syn::Variant) -> Option<Variant> {
    let shape = match variant.fields {
        Fields::Unit => Shape::Unit,
        Fields::Unnamed(fields) => Shape::Tuple(fields.unnamed.into_iter().map(|field| field.ty).collect()),
        Fields::Named(fields) => Shape::Struct(named(fields)?),
    };
    Some(Variant { name: variant.ident, doc: text_of(&variant.attrs), serde: serde_of(variant.attrs), shape })
}

/// What serde is told, but not that other fields are refused: that is the dispatcher's, and the result's stay open.
fn serde_of(mut attributes: Vec<Attribute>) -> Vec<Attribute> {
    let refuses = |attribute: &Attribute| match &attribute.meta {
        Meta::List(list) => list.tokens.to_string() == "deny_unknown_fields",
        _ => false,
    };
    attributes.retain(|attribute| attribute.path().is_ident("serde") && !refuses(attribute));
    attributes
}

/// The fields, if no two have one name.
fn named(fields: FieldsNamed) -> Option<Vec<Field>> {
    let fields = fields.named.into_iter().map(field).collect::<Option<Vec<Field>>>()?;
    let mut names = BTreeSet::new();
    fields.iter().all(|field| names.insert(field.name.to_string())).then_some(fields)
}

fn field(field: syn::Field) -> Option<Field> {
    let name = field.ident?;
    let serde = Serde::of(&field.attrs)?;
    let json = (!serde.is_flat).then(|| serde.rename.unwrap_or_else(|| name.to_string()));
    // `typify` knows the other keywords.
    let name = if name == "gen" { name::ident("gen_") } else { name };
    let ty = if serde.is_optional { inner(&field.ty, "Option").cloned().unwrap_or(field.ty) } else { field.ty };
    Some(Field { name, json, doc: text_of(&field.attrs), ty, is_required: !serde.is_optional && !serde.is_flat })
}

/// What is said of a field under `#[serde(…)]`.
#[derive(Default)]
struct Serde {
    rename: Option<String>,
    is_optional: bool,
    is_flat: bool,
}

impl Serde {
    fn of(attributes: &[Attribute]) -> Option<Self> {
        let mut serde = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
            let parsed = attribute.parse_nested_meta(|meta| {
                match meta.path.get_ident().map(ToString::to_string).as_deref() {
                    Some("rename") => serde.rename = Some(meta.value()?.parse::<LitStr>()?.value()),
                    Some("flatten") => serde.is_flat = true,
                    Some("default" | "skip_serializing_if") => {
                        serde.is_optional = true;
                        if meta.input.peek(syn::Token![=]) {
                            meta.value()?.parse::<LitStr>()?;
                        }
                    }
                    // Of what is required and may be `null`.
                    Some("deserialize_with") => drop(meta.value()?.parse::<LitStr>()?),
                    _ => return Err(meta.error("unexpected")),
                }
                Ok(())
            });
            parsed.ok()?;
        }
        Some(serde)
    }
}

/// The text of doc comments, but not what `typify` says where the schema says nothing: the name.
fn text_of(attributes: &[Attribute]) -> String {
    let text = |attribute: &Attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    };
    let lines: Vec<String> = attributes.iter().filter_map(text).collect();
    let doc = lines.join("\n");
    let is_name = |doc: &str| doc.len() > 2 && doc.starts_with('`') && doc.ends_with('`') && !doc.contains(' ');
    if is_name(&doc) { String::new() } else { doc }
}

/// `T` of a `Wrapper<T>`, by the name that `typify` writes.
pub(crate) fn inner<'t>(ty: &'t Type, wrapper: &str) -> Option<&'t Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == wrapper)?;
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first() {
        Some(syn::GenericArgument::Type(ty)) => Some(ty),
        _ => None,
    }
}
