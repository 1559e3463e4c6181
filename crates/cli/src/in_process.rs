//! Requests at the server of this program, without a client.

use std::io::{self, Cursor};

use serde_json::{Value, json};
use toolkit_mcp_server::Server;

/// Makes a request as a client over stdio does, and returns the response.
pub(crate) async fn request(server: &Server, method: &str, params: &Value) -> io::Result<Value> {
    let (input, output) = io::pipe()?;
    let reader = std::thread::spawn(move || io::read_to_string(input));
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    server.pipes(Cursor::new(request.to_string()), output).await?;
    let response = reader.join().map_err(|_| io::Error::other("the reader of the response panicked"))??;
    Ok(serde_json::from_str(response.trim_end())?)
}
