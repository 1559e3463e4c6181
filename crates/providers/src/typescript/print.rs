//! Types, comments and literals as text. No text of a tool can end its comment or its literal.

use std::fmt::Write as _;

use serde_json::Value;

use super::ty::{Comment, Detail, Node, Property, Type};
use toolkit::schema::excerpt::escaped;

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

// Texts of tools as comments. No text can end its comment.

/// The maximum number of characters of a first sentence.
const MAX_SENTENCE: usize = 200;

/// Returns a comment on one line, without its delimiters.
pub(super) fn line(comment: &Comment) -> String {
    let notes = comment.notes.join(" ");
    let text = match (notes.is_empty(), comment.text.is_empty()) {
        (true, _) => comment.text.clone(),
        (false, true) => notes,
        (false, false) => format!("{notes}; {}", comment.text),
    };
    one_line(&text)
}

/// Returns text on one line.
pub(super) fn one_line(text: &str) -> String {
    // All characters that end a line are white space.
    let words: Vec<&str> = text.split_whitespace().collect();
    without_directive(escaped(&words.join(" ")))
}

/// Returns a block comment on one line.
pub(super) fn block(text: &str) -> String {
    format!("/* {} */", closed(text))
}

/// Returns a documentation comment with the lines of `text`.
pub(super) fn documentation(text: &str) -> String {
    let lines = text.split(['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}']);
    let lines: Vec<String> = lines.map(|line| without_directive(escaped(line.trim_end()))).collect();
    let mut text = String::new();
    for line in &lines {
        // Several empty lines are like one.
        if !(line.is_empty() && (text.is_empty() || text.ends_with("\n\n"))) {
            text.push_str(line);
            text.push('\n');
        }
    }
    format!("/** {} */", closed(text.trim()))
}

/// Replaces the end of a block comment.
fn closed(text: &str) -> String {
    text.replace("*/", "*\\/")
}

/// Prevents that a comment is read as an instruction to the compiler, such as `@ts-ignore`.
fn without_directive(text: String) -> String {
    if text.trim_start_matches([' ', '\t', '/', '*']).starts_with('@') { format!("- {text}") } else { text }
}

/// Returns the first sentence of a text, of at most 200 characters.
pub(super) fn first_sentence(text: &str) -> String {
    let text = one_line(text);
    let mut end = text.len();
    for (at, c) in text.char_indices() {
        let after = at + c.len_utf8();
        let is_end = match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => text[after..].starts_with(' ') && !is_abbreviated(&text[..after]),
            _ => false,
        };
        if is_end {
            end = after;
            break;
        }
    }
    let sentence = &text[..end];
    match sentence.char_indices().nth(MAX_SENTENCE) {
        None => sentence.to_owned(),
        Some((most, _)) => {
            let cut = sentence[..most].rfind(' ').unwrap_or(most);
            format!("{}…", &sentence[..cut])
        }
    }
}

/// Returns true if the period at the end is that of an abbreviation or of a number in a list.
fn is_abbreviated(text: &str) -> bool {
    let word = text.rsplit(' ').next().unwrap_or_default().trim_start_matches('(').to_ascii_lowercase();
    let is_number = word.trim_end_matches('.').bytes().all(|byte| byte.is_ascii_digit());
    is_number || matches!(word.as_str(), "e.g." | "i.e." | "etc." | "vs." | "cf.")
}

/// Returns the type whose only value is `value`.
pub(super) fn literal(value: &Value) -> Type {
    match value {
        Value::Null => Type::Primitive("null"),
        Value::Bool(value) => Type::Literal(value.to_string()),
        Value::Number(number) => Type::Literal(number.to_string()),
        Value::String(text) => Type::Literal(quoted(text)),
        Value::Array(items) => {
            let items: Vec<Node> = items.iter().map(|item| literal(item).into()).collect();
            Type::Tuple { n_required: items.len(), items, rest: None }
        }
        Value::Object(object) => {
            let property = |(name, value): (&String, &Value)| {
                let node = literal(value).into();
                Property { name: name.clone(), is_optional: false, node }
            };
            let mut properties: Vec<Property> = object.iter().map(property).collect();
            properties.sort_by(|a, b| a.name.cmp(&b.name));
            let rest = properties.is_empty().then(|| Box::new(Type::Never.into()));
            Type::Object { properties, rest }
        }
    }
}

/// Returns a property name: an identifier if it is one, or else a string literal.
pub(super) fn property_name(name: &str) -> String {
    if is_identifier(name) { name.to_owned() } else { quoted(name) }
}

/// Returns true for an identifier of ASCII letters, digits, `_` and `$`, also if it is a reserved word.
pub(super) fn is_identifier(name: &str) -> bool {
    let starts = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '$');
    name.starts_with(starts) && name.chars().all(|c| starts(c) || c.is_ascii_digit())
}

/// Returns a string literal. Everything that ends a line, is invisible, or changes the direction of the text is escaped.
pub(super) fn quoted(text: &str) -> String {
    let mut hidden = toolkit::schema::excerpt::hidden(text).map(|(at, _)| at).peekable();
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for (at, c) in text.char_indices() {
        let is_hidden = hidden.next_if_eq(&at).is_some();
        // Writing to a string cannot fail.
        let _ = match c {
            '"' | '\\' => write!(out, "\\{c}"),
            '\n' => out.write_str("\\n"),
            '\r' => out.write_str("\\r"),
            '\t' => out.write_str("\\t"),
            '\u{2028}' | '\u{2029}' => write!(out, "{}", c.escape_unicode()),
            c if is_hidden || c.is_control() => write!(out, "{}", c.escape_unicode()),
            c => out.write_char(c),
        };
    }
    out.push('"');
    out
}
