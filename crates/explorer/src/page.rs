//! The document of the page, which contains no data.

use std::fmt::Write as _;

use crate::assets::{ASSETS, Version};

/// The addresses that the page uses, as absolute paths.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    /// The page.
    pub(crate) page: String,
    /// The MCP endpoint.
    pub(crate) endpoint: String,
}

/// Returns the document.
pub(crate) fn document(title: &str, paths: &Paths, version: &Version) -> String {
    let assets = format!("{}/{}", escaped(&paths.page), version.as_str());
    let mut links = String::new();
    for asset in ASSETS {
        let rel = match asset.name.rsplit_once('.') {
            Some((_, "css")) => "stylesheet",
            _ => "modulepreload",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(links, "<link rel=\"{rel}\" href=\"{assets}/{}\">", asset.name);
    }
    let (title, page, endpoint) = (escaped(title), escaped(&paths.page), escaped(&paths.endpoint));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"explorer:path\" content=\"{page}\">\n<meta name=\"explorer:endpoint\" content=\"{endpoint}\">\n\
         <link rel=\"icon\" href=\"data:,\">\n{links}<script type=\"module\" src=\"{assets}/main.js\"></script>\n</head>\n\
         <body>\n<a class=\"skip\" href=\"#main\">Skip to the tool</a>\n\
         <header id=\"side\"><h1>{title}</h1></header>\n<main id=\"main\" tabindex=\"-1\">\n\
         <noscript><p class=\"empty\">This page calls tools with JavaScript. <code>export --format html</code> writes a page \
         for reading that works without.</p></noscript>\n</main>\n\
         </body>\n</html>\n"
    )
}

/// Escapes a text for content and for attributes in double quotes.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}
