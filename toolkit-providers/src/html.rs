//! Export of a catalog as a self-contained HTML page.

mod anchors;
mod escape;
mod fields;
mod kinds;
mod page;
mod prose;
mod section;

use std::fmt::Write as _;

use self::anchors::Anchors;
use self::escape::{attribute, text};
pub use self::page::Page;
use self::section::{name, section};
use toolkit::catalog::Catalog;
use toolkit::tool::Tool;

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// The content security policy of the page: it allows this style and this script and loads nothing, whatever a
/// description contains. After a change to these files, a test reports the two new hashes.
const POLICY: &str = "default-src 'none'; \
    style-src 'sha256-n4YNll9+BS2TQbsG+mZ95mewuZaNykK2oZSHPMG2jt0='; \
    script-src 'sha256-5eDmXlCqK8wm72oiS6pw2gJkWDs+IvU9wct+Sf3zT+M='; \
    img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'";

/// With more tools, the table of contents collapses the namespaces.
const MAX_UNFOLDED: usize = 120;

/// Returns the catalog as an HTML page: the highest version of each tool, in the order of the ids, with the other
/// versions collapsed below it.
///
/// The page is a single file that loads nothing. Everything except the search works without its script. The anchor of a
/// tool does not contain its version. Descriptions are rendered as Markdown, as by rustdoc; HTML in them and invisible
/// characters are shown as text. A catalog has the same bytes in every build.
///
/// ```standalone_crate
/// # use toolkit_providers::html::{Page, document};
/// /// Adds two integers, *exactly*.
/// #[toolkit::tool(namespace = "math", version = "1.0.0", read_only)]
/// fn add(
///     /// First addend.
///     a: i64,
///     /// Second addend.
///     b: i64,
/// ) -> i64 {
///     a + b
/// }
///
/// # fn main() -> Result<(), toolkit::catalog::Diagnostics> {
/// let page = document(&Page::new("Tools").program("tools"), &toolkit::catalog![add]?);
/// assert!(page.contains(r#"<article id="math:add""#));
/// assert!(page.contains("<p>Adds two integers, <em>exactly</em>.</p>"));
/// assert!(page.contains("tools call math:add &#39;{&quot;a&quot;:1,&quot;b&quot;:1}&#39;"));
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn document(page: &Page<'_>, catalog: &Catalog) -> String {
    let groups = groups(catalog);
    let n_tools: usize = groups.iter().map(|(_, tools)| tools.len()).sum();
    let mut anchors = Anchors::default();
    let (mut contents, mut sections) = (String::new(), String::new());
    let open = if n_tools > MAX_UNFOLDED { "" } else { " open" };
    for (namespace, tools) in &groups {
        let title = if namespace.is_empty() { "without a namespace" } else { namespace };
        let anchor = anchors.of(&format!("{namespace}:"));
        // Writing to a string cannot fail.
        let _ = writeln!(
            contents,
            "<details{open}><summary><a href=\"#{anchor}\">{}</a> <small>{}</small></summary><ul>",
            text(title),
            tools.len()
        );
        let _ = writeln!(sections, "<h2 id=\"{anchor}\">{}</h2>", text(title));
        for tool in tools {
            let _ = writeln!(contents, "<li>{}", entry(tool, &anchors.next(&tool.id().unversioned().to_string())));
            section(page, catalog, tool, &mut anchors, &mut sections);
        }
        contents.push_str("</ul></details>\n");
    }
    let title = text(page.title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>{STYLE}</style>\n<script>{SCRIPT}</script>\n\
         </head>\n<body>\n<a class=\"skip\" href=\"#~page-tools\">Skip to the tools</a>\n\
         <div class=\"side\">\n<header>\n<h1>{title}</h1>\n<p class=\"count\">{}</p>\n\
         <div class=\"search\" role=\"search\"><input id=\"~page-search\" type=\"search\" placeholder=\"Search\" \
         aria-label=\"Search the tools\" aria-keyshortcuts=\"/\" autocomplete=\"off\" spellcheck=\"false\">\
         <kbd>/</kbd></div>\n<p id=\"~page-found\" role=\"status\"></p>\n</header>\n\
         <nav aria-label=\"Tools\">\n{contents}</nav>\n</div>\n<main id=\"~page-tools\" tabindex=\"-1\">\n{sections}</main>\n\
         </body>\n</html>\n",
        attribute(page.title),
        counted(n_tools, groups.len()),
    )
}

fn entry(tool: &Tool, anchor: &str) -> String {
    let tool = name(tool);
    format!("<a href=\"#{anchor}\">{tool}</a>")
}

fn counted(n_tools: usize, n_namespaces: usize) -> String {
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    match n_namespaces {
        0 | 1 => format!("{n_tools} tool{}", plural(n_tools)),
        _ => format!("{n_tools} tool{} in {n_namespaces} namespaces", plural(n_tools)),
    }
}

/// Groups the highest versions by namespace.
fn groups(catalog: &Catalog) -> Vec<(String, Vec<&Tool>)> {
    let mut groups: Vec<(String, Vec<&Tool>)> = Vec::new();
    for tool in catalog.latest() {
        let namespace = tool.id().namespace().unwrap_or_default();
        match groups.last_mut() {
            Some((last, tools)) if last == namespace => tools.push(tool),
            _ => groups.push((namespace.to_owned(), vec![tool])),
        }
    }
    groups
}
