//! A client before revision 2026-07-28 that reads the messages of several calls one by one.

use http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use toolkit_mcp_server::{Body, Server, Service};
use tower::ServiceExt;

/// A session over HTTP.
pub struct Session {
    service: Service,
    id: String,
    version: &'static str,
}

/// The messages in the response to a request.
pub struct Messages {
    body: Body,
    received: String,
}

impl Session {
    pub async fn start(server: &Server, version: &'static str, capabilities: Value) -> Self {
        let mut session = Self { service: server.http().into_service(), id: String::new(), version };
        let client = json!({ "name": "tests", "version": "1" });
        let params = json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": client });
        let request = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let response = session.response(&request.to_string()).await;
        session.id = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        session
    }

    /// Sends a call of a tool without arguments.
    pub async fn call(&self, id: u64, tool: &str, meta: Value) -> Messages {
        let params = json!({ "name": tool, "arguments": {}, "_meta": meta });
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        Messages { body: self.response(&request.to_string()).await.into_body(), received: String::new() }
    }

    /// Answers a question.
    pub async fn answer(&self, question: &Value, result: Value) {
        let response = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
        assert_eq!(self.response(&response.to_string()).await.status(), 202);
    }

    async fn response(&self, message: &str) -> http::Response<Body> {
        let mut request = Request::post("/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", self.version);
        if !self.id.is_empty() {
            request = request.header("mcp-session-id", &self.id);
        }
        self.service.clone().oneshot(request.body(message.to_owned()).unwrap()).await.unwrap()
    }
}

impl Messages {
    /// Returns the next message, without comments.
    pub async fn next(&mut self) -> Value {
        loop {
            if let Some((event, rest)) = self.received.split_once("\n\n") {
                let data = event.lines().find_map(|line| line.strip_prefix("data: ")).map(str::to_owned);
                self.received = rest.to_owned();
                if let Some(data) = data {
                    return serde_json::from_str(&data).unwrap();
                }
                continue;
            }
            let Some(frame) = self.body.frame().await else {
                return serde_json::from_str(&self.received).unwrap_or_else(|_| panic!("{:?}", self.received));
            };
            self.received.push_str(std::str::from_utf8(&frame.unwrap().into_data().unwrap()).unwrap());
        }
    }
}
