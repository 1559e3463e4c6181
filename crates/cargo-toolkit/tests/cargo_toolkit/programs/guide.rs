//! The guide, followed to the letter: its files are written, its commands run, and their output is that of the chapters.
//!
//! `UPDATE_EXPECT=1` writes the output into the chapters.

use std::fs;
use std::path::Path;

use super::reader::Reader;

const CHAPTERS: [&str; 5] = ["first-tool", "state-and-errors", "test", "serve", "ship"];

impl Reader {
    /// Writes a block where the sentence before it says. A block after any other sentence is only shown.
    fn write(&self, sentence: &str, block: &str) {
        let Some(file) = sentence.strip_suffix("`:").and_then(|sentence| sentence.rsplit('`').next()) else {
            return;
        };
        let file = self.directory.join(file);
        if sentence.contains("Replace `") || sentence.starts_with("and `") {
            fs::write(file, block).unwrap();
        } else if sentence.contains("Append to `") {
            let text = fs::read_to_string(&file).unwrap();
            fs::write(file, text + block).unwrap();
        } else if sentence.contains("Append to the section `[package]`") {
            let text = fs::read_to_string(&file).unwrap();
            fs::write(file, text.replacen("[package]\n", &format!("[package]\n{block}"), 1)).unwrap();
        }
    }

    /// Follows a chapter, and returns it with the output that its commands have here.
    fn follow(&mut self, chapter: &str) -> String {
        let mut out = String::new();
        let mut sentence = String::new();
        let mut lines = chapter.lines().peekable();
        while let Some(line) = lines.next() {
            out.push_str(line);
            out.push('\n');
            let Some(language) = line.strip_prefix("```") else {
                match line.is_empty() {
                    true => {}
                    false if out.ends_with(&format!("\n\n{line}\n")) => sentence = line.to_owned(),
                    false => sentence = format!("{sentence} {line}"),
                }
                continue;
            };
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            match language {
                "console" => {
                    for command in block.iter().filter_map(|line| line.strip_prefix("$ ")) {
                        let printed = self.run(command);
                        // The body of an HTTP response has no line break at its end.
                        let end = if printed.is_empty() || printed.ends_with('\n') { "" } else { "\n" };
                        out.push_str(&format!("$ {command}\n{printed}{end}"));
                    }
                }
                _ => {
                    let block: String = block.iter().map(|line| format!("{line}\n")).collect();
                    if matches!(language, "rust" | "toml") {
                        self.write(&sentence, &block);
                    }
                    out.push_str(&block);
                }
            }
            out.push_str("```\n");
        }
        out
    }
}

#[test]
#[ignore = "builds a program with a command line and its dependencies: `.ci/run`"]
fn the_guide_does_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let mut reader = Reader::new(folder.path());
    let mut wrong = Vec::new();
    for name in CHAPTERS {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/guide/{name}.md"));
        let chapter = fs::read_to_string(&file).unwrap();
        let followed = reader.follow(&chapter);
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&file, &followed).unwrap();
        } else if followed != chapter {
            wrong.push(format!("{}\n{followed}", file.display()));
        }
    }
    assert!(wrong.is_empty(), "UPDATE_EXPECT=1 writes these outputs:\n{}", wrong.join("\n"));
}
