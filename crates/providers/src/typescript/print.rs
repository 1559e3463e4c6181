//! Types as text, with their comments.

use std::fmt::Write as _;

use super::comments::{block, line};
use super::literals::property_name;
use super::ty::{Comment, Detail, Node, Property, Type};

/// The type that a type is part of, which decides about parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(super) enum Within {
    Nothing,
    Union,
    Intersection,
    Array,
}

/// Returns the text of a type. In full detail, each property has its line.
pub(super) fn print(node: &Node, within: Within, detail: Detail, indent: usize) -> String {
    let member = |node: &Node, within| with_block(&lifted(node), print(node, within, detail, indent));
    match &node.ty {
        Type::Unknown => "unknown".to_owned(),
        Type::Never => "never".to_owned(),
        Type::Primitive(name) => (*name).to_owned(),
        Type::Literal(text) | Type::Name(text) => text.clone(),
        Type::Array(item) => format!("{}[]", print(item, Within::Array, detail, indent)),
        Type::Tuple { items, n_required, rest } => {
            let items = items.iter().enumerate().map(|(idx, item)| {
                let is_optional = idx >= *n_required;
                // A comment or a union in front of `?` needs parentheses.
                let within = if is_optional { Within::Array } else { Within::Nothing };
                let text = with_block(&lifted(item), print(item, within, detail, indent));
                if is_optional { format!("{text}?") } else { text }
            });
            let rest = rest.iter().map(|rest| format!("...{}[]", print(rest, Within::Array, detail, indent)));
            format!("[{}]", items.chain(rest).collect::<Vec<_>>().join(", "))
        }
        Type::Object { properties, rest } => object(properties, rest.as_deref(), detail, indent),
        Type::Union(members) => {
            let is_lifted = lifts(&node.ty).is_some();
            let members = members.iter().map(|part| match is_lifted {
                true => print(part, Within::Union, detail, indent),
                false => member(part, Within::Union),
            });
            let text = members.collect::<Vec<_>>().join("|");
            if within > Within::Union { format!("({text})") } else { text }
        }
        Type::Intersection(members) => {
            let members = members.iter().map(|part| member(part, Within::Intersection));
            let text = members.collect::<Vec<_>>().join("&");
            if within > Within::Intersection { format!("({text})") } else { text }
        }
    }
}

fn object(properties: &[Property], rest: Option<&Node>, detail: Detail, indent: usize) -> String {
    if let ([], Some(rest)) = (properties, rest)
        && matches!(rest.ty, Type::Unknown | Type::Never)
        && rest.comment.is_empty()
    {
        return format!("Record<string, {}>", print(rest, Within::Nothing, detail, indent));
    }
    let inner = indent + 1;
    let properties = properties.iter().map(|property| {
        let optional = if property.is_optional { "?" } else { "" };
        (format!("{}{optional}: ", property_name(&property.name)), &property.node)
    });
    let rest = rest.map(|rest| ("[key: string]: ".to_owned(), rest));
    let members = properties.chain(rest).map(|(name, node)| {
        let text = format!("{name}{}", print(node, Within::Nothing, detail, inner));
        with_line(text, &lifted(node))
    });
    if detail != Detail::Full {
        return format!("{{ {} }}", members.collect::<Vec<_>>().join("; "));
    }
    let mut text = "{\n".to_owned();
    for member in members {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:inner$}{member}", "");
    }
    let _ = write!(text, "{:indent$}}}", "");
    text
}

/// Returns the comment of a type, with those of the types inside it that have no place of their own.
pub(super) fn lifted(node: &Node) -> Comment {
    let comment = node.comment.clone();
    match (lifts(&node.ty), &node.ty) {
        (Some(part), Type::Array(_)) => {
            let part = line(&lifted(part));
            let each = (!part.is_empty()).then(|| format!("each: {part}"));
            match each {
                Some(each) if comment.text.is_empty() => Comment { text: each, ..comment },
                Some(each) => Comment { text: format!("{}; {each}", comment.text), ..comment },
                None => comment,
            }
        }
        (Some(part), _) => comment.with(lifted(part)),
        (None, _) => comment,
    }
}

/// Returns the part of a type whose comment is shown as that of the type: the item of an array, or the only type beside
/// `null`.
fn lifts(ty: &Type) -> Option<&Node> {
    match ty {
        Type::Array(item) => Some(item),
        Type::Union(members) => match &members[..] {
            [member, null] if null.ty == Type::Primitive("null") && null.comment.is_empty() => Some(member),
            _ => None,
        },
        _ => None,
    }
}

/// Adds a comment in front of a type.
pub(super) fn with_block(comment: &Comment, text: String) -> String {
    if comment.is_empty() { text } else { format!("{} {text}", block(&line(comment))) }
}

/// Adds a comment to the end of the first line.
pub(super) fn with_line(text: String, comment: &Comment) -> String {
    if comment.is_empty() {
        return text;
    }
    // A line of a type ends only after a brace that opens it, or with the type.
    let (first, rest) = text.find('\n').map_or((&*text, ""), |end| text.split_at(end));
    format!("{first} // {}{rest}", line(comment))
}
