//! Time limits and Ctrl-C.

use std::time::Duration;

use crate::{Ran, tools};

/// A tool that is waited for ends in success after this many milliseconds.
const MUCH_LONGER: &str = "60000";

#[test]
fn a_time_limit_holds_for_every_kind_of_tool() {
    for tool in ["sleep", "stubborn", "deaf"] {
        tools(&["call", tool, "--ms", MUCH_LONGER, "--timeout", "100ms"])
            .exits(1)
            .prints("")
            .says("the tool took longer than 100ms");
    }
    tools(&["call", "walk", "--steps", "255", "--timeout", "0.1"]).exits(1);
}

#[test]
fn a_tool_within_its_limit_is_left_alone() {
    tools(&["call", "walk", "--timeout", "1m"]).exits(0).prints("\"arrived\"\n");
}

#[test]
fn progress_is_shown_on_a_terminal_only() {
    let ran = tools(&["call", "walk"]).exits(0);
    assert_eq!(ran.err, "");
}

/// Sends SIGINT with the program that every Unix has for it.
#[cfg(unix)]
fn interrupted(n_times: usize, args: &[&str]) -> Ran {
    use std::process::{Command, Stdio};

    let mut command = crate::command(crate::TOOLS, args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    for _ in 0..n_times {
        // The program must have come to the point where it listens.
        std::thread::sleep(Duration::from_millis(500));
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }
    child.wait_with_output().unwrap().into()
}

#[cfg(unix)]
#[test]
fn ctrl_c_cancels_the_call_and_exits_with_130() {
    for args in [
        &["call", "walk", "--steps", "255"][..],
        &["call", "sleep", "--ms", MUCH_LONGER],
        &["call", "stubborn", "--ms", MUCH_LONGER],
    ] {
        interrupted(1, args).exits(130).prints("").says("the call was cancelled");
    }
}

#[cfg(unix)]
#[test]
fn a_tool_that_does_not_listen_is_left_behind_at_the_second_ctrl_c() {
    interrupted(2, &["call", "deaf", "--ms", MUCH_LONGER]).exits(130).prints("").says("Ctrl-C again leaves it behind");
}
