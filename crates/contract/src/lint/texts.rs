//! Lint rules about descriptions.

use std::collections::{BTreeSet, HashMap};

use super::diagnostic::{LintDiagnostic, Rule};
use toolkit::Tool;

pub(super) fn check(tool: &Tool, diagnostics: &mut Vec<LintDiagnostic>) {
    let description = tool.description().trim();
    if description.is_empty() {
        diagnostics.push(LintDiagnostic::new(
            Rule::MissingDescription,
            tool,
            "description",
            "is missing; describe what the tool does",
        ));
        return;
    }
    let (described, named) = (words(description), words(&split(tool.name())));
    if described.is_subset(&named) || described.len() < 2 {
        let message = "only repeats the name; describe the input, the output and when to use the tool";
        diagnostics.push(LintDiagnostic::new(Rule::VagueDescription, tool, "description", message));
    }
}

/// Reports tools with the same description.
pub(super) fn compare(tools: &[&Tool], diagnostics: &mut Vec<LintDiagnostic>) {
    let mut by_words: HashMap<BTreeSet<String>, &Tool> = HashMap::new();
    for tool in tools {
        let described = words(tool.description());
        if described.is_empty() {
            continue;
        }
        match by_words.get(&described) {
            // Versions of one tool may have the same description.
            Some(other) if other.id().unversioned() != tool.id().unversioned() => {
                let message = format!("is the same as that of `{}`; describe how the tools differ", other.id());
                diagnostics.push(LintDiagnostic::new(Rule::SimilarDescriptions, tool, "description", message));
            }
            Some(_) => {}
            None => drop(by_words.insert(described, tool)),
        }
    }
}

/// Returns the words of a text in lower case, without stop words.
fn words(text: &str) -> BTreeSet<String> {
    const EMPTY: [&str; 10] = ["a", "an", "the", "of", "to", "and", "or", "for", "this", "tool"];

    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let stem = |word: String| word.strip_suffix('s').map(str::to_owned).unwrap_or(word);
    words.filter(|word| !word.is_empty() && !EMPTY.contains(&word.as_str())).map(stem).collect()
}

/// Splits a name into words: `readFile` and `read_file` are two words each.
fn split(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_uppercase() {
            text.push(' ');
        }
        text.push(c);
    }
    text
}
