//! The section of a tool.

use std::fmt::Write as _;

use serde_json::Value;

use super::anchors::Anchors;
use super::escape::{attribute, escaped_json, json, percent_encoded, text};
use super::fields::{Direction, details, fields};
use super::kinds::kind;
use super::page::Page;
use super::prose::prose;
use toolkit::catalog::Catalog;
use toolkit::tool::Tool;
use toolkit_schema::inline;

/// Writes the section of a tool, with its other versions collapsed at the end.
pub(super) fn section(page: &Page<'_>, catalog: &Catalog, tool: &Tool, anchors: &mut Anchors, out: &mut String) {
    let anchor = anchors.of(&tool.id().unversioned().to_string());
    let version = tool.id().version().map(|version| format!(" <span class=\"version\">{}</span>", text(version)));
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "<article id=\"{anchor}\"{}>\n<h3><a href=\"#{anchor}\" title=\"A link to this tool\">{}</a>{}</h3>\n{}",
        searched(tool),
        name(tool),
        version.unwrap_or_default(),
        body(page, tool),
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
            body(page, other)
        );
    }
    out.push_str("</article>\n");
}

/// Renders the namespace and the name of a tool, with line-break opportunities between words.
pub(super) fn name(tool: &Tool) -> String {
    let namespace =
        tool.id().namespace().map(|namespace| format!("<span class=\"ns\">{}:</span><wbr>", text(namespace)));
    format!("{}<b>{}</b>", namespace.unwrap_or_default(), text(tool.name()).replace('_', "_<wbr>"))
}

/// Returns the attributes that the search script reads in addition to the text of the section.
fn searched(tool: &Tool) -> String {
    let mut attributes = format!(" data-name=\"{}\"", attribute(tool.name()));
    let kinds: Vec<&str> = badges(tool).into_iter().map(|(words, _)| words).collect();
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

fn body(page: &Page<'_>, tool: &Tool) -> String {
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
        let is_plain = fields.is_empty() || kind(&output) != "object";
        let kind = if is_plain { format!("<p>{}</p>\n", first_capital(&kind(&output))) } else { String::new() };
        let _ = writeln!(out, "<h4>Result</h4>\n<div class=\"prose result\">{kind}{description}</div>{fields}");
    }
    out.push_str(&examples(page, tool));
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
fn badges(tool: &Tool) -> Vec<(&'static str, &'static str)> {
    let hints = tool.annotations();
    let hint = |hint: Option<bool>, yes, no| hint.map(|hint| if hint { yes } else { no });
    let mut badges: Vec<(&str, &str)> = [
        hint(hints.read_only, ("read-only", "calm"), ("writes", "")),
        hint(hints.destructive, ("destructive", "careful"), ("not destructive", "")),
        hint(hints.idempotent, ("idempotent", ""), ("not idempotent", "")),
        hint(hints.open_world, ("open world", ""), ("closed world", "")),
    ]
    .into_iter()
    .flatten()
    .collect();
    badges.extend(tool.deprecated().map(|_| ("deprecated", "careful")));
    badges
}

fn facts(tool: &Tool) -> String {
    let requirements = tool.requirements();
    let mut needs: Vec<String> = Vec::new();
    for authorization in &requirements.authorization {
        let scopes: Vec<String> =
            authorization.oauth2.scopes.iter().map(|scope| format!("<code>{}</code>", text(scope))).collect();
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
fn examples(page: &Page<'_>, tool: &Tool) -> String {
    let mut examples = tool.examples();
    examples.extend(if examples.is_empty() { tool.input().example() } else { None });
    // The order of the keys must not depend on the features of `serde_json`.
    examples.iter_mut().for_each(Value::sort_all_objects);
    let Some(first) = examples.first() else {
        return String::new();
    };
    let mut out = String::from("<h4>Example</h4>\n");
    if let Some(program) = page.program {
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

fn inlined(schema: &Value) -> Value {
    let mut schema = schema.clone();
    inline::inline(&mut schema);
    schema
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
