//! Export of a catalog as a self-contained HTML page.
//!
//! | module | part |
//! |---|---|
//! | `fields` | the parameters of a tool |
//! | `escape` | text of tools as text of the page |

mod escape;
mod fields;

use std::collections::HashSet;
use std::fmt::Write as _;

use serde_json::Value;

use self::escape::{attribute, escaped_json, json, percent_encoded, prose, text};
use self::fields::{Direction, details, fields, kind};
use crate::markdown::hints;
use toolkit::catalog::Catalog;
use toolkit::tool::Tool;
use toolkit_schema::inline::inlined;
use toolkit_schema::view::View;

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// The content security policy of the page: it allows this style and this script and loads nothing, whatever a
/// description contains. After a change to these files, a test reports the two new hashes.
const POLICY: &str = "default-src 'none'; \
    style-src 'sha256-SzFKMe19kQio2SmdS696mD9MjW1StiV5bqjR1TIG1jo='; \
    script-src 'sha256-5eDmXlCqK8wm72oiS6pw2gJkWDs+IvU9wct+Sf3zT+M='; \
    img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'";

/// With more tools, the table of contents collapses the namespaces.
const MAX_UNFOLDED: usize = 120;

/// Returns the catalog as an HTML page: the highest version of each tool, in the order of the ids, with the other
/// versions collapsed below it.
///
/// If the command line of a program runs the tools, `program` names it, for an example of each call.
///
/// The page is a single file that loads nothing. Everything except the search works without its script. The anchor of a
/// tool does not contain its version. Descriptions are rendered as Markdown, as by rustdoc; HTML in them and invisible
/// characters are shown as text. A catalog has the same bytes in every build.
///
/// ```
/// # use toolkit_providers::html::document;
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
/// let page = document("Tools", Some("tools"), &toolkit::catalog![add]?);
/// assert!(page.contains(r#"<article id="math:add""#));
/// assert!(page.contains("<p>Adds two integers, <em>exactly</em>.</p>"));
/// assert!(page.contains("tools call math:add &#39;{&quot;a&quot;:1,&quot;b&quot;:1}&#39;"));
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn document(title: &str, program: Option<&str>, catalog: &Catalog) -> String {
    let groups = groups(catalog);
    let n_tools: usize = groups.iter().map(|(_, tools)| tools.len()).sum();
    let mut anchors = Anchors::default();
    let (mut contents, mut sections) = (String::new(), String::new());
    let open = if n_tools > MAX_UNFOLDED { "" } else { " open" };
    for (namespace, tools) in &groups {
        let title = if namespace.is_empty() { "without a namespace" } else { namespace };
        let anchor = anchors.of(&format!("{namespace}:"));
        // Writing to a string cannot fail.
        let _ =
            writeln!(contents, "<details{open}><summary>{} <small>{}</small></summary><ul>", text(title), tools.len());
        let _ = writeln!(sections, "<h2 id=\"{anchor}\">{}</h2>", text(title));
        for tool in tools {
            let _ = writeln!(contents, "<li>{}", entry(tool, &anchors.next(&tool.id().unversioned().to_string())));
            section(program, catalog, tool, &mut anchors, &mut sections);
        }
        contents.push_str("</ul></details>\n");
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>{STYLE}</style>\n<script>{SCRIPT}</script>\n\
         </head>\n<body>\n<a class=\"skip\" href=\"#~page-tools\">Skip to the tools</a>\n\
         <div class=\"side\">\n<header>\n<h1>{}</h1>\n<p class=\"count\">{}</p>\n\
         <div class=\"search\" role=\"search\"><input id=\"~page-search\" type=\"search\" placeholder=\"Search\" \
         aria-label=\"Search the tools\" aria-keyshortcuts=\"/\" autocomplete=\"off\" spellcheck=\"false\">\
         <kbd>/</kbd></div>\n<p id=\"~page-found\" role=\"status\"></p>\n</header>\n\
         <nav aria-label=\"Tools\">\n{contents}</nav>\n</div>\n<main id=\"~page-tools\" tabindex=\"-1\">\n{sections}</main>\n\
         </body>\n</html>\n",
        attribute(title),
        text(title),
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

// The section of a tool.

/// Writes the section of a tool, with its other versions collapsed at the end.
fn section(program: Option<&str>, catalog: &Catalog, tool: &Tool, anchors: &mut Anchors, out: &mut String) {
    let anchor = anchors.of(&tool.id().unversioned().to_string());
    let version = tool.id().version().map(|version| format!(" <span class=\"version\">{}</span>", text(version)));
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "<article id=\"{anchor}\"{}>\n<h3><a href=\"#{anchor}\" title=\"A link to this tool\">{}</a>{}</h3>\n{}",
        searched(tool),
        name(tool),
        version.unwrap_or_default(),
        body(program, tool),
    );
    let unversioned = tool.id().unversioned();
    let others = catalog.versions_of(&unversioned).filter(|other| other.id() != tool.id());
    for other in others {
        let id = other.id().to_string();
        let anchor = anchors.of(&id);
        let _ = writeln!(
            out,
            "<details class=\"version\" id=\"{anchor}\"><summary>Version {}</summary>{}</details>",
            text(other.id().version().unwrap_or("without a number")),
            body(program, other)
        );
    }
    out.push_str("</article>\n");
}

/// Renders the namespace and the name of a tool, with line-break opportunities between words.
fn name(tool: &Tool) -> String {
    let namespace =
        tool.id().namespace().map(|namespace| format!("<span class=\"ns\">{}:</span><wbr>", text(namespace)));
    format!("{}<b>{}</b>", namespace.unwrap_or_default(), text(tool.name()).replace('_', "_<wbr>"))
}

/// Returns the attributes that the search script reads in addition to the text of the section.
fn searched(tool: &Tool) -> String {
    let mut attributes = format!(" data-name=\"{}\"", attribute(tool.name()));
    let kinds: Vec<&str> = badges(tool).map(|(words, _)| words).collect();
    for (what, words) in [
        ("ns", tool.id().namespace().unwrap_or_default().to_owned()),
        ("tags", tool.tags().join(" ")),
        ("is", kinds.join("|").replace(' ', "-")),
    ] {
        if !words.is_empty() {
            let _ = write!(attributes, " data-{what}=\"{}\"", attribute(&words));
        }
    }
    attributes
}

fn body(program: Option<&str>, tool: &Tool) -> String {
    let mut out = String::new();
    if let Some(title) = tool.title().or(tool.annotations().title.as_deref()) {
        let _ = writeln!(out, "<p class=\"title\">{}</p>", text(title));
    }
    out.push_str(&labels(tool));
    if let Some(instead) = tool.deprecated() {
        let _ = writeln!(out, "<div class=\"deprecated\"><strong>Deprecated.</strong> {}</div>", prose(instead));
    }
    let _ = writeln!(out, "<div class=\"prose\">{}</div>", prose(tool.description()));
    out.push_str(&facts(tool));
    let input = inlined(tool.input().as_value());
    out.push_str("<h4>Arguments</h4>\n");
    out.push_str(&match fields(&input, Direction::Arguments) {
        none if none.is_empty() => format!("<p>{}</p>\n", if is_closed(&input) { "None." } else { "Any." }),
        table => table,
    });
    if let Some(output) = tool.output() {
        let output = inlined(output.as_value());
        let description = output.get("description").and_then(Value::as_str).map(prose).unwrap_or_default();
        let fields = fields(&output, Direction::Result);
        let is_plain = fields.is_empty() || kind(&View::new(&output)) != "object";
        let kind =
            if is_plain { format!("<p>{}</p>\n", first_capital(&kind(&View::new(&output)))) } else { String::new() };
        let _ = writeln!(out, "<h4>Result</h4>\n<div class=\"prose result\">{kind}{description}</div>{fields}");
    }
    out.push_str(&examples(program, tool));
    let mut raw = figure("Input schema", &json(tool.input().as_value()));
    if let Some(output) = tool.output() {
        raw.push_str(&figure("Output schema", &json(output.as_value())));
    }
    out.push_str(&details("JSON Schema", &raw).replacen("<details>", "<details class=\"raw\">", 1));
    out
}

/// Renders hints and tags on one line.
fn labels(tool: &Tool) -> String {
    let mut labels: Vec<String> = Vec::new();
    for (words, class) in badges(tool) {
        let query = format!("is:{}", words.replace(' ', "-"));
        labels.push(label(words, &query, &format!("badge {class}")));
    }
    labels.extend(tool.category().map(|category| format!("<span class=\"badge\">{}</span>", text(category))));
    labels.extend(tool.tags().iter().map(|tag| label(tag, &format!("tag:{tag}"), "tag")));
    if labels.is_empty() { String::new() } else { format!("<p class=\"labels\">{}</p>\n", labels.join(" ")) }
}

/// Renders a label that links to a search for all tools with the same label.
fn label(words: &str, query: &str, class: &str) -> String {
    let query = percent_encoded(query, |c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':'));
    format!("<a class=\"{class}\" rel=\"nofollow\" href=\"?q={query}\">{}</a>", text(words))
}

