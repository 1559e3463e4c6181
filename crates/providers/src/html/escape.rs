//! Untrusted text as HTML: nothing in it is markup, and nothing is invisible; descriptions are rendered as
//! Markdown.

use std::collections::HashSet;
use std::ops::Range;

use pulldown_cmark::{Alignment, Event, HeadingLevel, Options, Parser, Tag, TagEnd, TextMergeWithOffset};
use serde_json::Value;

use toolkit::schema::excerpt::{effect, hidden};

/// The number of marked runs of hidden characters in a text. A mark is longer than the characters that it replaces.
const MAX_MARKS: usize = 64;

/// The number of characters of a run that a mark lists.
const MAX_NAMED: usize = 8;

/// Escapes `text` as the content of an element, with a visible mark for invisible and bidirectional control characters.
pub(super) fn text(text: &str) -> String {
    let names = |run: &[char]| {
        let names: Vec<String> = run.iter().take(MAX_NAMED).map(|c| format!("U+{:04X}", u32::from(*c))).collect();
        match run.len() - names.len() {
            0 => names.join(" "),
            n => format!("{} and {n} more", names.join(" ")),
        }
    };
    let (mut out, n_left) = marked(text, names, |_| String::new());
    if n_left > 0 {
        out.push_str(&format!(r#"<mark class="hidden">and {n_left} more hidden characters</mark>"#));
    }
    out
}

/// Formats `json` as the content of an element, indented. Hidden characters become JSON escapes,
/// so that copied text is the same JSON.
pub(super) fn json(json: &Value) -> String {
    escaped_json(&format!("{json:#}"))
}

/// Does the same as [`json`] for JSON text.
pub(super) fn escaped_json(json: &str) -> String {
    let escape = |c: &char| c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
    let escaped = |run: &[char]| run.iter().map(escape).collect::<String>();
    marked(json, escaped, escaped).0
}

/// Escapes `text` as an attribute value. Hidden characters are removed, since an attribute cannot contain a mark.
pub(super) fn attribute(text: &str) -> String {
    let hidden: HashSet<usize> = hidden(text).map(|(at, _)| at).collect();
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        if !hidden.contains(&at) && !ends_a_line(c) {
            push(c, &mut out);
        }
    }
    out
}

/// Escapes `url` as an address without invisible or non-ASCII characters.
pub(super) fn href(url: &str) -> String {
    attribute(&percent_encoded(url, |c| c.is_ascii_graphic()))
}

/// Percent-encodes all characters except those for which `keeps` returns true.
pub(super) fn percent_encoded(text: &str, keeps: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match keeps(c) {
            true => out.push(c),
            false => out.extend(c.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("%{byte:02X}"))),
        }
    }
    out
}

