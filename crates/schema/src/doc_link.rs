//! Links of rustdoc in the text of doc comments, which no model can follow.

/// Returns the text with each link to a Rust item replaced by the text of the link. Other links, and code, stay.
///
/// ```text
/// See [`sum`], [the sum](crate::math::sum) and [`sum`](fn@sum).    See `sum`, the sum and `sum`.
/// ```
pub fn without_doc_links(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['[', '`']) {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let (kept, n_read) = if rest.starts_with('`') { code(rest) } else { link(rest) };
        plain.push_str(kept);
        rest = &rest[n_read..];
    }
    plain + rest
}

/// Returns the code at the start of a text, up to as many backticks as it begins with, and its length.
fn code(text: &str) -> (&str, usize) {
    let ticks = &text[..text.len() - text.trim_start_matches('`').len()];
    let end = text[ticks.len()..].find(ticks).map_or(ticks.len(), |at| ticks.len() + at + ticks.len());
    (&text[..end], end)
}

/// Returns what is kept of the brackets at the start of a text, and the number of bytes that it replaces: the text of a link to
/// an item, or else the bracket.
fn link(text: &str) -> (&str, usize) {
    let bracket = (&text[..1], 1);
    let Some(end) = closing(text, ']') else { return bracket };
    let (label, after) = (&text[1..end], &text[end + 1..]);
    let target = match after.chars().next() {
        Some('(') => closing(after, ')').map(|end| (&after[1..end], end + 1)),
        Some('[') => closing(after, ']').map(|end| (&after[1..end], end + 1)),
        _ if label.starts_with('`') => Some((label, 0)),
        _ => None,
    };
    match target {
        Some((target, n_bytes)) if is_item(target) => (label, end + 1 + n_bytes),
        _ => bracket,
    }
}

/// Returns the position of the bracket that closes the first one of a text, on the same line.
fn closing(text: &str, close: char) -> Option<usize> {
    let open = text.chars().next()?;
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '\n' => return None,
            c if c == open => depth += 1,
            c if c == close && depth == 1 => return Some(at),
            c if c == close => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Returns true for the path of an item as rustdoc reads it, such as `` `crate::Tool` ``, `fn@sum`, `Vec<T>` and `sum()`.
fn is_item(target: &str) -> bool {
    let path = target.trim_matches('`');
    let path = path.split_once('@').map_or(path, |(kind, path)| if is_name(kind) { path } else { "" });
    let path = path.strip_suffix("()").or_else(|| path.strip_suffix('!')).unwrap_or(path);
    let path = path.split_once('<').map_or(path, |(path, _)| path.trim_end_matches(':'));
    !path.is_empty() && path.split("::").all(is_name)
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c == '_' || c.is_alphabetic()) && name.chars().all(|c| c == '_' || c.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::without_doc_links;

    #[test]
    fn a_link_to_an_item_is_its_text() {
        for (written, read) in [
            ("Like [`other`](crate::other).", "Like `other`."),
            ("Like [the other one](Other), but [`fast`].", "Like the other one, but `fast`."),
            ("[`sum`](fn@sum), [`sum()`], [`vec!`], [`Vec<T>`](std::vec::Vec)", "`sum`, `sum()`, `vec!`, `Vec<T>`"),
            ("See [lists][`Vec`] and [`Option::Some`].", "See lists and `Option::Some`."),
            ("größer: [`größe`]", "größer: `größe`"),
        ] {
            assert_eq!(without_doc_links(written), read, "{written}");
        }
    }

    #[test]
    fn other_links_and_brackets_and_code_stay() {
        for text in [
            "See [the page](https://example.com/a) or [it](../a.md#b).",
            "A list such as [1, 2], [a] and [ ].",
            "Code: `[`, ``[`x`]``, `a[i](b)`.",
            "```\n[`sum`](crate::sum)\n```",
            "[not closed, [`a b`], [x](",
            "[a]\n(crate::b) [a\nb](c)",
            "`",
            "",
        ] {
            assert_eq!(without_doc_links(text), text);
        }
    }
}
