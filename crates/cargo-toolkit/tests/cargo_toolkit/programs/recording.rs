//! The recording of a terminal in README: an image of commands that run here, and of what they print.
//!
//! `UPDATE_EXPECT=1` writes it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::reader::Reader;
use super::target;

const COMMANDS: [&str; 5] = [
    "cargo toolkit new my-tools",
    "cd my-tools",
    "cargo run -q -- call money:share --cents 1000 --people 4",
    "cargo run -q -- call money:share '{\"cents\": -1, \"peopel\": 4}'",
    "cargo run -q -- install cursor --dry-run",
];

/// The size of a character, and the space around the text, in pixels.
const CHARACTER: (f64, usize) = (8.43, 21);
const MARGIN: usize = 20;
const BAR: usize = 36;
/// The time between two commands, in seconds.
const PAUSE: f64 = 1.2;

/// Writes the commands and what they print as an animated image, which shows all of it without an animation.
fn drawn(shown: &[(&str, String)]) -> String {
    let mut text = String::new();
    let mut line = 0;
    for (nth, (command, output)) in shown.iter().enumerate() {
        let lines =
            std::iter::once(("c", format!("$ {command}"))).chain(output.lines().map(|line| ("o", line.to_owned())));
        let delay = nth as f64 * PAUSE;
        let _ = writeln!(text, "<g style=\"animation-delay:{delay:.1}s\">");
        for (class, content) in lines {
            let y = BAR + MARGIN + line * CHARACTER.1;
            let content = content.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            let _ = writeln!(text, "<text class=\"{class}\" x=\"{MARGIN}\" y=\"{y}\">{content}</text>");
            line += 1;
        }
        text.push_str("</g>\n");
    }
    let columns = shown.iter().flat_map(|(_, output)| output.lines()).map(str::len).max().unwrap_or_default();
    let (width, height) = ((columns as f64 * CHARACTER.0) as usize + 2 * MARGIN, BAR + MARGIN + line * CHARACTER.1);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\">\n<title>A terminal: a new program, a call of its tool, and its entry for an MCP client</title>\n<style>\n\
         text {{ font: 14px ui-monospace, \"SF Mono\", Menlo, Consolas, \"DejaVu Sans Mono\", monospace; white-space: pre; fill: #c9d1d9 }}\n\
         .c {{ fill: #ffffff; font-weight: 600 }}\n\
         g {{ animation: show .2s both }}\n@keyframes show {{ from {{ opacity: 0 }} }}\n\
         @media (prefers-reduced-motion: reduce) {{ g {{ animation: none }} }}\n</style>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"10\" fill=\"#161b22\"/>\n\
         <circle cx=\"22\" cy=\"20\" r=\"6\" fill=\"#ff5f56\"/><circle cx=\"42\" cy=\"20\" r=\"6\" fill=\"#ffbd2e\"/>\
         <circle cx=\"62\" cy=\"20\" r=\"6\" fill=\"#27c93f\"/>\n{text}</svg>\n"
    )
}

#[test]
#[ignore = "builds a program with a command line and its dependencies: `.ci/run`"]
fn the_recording_in_readme_is_what_the_commands_print() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    let mut reader = Reader::new(&home);
    let shown: Vec<(&str, String)> = COMMANDS
        .iter()
        .map(|command| {
            let output = reader.run(command);
            let output = output.replace(&*target().to_string_lossy(), "/home/ada/my-tools/target");
            (*command, output.replace(&*home.to_string_lossy(), "/home/ada"))
        })
        .collect();
    let image = drawn(&shown);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/images/terminal.svg");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, image).unwrap();
    } else {
        assert_eq!(fs::read_to_string(&file).unwrap(), image, "UPDATE_EXPECT=1 writes {}", file.display());
    }
}
