//! A catalogue as one page for people, which a browser shows without a network.

mod escape;
mod fields;
mod prose;
mod section;
mod words;

use std::collections::HashSet;
use std::fmt::Write as _;

use self::escape::{attribute, text};
use self::section::{name, section};
use crate::catalog::Catalog;
use crate::tool::Tool;

/// The parts of a page beside its tools.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Page<'a> {
    /// What stands at its top.
    pub title: &'a str,
    /// The program whose command line has the tools, for an example of each call; `None` where there is none.
    pub program: Option<&'a str>,
}

impl<'a> Page<'a> {
    /// Creates a page with this title, without examples of calls on a command line.
    #[must_use]
    pub const fn new(title: &'a str) -> Self {
        Self { title, program: None }
    }

    /// Sets the program whose command line has the tools.
    #[must_use]
    pub const fn program(mut self, program: &'a str) -> Self {
        self.program = Some(program);
        self
    }
}

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// What a browser may do with the page: show it by this style, and run this script. Nothing is loaded, whatever a
/// description holds. A test says what the two hashes are, once the files have changed.
const POLICY: &str = "default-src 'none'; \
    style-src 'sha256-n4YNll9+BS2TQbsG+mZ95mewuZaNykK2oZSHPMG2jt0='; \
    script-src 'sha256-5eDmXlCqK8wm72oiS6pw2gJkWDs+IvU9wct+Sf3zT+M='; \
    img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'";

/// More tools than this are folded in the table of contents, namespace by namespace.
const MAX_UNFOLDED: usize = 120;

/// The catalogue as one page: the highest version of every tool, in the order of their ids, the others folded below it.
///
/// The page is one file. It loads nothing, works without its script but for the search, and has an anchor for every
/// tool that an upgrade keeps. Descriptions are read as Markdown, as rustdoc does; HTML within them is shown as text, and
/// so is what is invisible. The same catalogue gives the same bytes.
///
/// ```
/// # use toolkit::adapter::html::{Page, document};
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

/// The highest versions, namespace by namespace.
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

/// The ids of elements; no two are the same.
#[derive(Default)]
struct Anchors {
    taken: HashSet<String>,
}

impl Anchors {
    /// The id that [`Anchors::of`] will give.
    fn next(&self, name: &str) -> String {
        let plain = |c: char| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' | '.' | ':' | '/' => c.to_string(),
            c => format!("~{:x}", u32::from(c)),
        };
        let name: String = name.chars().map(plain).collect();
        let mut candidates = (1..).map(|n| if n == 1 { name.clone() } else { format!("{name}~{n}") });
        candidates.find(|id| !self.taken.contains(id) && !id.is_empty()).expect("there is always a larger number")
    }

    /// A new id for what is called `name`.
    fn of(&mut self, name: &str) -> String {
        let id = self.next(name);
        self.taken.insert(id.clone());
        id
    }
}
