//! How text looks: colours, widths, and what must not reach a terminal.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use toolkit::Content;
use unicode_width::UnicodeWidthStr;

/// What the eye should find first.
pub(crate) const STRONG: Paint = Paint(Style::new().bold());
/// What is nothing special.
pub(crate) const PLAIN: Paint = Paint(Style::new());
/// What only some readers want.
pub(crate) const FAINT: Paint = Paint(Style::new().dimmed());
/// A place in a file.
pub(crate) const PLACE: Paint = Paint(AnsiColor::Cyan.on_default());
/// What deserves a second look.
pub(crate) const CAREFUL: Paint = Paint(AnsiColor::Yellow.on_default());

/// What opens the line of an error.
pub(crate) const ERROR: Label = Label("error:", AnsiColor::Red.on_default().bold());
/// What opens the line of its cause.
pub(crate) const CAUSE: Label = Label("caused by:", Style::new().dimmed());
/// What opens the line of a warning.
pub(crate) const WARNING: Label = Label("warning:", AnsiColor::Yellow.on_default().bold());
/// What opens the line of a remark.
pub(crate) const NOTE: Label = Label("note:", AnsiColor::Cyan.on_default().bold());

/// A style that prints itself. Written to an `anstream` stream, it vanishes where colours are not wanted.
#[derive(Clone, Copy)]
pub(crate) struct Paint(Style);

impl Paint {
    /// What ends the style.
    pub(crate) fn clear(self) -> impl fmt::Display {
        self.0.render_reset()
    }
}

impl fmt::Display for Paint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.render().fmt(f)
    }
}

/// A word in its own style.
#[derive(Clone, Copy)]
pub(crate) struct Label(&'static str, Style);

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.1.render(), self.0, self.1.render_reset())
    }
}

/// The columns of the terminal on stdout; `None` where stdout is no terminal.
pub(crate) fn terminal_width() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let size = terminal_size::terminal_size();
    Some(size.map_or(80, |(width, _)| usize::from(width.0)))
}

/// The columns that `text` takes.
pub(crate) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// `text` with spaces behind it, up to `columns`.
pub(crate) fn padded(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(missing))
}

/// The beginning of `text`, with an ellipsis where something was cut.
pub(crate) fn cut(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if width(&kept) + 1 > columns {
            kept.pop();
            break;
        }
    }
    Cow::Owned(format!("{}…", kept.trim_end()))
}

/// `text` in lines of at most `columns`, its own line breaks kept; a longer word gets a line of its own.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && width(&line) + 1 + width(word) > columns {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

/// Returns true for a character that a terminal obeys, that turns the text around, or that is not seen.
///
/// Joiners are no such characters: emoji and several scripts are written with them.
fn is_hidden(c: char) -> bool {
    match c {
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{feff}' => true,
        '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' => {
            true
        }
        c => c.is_control(),
    }
}

/// `text` with what is hidden written as an escape: a tool's result is data, whoever wrote it.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    let is_kept = |c: char| !is_hidden(c) || matches!(c, '\n' | '\t');
    if text.chars().all(is_kept) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_kept(c) {
            shown.push(c);
        } else if c != '\r' {
            shown.extend(c.escape_default());
        }
    }
    Cow::Owned(shown)
}

/// A block of content on one line, or as the text that it is.
pub(crate) fn content_line(block: &Content) -> String {
    let media = |kind: &str, mime_type: &str, data: &str| format!("[{kind} {mime_type}, {}]", size(n_bytes(data)));
    match block {
        Content::Text { text } => text.clone(),
        Content::Image { data, mime_type } => media("image", mime_type, data),
        Content::Audio { data, mime_type } => media("audio", mime_type, data),
        Content::ResourceLink { uri, name, .. } => format!("[link {name} {uri}]"),
        Content::Resource { resource } => {
            let field = |key: &str| resource.get(key).and_then(|value| value.as_str());
            let text = field("text").map(str::len);
            let length = text.or_else(|| field("blob").map(n_bytes)).unwrap_or(0);
            let uri = field("uri").unwrap_or("without a uri");
            format!("[resource {uri}, {}]", size(length))
        }
        // A block of a kind that came later still says what it holds.
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}

/// How many bytes a text of base64 stands for.
fn n_bytes(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}

fn size(n_bytes: usize) -> String {
    const KIB: usize = 1 << 10;
    const MIB: usize = 1 << 20;
    match n_bytes {
        1 => "1 byte".to_owned(),
        ..KIB => format!("{n_bytes} bytes"),
        KIB..MIB => format!("{:.1} KiB", n_bytes as f64 / KIB as f64),
        MIB.. => format!("{:.1} MiB", n_bytes as f64 / MIB as f64),
    }
}

/// One JSON document on stdout: indented on a terminal, on one line elsewhere.
pub(crate) fn write_json(value: &impl Serialize) -> io::Result<()> {
    let text = if io::stdout().is_terminal() { indented(value)? } else { serde_json::to_string(value)? };
    write_line(&text)
}

/// Indented JSON for a terminal: JSON need not escape all that a terminal acts on, or does not show.
pub(crate) fn indented(value: &impl Serialize) -> io::Result<String> {
    let text = serde_json::to_string_pretty(value)?;
    let is_kept = |c: char| !is_hidden(c) || c == '\n';
    if text.chars().all(is_kept) {
        return Ok(text);
    }
    let mut shown = String::with_capacity(text.len() + 64);
    for c in text.chars() {
        match is_kept(c) {
            true => shown.push(c),
            false => shown.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}"))),
        }
    }
    Ok(shown)
}

/// One line of data on stdout, exactly as it is.
pub(crate) fn write_line(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}
