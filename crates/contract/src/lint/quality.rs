//! Lint rules about names and hints.

use std::collections::HashMap;

use super::diagnostic::{LintDiagnostic, Rule};
use toolkit::Tool;
use toolkit::catalog::Naming;

/// The maximum length of a name that leaves space for the name of a server.
const MAX_LEN: usize = 40;

/// Verbs of tools that modify something. Ambiguous verbs, such as `add`, are not listed.
const CHANGES: [&str; 6] = ["create", "overwrite", "remove", "rename", "update", "write"];
/// Verbs of tools that remove something.
const DESTROYS: [&str; 8] = ["delete", "destroy", "drop", "erase", "kill", "purge", "truncate", "wipe"];

pub(super) fn check(tool: &Tool, diagnostics: &mut Vec<LintDiagnostic>) {
    let name = Naming::NamespaceName.wire_name(tool.id());
    let length = name.chars().count();
    if length > MAX_LEN {
        let message = format!("has {length} characters with its namespace; clients add more, so stay within {MAX_LEN}");
        diagnostics.push(LintDiagnostic::new(Rule::LongName, tool, "name", message));
    }
    let verb = first_word(tool.name());
    let annotations = tool.annotations();
    let mut contradicts = |hint: &str, verb: &str| {
        let message = format!("contain `{hint}`, but the name starts with `{verb}`; change one of them");
        diagnostics.push(LintDiagnostic::new(Rule::ContradictingHint, tool, "annotations", message));
    };
    if annotations.read_only == Some(true) && (CHANGES.contains(&&*verb) || DESTROYS.contains(&&*verb)) {
        contradicts("readOnlyHint", &verb);
    } else if annotations.destructive == Some(false) && DESTROYS.contains(&&*verb) {
        contradicts("destructiveHint: false", &verb);
    }
    if annotations.may_be_destructive() && annotations.destructive.is_none() {
        let message = "have no hint about destructive effects, so that the tool counts as destructive; write `read_only`, \
                       `destructive` or `destructive = false`";
        diagnostics.push(LintDiagnostic::new(Rule::MissingHint, tool, "annotations", message));
    }
}

/// Reports tools of one namespace whose names differ only in spelling.
pub(super) fn compare(tools: &[&Tool], diagnostics: &mut Vec<LintDiagnostic>) {
    let mut by_letters: HashMap<(Option<&str>, String), &Tool> = HashMap::new();
    for tool in tools {
        let letters: String = tool.name().chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
        let letters = letters.strip_suffix('s').map(str::to_owned).unwrap_or(letters);
        match by_letters.get(&(tool.id().namespace(), letters.clone())) {
            Some(other) if other.name() != tool.name() => {
                let message = format!("hardly differs from `{}`; rename one of them", other.id());
                diagnostics.push(LintDiagnostic::new(Rule::SimilarNames, tool, "name", message));
            }
            Some(_) => {}
            None => drop(by_letters.insert((tool.id().namespace(), letters), tool)),
        }
    }
}

fn first_word(name: &str) -> String {
    let mut word = String::new();
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && !word.is_empty()) {
            break;
        }
        word.extend(c.to_lowercase());
    }
    word
}
