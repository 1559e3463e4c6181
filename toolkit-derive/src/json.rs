//! JSON in attributes: objects as text, and a parser for examples, which reports the kind of each member.

use std::iter::Peekable;
use std::str::Chars;

use proc_macro2::{Delimiter, Group, Literal, TokenStream, TokenTree};
use quote::ToTokens;
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
    let mut reader = JsonReader { rest: text.chars().peekable(), depth: 0 };
    reader.space();
    let mut members = Vec::new();
    if reader.value(&mut members)? != Json::Object {
        return Err("an example must be a JSON object with the arguments of one call".to_owned());
    }
    reader.space();
    match reader.rest.next() {
        None => Ok(members),
        Some(c) => Err(format!("not JSON: unexpected `{c}` after the object")),
    }
}

struct JsonReader<'t> {
    rest: Peekable<Chars<'t>>,
    depth: usize,
}

impl JsonReader<'_> {
    fn space(&mut self) {
        while self.rest.next_if(|c| matches!(c, ' ' | '\t' | '\n' | '\r')).is_some() {}
    }

    fn expect(&mut self, expected: char) -> Result<(), String> {
        match self.rest.next() {
            Some(c) if c == expected => Ok(()),
            Some(c) => Err(format!("not JSON: expected `{expected}`, found `{c}`")),
            None => Err(format!("not JSON: expected `{expected}`, found the end")),
        }
    }

    /// Parses one value; `members` receives the members of an object at the root.
    fn value(&mut self, members: &mut Members) -> Result<Json, String> {
        match self.rest.peek().copied() {
            Some('{') => self.object(members),
            Some('[') => self.array(),
            Some('"') => self.string().map(|_| Json::String),
            Some('t') => self.word("true", Json::Bool),
            Some('f') => self.word("false", Json::Bool),
            Some('n') => self.word("null", Json::Null),
            Some('-' | '0'..='9') => self.number(),
            Some(c) => Err(format!("not JSON: expected a value, found `{c}`")),
            None => Err("not JSON: expected a value, found the end".to_owned()),
        }
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, String>) -> Result<T, String> {
        self.depth += 1;
        if self.depth > 128 {
            return Err("the example is nested too deeply".to_owned());
        }
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn object(&mut self, members: &mut Members) -> Result<Json, String> {
        let is_root = self.depth == 0;
        self.nested(|reader| {
            reader.expect('{')?;
            reader.space();
            if reader.rest.next_if_eq(&'}').is_some() {
                return Ok(Json::Object);
            }
            loop {
                reader.space();
                let key = reader.string()?;
                reader.space();
                reader.expect(':')?;
                reader.space();
                let kind = reader.value(&mut Vec::new())?;
                if is_root && members.iter().any(|(other, _)| *other == key) {
                    return Err(format!("duplicate key `{key}` in the example"));
                }
                if is_root {
                    members.push((key, kind));
                }
                reader.space();
                if reader.rest.next_if_eq(&',').is_none() {
                    return reader.expect('}').map(|()| Json::Object);
                }
            }
        })
    }

    fn array(&mut self) -> Result<Json, String> {
        self.nested(|reader| {
            reader.expect('[')?;
            reader.space();
            if reader.rest.next_if_eq(&']').is_some() {
                return Ok(Json::Array);
            }
            loop {
                reader.space();
                reader.value(&mut Vec::new())?;
                reader.space();
                if reader.rest.next_if_eq(&',').is_none() {
                    return reader.expect(']').map(|()| Json::Array);
                }
            }
        })
    }

    fn string(&mut self) -> Result<String, String> {
        self.expect('"')?;
        let mut text = String::new();
        loop {
            match self.rest.next() {
                Some('"') => return Ok(text),
                Some('\\') => text.push(self.escape()?),
                Some(c) if c < ' ' => return Err("not JSON: a string must escape control characters".to_owned()),
                Some(c) => text.push(c),
                None => return Err("not JSON: a string is never closed".to_owned()),
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        Ok(match self.rest.next() {
            Some(c @ ('"' | '\\' | '/')) => c,
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => {
                let digits: String = self.rest.by_ref().take(4).collect();
                let code = u32::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 4);
                let code = code.ok_or_else(|| format!("not JSON: `\\u{digits}` is not a valid escape"))?;
                // Each half of a surrogate pair becomes one replacement character; the text is only compared with names.
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            Some(c) => return Err(format!("not JSON: `\\{c}` is not a valid escape")),
            None => return Err("not JSON: a string is never closed".to_owned()),
        })
    }

    fn word(&mut self, word: &str, kind: Json) -> Result<Json, String> {
        match word.chars().all(|c| self.rest.next_if_eq(&c).is_some()) {
            true => Ok(kind),
            false => Err(format!("not JSON: expected `{word}`")),
        }
    }

    fn number(&mut self) -> Result<Json, String> {
        let mut text = String::new();
        while let Some(c) = self.rest.next_if(|c| matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E')) {
            text.push(c);
        }
        let digits = text.strip_prefix('-').unwrap_or(&text);
        let (whole, rest) = digits.split_at(digits.find(['.', 'e', 'E']).unwrap_or(digits.len()));
        let is_whole = whole == "0" || (!whole.starts_with('0') && is_digits(whole));
        let (fraction, exponent) = match rest.split_once(['e', 'E']) {
            Some((fraction, exponent)) => (fraction, exponent.strip_prefix(['+', '-']).unwrap_or(exponent)),
            None => (rest, "0"),
        };
        let is_fraction = fraction.is_empty() || fraction.strip_prefix('.').is_some_and(is_digits);
        match is_whole && is_fraction && is_digits(exponent) {
            true if rest.is_empty() => Ok(Json::Integer),
            true => Ok(Json::Number),
            false => Err(format!("not JSON: `{text}` is not a number")),
        }
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
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
