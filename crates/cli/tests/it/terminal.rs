//! Output on a terminal, which `script` provides. Without `script`, the tests are skipped.

use std::process::Command;

use super::TOOLS;

/// Returns the output on a terminal of 60 columns, with colors, or `None` without `script`.
fn shown(variables: &[(&str, &str)], args: &str) -> Option<String> {
    let mut command = Command::new("script");
    command.args(["-qec", &format!("stty rows 24 cols 60 && {} {args}", *TOOLS), "/dev/null"]);
    for variable in ["RUST_BACKTRACE", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(variable);
    }
    command.env("TERM", "xterm").envs(variables.iter().copied());
    let Ok(output) = command.stdin(std::process::Stdio::null()).output() else {
        test_support::skipped(1);
        return None;
    };
    Some(String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n"))
}

#[test]
fn a_list_fits_the_terminal_and_has_colors() {
    let Some(page) = shown(&[("NO_COLOR", "1")], "list") else {
        return;
    };
    // On a narrow terminal, the summary is below the id, and is cut after a word. No hint is left out.
    for line in super::tools(&["list"]).exits(0).out.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let [beside, below] = ["  ", "\n    "].map(|between| format!("{}{between}{}\n", columns[0], columns[1]));
        assert!(page.contains(&beside) || page.contains(&below), "{line}: {page}");
    }
    assert!(page.contains("math:add:1.0.0  read-only, idempotent\n    Adds two integers.\n"), "{page}");
    assert!(page.lines().all(|line| line.chars().count() <= 60), "{page}");
    assert!(!page.contains('\t'), "{page}");
    let lines: Vec<&str> = page.lines().filter_map(|line| line.trim().strip_suffix('…')).collect();
    let whole = super::tools(&["list"]).exits(0);
    assert!(!lines.is_empty() && lines.iter().all(|line| whole.out.contains(&format!("{line} "))), "{page}");
    assert!(!page.contains('\u{1b}'), "{page}");
    assert!(shown(&[], "list").unwrap().contains('\u{1b}'));
    assert!(!shown(&[("CLICOLOR", "0")], "list").unwrap().contains('\u{1b}'));
}

#[test]
fn costs_and_limits_are_tables() {
    let Some(page) = shown(&[("NO_COLOR", "1")], "cost --format openai --top 2") else {
        return;
    };
    let lines: Vec<&str> = page.lines().collect();
    assert!(
        lines[0].starts_with("TOOL ")
            && lines[0].ends_with("TOKENS     NAME  DESCRIPTION  ARGUMENTS    INPUT   OUTPUT"),
        "{page}"
    );
    assert!(lines[3].starts_with("all 20 "), "{page}");
    assert!(lines[..4].iter().all(|line| line.len() == lines[0].len()), "{page}");
    let page = shown(&[("NO_COLOR", "1")], "check --limits").unwrap();
    assert!(page.starts_with("TARGET "), "{page}");
    assert!(page.lines().any(|line| line.starts_with("Gemini ") && line.contains("  512")), "{page}");
}

#[test]
fn matches_are_highlighted() {
    let Some(page) = shown(&[], "search adding -n 1") else {
        return;
    };
    assert!(page.contains("math:\u{1b}[33madd\u{1b}[0m:1.0.0"), "{page:?}");
    assert!(page.contains("\u{1b}[33mAdds\u{1b}[0m two integers."), "{page:?}");
    assert_eq!(shown(&[("NO_COLOR", "1")], "search adding -n 1").unwrap(), "math:add:1.0.0  Adds two integers.\n");
}

#[test]
fn control_characters_in_text_are_escaped() {
    let Some(page) = shown(&[], "call escape") else {
        return;
    };
    assert_eq!(page, "before\\u{1b}[2Jafter\n");
    let page = shown(&[], "call escapes").unwrap();
    assert_eq!(page, "[\n  \"before\\u009b2Jafter\"\n]\n");
}

/// Bidirectional formatting and invisible characters are escaped, in text and in JSON.
#[test]
fn hidden_characters_in_a_manifest_are_escaped() {
    let folder = std::env::temp_dir().join(format!("toolkit-hidden-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("tools.json");
    let hidden = [
        '\u{202e}',
        '\u{2066}',
        '\u{200b}',
        '\u{200f}',
        '\u{61c}',
        '\u{feff}',
        '\u{ad}',
        '\u{e0041}',
        '\u{9b}',
        '\u{1b}',
    ];
    let name: String = hidden.iter().flat_map(|c| ['x', *c]).collect();
    let schema = serde_json::json!({ "type": "object", "properties": { &name: { "$ref": format!("#/{name}") } } });
    let tools = serde_json::json!([{ "name": name, "description": name, "inputSchema": schema }]);
    std::fs::write(&file, tools.to_string()).unwrap();
    for args in ["check --json", "check"] {
        let Some(page) = shown(&[("NO_COLOR", "1")], &format!("{args} {}", file.display())) else {
            return;
        };
        assert!(page.contains('x'), "{page}");
        for c in hidden {
            assert!(!page.contains(c), "{args}: U+{:04X} in {page:?}", u32::from(c));
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_structured_result_is_indented() {
    let Some(page) = shown(&[], "call echo --value 1") else {
        return;
    };
    assert_eq!(page, "[\n  1,\n  {}\n]\n");
}

#[test]
fn the_progress_bar_disappears_at_the_end() {
    let Some(page) = shown(&[("NO_COLOR", "1")], "call walk --steps 30") else {
        return;
    };
    assert!(page.contains('%') && page.contains("walking"), "{page:?}");
    assert!(page.ends_with("\u{1b}[2Karrived\n"), "{page:?}");
}

#[test]
fn errors_are_red() {
    let Some(page) = shown(&[], "call refuse") else {
        return;
    };
    assert!(page.contains("\u{1b}[31merror:"), "{page:?}");
}
