//! An MCP client with a scripted user. It checks that each message of the server matches the official schema.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};

use http::{Request, Response};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use toolkit_mcp_server::{Body, Server, Service};
use tower::ServiceExt;

use crate::official::assert_official;

const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

/// The protocol of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// Revision 2025-11-25, with sessions.
    Legacy,
    /// Revision 2026-07-28, without sessions.
    Modern,
}

/// The transport of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Stdio.
    Pipes,
    /// Streamable HTTP.
    Http,
}

/// Each combination of an era and a transport.
pub const EACH_WAY: [(Era, Way); 4] =
    [(Era::Legacy, Way::Pipes), (Era::Legacy, Way::Http), (Era::Modern, Way::Pipes), (Era::Modern, Way::Http)];

/// A user, who answers the `params` of questions.
pub type User<'u> = &'u mut (dyn FnMut(&Value) -> Value + Send);

/// A connection to a server.
pub struct Client {
    era: Era,
    connection: Connection,
    capabilities: Value,
    token: Option<&'static str>,
    last_id: u64,
    /// The rounds of all calls: more than the number of calls if questions were asked.
    pub n_rounds: usize,
    /// The questions that the server has cancelled.
    pub n_cancelled: usize,
}

enum Connection {
    Pipes { to: PipeWriter, from: BufReader<PipeReader> },
    Http { service: Service, session: Option<String> },
}

impl Client {
    /// Connects to a server and declares capabilities.
    pub async fn connect(server: &Server, (era, way): (Era, Way), capabilities: Value) -> Self {
        let connection = match way {
            Way::Pipes => {
                let (input, to) = std::io::pipe().unwrap();
                let (from, output) = std::io::pipe().unwrap();
                let server = server.clone();
                tokio::spawn(async move { server.pipes(input, output).await });
                Connection::Pipes { to, from: BufReader::new(from) }
            }
            Way::Http => Connection::Http { service: server.http().into_service(), session: None },
        };
        Self::over(connection, era, capabilities, None).await
    }

    /// Connects to a service over HTTP in the later era, with a token.
    pub async fn with_token(service: Service, token: &'static str, capabilities: Value) -> Self {
        Self::over(Connection::Http { service, session: None }, Era::Modern, capabilities, Some(token)).await
    }

    async fn over(connection: Connection, era: Era, capabilities: Value, token: Option<&'static str>) -> Self {
        let mut client = Self { era, connection, capabilities, token, last_id: 0, n_rounds: 0, n_cancelled: 0 };
        if era == Era::Legacy {
            let params = json!({
                "protocolVersion": LEGACY,
                "capabilities": client.capabilities,
                "clientInfo": { "name": "tests", "version": "1" },
            });
            let request = client.request("initialize", params);
            client.exchange(&request, &mut |_| unreachable!("no question")).await;
            let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            client.send(&initialized).await;
        }
        client
    }

    /// Calls a tool. `user` answers the `params` of each question. Returns the response.
    pub async fn call(&mut self, tool: &str, arguments: Value, mut user: impl FnMut(&Value) -> Value + Send) -> Value {
        let mut params = json!({ "name": tool, "arguments": arguments });
        loop {
            self.n_rounds += 1;
            let response = self.call_once(&params, &mut user).await;
            if response["result"]["resultType"] != "input_required" {
                return response;
            }
            params["inputResponses"] = answered(&response["result"], &mut user);
            params["requestState"] = response["result"]["requestState"].clone();
        }
    }

    /// Sends one request `tools/call`. In the earlier era, `user` answers questions meanwhile.
    pub async fn call_once(&mut self, params: &Value, user: User<'_>) -> Value {
        self.send_request("tools/call", params, user).await
    }

