//! A client with a scripted user.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};

use http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use toolkit_mcp::server::{Body, Server, Service};
use toolkit_tests::official::assert_official;
use tower::ServiceExt;

const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    Legacy,
    Modern,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Pipes,
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
        let mut params = params.clone();
        if self.era == Era::Modern {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        let request = self.request("tools/call", params);
        let response = self.exchange(&request, user).await;
        match (self.era, response.get("result")) {
            (Era::Modern, Some(result)) if result["resultType"] == "input_required" => {
                assert_official(MODERN, "InputRequiredResult", result);
            }
            (Era::Modern, Some(result)) => assert_official(MODERN, "CallToolResult", result),
            (Era::Legacy, Some(result)) => assert_official(LEGACY, "CallToolResult", result),
            (_, None) => assert_official(MODERN, "JSONRPCErrorResponse", &response),
        }
        response
    }

    /// Starts a call over HTTP in the earlier era and hangs up once its question has arrived.
    pub async fn abandon(&mut self, tool: &str) {
        let request = self.request("tools/call", json!({ "name": tool, "arguments": {} }));
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
                let name = message["params"]["name"].as_str().unwrap_or_default();
                request = request.header("mcp-protocol-version", MODERN).header("mcp-method", "tools/call");
                request = request.header("mcp-name", name);
            }
        }
        let response = service.clone().oneshot(request.body(message.to_string()).unwrap()).await.unwrap();
        if let Some(id) = response.headers().get("mcp-session-id") {
            *session = Some(id.to_str().unwrap().to_owned());
        }
        let is_answer = message.get("method").is_none() || message.get("id").is_none();
        assert!(!is_answer || response.status() == 202, "{message}: {}", response.status());
        response.into_body()
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
