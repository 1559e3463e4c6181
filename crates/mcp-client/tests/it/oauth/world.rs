//! An MCP server and its authorization server, whose responses a test can replace.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use test_support::browser;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use toolkit::ToolError;
use toolkit::{Catalog, Context, Dispatcher};
use toolkit_backends::Backends;
use toolkit_mcp_client::{Endpoint, LoginState, McpBackend, OAuth, OAuthError};
use url::Url;

/// Two servers. The token of each response is new, and a refresh token is valid once.
pub struct World {
    /// The URL of the MCP server.
    pub server: String,
    /// The authorization server.
    pub issuer: String,
    shared: Arc<Shared>,
}

type Handler = Arc<dyn Fn(&Request) -> Response + Send + Sync>;

#[derive(Default)]
struct Shared {
    issuer: String,
    server: String,
    /// The replaced responses, by path.
    handlers: Mutex<HashMap<String, Handler>>,
    requests: Mutex<Vec<Request>>,
    state: Mutex<State>,
    /// Requests to the path wait for a permit.
    held: Mutex<Option<(String, Arc<Semaphore>)>>,
}

#[derive(Default)]
struct State {
    n_issued: usize,
    /// The scopes of valid access tokens.
    access: BTreeMap<String, Vec<String>>,
    refresh: BTreeMap<String, Vec<String>>,
    /// The challenge and the scopes of codes.
    codes: BTreeMap<String, (String, Vec<String>)>,
    /// The lifetime of the next tokens, in seconds.
    lifetime: Option<u64>,
}

#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub query: BTreeMap<String, String>,
    pub head: String,
    pub body: String,
}

impl Request {
    /// Returns the fields of a form.
    pub fn form(&self) -> BTreeMap<String, String> {
        url::form_urlencoded::parse(self.body.as_bytes()).into_owned().collect()
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let headers = self.head.lines().filter_map(|line| line.split_once(": "));
        headers.filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next()
    }
}

pub struct Response {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
}

impl Response {
    pub fn json(status: u16, body: &Value) -> Self {
        Self { status, headers: vec![("content-type", "application/json".to_owned())], body: body.to_string() }
    }

    pub fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: String::new() }
    }

    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

pub const PRM: &str = "/.well-known/oauth-protected-resource/mcp";
pub const METADATA: &str = "/.well-known/oauth-authorization-server";

impl World {
    pub async fn start() -> Self {
        let (servers, issuers) = (listen().await, listen().await);
        let server = format!("http://{}/mcp", servers.local_addr().unwrap());
        let issuer = format!("http://{}", issuers.local_addr().unwrap());
        let shared = Arc::new(Shared { issuer: issuer.clone(), server: server.clone(), ..Shared::default() });
        for listener in [servers, issuers] {
            let shared = Arc::clone(&shared);
            tokio::spawn(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(serve(stream, Arc::clone(&shared)));
                }
            });
        }
        Self { server, issuer, shared }
    }

    pub fn prm(&self) -> Value {
        self.shared.prm()
    }

    pub fn metadata(&self) -> Value {
        self.shared.metadata()
    }

    /// Replaces the response of a path.
    pub fn on(&self, path: &str, handler: impl Fn(&Request) -> Response + Send + Sync + 'static) {
        self.shared.handlers.lock().unwrap().insert(path.to_owned(), Arc::new(handler));
    }

    /// Replaces the response of a path by this JSON.
    pub fn on_json(&self, path: &str, body: Value) {
        self.on(path, move |_| Response::json(200, &body));
    }

    /// Restores the response of a path.
    pub fn restore(&self, path: &str) {
        self.shared.handlers.lock().unwrap().remove(path);
    }

    /// Changes fields of the metadata of the authorization server; `null` removes one.
    pub fn patch_metadata(&self, patch: Value) {
        let mut metadata = self.metadata();
        patched(&mut metadata, &patch);
        self.on_json(METADATA, metadata);
    }

    /// Holds requests to a path until a permit is added to the result.
    pub fn hold(&self, path: &str) -> Arc<Semaphore> {
        let semaphore = Arc::new(Semaphore::new(0));
        *self.shared.held.lock().unwrap() = Some((path.to_owned(), Arc::clone(&semaphore)));
        semaphore
    }

    /// Waits until there were `n` requests to a path.
    pub async fn wait_for(&self, path: &str, n: usize) {
        while self.requests(path).len() < n {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Sets the lifetime of the next tokens, in seconds.
    pub fn issue_for(&self, seconds: u64) {
        self.shared.state().lifetime = Some(seconds);
    }

    /// Makes all access tokens invalid.
    pub fn revoke_access(&self) {
        self.shared.state().access.clear();
    }

    pub fn revoke_refresh(&self) {
        self.shared.state().refresh.clear();
    }

    pub fn all_requests(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap().clone()
    }

    pub fn requests(&self, path: &str) -> Vec<Request> {
        self.all_requests().into_iter().filter(|request| request.path == path).collect()
    }

    /// Returns the requests for tokens with this type of grant.
    pub fn grants(&self, kind: &str) -> Vec<BTreeMap<String, String>> {
        let forms = self.requests("/token").iter().map(Request::form).collect::<Vec<_>>();
        forms.into_iter().filter(|form| form["grant_type"] == kind).collect()
    }

    /// Returns the scopes of each authorization request.
    pub fn asked(&self) -> Vec<String> {
        let requests = self.requests("/authorize");
        requests.iter().map(|request| request.query.get("scope").cloned().unwrap_or_default()).collect()
    }

    pub fn endpoint(&self, settings: OAuth) -> Endpoint {
        Endpoint::new(&self.server).unwrap().oauth(settings)
    }

    /// Returns all tokens that were issued.
    pub fn secrets(&self) -> Vec<String> {
        let n = self.shared.state().n_issued;
        (1..=n).flat_map(|n| [format!("access-{n}-hunter2"), format!("refresh-{n}-hunter2")]).collect()
    }
}

async fn listen() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.unwrap()
}