/// Returns the hints of a tool with their CSS classes.
fn badges(tool: &Tool) -> impl Iterator<Item = (&'static str, &'static str)> {
    let hints = hints(tool).into_iter().chain(tool.deprecated().map(|_| "deprecated"));
    hints.map(|words| match words {
        "read-only" => (words, "calm"),
        "destructive" | "deprecated" => (words, "careful"),
        _ => (words, ""),
    })
}

fn facts(tool: &Tool) -> String {
    let requirements = tool.requirements();
    let mut needs: Vec<String> = Vec::new();
    for authorization in &requirements.authorization {
        let scopes: Vec<String> =
            authorization.scopes.iter().map(|scope| format!("<code>{}</code>", text(scope))).collect();
        let scopes = if scopes.is_empty() { String::new() } else { format!(" for {}", scopes.join(", ")) };
        needs.push(format!("OAuth 2.0 with {}{scopes}", text(&authorization.id)));
    }
    needs.extend(requirements.secrets.iter().map(|secret| format!("the secret <code>{}</code>", text(&secret.id))));
    if !requirements.scopes.is_empty() {
        let scopes: Vec<String> =
            requirements.scopes.iter().map(|scope| format!("<code>{}</code>", text(scope))).collect();
        needs.push(format!("a token with {}", scopes.join(", ")));
    }
    needs.extend(requirements.user_id.then(|| "the user’s id".to_owned()));
    let aliases: Vec<String> = tool.aliases().iter().map(|alias| format!("<code>{}</code>", text(alias))).collect();
    let limit = tool.timeout().map(|limit| format!("{limit:?}")).unwrap_or_default();
    let facts = [("Requires", needs.join("; ")), ("Aliases", aliases.join(", ")), ("Timeout", limit)];
    let facts = facts.iter().filter(|(_, fact)| !fact.is_empty());
    let facts: String = facts.map(|(what, fact)| format!("<dt>{what}<dd>{fact}\n")).collect();
    if facts.is_empty() { facts } else { format!("<dl>{facts}</dl>\n") }
}

