//! The terminal: text and calls as they arrive, and the approval of calls.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::thread;

use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use toolkit::call::Progress;
use toolkit_providers::reply::{ReplyEvent, ToolCall, ToolResults};
use toolkit_tower::{Approval, ApprovalRequest, Decision};

/// Returns text of a model or a tool without control characters, which could change what the terminal shows.
pub fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

/// Prints a part of a streamed reply: text to standard output, and calls to standard error.
pub fn show_event(event: ReplyEvent) {
    match event {
        ReplyEvent::Text(text) => {
            print!("{}", printable(&text));
            let _ = io::stdout().flush();
        }
        ReplyEvent::CallStarted { name, .. } => eprintln!("\n[call of {}]", printable(&name)),
        _ => {}
    }
}

/// Prints the progress of a call.
pub fn show_progress(call: &ToolCall, progress: Progress) {
    let total = progress.total.map(|total| format!(" of {total}")).unwrap_or_default();
    eprintln!("[{}: {}{total} {}]", printable(&call.name), progress.done, printable(&progress.message));
}

/// Prints which calls failed.
pub fn show_results(results: &ToolResults) {
    for (call, result) in results.iter() {
        match result {
            Ok(_) => eprintln!("[{}: done]", printable(&call.name)),
            Err(error) => eprintln!("[{}: {}]", printable(&call.name), printable(error.message())),
        }
    }
}

/// Creates the layer that requests approval for calls that may be destructive.
pub fn approval(approves_all: bool) -> Approval {
    let input = Arc::new(Mutex::new(None));
    Approval::new(move |request| {
        let input = Arc::clone(&input);
        async move {
            if approves_all {
                return Decision::Approve;
            }
            if !io::stdin().is_terminal() {
                return Decision::Deny("no user is present".to_owned());
            }
            // Holding the lock, calls that run concurrently wait for their turn.
            let mut input = input.lock().await;
            decide(&request, input.get_or_insert_with(read_lines)).await
        }
    })
}

async fn decide(request: &ApprovalRequest, input: &mut UnboundedReceiver<String>) -> Decision {
    // Lines that were typed before the question do not answer it.
    while input.try_recv().is_ok() {}
    let arguments = request.tool().input().masked(request.arguments()).to_string();
    eprint!("Run {} with {}? [y]es, [a]lways, [N]o: ", request.tool().id(), printable(&arguments));
    match input.recv().await.unwrap_or_default().trim() {
        "y" | "yes" => Decision::Approve,
        "a" | "always" => Decision::ApproveAlways,
        _ => Decision::Deny("the user declined".to_owned()),
    }
}

/// Reads standard input on a thread of its own, so that a cancelled call does not wait for a line.
fn read_lines() -> UnboundedReceiver<String> {
    let (sender, receiver) = unbounded_channel();
    thread::spawn(move || io::stdin().lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    receiver
}
