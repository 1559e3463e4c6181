//! The Rust blocks in README are complete programs or quoted from such in `examples/`, and those that can run are always
//! quoted. The chapters of the guide have no hidden lines, and links lead to files.

use std::fs;
use std::path::{Path, PathBuf};

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the attributes and the code of each Rust block.
fn rust_blocks(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split("\n```rust").skip(1).map(|block| {
        let (attributes, rest) = block.split_once('\n').expect("a block has lines");
        (attributes, rest.split_once("\n```").expect("a block ends").0)
    })
}

fn pages(folder: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(project().join(folder)).unwrap().map(|file| file.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|extension| extension == "md")).collect()
}

fn chapters() -> Vec<PathBuf> {
    pages("docs")
}

#[test]
fn every_rust_block_of_readme_is_a_program_that_is_tested() {
    let readme = fs::read_to_string(project().join("README.md")).unwrap();
    let programs = fs::read_dir(project().join("examples/examples")).unwrap();
    let programs = programs.map(|program| program.unwrap().path()).filter(|program| program.is_file());
    let programs: Vec<String> = programs.map(|program| fs::read_to_string(program).unwrap()).collect();

    for (attributes, code) in rust_blocks(&readme) {
        let is_quoted = programs.iter().any(|program| program.contains(code));
        let is_program = code.contains("fn main()") && attributes.contains("no_run");
        assert!(is_quoted || is_program, "a block is not quoted from `examples/`:\n{code}");
    }
    assert!(readme.lines().count() <= 200, "README has more than 200 lines");
    assert_eq!(rust_blocks(&readme).count(), 3);
}

#[test]
fn no_example_has_hidden_lines() {
    for path in chapters().into_iter().chain([project().join("README.md")]) {
        let text = fs::read_to_string(&path).unwrap();
        for (_, code) in rust_blocks(&text) {
            let is_hidden = |line: &str| line == "#" || line.starts_with("# ");
            assert!(!code.lines().any(is_hidden), "{} has hidden lines:\n{code}", path.display());
        }
    }
}

#[test]
fn every_chapter_is_listed_and_a_doc_test() {
    let guide = fs::read_to_string(project().join("tests/src/guide.rs")).unwrap();
    let list = fs::read_to_string(project().join("docs/README.md")).unwrap();
    for path in chapters() {
        let name = path.file_name().unwrap().to_str().unwrap();
        // Lists of the chapters.
        if !["README.md", "SUMMARY.md"].contains(&name) {
            assert!(guide.contains(&format!("\"{name}\"")), "`{name}` is not in `tests/src/guide.rs`");
            assert!(list.contains(name), "the list of chapters lacks `{name}`");
        }
    }
}

#[test]
fn the_tests_that_a_chapter_names_exist() {
    let chapter = fs::read_to_string(project().join("docs/replies-tolerated.md")).unwrap();
    let (_, table) = chapter.split_once("| test |").unwrap();
    let names: Vec<_> = table.split('`').filter_map(|code| code.rsplit_once("::")).collect();
    assert!(names.len() > 15, "{names:?}");
    for (file, test) in names {
        let file = file.replace("::", "/");
        let tests = fs::read_to_string(project().join(format!("crates/providers/tests/it/replies/{file}.rs"))).unwrap();
        assert!(tests.contains(&format!("fn {test}(")), "`{file}::{test}` does not exist");
    }
}

/// Adds the text of the files in a folder.
fn read_sources(folder: &Path, sources: &mut String) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        match entry.is_dir() {
            true => read_sources(&entry, sources),
            false => sources.push_str(&fs::read_to_string(&entry).unwrap_or_default()),
        }
    }
}

#[test]
fn the_messages_in_the_chapter_about_trouble_are_those_of_the_source() {
    let mut sources = String::new();
    for package in fs::read_dir(project().join("crates")).unwrap().map(|entry| entry.unwrap().path()) {
        read_sources(&package.join("src"), &mut sources);
    }
    read_sources(&project().join("toolkit/src"), &mut sources);
    // A text in the source may go on in the next line.
    let continued: Vec<&str> = sources.split("\\\n").map(str::trim_start).collect();
    let sources = continued.concat();

    let chapter = fs::read_to_string(project().join("docs/troubleshooting.md")).unwrap();
    let messages: Vec<&str> = chapter.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    assert!(messages.len() > 15, "{messages:?}");
    for message in messages {
        for part in message.split('…').map(|part| part.trim_matches([' ', ',', ';', '(', ')'])) {
            assert!(sources.contains(part), "no message contains {part:?}, as in {message:?}");
        }
    }
}

#[test]
fn no_link_leads_to_the_package_of_another_project() {
    for path in [".", "benches", "docs", "docs/guide", "docs/decisions"].into_iter().flat_map(pages) {
        let text = fs::read_to_string(&path).unwrap();
        for site in ["docs.rs/", "crates.io/crates/", "lib.rs/crates/"] {
            let names = text.split(site).skip(1).map(|rest| rest.split(['/', ')', ' ', '>']).next().unwrap());
            assert!(names.into_iter().all(|name| name != "toolkit"), "{}: {site}toolkit", path.display());
        }
    }
}

#[test]
fn relative_links_lead_to_files() {
    let mut n_links = 0;
    for path in [".", "benches", "benches/tables", "docs", "docs/decisions"].into_iter().flat_map(pages) {
        let text = fs::read_to_string(&path).unwrap();
        for link in text.split("](").skip(1) {
            let link = link.split([')', '#']).next().unwrap();
            if link.is_empty() || link.contains(':') || link.contains(['\n', '`', '"']) {
                continue;
            }
            n_links += 1;
            assert!(path.parent().unwrap().join(link).exists(), "{}: `{link}` does not exist", path.display());
        }
    }
    assert!(n_links > 30, "{n_links}");
}
