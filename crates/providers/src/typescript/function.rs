//! The declaration of a tool as a function.

use super::comments::{documentation, first_sentence, one_line};
use super::convert::{Converted, convert};
use super::named::NamedTypes;
use super::print::{Within, lifted, print, with_block};
use super::ty::{Detail, Node, Type};
use crate::loss::{Effect, Loss, Side, loss, provider_description, unsupported_fields};
use toolkit::catalog::ExportedName;
use toolkit::tool::Tool;
use toolkit_schema::types::Types;

/// The declaration of a tool.
pub(super) struct Function {
    name: String,
    /// The text of the comment.
    documentation: String,
    arguments: Node,
    result: Node,
}

impl Function {
    /// Converts a tool. Its named types are added to `types`.
    pub(super) fn new(name: &ExportedName, tool: &Tool, detail: Detail, types: &mut NamedTypes) -> (Self, Vec<Loss>) {
        let input = convert(tool.input().as_value(), Types::OBJECT, Side::Input, detail);
        let output = tool.output().map(|schema| convert(schema.as_value(), Types::ALL, Side::Output, detail));
        let mut losses = record_losses(name, tool, detail);
        let mut add = |converted: Converted| {
            let Converted { mut node, definitions, losses: lost } = converted;
            losses.extend(lost);
            types.add(definitions, &mut node);
            node
        };
        let arguments = add(input);
        let result = output.map_or(Type::Unknown.into(), add);
        let documentation = match detail {
            Detail::Full => provider_description(tool).unwrap_or_default(),
            Detail::Compact => summary(tool),
            Detail::Signatures => String::new(),
        };
        (Self { name: name.name().to_owned(), documentation, arguments, result }, losses)
    }

    pub(super) fn types_mut(&mut self) -> [&mut Node; 2] {
        [&mut self.arguments, &mut self.result]
    }

    pub(super) fn print(&self, detail: Detail, types: &NamedTypes) -> String {
        let commented = |node: &Node| with_block(&lifted(node), print(node, Within::Nothing, detail, 0));
        let arguments = match &self.arguments.ty {
            ty if has_no_properties(ty) => String::new(),
            ty => {
                let optional = if accepts_empty(ty, types) { "?" } else { "" };
                format!("args{optional}: {}", commented(&self.arguments))
            }
        };
        let signature = format!("function {}({arguments}): Promise<{}>", self.name, commented(&self.result));
        match detail {
            _ if self.documentation.trim().is_empty() => signature,
            Detail::Full => format!("{}\n{signature}", documentation(&self.documentation)),
            Detail::Compact | Detail::Signatures => format!("{signature} // {}", self.documentation),
        }
    }
}

/// Returns the first sentence of the description, and the deprecation notice.
fn summary(tool: &Tool) -> String {
    let description = if tool.description().trim().is_empty() { tool.title() } else { Some(tool.description()) };
    let sentence = first_sentence(description.unwrap_or_default());
    match tool.deprecated() {
        Some(instead) => one_line(&format!("{sentence} Deprecated: {instead}")),
        None => sentence,
    }
}

/// Returns the losses of the record.
fn record_losses(name: &ExportedName, tool: &Tool, detail: Detail) -> Vec<Loss> {
    let mut losses = Vec::new();
    let mut lose = |field: &str, reason: String| {
        losses.push(Loss::new(Side::Record, format!("/{field}"), field, Effect::MetadataOnly, reason));
    };
    if name.name() != tool.name() {
        lose("name", format!("is written as `{}`", name.name()));
    }
    if name.namespace() != tool.id().namespace() {
        lose("namespace", format!("is written as `{}`", name.namespace().unwrap_or_default()));
    }
    match detail {
        Detail::Full => {}
        Detail::Compact => lose("description", "is reduced to its first sentence".to_owned()),
        Detail::Signatures => lose("description", "is not expressed".to_owned()),
    }
    if detail == Detail::Signatures && tool.deprecated().is_some() {
        losses.push(loss(Side::Record, "deprecated"));
    }
    losses.extend(unsupported_fields(tool, &["namespace", "outputSchema"]));
    losses
}

/// Returns true for the type of an object that declares no properties.
fn has_no_properties(ty: &Type) -> bool {
    match ty {
        Type::Object { properties, rest } => {
            properties.is_empty() && rest.as_ref().is_none_or(|rest| rest.ty == Type::Never)
        }
        _ => false,
    }
}

/// Returns true if a type accepts an object without properties.
fn accepts_empty(ty: &Type, types: &NamedTypes) -> bool {
    match ty {
        Type::Object { properties, .. } => properties.iter().all(|property| property.is_optional),
        Type::Union(members) => members.iter().any(|member| accepts_empty(&member.ty, types)),
        Type::Intersection(members) => members.iter().all(|member| accepts_empty(&member.ty, types)),
        Type::Name(name) => types.get(name).is_some_and(|node| accepts_empty(&node.ty, types)),
        _ => false,
    }
}
