//! A tool with a user interface (MCP Apps). A host with the extension shows a chart, any other host the text.

use std::io::{BufRead, BufReader};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use toolkit::{Content, Dispatcher, Structured, catalog, tool};
use toolkit_mcp_server::{App, Server};

/// The revenue of a quarter.
#[derive(Clone, Serialize, JsonSchema)]
struct Quarter {
    name: &'static str,
    /// In thousands.
    revenue: usize,
}

const QUARTERS: [Quarter; 4] = [
    Quarter { name: "Q1", revenue: 120 },
    Quarter { name: "Q2", revenue: 150 },
    Quarter { name: "Q3", revenue: 90 },
    Quarter { name: "Q4", revenue: 210 },
];

/// Returns the revenue of each quarter, in thousands.
#[tool(namespace = "sales", read_only, ui = "ui://sales/revenue.html")]
fn revenue() -> Structured<Vec<Quarter>> {
    let row = |quarter: &Quarter| format!("{} {} {}", quarter.name, "█".repeat(quarter.revenue / 10), quarter.revenue);
    let text: Vec<String> = QUARTERS.iter().map(row).collect();
    Structured::new(QUARTERS.to_vec(), [Content::text(text.join("\n"))])
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let page = App::new("ui://sales/revenue.html", include_str!("app.html")).title("Revenue").prefers_border(true);
    let server = Server::builder(Dispatcher::new(catalog![revenue]?)?).resources(page).build()?;

    // A host lists the tools, reads the page of the one that it calls, and passes the result to the page.
    let tools = request(&server, "tools/list", json!({})).await?;
    let uri = &tools["tools"][0]["_meta"]["ui"]["resourceUri"];
    let page = request(&server, "resources/read", json!({ "uri": uri })).await?;
    assert_eq!(page["contents"][0]["mimeType"], "text/html;profile=mcp-app");

    let result = request(&server, "tools/call", json!({ "name": "sales_revenue" })).await?;
    assert_eq!(result["structuredContent"]["result"][3], json!({ "name": "Q4", "revenue": 210 }));
    println!("{}", result["content"][0]["text"].as_str().unwrap_or_default());
    Ok(())
}

/// Sends a request to the server and returns its result.
async fn request(server: &Server, method: &str, params: Value) -> Result<Value, Box<dyn std::error::Error>> {
    let (responses, output) = std::io::pipe()?;
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let reading = std::thread::spawn(move || BufReader::new(responses).lines().next());
    server.pipes(std::io::Cursor::new(request), output).await?;
    let line = reading.join().map_err(|_| "the reader has panicked")?.ok_or("no response")??;
    let mut response: Value = serde_json::from_str(&line)?;
    Ok(response["result"].take())
}
