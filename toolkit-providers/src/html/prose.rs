//! Rendering of descriptions as Markdown: HTML is shown as text, and links must have the scheme `http` or `https`.

use std::ops::Range;

use pulldown_cmark::{Alignment, Event, HeadingLevel, Options, Parser, Tag, TagEnd, TextMergeWithOffset};

use super::escape;

/// Renders `markdown` as HTML that loads and runs nothing.
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
        Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => markup(escape::text(&text)),
        Event::Code(code) => markup(format!("<code>{}</code>", escape::text(&code))),
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
                true => format!(r#"<a href="{}" rel="noopener noreferrer nofollow">"#, escape::href(&dest_url)),
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
