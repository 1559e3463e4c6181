//! Short strings for patterns and formats.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// The maximum length of an example.
const MAX_LEN: usize = 64;

/// Returns a short string that `pattern` probably matches. The caller checks that it does.
pub(super) fn matching(pattern: &str) -> Option<String> {
    let hir = ParserBuilder::new().unicode(false).utf8(false).nest_limit(64).build().parse(pattern).ok()?;
    let mut text = Vec::new();
    append(&hir, &mut text)?;
    String::from_utf8(text).ok()
}

/// Returns a string of the format (JSON Schema 2020-12, Validation 7.3). Schemas do not assert formats, but Rust types
/// may.
pub(crate) fn of_format(format: &str) -> Option<&'static str> {
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
        // Anchors need no characters, since the text is the whole value.
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
            // The repeated part may be empty, and then the length does not bound the loop.
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
