//! An SVG document.

use std::fmt::Write;

/// The width of a character of a label in a wide font, on average.
pub(crate) const CHARACTER: f64 = 7.0;

/// Colors that are readable on a light and on a dark page.
const STYLE: &str = "\
text{font:12px system-ui,-apple-system,'Segoe UI',sans-serif;fill:#24292f}\
.title{font-weight:600;font-size:14px}\
.heading{font-weight:600}\
.quiet{fill:#57606a;font-size:11px}\
.grid{stroke:#8c959f;stroke-opacity:.3}\
.reference{stroke:#57606a;stroke-dasharray:3 3}\
.range{stroke:#24292f;stroke-opacity:.6}\
.own{fill:#2f81f7}.other{fill:#8c959f}\
.line{fill:none;stroke-width:2}\
.c0{stroke:#2f81f7}.c1{stroke:#d29922}.c2{stroke:#8c959f}.c3{stroke:#3fb950}\
.f0{fill:#2f81f7}.f1{fill:#d29922}.f2{fill:#8c959f}.f3{fill:#3fb950}\
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.quiet{fill:#9198a1}.range{stroke:#e6edf3}.reference{stroke:#9198a1}}";

/// A document that grows downward.
pub(crate) struct Svg {
    body: String,
    width: f64,
}

impl Svg {
    pub(crate) fn new(width: f64) -> Self {
        Self { body: String::new(), width }
    }

    /// Adds a text. `anchor` is `start`, `middle` or `end`.
    pub(crate) fn text(&mut self, x: f64, y: f64, class: &str, anchor: &str, text: &str) {
        let text = escaped(text);
        self.push(format_args!("<text x='{}' y='{}' class='{class}' text-anchor='{anchor}'>{text}</text>", n(x), n(y)));
    }

    pub(crate) fn line(&mut self, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2], class: &str) {
        self.push(format_args!("<line x1='{}' y1='{}' x2='{}' y2='{}' class='{class}'/>", n(x1), n(y1), n(x2), n(y2)));
    }

    pub(crate) fn bar(&mut self, x: f64, y: f64, width: f64, height: f64, class: &str) {
        self.push(format_args!(
            "<rect x='{}' y='{}' width='{}' height='{}' rx='2' class='{class}'/>",
            n(x),
            n(y),
            n(width),
            n(height)
        ));
    }

    pub(crate) fn point(&mut self, [x, y]: [f64; 2], class: &str) {
        self.push(format_args!("<circle cx='{}' cy='{}' r='3' class='{class}'/>", n(x), n(y)));
    }

    pub(crate) fn path(&mut self, points: &[[f64; 2]], class: &str) {
        let points: Vec<String> = points.iter().map(|[x, y]| format!("{},{}", n(*x), n(*y))).collect();
        self.push(format_args!("<polyline points='{}' class='line {class}'/>", points.join(" ")));
    }

    /// Returns the document; `description` is its text for readers who do not see it.
    pub(crate) fn finish(self, height: f64, title: &str, description: &str) -> String {
        format!(
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' height='{height}' \
             role='img'>\n<title>{}</title>\n<desc>{}</desc>\n<style>{STYLE}</style>\n{}</svg>\n",
            escaped(title),
            escaped(description),
            self.body,
            width = n(self.width),
            height = n(height),
        )
    }

    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        writeln!(self.body, "{element}").expect("a `String` takes everything");
    }
}

/// Formats a coordinate.
fn n(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