/// Returns true for line and paragraph separators, which browsers render inconsistently.
fn ends_a_line(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

/// Escapes `text` and replaces each run of hidden characters by a mark with the result of `mark`, or after
/// [`MAX_MARKS`] by the result of `plain`. Returns the number of characters without a mark, too.
fn marked(text: &str, mark: impl Fn(&[char]) -> String, plain: impl Fn(&[char]) -> String) -> (String, usize) {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut hidden = hidden(text).map(|(at, _)| at).peekable();
    let mut chars =
        text.char_indices().map(|(at, c)| (c, hidden.next_if_eq(&at).is_some() || ends_a_line(c))).peekable();
    let (mut n_marks, mut n_plain, mut run) = (0, 0, Vec::new());
    while let Some((c, is_hidden)) = chars.next() {
        if !is_hidden {
            push(c, &mut out);
            continue;
        }
        run.push(c);
        if chars.peek().is_some_and(|(_, is_hidden)| *is_hidden) {
            continue;
        }
        n_marks += 1;
        if n_marks <= MAX_MARKS {
            let what = if ends_a_line(run[0]) { "line separator" } else { effect(run[0]) };
            out.push_str(&format!(r#"<mark class="hidden" title="{what}">{}</mark>"#, mark(&run)));
        } else {
            n_plain += run.len();
            out.push_str(&plain(&run));
        }
        run.clear();
    }
    (out, n_plain)
}

fn push(c: char, out: &mut String) {
    match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        '\'' => out.push_str("&#39;"),
        // No document may contain it, not even escaped.
        '\0' => out.push('\u{FFFD}'),
        c => out.push(c),
    }
}

/// Renders `markdown` as HTML that loads and runs nothing: HTML in it is shown as text, and links must have the scheme
/// `http` or `https`.
pub(super) fn prose(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let events = TextMergeWithOffset::new(Parser::new_ext(markdown, options).into_offset_iter());
    let mut links = Vec::new();
    let mut paragraph = Paragraph::default();
    let mut out = String::new();
    let events = events.map(|(event, at)| match event {
        Event::SoftBreak if paragraph.has_meant(&at, markdown) => Event::HardBreak,
        event => safe(event, &mut links),
    });
    pulldown_cmark::html::push_html(&mut out, events);
    out
}

/// Replaces unsafe events. `links` is the stack of open links; true for those that are rendered as links.
fn safe<'m>(event: Event<'m>, links: &mut Vec<bool>) -> Event<'m> {
    let markup = |html: String| Event::InlineHtml(html.into());
    match event {
        Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => markup(self::text(&text)),
        Event::Code(code) => markup(format!("<code>{}</code>", self::text(&code))),
        Event::Start(Tag::HtmlBlock) => markup("<p>".to_owned()),
        Event::End(TagEnd::HtmlBlock) => markup("</p>\n".to_owned()),
        Event::Start(Tag::CodeBlock(_)) => markup("<pre><code>".to_owned()),
        Event::End(TagEnd::CodeBlock) => markup("</code></pre>\n".to_owned()),
        // The alignment would become a style attribute, which the content security policy blocks.
        Event::Start(Tag::Table(columns)) => Event::Start(Tag::Table(vec![Alignment::None; columns.len()])),
        // The heading of the tool is above it.
        Event::Start(Tag::Heading { level, .. }) => {
            Event::Start(Tag::Heading { level: lower(level), id: None, classes: vec![], attrs: vec![] })
        }
        Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(lower(level))),
        Event::Start(Tag::Link { dest_url, .. }) => {
            links.push(is_web(&dest_url));
            markup(match is_web(&dest_url) {
                true => format!(r#"<a href="{}" rel="noopener noreferrer nofollow">"#, href(&dest_url)),
                false => String::new(),
            })
        }
        Event::End(TagEnd::Link) => markup(if links.pop() == Some(true) { "</a>" } else { "" }.to_owned()),
        // Loading an image would send a request to a server that the author of the tool chose.
        Event::Start(Tag::Image { .. }) => markup("<em>image: ".to_owned()),
        Event::End(TagEnd::Image) => markup("</em>".to_owned()),
        event => event,
    }
}

fn is_web(url: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| url.get(..scheme.len()).is_some_and(|s| s.eq_ignore_ascii_case(scheme)))
}

fn lower(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H4,
        HeadingLevel::H2 => HeadingLevel::H5,
        _ => HeadingLevel::H6,
    }
}

/// The most recent paragraph, cached since a long one has many lines.
#[derive(Default)]
struct Paragraph {
    place: Range<usize>,
    longest_line: usize,
}

impl Paragraph {
    /// Returns true if the line break is intentional: the next word would fit on the line, given the longest line of
    /// the paragraph.
    ///
    /// Markdown joins the items of a list without bullets, or a heading and its text, into one paragraph. Many authors
    /// of descriptions do not write Markdown intentionally.
    fn has_meant(&mut self, at: &Range<usize>, markdown: &str) -> bool {
        /// The number of columns that authors leave free when they wrap lines by hand.
        const SLACK: usize = 12;

        let (before, after) = (&markdown[..at.start], &markdown[at.end..]);
        if !self.place.contains(&at.start) {
            let start = before.rfind("\n\n").map_or(0, |end| end + 2);
            let end = after.find("\n\n").map_or(markdown.len(), |end| at.end + end);
            let longest_line = markdown[start..end].lines().map(str::len).max().unwrap_or_default();
            *self = Self { place: start..end, longest_line };
        }
        let line = before.rsplit('\n').next().unwrap_or_default().trim_end();
        let word = after.split_whitespace().next().unwrap_or_default();
        line.len() + 1 + word.len() + SLACK <= self.longest_line
    }
}
