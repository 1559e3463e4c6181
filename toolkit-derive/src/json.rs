//! JSON in attributes: objects as text, and a parser for examples, which reports the kind of each member.

use std::fmt;

use proc_macro2::{Delimiter, Group, Literal, TokenStream, TokenTree};
use quote::ToTokens;
use serde_core::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use syn::LitStr;

/// The argument names of an example, each with the kind of its value.
pub(crate) type Members = Vec<(String, Json)>;

/// The kind of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Json {
    Null,
    Bool,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl Json {
    /// Returns the kind with its article, for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

/// Parses a JSON object and returns its members.
pub(crate) fn members(text: &str) -> Result<Members, String> {
    let not_json = |error: serde_json::Error| format!("not JSON: {error}");
    if !serde_json::from_str::<Value>(text).map_err(not_json)?.is_object() {
        return Err("an example must be a JSON object with the arguments of one call".to_owned());
    }
    let members = serde_json::Deserializer::from_str(text).deserialize_map(MemberVisitor).map_err(not_json)?;
    let repeated =
        members.iter().enumerate().find(|(nth, (key, _))| members[..*nth].iter().any(|(other, _)| other == key));
    match repeated {
        Some((_, (key, _))) => Err(format!("duplicate key `{key}` in the example")),
        None => Ok(members),
    }
}

struct MemberVisitor;

impl<'de> Visitor<'de> for MemberVisitor {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Members, A::Error> {
        let mut members = Vec::new();
        while let Some((key, value)) = entries.next_entry::<String, &RawValue>()? {
            members.push((key, kind(value.get())));
        }
        Ok(members)
    }
}

/// Returns the kind of a JSON text. A tree has no integers of more than 64 bits.
fn kind(json: &str) -> Json {
    match json.as_bytes() {
        [b'{', ..] => Json::Object,
        [b'[', ..] => Json::Array,
        [b'"', ..] => Json::String,
        [b't' | b'f', ..] => Json::Bool,
        [b'n', ..] => Json::Null,
        number if number.iter().any(|byte| b".eE".contains(byte)) => Json::Number,
        _ => Json::Integer,
    }
}

/// Replaces the JSON objects in `examples = [{…}]` and `meta = {…}` by string literals, since they are no expressions.
pub(crate) fn objects_as_text(argument: TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = argument.clone().into_iter().collect();
    let [TokenTree::Ident(key), TokenTree::Punct(equals), TokenTree::Group(value)] = &tokens[..] else {
        return argument;
    };
    let value = match value.delimiter() {
        Delimiter::Brace if key == "meta" => as_text(value),
        Delimiter::Bracket if key == "examples" => {
            let items = value.stream().into_iter().map(|item| match item {
                TokenTree::Group(object) if object.delimiter() == Delimiter::Brace => as_text(&object),
                item => item,
            });
            let mut list = Group::new(Delimiter::Bracket, items.collect());
            list.set_span(value.span());
            list.into()
        }
        _ => return argument,
    };
    [TokenTree::from(key.clone()), equals.clone().into(), value].into_iter().collect()
}

/// Returns the string literal of an object, at its place.
fn as_text(object: &Group) -> TokenTree {
    let mut text = String::new();
    write_json(&TokenTree::Group(object.clone()), &mut text);
    let mut literal = Literal::string(&text);
    literal.set_span(object.span());
    literal.into()
}

/// Writes tokens as JSON. What is not JSON is reported when the text is read.
fn write_json(token: &TokenTree, text: &mut String) {
    match token {
        TokenTree::Group(group) => {
            let (open, close) = match group.delimiter() {
                Delimiter::Brace => ("{", "}"),
                Delimiter::Bracket => ("[", "]"),
                Delimiter::Parenthesis => ("(", ")"),
                Delimiter::None => ("", ""),
            };
            text.push_str(open);
            group.stream().into_iter().for_each(|inner| write_json(&inner, text));
            text.push_str(close);
        }
        TokenTree::Literal(literal) => match syn::parse2::<LitStr>(literal.to_token_stream()) {
            Ok(string) => {
                text.push('"');
                for c in string.value().chars() {
                    match c {
                        '"' | '\\' => text.extend(['\\', c]),
                        c if c < ' ' => text.push_str(&format!("\\u{:04x}", u32::from(c))),
                        c => text.push(c),
                    }
                }
                text.push('"');
            }
            Err(_) => text.push_str(&literal.to_string()),
        },
        other => text.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Json, members};

    #[test]
    fn parses_members_with_their_kinds() {
        let text = r#" {"a": -1, "b\u00e9": 1.5e3, "c": [1, {"d": null}], "d": {"e": "\"\ud83d\ude00"}, "f": true} "#;
        let found = members(text).unwrap();
        let expect =
            [("a", Json::Integer), ("bé", Json::Number), ("c", Json::Array), ("d", Json::Object), ("f", Json::Bool)];
        assert_eq!(found, expect.map(|(key, kind)| (key.to_owned(), kind)));
        assert_eq!(members("{}"), Ok(Vec::new()));
    }

    #[test]
    fn rejects_text_that_is_not_a_json_object() {
        let texts =
            ["", "[]", "1", "{", "{a: 1}", "{\"a\": 01}", "{\"a\": 1,}", "{} x", "{\"a\": tru}", "{\"a\": \"\n\"}"];
        for text in texts.into_iter().chain(["{\"a\": 1, \"a\": 2}", "{\"a\": +1}", "{\"a\": 1.}", "{\"a\": \"\\x\"}"])
        {
            assert!(members(text).is_err(), "{text}");
        }
        assert!(members(&"[".repeat(200)).is_err());
    }
}
