//! Terminal output: colors, widths, and escaping of control characters.

#[cfg(any(feature = "durable", feature = "export", feature = "proxy"))]
pub(crate) mod table;

use std::borrow::Cow;
use std::fmt;
use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use toolkit::Content;
use toolkit::schema::excerpt::{is_invisible, is_joiner};
use unicode_width::UnicodeWidthStr;

/// Ids and headings.
pub(crate) const BOLD: Paint = Paint(Style::new().bold());
/// Text without a style.
pub(crate) const PLAIN: Paint = Paint(Style::new());
/// Secondary text, such as table headers.
pub(crate) const DIM: Paint = Paint(Style::new().dimmed());
/// Locations in files.
pub(crate) const LOCATION: Paint = Paint(AnsiColor::Cyan.on_default());
/// Highlighted text, such as deprecated tools and search matches.
pub(crate) const HIGHLIGHT: Paint = Paint(AnsiColor::Yellow.on_default());

/// The label of an error.
pub(crate) const ERROR: Label = Label("error:", AnsiColor::Red.on_default().bold());
/// The label of the cause of an error.
pub(crate) const CAUSE: Label = Label("caused by:", Style::new().dimmed());
/// The label of a warning.
pub(crate) const WARNING: Label = Label("warning:", AnsiColor::Yellow.on_default().bold());
/// The label of a note.
pub(crate) const NOTE: Label = Label("note:", AnsiColor::Cyan.on_default().bold());

/// A style whose `Display` starts it. `anstream` removes it if colors are disabled.
#[derive(Clone, Copy)]
pub(crate) struct Paint(Style);

impl Paint {
    /// Returns the sequence that ends the style.
    pub(crate) fn clear(self) -> impl fmt::Display {
        self.0.render_reset()
    }
}

impl fmt::Display for Paint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.render().fmt(f)
    }
}

/// A word with a style.
#[derive(Clone, Copy)]
pub(crate) struct Label(&'static str, Style);

impl Label {
    /// Returns the word without its style.
    pub(crate) fn text(self) -> &'static str {
        self.0
    }

    /// Returns the level of a message with this label in a log.
    #[cfg(feature = "serve")]
    pub(crate) fn level(self) -> &'static str {
        match self.0 {
            "error:" => "ERROR",
            "warning:" => "WARN",
            _ => "INFO",
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.1.render(), self.0, self.1.render_reset())
    }
}

/// Returns the number of columns of the terminal on stdout, or `None` if stdout is not a terminal.
pub(crate) fn terminal_width() -> Option<usize> {
    if !io::stdout().is_terminal() {
        return None;
    }
    let size = terminal_size::terminal_size();
    Some(size.map_or(80, |(width, _)| usize::from(width.0)))
}

/// Returns the number of columns of `text`.
pub(crate) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// Pads `text` with trailing spaces to `columns`.
pub(crate) fn padded(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(missing))
}

/// Truncates `text` to `columns`, with an ellipsis: after a word, unless that loses more than half of the columns.
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
    let splits_word = !text[kept.len()..].starts_with(char::is_whitespace);
    let after_word = kept.rfind(char::is_whitespace).map(|at| kept[..at].trim_end());
    if let Some(words) = after_word.filter(|words| splits_word && width(words) * 2 >= columns) {
        kept.truncate(words.len());
    }
    Cow::Owned(format!("{}…", kept.trim_end().trim_end_matches([',', ';', ':'])))
}

/// Wraps `text` to lines of at most `columns`, and keeps its line breaks. A longer word is put on a separate line.
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

/// Returns true for invisible characters. Joiners are excluded, since emoji and several scripts use them.
fn is_hidden(c: char) -> bool {
    c.is_control() || (is_invisible(c) && !is_joiner(c))
}

/// Escapes hidden characters in `text`, which may come from an untrusted tool.
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

/// Returns `text` without the numbers that the operating system has for its errors.
pub(crate) fn without_os_codes(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once(')').map_or("", |(_, rest)| rest))
}

/// Returns `text` as one line of a table, without tabs and line breaks.
pub(crate) fn one_line(text: &str) -> String {
    printable(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Quotes a word for a POSIX shell unless it has no special characters.
pub(crate) fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.,:/@+=%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Formats a block of content: text as it is, and other blocks as one line.
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
            let uri = field("uri").unwrap_or("without a URI");
            format!("[resource {uri}, {}]", size(length))
        }
        // An unknown kind of block is shown as JSON.
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}

/// Returns the number of bytes that a base64 string encodes.
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

/// Writes a JSON document to stdout, indented on a terminal and compact otherwise.
pub(crate) fn write_json(value: &impl Serialize) -> io::Result<()> {
    let text = if io::stdout().is_terminal() { indented(value)? } else { serde_json::to_string(value)? };
    write_line(&text)
}

/// Returns indented JSON in which hidden characters are escaped, which JSON itself does not require.
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

/// Writes a line to stdout without any escaping.
pub(crate) fn write_line(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}
