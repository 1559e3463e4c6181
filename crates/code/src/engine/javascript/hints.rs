//! Hints for common mistakes.

use super::names::Names;

/// Names of other runtimes, by what a program uses instead.
const FOREIGN: [(&str, &[&str]); 4] = [
    (
        "a program has no network, files, processes and modules; call a tool",
        &[
            "fetch",
            "XMLHttpRequest",
            "WebSocket",
            "EventSource",
            "require",
            "module",
            "exports",
            "process",
            "fs",
            "path",
            "os",
            "Deno",
            "Bun",
            "Buffer",
            "axios",
            "import",
            "child_process",
            "__dirname",
            "__filename",
        ],
    ),
    (
        "a program has no page and no browser; call a tool",
        &["window", "document", "navigator", "location", "localStorage", "sessionStorage", "alert", "prompt"],
    ),
    ("call `await sleep(ms)` in a loop", &["setInterval", "setImmediate", "requestAnimationFrame"]),
    (
        "only the language itself is there, and what this tool describes",
        &[
            "URL",
            "URLSearchParams",
            "TextEncoder",
            "TextDecoder",
            "structuredClone",
            "btoa",
            "atob",
            "crypto",
            "Intl",
            "performance",
            "Worker",
            "SharedArrayBuffer",
            "Atomics",
            "WeakRef",
            "FinalizationRegistry",
            "eval",
            "AbortController",
            "Blob",
            "Temporal",
            "_",
            "moment",
        ],
    ),
];

/// Words at the start of a line that only TypeScript has.
const TYPE_WORDS: [&str; 8] =
    ["interface ", "type ", "enum ", "declare ", "namespace ", "abstract ", "import type ", "export type "];

/// Names that follow a colon or `<` only in types.
const TYPES: [&str; 17] = [
    "string", "number", "boolean", "any", "unknown", "void", "never", "object", "bigint", "symbol", "Array", "Record",
    "Promise", "Map", "Set", "Partial", "readonly",
];

/// Returns a hint for a `ReferenceError`.
pub(super) fn reference(message: &str, line: &str, names: &Names) -> Option<String> {
    if message.starts_with("could not load module") {
        return Some(FOREIGN[0].0.to_owned());
    }
    if let Some(name) = message.strip_suffix(" is not initialized") {
        return Some(format!("`{name}` is used before its declaration"));
    }
    let name = message.strip_suffix(" is not defined")?;
    if let Some((hint, _)) = FOREIGN.iter().find(|(_, names)| names.contains(&name)) {
        return Some((*hint).to_owned());
    }
    if names.exists(name) {
        return Some(format!("did you mean `tools.{name}`?"));
    }
    if let Some(path) = names.named(name) {
        return Some(format!("did you mean `{path}`?"));
    }
    let rest = line.split_once(name)?.1.trim_start();
    let assigns = rest.starts_with('=') && !rest.starts_with("==") && !rest.starts_with("=>");
    assigns.then(|| format!("declare it: `let {name}`"))
}

/// Returns the callee in a line at a column, from 0: `a.b` for `a.b()` at the point or at `b`.
pub(super) fn callee(line: &str, column: usize) -> Option<String> {
    let chars: Vec<char> = line.chars().collect();
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let mut end = column;
    while chars.get(end).is_some_and(|&c| c == '.' || c == '?') {
        end += 1;
    }
    while chars.get(end).is_some_and(|&c| is_part(c)) {
        end += 1;
    }
    let mut start = column.min(end);
    while start > 0 && chars.get(start - 1).is_some_and(|&c| is_part(c) || c == '.') {
        start -= 1;
    }
    let name: String = chars.get(start..end)?.iter().collect();
    let name = name.trim_start_matches(['.', '?']);
    (!name.is_empty() && name.len() <= 120).then(|| name.to_owned())
}

/// Returns a hint for a text that is not JavaScript, with the line of the error and the column in it, from 0.
pub(super) fn syntax(line: &str, column: usize, text: &str) -> Option<&'static str> {
    let start = line.trim_start();
    if start.starts_with("import ") || start.starts_with("export ") && !start.starts_with("export type ") {
        return Some("a program is not a module and loads none; call a tool, and `return` the value");
    }
    if is_typescript(line) {
        return Some("this is TypeScript; write JavaScript, without types");
    }
    if start.starts_with("def ") || start.starts_with("from ") || start.starts_with("print ") {
        return Some("this is not JavaScript");
    }
    let before: String = line.chars().take(column).collect();
    if before.trim_end().ends_with("await") {
        return Some("`await` needs an `async` function around it: `async (x) => { … }`");
    }
    let is_prose = line.split_whitespace().count() > 3 && !line.contains(['(', '=', '{', '"', '\'', '`', ';']);
    if is_prose && text.trim_start().starts_with(start.trim_end()) {
        return Some("send the program only, without text around it");
    }
    None
}

fn is_typescript(line: &str) -> bool {
    let start = line.trim_start();
    let declares = |word: &str| {
        start.strip_prefix(word).is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic() || c == '_'))
    };
    if TYPE_WORDS.into_iter().any(declares) {
        return true;
    }
    let is_type = |rest: &str| {
        let rest = rest.trim_start();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let is_array = after.starts_with("[]") || after.starts_with('<');
        TYPES.contains(&name) || is_array && !name.is_empty() || name.starts_with(char::is_uppercase)
    };
    let casts = line.split(" as ").skip(1).any(|rest| rest.starts_with("const") || is_type(rest));
    let annotates = line.match_indices(':').any(|(idx, _)| {
        let before = line[..idx].trim_end_matches('?');
        before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ')' || c == '}' || c == ']')
            && is_type(&line[idx + 1..])
    });
    let has_arguments = line.match_indices('<').any(|(idx, _)| {
        line[..idx].ends_with(|c: char| c.is_alphanumeric()) && is_type(&line[idx + 1..]) && line[idx..].contains('>')
    });
    let asserts = line.contains("!.") || line.contains("!;") || line.contains("!)");
    casts || annotates || has_arguments || asserts
}
