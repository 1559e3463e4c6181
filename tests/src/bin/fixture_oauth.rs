//! Notes that name the callers who wrote them: `fixture_oauth serve --http ADDRESS --issuer URL --audience URL`.

use std::sync::Mutex;

use toolkit::{Context, tool};
use toolkit_mcp_server::{Caller, Request};

/// The lines of all callers.
type Notes = Mutex<Vec<String>>;

/// Reads the notes.
#[tool(read_only)]
fn read(notes: &Notes) -> Vec<String> {
    notes.lock().map(|notes| notes.clone()).unwrap_or_default()
}

/// Appends a line, with the name of the caller.
#[tool(destructive = false, requires(scopes = ["notes:write"]))]
fn append(notes: &Notes, line: String, ctx: &Context) -> usize {
    let caller = ctx.get::<Request>().and_then(Request::caller).and_then(Caller::subject);
    let Ok(mut notes) = notes.lock() else { return 0 };
    notes.push(format!("{}: {line}", caller.unwrap_or_default()));
    notes.len()
}

/// Removes all lines.
#[tool(requires(scopes = ["notes:erase"]))]
fn erase(notes: &Notes) {
    if let Ok(mut notes) = notes.lock() {
        notes.clear();
    }
}

fn main() -> std::process::ExitCode {
    toolkit_cli::Program::new("notes", "1.0.0").dispatcher(|dispatcher| Ok(dispatcher.state(Notes::default()))).main()
}
