//! `--help`.

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