fn patched(value: &mut Value, patch: &Value) {
    for (name, new) in patch.as_object().unwrap() {
        match new {
            Value::Null => drop(value.as_object_mut().unwrap().shift_remove(name)),
            new => value[name] = new.clone(),
        }
    }
}

/// Logs in with a browser that approves everything.
pub async fn login(endpoint: &Endpoint) -> Result<LoginState, OAuthError> {
    let login = endpoint.login().await?;
    let url = login.url().to_owned();
    let waiting = tokio::spawn(login.wait(Duration::from_secs(30)));
    if let Ok(redirect) = browser::follow(&url, "http://127.0.0.1:").await {
        let _ = browser::get(&redirect, &BTreeMap::new()).await;
    }
    waiting.await.unwrap()
}

/// A program with the tools of the server.
pub struct Client {
    pub backend: McpBackend,
    dispatcher: Dispatcher,
}

impl Client {
    /// Connects to a server that accepts the token of the endpoint.
    pub async fn connect(endpoint: &Endpoint) -> Result<Self, ToolError> {
        Self::of(McpBackend::http("server", endpoint.clone()).start_timeout(Duration::from_secs(30))).await
    }

    pub async fn of(backend: McpBackend) -> Result<Self, ToolError> {
        toolkit::backend::Backend::start(&backend).await?;
        let backends = Backends::new();
        backends.register(backend.clone()).unwrap();
        let collected = backends.collect(Catalog::new([]).unwrap()).await;
        let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap();
        Ok(Self { backend, dispatcher })
    }

    pub async fn call(&self, tool: &str) -> Result<String, ToolError> {
        self.call_with(tool, Context::new()).await
    }

    pub async fn call_with(&self, tool: &str, context: Context) -> Result<String, ToolError> {
        let called = self.dispatcher.call_with(&context, &format!("server:{tool}"), json!({})).await?;
        Ok(called.value().to_string())
    }
}

async fn serve(mut stream: TcpStream, shared: Arc<Shared>) {
    while let Some(request) = read(&mut stream).await {
        shared.requests.lock().unwrap().push(request.clone());
        let held = shared.held.lock().unwrap().clone().filter(|(path, _)| *path == request.path);
        if let Some((_, semaphore)) = held {
            semaphore.acquire().await.unwrap().forget();
        }
        let handler = shared.handlers.lock().unwrap().get(&request.path).cloned();
        let response = match handler {
            Some(handler) => handler(&request),
            None => shared.respond(&request),
        };
        let mut text = format!("HTTP/1.1 {} X\r\ncontent-length: {}\r\n", response.status, response.body.len());
        for (name, value) in &response.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str(&format!("\r\n{}", response.body));
        let is_last = request.header("connection") == Some("close");
        if stream.write_all(text.as_bytes()).await.is_err() || is_last {
            return;
        }
    }
}

async fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|end| end == b"\r\n\r\n") {
            break String::from_utf8_lossy(&bytes[..end]).into_owned();
        }
        let mut chunk = [0; 4096];
        let n_bytes = stream.read(&mut chunk).await.ok().filter(|n_bytes| *n_bytes > 0)?;
        bytes.extend_from_slice(&chunk[..n_bytes]);
    };
    let mut first = head.lines().next()?.split(' ');
    let (method, target) = (first.next()?.to_owned(), first.next()?.to_owned());
    let url = Url::parse("http://x").unwrap().join(&target).ok()?;
    let query = url.query_pairs().into_owned().collect();
    let mut request = Request { method, path: url.path().to_owned(), query, head: head.clone(), body: String::new() };
    let length: usize = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = bytes.split_off(head.len() + 4);
    let missing = length.saturating_sub(body.len());
    let start = body.len();
    body.resize(start + missing, 0);
    stream.read_exact(&mut body[start..]).await.ok()?;
    request.body = String::from_utf8_lossy(&body).into_owned();
    Some(request)
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn prm(&self) -> Value {
        json!({ "resource": self.server, "authorization_servers": [self.issuer], "scopes_supported": ["read"] })
    }

    fn metadata(&self) -> Value {
        json!({
            "issuer": self.issuer,
            "authorization_endpoint": format!("{}/authorize", self.issuer),
            "token_endpoint": format!("{}/token", self.issuer),
            "registration_endpoint": format!("{}/register", self.issuer),
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
            "authorization_response_iss_parameter_supported": true,
        })
    }

    fn respond(&self, request: &Request) -> Response {
        match &*request.path {
            PRM => Response::json(200, &self.prm()),
            METADATA => Response::json(200, &self.metadata()),
            "/register" => {
                let id = format!("client-{}", self.requests.lock().unwrap().len());
                let redirect_uris = &request.json()["redirect_uris"];
                Response::json(201, &json!({ "client_id": id, "redirect_uris": redirect_uris }))
            }
            "/authorize" => self.authorize(request),
            "/token" => self.token(&request.form()),
            "/mcp" => self.mcp(request),
            _ => Response::status(404),
        }
    }

    fn authorize(&self, request: &Request) -> Response {
        let query = &request.query;
        assert_eq!((&*query["code_challenge_method"], &*query["response_type"]), ("S256", "code"));
        assert_eq!(query["resource"], self.server);
        let mut state = self.state();
        let code = format!("code-{}-hunter2", state.codes.len());
        let scopes = query.get("scope").map(|scope| scope.split(' ').map(str::to_owned).collect());
        state.codes.insert(code.clone(), (query["code_challenge"].clone(), scopes.unwrap_or_default()));
        let mut redirect = Url::parse(&query["redirect_uri"]).unwrap();
        let fields = [("code", &code), ("state", &query["state"]), ("iss", &self.issuer)];
        redirect.query_pairs_mut().extend_pairs(fields);
        Response::status(302).header("location", redirect)
    }

    fn token(&self, form: &BTreeMap<String, String>) -> Response {
        let invalid = |error| Response::json(400, &json!({ "error": error, "error_description": "see the manual" }));
        if form.get("resource") != Some(&self.server) {
            return invalid("invalid_target");
        }
        let mut state = self.state();
        let scopes = match &*form["grant_type"] {
            "authorization_code" => match state.codes.remove(&form["code"]) {
                Some((challenge, scopes))
                    if BASE64URL_NOPAD.encode(&Sha256::digest(&form["code_verifier"])) == challenge =>
                {
                    scopes
                }
                _ => return invalid("invalid_grant"),
            },
            "refresh_token" => match state.refresh.remove(&form["refresh_token"]) {
                Some(scopes) => scopes,
                None => return invalid("invalid_grant"),
            },
            "client_credentials" | "urn:ietf:params:oauth:grant-type:token-exchange" => {
                form.get("scope").map(|scope| scope.split(' ').map(str::to_owned).collect()).unwrap_or_default()
            }
            _ => return invalid("unsupported_grant_type"),
        };
        state.n_issued += 1;
        let (access, refresh) =
            (format!("access-{}-hunter2", state.n_issued), format!("refresh-{}-hunter2", state.n_issued));
        let scope = scopes.join(" ");
        let mut response = json!({ "access_token": access, "token_type": "Bearer", "scope": scope });
        response["expires_in"] = state.lifetime.take().unwrap_or(3600).into();
        state.access.insert(access, scopes.clone());
        if !form.contains_key("subject_token") && form["grant_type"] != "client_credentials" {
            response["refresh_token"] = refresh.clone().into();
            state.refresh.insert(refresh, scopes);
        }
        Response::json(200, &response)
    }

    fn mcp(&self, request: &Request) -> Response {
        if request.method != "POST" {
            return Response::status(405);
        }
        let prm = self.server.replace("/mcp", PRM);
        let token = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        let granted = token.and_then(|token| self.state().access.get(token).cloned());
        let Some(granted) = granted else {
            let challenge = format!("Bearer scope=\"read\", resource_metadata=\"{prm}\"");
            return Response::status(401).header("www-authenticate", challenge);
        };
        let message = request.json();
        let tool = message["params"]["name"].as_str().unwrap_or("read");
        if !granted.iter().any(|scope| scope == tool) {
            let challenge =
                format!("Bearer error=\"insufficient_scope\", scope=\"{tool}\", resource_metadata=\"{prm}\"");
            return Response::status(403).header("www-authenticate", challenge);
        }
        answer(&message)
    }
}

/// Answers a message of MCP, of revision 2025-11-25.
pub fn answer(message: &Value) -> Response {
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "world", "version": "1" },
        }),
        "tools/list" => {
            let tool = |name| json!({ "name": name, "inputSchema": { "type": "object" } });
            json!({ "tools": [tool("read"), tool("write"), tool("erase")] })
        }
        "tools/call" => json!({ "content": [{ "type": "text", "text": "done" }] }),
        method if method.starts_with("notifications/") => return Response::status(202),
        _ => {
            let error = json!({ "code": -32601, "message": "unknown method" });
            return Response::json(200, &json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }));
        }
    };
    Response::json(200, &json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
}
