//! Questions of a tool in the terminal, which `script` provides. Without `script`, the tests are skipped.

use std::io::Write;
use std::process::{Command, Stdio};

use super::SERVE;

/// Calls a tool on a terminal whose user enters these lines. Returns what the terminal shows, or `None` without
/// `script`.
fn typed(tool: &str, lines: &[&str]) -> Option<String> {
    let mut command = Command::new("script");
    command.args(["-qec", &format!("{} call {tool}", *SERVE), "/dev/null"]);
    command.env("NO_COLOR", "1").env("TERM", "xterm").stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        test_support::skipped(1);
        return None;
    };
    // The terminal keeps what is entered before the tool asks, and Ctrl-D ends the input.
    let mut input = child.stdin.take().unwrap();
    for line in lines {
        writeln!(input, "{line}").unwrap();
    }
    input.write_all(b"\x04").unwrap();
    let output = child.wait_with_output().unwrap();
    Some(String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n"))
}

#[test]
fn a_form_is_filled_in_on_the_terminal() {
    let Some(page) = typed("test_elicitation --message Register?", &["Ada", "ada@example.com", "yes"]) else {
        return;
    };
    for part in ["Register?", "User's email address", "username (text): ", "answer? yes, no (decline) or cancel"] {
        assert!(page.contains(part), "no {part:?} in {page}");
    }
    assert!(page.contains(r#"action=accept, content={"username":"Ada","email":"ada@example.com"}"#), "{page}");
}

#[test]
fn an_invalid_value_is_asked_for_again_and_an_empty_one_is_the_default() {
    let lines = ["", "old", "41", "", "2", "no", ""];
    let Some(page) = typed("test_elicitation_sep1034_defaults", &lines) else {
        return;
    };
    assert!(page.contains("enter an integer"), "{page}");
    let content = r#"content={"name":"John Doe","age":41,"score":95.5,"status":"inactive","verified":false}"#;
    assert!(page.contains(content), "{page}");
}

#[test]
fn a_value_that_is_none_of_its_field_is_asked_for_again() {
    let (age, score) = (["4.5", "9223372036854775808", "-41"], ["a", "inf", "nan", "-1e3"]);
    let (status, verified) = (["0", "4", "Active", "3"], ["maybe", "1", "TRUE"]);
    let lines = [&["Ada"][..], &age, &score, &status, &verified, &["perhaps", "Y"]].concat();
    let Some(page) = typed("test_elicitation_sep1034_defaults", &lines) else {
        return;
    };
    let content = r#"content={"name":"Ada","age":-41,"score":-1000.0,"status":"pending","verified":true}"#;
    assert!(page.contains(content), "{page}");
    let n_asked = |text: &str| page.matches(&format!("enter {text}\n")).count();
    let n_again = ["an integer", "a number", "one of the choices", "yes or no"].map(n_asked);
    assert_eq!(n_again, [2, 3, 3, 2], "{page}");
}

#[test]
fn choices_are_selected_by_number_or_value() {
    let lines = ["option3", "value2", "2", "", "nothing", "3, value1", ""];
    let Some(page) = typed("test_elicitation_sep1330_enums", &lines) else {
        return;
    };
    assert!(page.contains("2. opt2: Option Two") && page.contains("enter numbers or values, separated"), "{page}");
    let content =
        r#"{"untitledSingle":"option3","titledSingle":"value2","legacyEnum":"opt2","titledMulti":["value3","value1"]}"#;
    assert!(page.contains(content), "{page}");
}

#[test]
fn a_question_can_be_declined_and_closed() {
    for (lines, outcome) in [
        (&["a@b.c", "Ada", "no"][..], "action=decline"),
        (&["a@b.c", "Ada", "what", "cancel"], "action=cancel"),
        (&["a@b.c"], "action=cancel"),
    ] {
        let Some(page) = typed("test_elicitation --message ?", lines) else {
            return;
        };
        assert!(page.contains(outcome), "{lines:?}: {page}");
    }
    let page = typed("test_url", &["yes"]).unwrap();
    assert!(page.contains("open https://example.com/connect") && page.contains("opened"), "{page}");
}

#[test]
fn without_a_terminal_no_question_is_asked() {
    let output = Command::new(&*SERVE).args(["call", "test_url"]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "\"unsupported\"");
    let output = Command::new(&*SERVE).args(["call", "test_input_required_result_elicitation"]).output().unwrap();
    assert!(!output.status.success());
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("the client cannot show a form to its user"), "{error}");
}