    /// Sends a request and returns its response. In the earlier era, `user` answers questions meanwhile.
    pub async fn send_request(&mut self, method: &str, params: &Value, user: User<'_>) -> Value {
        let mut params = params.clone();
        if self.era == Era::Modern {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        let request = self.request(method, params);
        let response = self.exchange(&request, user).await;
        self.check(method, &response);
        response
    }

    fn check(&self, method: &str, response: &Value) {
        let Some(result) = response.get("result") else {
            return assert_official(MODERN, "JSONRPCErrorResponse", response);
        };
        match (self.era, method) {
            // The schema of this revision does not have the extension for tasks.
            (Era::Modern, _) if result["resultType"] == "task" || method.starts_with("tasks/") => {
                assert_official(MODERN, "Result", result);
            }
            (Era::Modern, _) if result["resultType"] == "input_required" => {
                assert_official(MODERN, "InputRequiredResult", result);
            }
            (Era::Modern, _) => assert_official(MODERN, "CallToolResult", result),
            (Era::Legacy, "tools/call") if result.get("task").is_some() => {
                assert_official(LEGACY, "CreateTaskResult", result);
            }
            (Era::Legacy, "tasks/get") => assert_official(LEGACY, "GetTaskResult", result),
            (Era::Legacy, "tasks/cancel") => assert_official(LEGACY, "CancelTaskResult", result),
            (Era::Legacy, _) => assert_official(LEGACY, "CallToolResult", result),
        }
    }

    /// Sends a request and returns its response, which is not checked.
    pub async fn send_unchecked(&mut self, method: &str, params: &Value) -> Value {
        let mut params = params.clone();
        if self.era == Era::Modern {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        let request = self.request(method, params);
        self.exchange(&request, &mut |_| unreachable!("no question")).await
    }

    /// Sends a request and returns the messages that follow, up to the one that `is_last` accepts.
    pub async fn receive(
        &mut self,
        method: &str,
        params: &Value,
        mut is_last: impl FnMut(&Value) -> bool + Send,
    ) -> Vec<Value> {
        let mut params = params.clone();
        if self.era == Era::Modern {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        let request = self.request(method, params);
        let mut messages = Vec::new();
        if let Connection::Pipes { .. } = self.connection {
            self.send(&request).await;
            while messages.last().is_none_or(|message| !is_last(message)) {
                messages.push(self.read());
            }
            return messages;
        }
        let mut body = self.post(&request).await;
        let mut received = String::new();
        while messages.last().is_none_or(|message| !is_last(message)) {
            while !received.contains("\n\n") {
                let frame = body.frame().await.expect("the stream has not ended").unwrap();
                received.push_str(std::str::from_utf8(&frame.into_data().unwrap()).unwrap());
            }
            let (event, rest) = received.split_once("\n\n").unwrap();
            let data = event.lines().find_map(|line| line.strip_prefix("data: ")).map(str::to_owned);
            received = rest.to_owned();
            messages.extend(data.map(|data| serde_json::from_str::<Value>(&data).unwrap()));
        }
        messages
    }

    /// Sends a request over HTTP in the later era. Returns the status of the response and its challenge.
    pub async fn status_of(&mut self, method: &str, params: &Value) -> (u16, String) {
        let mut params = params.clone();
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        let request = self.request(method, params);
        let response = self.respond(&request).await;
        let challenge = response.headers().get("www-authenticate");
        let challenge = challenge.map(|challenge| challenge.to_str().unwrap().to_owned()).unwrap_or_default();
        (response.status().as_u16(), challenge)
    }

    /// Returns the id of the last request.
    pub fn last_id(&self) -> u64 {
        self.last_id
    }

    /// Ends the session, if the client has one.
    pub async fn end_session(&mut self) {
        if let (Era::Legacy, Connection::Http { service, session: Some(session) }) = (self.era, &self.connection) {
            let request = Request::delete("/mcp").header("host", "localhost").header("mcp-session-id", session);
            let response = service.clone().oneshot(request.body(String::new()).unwrap()).await.unwrap();
            assert_eq!(response.status(), 204);
        }
    }

    /// Starts a call over HTTP in the earlier era and hangs up once its question has arrived.
    pub async fn abandon(&mut self, tool: &str) {
        self.hang_up_at_question("tools/call", &json!({ "name": tool, "arguments": {} })).await;
    }

    /// Sends a request over HTTP in the earlier era and hangs up once a question has arrived.
    pub async fn hang_up_at_question(&mut self, method: &str, params: &Value) {
        let request = self.request(method, params.clone());
        let mut body = self.post(&request).await;
        let question = body.frame().await.unwrap().unwrap().into_data().unwrap();
        assert!(String::from_utf8_lossy(&question).contains("elicitation/create"));
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params })
    }

    /// Sends a request and returns its response.
    async fn exchange(&mut self, request: &Value, user: User<'_>) -> Value {
        if let Connection::Pipes { .. } = self.connection {
            self.send(request).await;
            loop {
                let message = self.read();
                self.n_cancelled += usize::from(message["method"] == "notifications/cancelled");
                match asked(&message, user) {
                    Some(response) => self.send(&response).await,
                    None if message["id"] == request["id"] => return message,
                    None => {}
                }
            }
        }
        let mut body = self.post(request).await;
        let mut received = String::new();
        while let Some(frame) = body.frame().await {
            received.push_str(std::str::from_utf8(&frame.unwrap().into_data().unwrap()).unwrap());
            // An event ends with an empty line, and a complete body has none.
            while let Some((event, rest)) = received.split_once("\n\n") {
                let data = event.lines().find_map(|line| line.strip_prefix("data: ")).map(str::to_owned);
                received = rest.to_owned();
                let Some(message) = data.map(|data| serde_json::from_str::<Value>(&data).unwrap()) else { continue };
                match asked(&message, user) {
                    Some(response) => self.send(&response).await,
                    None => return message,
                }
            }
        }
        serde_json::from_str(&received).unwrap_or_else(|error| panic!("{error}: {received:?}"))
    }

    /// Sends a message without a response.
    pub async fn send(&mut self, message: &Value) {
        match &mut self.connection {
            Connection::Pipes { to, .. } => writeln!(to, "{message}").unwrap(),
            Connection::Http { .. } => drop(self.post(message).await),
        }
    }

    fn read(&mut self) -> Value {
        let Connection::Pipes { from, .. } = &mut self.connection else { unreachable!("HTTP has responses") };
        let mut line = String::new();
        tokio::task::block_in_place(|| from.read_line(&mut line)).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    async fn post(&mut self, message: &Value) -> Body {
        let response = self.respond(message).await;
        let is_answer = message.get("method").is_none() || message.get("id").is_none();
        assert!(!is_answer || response.status() == 202, "{message}: {}", response.status());
        response.into_body()
    }

    async fn respond(&mut self, message: &Value) -> Response<Body> {
        let Connection::Http { service, session } = &mut self.connection else { unreachable!("pipes have lines") };
        let mut request = Request::post("/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        if let Some(token) = self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        match self.era {
            Era::Legacy => {
                request = request.header("mcp-protocol-version", LEGACY);
                if let Some(session) = session {
                    request = request.header("mcp-session-id", &*session);
                }
            }
            Era::Modern => {
                let method = message["method"].as_str().unwrap_or_default();
                let params = &message["params"];
                let name = ["name", "uri", "taskId"].iter().find_map(|key| params[key].as_str()).unwrap_or_default();
                request = request.header("mcp-protocol-version", MODERN).header("mcp-method", method);
                request = request.header("mcp-name", name);
            }
        }
        let response = service.clone().oneshot(request.body(message.to_string()).unwrap()).await.unwrap();
        if let Some(id) = response.headers().get("mcp-session-id") {
            *session = Some(id.to_str().unwrap().to_owned());
        }
        response
    }
}

/// Returns the `inputResponses` of a user to a result `input_required`.
pub fn answered(result: &Value, user: User<'_>) -> Value {
    let requests = result["inputRequests"].as_object().unwrap();
    let answer = |(key, request): (&String, &Value)| {
        assert_official(MODERN, "ElicitRequest", request);
        (key.clone(), user(&request["params"]))
    };
    requests.iter().map(answer).collect()
}

/// Returns the response of a user to a request of the server.
fn asked(message: &Value, user: User<'_>) -> Option<Value> {
    if message["method"] != "elicitation/create" {
        return None;
    }
    assert_official(LEGACY, "JSONRPCRequest", message);
    assert_official(LEGACY, "ServerRequest", message);
    Some(json!({ "jsonrpc": "2.0", "id": message["id"], "result": user(&message["params"]) }))
}
