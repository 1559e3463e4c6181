//! The signals that end a server.

use std::process::{Command, id};
use std::time::Duration;

use tokio::time::timeout;
use toolkit_runtime::ShutdownSignals;

/// A variable of the environment of a process that runs the test below again.
const CHILD: &str = "TOOLKIT_RUNTIME_TEST_SIGNAL";

#[test]
fn each_signal_that_is_not_ignored_ends_a_server() {
    if let Ok(signal) = std::env::var(CHILD) {
        wait_for(&signal);
        return;
    }
    for (shell, signal) in [("", "INT"), ("", "TERM"), ("", "HUP"), ("trap '' HUP; ", "HUP")] {
        let program = std::env::current_exe().unwrap();
        let test = "signals::each_signal_that_is_not_ignored_ends_a_server";
        // A test may run below `nohup`, so that the shell of the system restores the default first.
        let script = format!("{shell}exec \"$0\" --exact {test} --nocapture");
        let mut command = Command::new("env");
        command.args(["--default-signal=HUP", "sh", "-c", &script]).arg(program).env(CHILD, signal);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}");
        let is_received = text.contains("received");
        assert_eq!(is_received, shell.is_empty(), "{shell}{signal}: {text}");
    }
}

/// Sends itself a signal, and prints whether it was received.
fn wait_for(signal: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut signals = ShutdownSignals::listen();
        assert!(timeout(Duration::from_millis(20), signals.next()).await.is_err(), "there was no signal");
        let kill = format!("kill -{signal} {}", id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        let patience = if signal == "HUP" { Duration::from_secs(2) } else { Duration::from_secs(30) };
        match timeout(patience, signals.next()).await {
            Ok(()) => println!("received"),
            Err(_) => println!("ignored"),
        }
    });
}
