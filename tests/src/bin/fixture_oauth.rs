//! An MCP server whose callers have tokens of an authorization server: `fixture_oauth ISSUER ADDRESS`.

use std::error::Error;
use std::sync::Mutex;

use toolkit::{Catalog, Context, Dispatcher, tool};
use toolkit_mcp_server::{Caller, Jwt, Request, Server};

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

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(issuer), Some(address)) = (arguments.next(), arguments.next()) else {
        return Err("usage: fixture_oauth ISSUER ADDRESS".into());
    };
    let resource = format!("http://{address}/mcp");
    let dispatcher = Dispatcher::builder(Catalog::linked()?).state(Notes::default()).build()?;
    let http = Server::builder(dispatcher).named("notes", "1.0.0").build()?.http();
    let listening = http
        .resource(&resource, [&issuer])
        .scopes(["notes:read"])
        .verify(Jwt::issuer(&issuer)?.audience(&resource))
        .bind(&address)
        .await?;
    println!("{resource}");
    listening.run_until_signal().await;
    Ok(())
}
