//! `tests/statements.txt` names the code that decides each number, default and name of the pages.

use std::fs;
use std::path::Path;

/// Returns a text with one space in place of each line break and indentation.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    joined(&fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// Returns true if a text contains a part that does not end within a word or a number.
fn states(text: &str, part: &str) -> bool {
    let goes_on = |at: usize| text[at + part.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
    text.match_indices(part).any(|(at, _)| !goes_on(at))
}

#[test]
fn each_number_that_a_page_states_is_that_of_the_source() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/statements.txt");
    let list = fs::read_to_string(path).unwrap();
    let (mut page, mut statement, mut text) = ("", "", String::new());
    let (mut n_statements, mut wrong) = (0, Vec::new());
    for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(source) = line.strip_prefix("        ") {
            let (file, code) = source.split_once(": ").unwrap();
            n_statements += 1;
            if !states(&text, statement) {
                wrong.push(format!("{page} no longer states {statement:?}, which `{code}` of {file} decides"));
            } else if !states(&read(file), code) {
                wrong.push(format!("{page} states {statement:?}, and {file} no longer contains `{code}`"));
            }
        } else if let Some(line) = line.strip_prefix("    ") {
            statement = line;
        } else {
            (page, text) = (line, read(line));
        }
    }
    assert!(n_statements > 200, "{n_statements}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
