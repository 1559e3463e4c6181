//! Parsing of the structs and enums that `typify` generates.
//!
//! Only the types are kept. `typify` also generates many conversions for each type, represents an absent list as an empty
//! `Vec`, and refers to crates that may not be dependencies of the author.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use syn::{Attribute, Expr, ExprLit, Fields, FieldsNamed, File, Ident, Item, Lit, LitStr, Meta, Type};

use crate::name;

/// The types of a schema.
pub(crate) struct Items {
    pub(crate) structs: Vec<Struct>,
    pub(crate) enums: Vec<Enum>,
    pub(crate) newtypes: Vec<Newtype>,
}

/// A struct.
pub(crate) struct Struct {
    pub(crate) name: Ident,
    pub(crate) doc: String,
    pub(crate) fields: Vec<Field>,
}

pub(crate) struct Field {
    pub(crate) name: Ident,
    /// The JSON name, or `None` for the map of additional properties.
    pub(crate) json: Option<String>,
    pub(crate) doc: String,
    /// The type, without the `Option` of an optional field.
    pub(crate) ty: Type,
    pub(crate) is_required: bool,
}

/// An enum.
pub(crate) struct Enum {
    pub(crate) name: Ident,
    pub(crate) doc: String,
    /// The serde attributes, which define the representation.
    pub(crate) serde: Vec<Attribute>,
    pub(crate) variants: Vec<Variant>,
}

pub(crate) struct Variant {
    pub(crate) name: Ident,
    pub(crate) doc: String,
    /// The serde attributes, which define the JSON name.
    pub(crate) serde: Vec<Attribute>,
    pub(crate) shape: Shape,
}

pub(crate) enum Shape {
    Unit,
    Tuple(Vec<Type>),
    Struct(Vec<Field>),
}

/// A newtype.
pub(crate) struct Newtype {
    pub(crate) name: Ident,
    pub(crate) doc: String,
    pub(crate) ty: Type,
}

/// Parses the output of `typify`. Returns `None` if there is no type named `root` or two types have the same name.
pub(crate) fn parse(generated: TokenStream, root: &str) -> Option<Items> {
    let file: File = syn::parse2(generated).ok()?;
    let mut items = Items { structs: Vec::new(), enums: Vec::new(), newtypes: Vec::new() };
    let mut names = BTreeSet::new();
    for item in file.items {
        match item {
            Item::Struct(item) => {
                names.insert(item.ident.to_string()).then_some(())?;
                let doc = doc_text(&item.attrs);
                match item.fields {
                    Fields::Named(fields) => {
                        let fields = named(fields)?;
                        items.structs.push(Struct { name: item.ident, doc, fields });
                    }
                    Fields::Unnamed(fields) => {
                        let ty = fields.unnamed.into_iter().next()?.ty;
                        items.newtypes.push(Newtype { name: item.ident, doc, ty });
                    }
                    Fields::Unit => return None,
                }
            }
            Item::Enum(item) => {
                names.insert(item.ident.to_string()).then_some(())?;
                let variants = item.variants.into_iter().map(variant).collect::<Option<_>>()?;
                let doc = doc_text(&item.attrs);
                items.enums.push(Enum { name: item.ident, doc, serde: serde_attributes(item.attrs), variants });
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
    Some(Variant { name: variant.ident, doc: doc_text(&variant.attrs), serde: serde_attributes(variant.attrs), shape })
}

/// Returns the serde attributes except `deny_unknown_fields`, since the dispatcher validates arguments and results may have
/// additional properties.
fn serde_attributes(mut attributes: Vec<Attribute>) -> Vec<Attribute> {
    let denies_unknown = |attribute: &Attribute| match &attribute.meta {
        Meta::List(list) => list.tokens.to_string() == "deny_unknown_fields",
        _ => false,
    };
    attributes.retain(|attribute| attribute.path().is_ident("serde") && !denies_unknown(attribute));
    attributes
}

/// Returns the fields, or `None` if two fields have the same name.
fn named(fields: FieldsNamed) -> Option<Vec<Field>> {
    let fields = fields.named.into_iter().map(field).collect::<Option<Vec<Field>>>()?;
    let mut names = BTreeSet::new();
    fields.iter().all(|field| names.insert(field.name.to_string())).then_some(fields)
}

fn field(field: syn::Field) -> Option<Field> {
    let name = field.ident?;
    let serde = FieldAttributes::parse(&field.attrs)?;
    let json = (!serde.is_flat).then(|| serde.rename.unwrap_or_else(|| name.to_string()));
    // `typify` escapes all other keywords.
    let name = if name == "gen" { name::ident("gen_") } else { name };
    let ty = if serde.is_optional { inner(&field.ty, "Option").cloned().unwrap_or(field.ty) } else { field.ty };
    Some(Field { name, json, doc: doc_text(&field.attrs), ty, is_required: !serde.is_optional && !serde.is_flat })
}

/// The serde attributes of a field.
#[derive(Default)]
struct FieldAttributes {
    rename: Option<String>,
    is_optional: bool,
    is_flat: bool,
}

impl FieldAttributes {
    fn parse(attributes: &[Attribute]) -> Option<Self> {
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
                    // For a required field that may be `null`.
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

/// Returns the text of the doc comments. Without a description, `typify` generates the name, which is ignored.
fn doc_text(attributes: &[Attribute]) -> String {
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

/// Returns `T` of a `Wrapper<T>`, under the path that `typify` generates.
pub(crate) fn inner<'t>(ty: &'t Type, wrapper: &str) -> Option<&'t Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == wrapper)?;
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first() {
        Some(syn::GenericArgument::Type(ty)) => Some(ty),
        _ => None,
    }
}
