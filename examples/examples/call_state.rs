//! A value that is computed for each call from its request, errors with data, and tools that are disabled at run time.

use serde::Serialize;
use serde_json::{Value, json};
use toolkit::{Context, Dispatcher, ToolError, catalog, tool};
use toolkit_mcp_server::Server;

/// The header of a request, as a server or a middleware attaches it.
struct Token(&'static str);

/// The user of a call.
struct User {
    name: &'static str,
    rooms: &'static [u32],
}

/// Finds the user of a call, as in a database.
fn user_of(ctx: &Context) -> Result<User, ToolError> {
    match ctx.get::<Token>() {
        Some(Token("key-of-ada")) => Ok(User { name: "Ada", rooms: &[7, 8] }),
        _ => Err(ToolError::failed("no user is logged in")),
    }
}

#[derive(Serialize)]
struct Refusal {
    allowed: &'static [u32],
}

/// Books a room.
#[tool(namespace = "rooms", destructive = false)]
fn book(room: u32, user: &User) -> Result<String, ToolError> {
    if user.rooms.contains(&room) {
        return Ok(format!("{} has room {room}", user.name));
    }
    let refusal = Refusal { allowed: user.rooms };
    Err(ToolError::failed(format!("room {room} is not for you")).with_data(refusal))
}

/// Sends requests over a connection, and returns the responses.
async fn answers(server: &Server, requests: &[Value]) -> Result<Vec<Value>, Box<dyn std::error::Error>> {
    let input: String = requests.iter().map(|request| format!("{request}\n")).collect();
    let (responses, output) = std::io::pipe()?;
    server.pipes(std::io::Cursor::new(input.into_bytes()), output).await?;
    let text = std::io::read_to_string(responses)?;
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dispatcher = Dispatcher::builder(catalog![book]?).state_per_call(user_of).build()?;
    let context = Context::new().with(Token("key-of-ada"));
    println!("{}", dispatcher.call_with(&context, "book", json!({"room": 7})).await?.value());
    let error = dispatcher.call_with(&context, "book", json!({"room": 9})).await.unwrap_err();
    println!("{error}: {}", error.data().expect("the tool added data"));
    let error = dispatcher.call("book", json!({"room": 7})).await.unwrap_err();
    println!("{error}");

    let server = Server::new(dispatcher)?;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    server.disable("rooms:book".parse()?)?;
    println!("{}", answers(&server, std::slice::from_ref(&list)).await?[0]["result"]["tools"]);
    server.enable(&"rooms:book".parse()?)?;
    println!("{}", answers(&server, &[list]).await?[0]["result"]["tools"][0]["name"]);
    Ok(())
}
