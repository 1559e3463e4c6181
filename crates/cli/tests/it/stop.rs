//! Time limits and Ctrl-C.

use super::{Ran, tools};

/// The running time of the tools in milliseconds, much longer than any limit.
const MUCH_LONGER: &str = "60000";

#[test]
fn a_time_limit_applies_to_every_kind_of_tool() {
    for tool in ["sleep", "stubborn", "deaf"] {
        tools(&["call", tool, "--ms", MUCH_LONGER, "--timeout", "100ms"])
            .exits(1)
            .prints("")
            .says("the tool took longer than 100ms");
    }
    tools(&["call", "walk", "--steps", "255", "--timeout", "0.1"]).exits(1);
}

#[test]
fn a_tool_that_blocks_its_thread_ends_with_its_own_timeout() {
    tools(&["call", "deaf", "--ms", MUCH_LONGER]).exits(1).prints("").says("the tool took longer than 3s");
}

#[test]
fn a_tool_within_its_limit_succeeds() {
    tools(&["call", "walk", "--timeout", "1m"]).exits(0).prints("\"arrived\"\n");
}

#[test]
fn progress_is_shown_on_a_terminal_only() {
    let ran = tools(&["call", "walk"]).exits(0);
    assert_eq!(ran.err, "");
}

/// Sends SIGINT each time the next text appears on stderr.
#[cfg(unix)]
fn interrupted_at(texts: &[&str], args: &[&str]) -> Ran {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    let mut command = super::command(&super::TOOLS, args);
    let command = command.env("FIXTURE_TELLS", "1").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut err = String::new();
    for text in texts {
        let line = lines.by_ref().inspect(|line| err.push_str(line)).find(|line| line.contains(text));
        assert!(line.is_some(), "no {text:?} in {err:?}");
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }
    err.extend(lines);
    let ran: Ran = child.wait_with_output().unwrap().into();
    Ran { err, ..ran }
}

#[cfg(unix)]
#[test]
fn ctrl_c_cancels_the_call_and_exits_with_130() {
    for args in [
        &["call", "walk", "--steps", "255"][..],
        &["call", "sleep", "--ms", MUCH_LONGER],
        &["call", "stubborn", "--ms", MUCH_LONGER],
    ] {
        interrupted_at(&["begun"], args).exits(130).prints("").says("the call was cancelled");
    }
}

#[cfg(unix)]
#[test]
fn a_second_ctrl_c_abandons_a_tool_that_ignores_cancellation() {
    let again = "press Ctrl-C again to abandon it";
    interrupted_at(&["begun", again], &["call", "deaf", "--ms", MUCH_LONGER]).exits(130).prints("").says(again);
}