/// Renders the author's examples, or else a generated one.
fn examples(program: Option<&str>, tool: &Tool) -> String {
    let mut examples = tool.examples();
    examples.extend(if examples.is_empty() { tool.input().example() } else { None });
    let Some(first) = examples.first() else {
        return String::new();
    };
    let mut out = String::from("<h4>Example</h4>\n");
    if let Some(program) = program {
        let id = tool.id().unversioned();
        let call =
            format!("{program} call {} '{}'", shell_word(&id.to_string()), first.to_string().replace('\'', r"'\''"));
        out.push_str(&figure("Command line", &escaped_json(&call)));
    }
    for example in &examples {
        out.push_str(&figure("Arguments", &json(example)));
    }
    out
}

/// Quotes a word for a POSIX shell.
fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '_' | '-' | '.' | '/');
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// Renders a figure; `code` is HTML.
fn figure(caption: &str, code: &str) -> String {
    format!("<figure><figcaption>{caption}</figcaption><pre tabindex=\"0\"><code>{code}</code></pre></figure>\n")
}

fn is_closed(schema: &Value) -> bool {
    schema.get("additionalProperties") == Some(&Value::Bool(false))
}

fn first_capital(words: &str) -> String {
    match words.chars().next() {
        Some(c) if c.is_ascii_lowercase() => format!("{}{}", c.to_ascii_uppercase(), &words[1..]),
        _ => words.to_owned(),
    }
}

/// The ids that a page has used so far.
#[derive(Default)]
struct Anchors {
    taken: HashSet<String>,
}

impl Anchors {
    /// Returns the id that the next call of [`Anchors::of`] with this name will return.
    fn next(&self, name: &str) -> String {
        let plain = |c: char| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' | '.' | ':' | '/' => c.to_string(),
            c => format!("~{:x}", u32::from(c)),
        };
        let name: String = name.chars().map(plain).collect();
        let mut candidates = (1..).map(|n| if n == 1 { name.clone() } else { format!("{name}~{n}") });
        candidates.find(|id| !self.taken.contains(id) && !id.is_empty()).expect("there are infinitely many candidates")
    }

    /// Creates a unique id for `name`.
    fn of(&mut self, name: &str) -> String {
        let id = self.next(name);
        self.taken.insert(id.clone());
        id
    }
}
