//! `--help`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::tools;

#[track_caller]
fn has_all(page: &str, texts: &[&str]) {
    for text in texts {
        assert!(page.contains(text), "no {text:?} in\n{page}");
    }
}

#[test]
fn the_programs_help_lists_commands_and_exit_codes() {
    let page = tools(&["--help"]).exits(0).out;
    let commands = ["list", "search", "show", "call", "export", "check", "completions", "serve", "Exit codes", "130"];
    has_all(&page, &commands);
}

#[test]
fn the_help_of_serve_fits_two_screens_with_all_features() {
    let page = tools(&["serve", "--help"]).exits(0).out;
    assert!(page.lines().count() <= 100, "{} lines\n{page}", page.lines().count());
    has_all(
        &page,
        &["--http <ADDR>", "--proxy <FILE>", "--durable [<FILE | URL>]", "--nats <URL>", "SERVE_TOKEN", "A RULE is"],
    );
}

#[test]
fn cargo_toolkit_has_the_summaries_of_all_commands() {
    let page = tools(&["--help"]).exits(0).out;
    let commands = page.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let mut summaries = String::new();
    for line in commands {
        match line.strip_prefix("                ") {
            // The summary goes on.
            Some(rest) => summaries = format!("{} {}\n", summaries.trim_end(), rest.trim()),
            None => {
                let (name, summary) = line.trim().split_once(' ').unwrap_or((line, ""));
                summaries += &format!("{name}\t{}\n", summary.trim());
            }
        }
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cargo-toolkit/src/commands.txt");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&file, summaries).unwrap();
    } else {
        assert_eq!(fs::read_to_string(&file).unwrap(), summaries, "UPDATE_EXPECT=1 writes {}", file.display());
    }
}

/// Flags of the tools and programs in the examples, and of cargo, curl, grep, nats, podman and a linker.
const OTHER_FLAGS: [&str; 31] = [
    "--a",
    "--agent",
    "--b",
    "--bench",
    "--bin",
    "--branch",
    "--build-arg",
    "--cents",
    "--data",
    "--db",
    "--features",
    "--file",
    "--header",
    "--label",
    "--ledger",
    "--library",
    "--locked",
    "--max-bucket-size",
    "--only-matching",
    "--path",
    "--payer",
    "--people",
    "--quiet",
    "--release",
    "--silent",
    "--target",
    "--test",
    "--timezone",
    "--ttl",
    "--whole-archive",
    "--width",
];

/// Adds the flags in the help of a command and of its commands.
fn add_flags(command: &[&str], known: &mut BTreeSet<String>) {
    let page = tools(&[command, &["--help"]].concat()).exits(0).out;
    known.extend(flags(&page));
    let commands = page.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    for name in commands.filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty())) {
        add_flags(&[command, &[name]].concat(), known);
    }
}

fn flags(text: &str) -> impl Iterator<Item = String> {
    let starts =
        text.match_indices("--").filter(|(at, _)| !text[..*at].ends_with(|c: char| c == '-' || c.is_alphanumeric()));
    let name = |at: usize| {
        let rest = &text[at + 2..];
        let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(rest.len());
        rest[..end].trim_end_matches('-').to_owned()
    };
    starts.map(move |(at, _)| name(at)).filter(|name| !name.is_empty()).map(|name| format!("--{name}"))
}

#[test]
fn each_flag_that_the_chapters_name_exists() {
    let mut known: BTreeSet<String> = OTHER_FLAGS.map(str::to_owned).into();
    add_flags(&[], &mut known);
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let pages = [docs.clone(), docs.join("guide")].map(|folder| fs::read_dir(folder).unwrap());
    let pages = pages.into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut unknown = BTreeSet::new();
    for page in pages.chain([docs.join("../README.md")]).filter(|page| page.extension().is_some_and(|is| is == "md")) {
        let named = flags(&fs::read_to_string(&page).unwrap()).collect::<Vec<_>>();
        unknown.extend(named.into_iter().filter(|flag| !known.contains(flag)).map(|flag| (flag, page.clone())));
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
}

#[test]
fn a_tools_help_lists_descriptions_defaults_and_choices() {
    let page = tools(&["call", "forecast", "--help"]).exits(0).out;
    has_all(
        &page,
        &[
            "Forecast for a place.",
            "--place.latitude <NUMBER>",
            "Degrees north. (-90 to 90) [required]",
            "How many days ahead. (1 to 14) [default: 3]",
            "--labels <TEXT>",
            "[repeatable]",
            "--unit <CHOICE>",
            "fahrenheit: Degrees Fahrenheit.",
            "--verbose-output",
        ],
    );
    has_all(&tools(&["call", "add", "--help"]).out, &["Overflow wraps around."]);
}

#[test]
fn a_property_without_a_flag_is_mentioned() {
    let page = tools(&["call", "shapes", "--help"]).exits(0).out;
    has_all(&page, &[r#"Available in JSON only: "two words""#]);
    tools(&["call", "shapes", r#"{"two words":1,"matrix":[]}"#, "--either", "x"]).exits(0);
}

#[test]
fn a_command_line_without_a_command_or_tool_exits_with_2() {
    for args in [&[][..], &["call"], &["show"], &["lst"], &["list", "--nmespace", "a"], &["completions"]] {
        tools(args).exits(2).prints("");
    }
}
