//! A short text that a pattern matches, or that has a format.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// The longest text that is still an example.
const MAX_LEN: usize = 64;

/// A short text that `pattern` probably matches; the caller checks whether it does.
pub(super) fn matching(pattern: &str) -> Option<String> {
    let hir = ParserBuilder::new().unicode(false).utf8(false).nest_limit(64).build().parse(pattern).ok()?;
    let mut text = Vec::new();
    append(&hir, &mut text)?;
    String::from_utf8(text).ok()
}

/// A text of that format (JSON Schema 2020-12, Validation 7.3): the schema does not ask for it, but a type may.
pub(in crate::schema) fn of_format(format: &str) -> Option<&'static str> {
    Some(match format {
        "date" => "2024-05-06",
        "date-time" => "2024-05-06T12:30:00Z",
        "time" => "12:30:00Z",
        "partial-date-time" => "2024-05-06T12:30:00",
        "partial-time" => "12:30:00",
        "duration" => "PT1H30M",
        "email" => "ada@example.com",
        "hostname" => "example.com",
        "ip" | "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "uri" | "url" => "https://example.com/",
        "uuid" => "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
        _ => return None,
    })
}

fn append(hir: &Hir, text: &mut Vec<u8>) -> Option<()> {
    match hir.kind() {
        // Where the text begins or ends need not be said: it is the whole value.
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.extend_from_slice(&literal.0),
        HirKind::Class(Class::Bytes(class)) => {
            let has = |byte: &u8| class.ranges().iter().any(|range| (range.start()..=range.end()).contains(byte));
            let byte = (b'a'..=b'z').chain(b'A'..=b'Z').chain(b'1'..=b'9').chain(b' '..=b'~').find(has);
            text.push(byte?);
        }
        HirKind::Class(Class::Unicode(class)) => {
            let first = class.ranges().first()?.start();
            text.extend_from_slice(first.encode_utf8(&mut [0; 4]).as_bytes());
        }
        HirKind::Repetition(repetition) => {
            // What is repeated may be empty, and then its length bounds nothing.
            for _ in 0..repetition.min.min(MAX_LEN as u32 + 1) {
                append(&repetition.sub, text)?;
            }
        }
        HirKind::Capture(capture) => append(&capture.sub, text)?,
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| append(part, text))?,
        HirKind::Alternation(branches) => append(branches.first()?, text)?,
    }
    (text.len() <= MAX_LEN).then_some(())
}
