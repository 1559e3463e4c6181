//! HTTP servers and gateways that answer requests with something other than their responses, and servers that forget
//! their sessions or do not respond.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use test_support::client::{Client, Era, Way};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use toolkit::backend::{Backend, BackendState};
use toolkit::call::ErrorKind;
use toolkit::{Dispatcher, ToolError, catalog, tool};
use toolkit_mcp_client::{Endpoint, McpBackend};
use toolkit_mcp_server::Server;

use super::{call, call_restarted, dispatcher, in_the_end, until};

/// A server with sessions and two tools. Its state is shared with the test.
#[derive(Clone, Default)]
struct Fake(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    address: String,
    sessions: HashSet<String>,
    n_initialized: usize,
    /// The number of calls that have run.
    n_run: usize,
    /// The raw response to `server/discover`; nothing if it is empty. Default: 404.
    answer_to_probe: Option<String>,
    /// The raw response to calls, instead of a result.
    answer_to_calls: Option<String>,
    /// The raw response to requests in an unknown session. Default: 404.
    answer_to_strangers: Option<String>,
    /// True if the server has no sessions and knows only whether it is initialized.
    is_global: bool,
    /// True if the response of a call in a lost session is sent after the call has run.
    runs_first: bool,
    /// The number of responses to requests of the server.
    n_answers: usize,
    /// The statuses of the next requests.
    refusals: Vec<&'static str>,
    /// The stream of the next `GET` request, and the sender of its events, which sends the results of calls.
    stream: Option<UnboundedReceiver<String>>,
    events: Option<UnboundedSender<String>>,
    /// True if the next call has a stream without events that does not end.
    holds_call: bool,
    /// The prefix of the methods to which the server does not respond.
    hangs: Option<&'static str>,
}

fn response(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}connection: close\r\ncontent-length: $LENGTH\r\n\r\n{body}")
}

fn of_json(status: &str, body: &Value) -> String {
    response(status, "content-type: application/json\r\n", &body.to_string())
}

fn of_events(events: &str) -> String {
    // The end of the connection ends the stream.
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{events}")
}

fn rpc_error(id: Value, code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

impl Fake {
    async fn start() -> (Self, McpBackend) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (fake, address) = (Self::default(), listener.local_addr().unwrap().to_string());
        fake.state().address = address.clone();
        tokio::spawn({
            let fake = fake.clone();
            async move {
                while let Ok((connection, _)) = listener.accept().await {
                    tokio::spawn(fake.clone().serve(connection));
                }
            }
        });
        let endpoint = Endpoint::new(&format!("http://{address}/mcp?key=hunter2")).unwrap();
        (fake, McpBackend::http("fake", endpoint))
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// Returns the numbers of initializations and of calls that have run.
    fn counts(&self) -> (usize, usize) {
        let state = self.state();
        (state.n_initialized, state.n_run)
    }

    /// Forgets all sessions, as a restart does.
    fn restart(&self) {
        self.state().sessions.clear();
    }

    async fn serve(self, mut connection: TcpStream) {
        let Some((head, body)) = received(&mut connection).await else { return };
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let hangs = self.state().hangs;
        if hangs.is_some_and(|hangs| message["method"].as_str().is_some_and(|method| method.starts_with(hangs))) {
            std::future::pending::<()>().await;
        }
        if message["method"] == "tools/call" && std::mem::take(&mut self.state().holds_call) {
            connection.write_all(of_events(": held\n\n").as_bytes()).await.unwrap();
            self.state().n_run += 1;
            std::future::pending::<()>().await;
        }
        let answer = match head.starts_with("POST") {
            true => self.answer(&head, &message),
            false => {
                let stream = self.state().stream.take().filter(|_| head.starts_with("GET"));
                if let Some(mut events) = stream {
                    let _ = connection.write_all(of_events("").as_bytes()).await;
                    while let Some(event) = events.recv().await {
                        let _ = connection.write_all(event.as_bytes()).await;
                    }
                }
                response("405 Method Not Allowed", "", "")
            }
        };
        let answer = answer.replace("\"$ID\"", &message["id"].to_string());
        let length = answer.split_once("\r\n\r\n").map_or(0, |(_, body)| body.len());
        let _ = connection.write_all(answer.replace("$LENGTH", &length.to_string()).as_bytes()).await;
        let _ = connection.shutdown().await;
        // Reads to the end, so that the client gets the response before a reset.
        let _ = connection.read_to_end(&mut Vec::new()).await;
    }

    fn answer(&self, head: &str, message: &Value) -> String {
        let mut state = self.state();
        if let Some(status) = state.refusals.pop() {
            return response(status, "retry-after: 0\r\n", "too many requests in this session");
        }
        let result = |result: Value| of_json("200 OK", &json!({ "jsonrpc": "2.0", "id": "$ID", "result": result }));
        if message.get("method").is_none() {
            state.n_answers += 1;
            return response("202 Accepted", "", "");
        }
        let session = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        match message["method"].as_str().unwrap() {
            "server/discover" => {
                return state.answer_to_probe.clone().unwrap_or_else(|| response("404 Not Found", "", ""));
            }
            "initialize" => {
                state.n_initialized += 1;
                let session = match state.is_global {
                    true => String::new(),
                    false => format!("s{}", state.n_initialized),
                };
                state.sessions.insert(session.clone());
                let header = if session.is_empty() { session } else { format!("mcp-session-id: {session}\r\n") };
                let result = result(json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": { "tools": {} },
                    "serverInfo": { "name": "fake", "version": "1" },
                }));
                return result.replacen("\r\n", &format!("\r\n{header}"), 1);
            }
            _ => {}
        }
        if !state.sessions.contains(session.unwrap_or_default()) {
            if state.runs_first && message["method"] == "tools/call" {
                state.n_run += 1;
                return of_json("400 Bad Request", &rpc_error(json!("$ID"), -32000, "the session ended in the middle"));
            }
            return state.answer_to_strangers.clone().unwrap_or_else(|| response("404 Not Found", "", ""));
        }
        match message["method"].as_str().unwrap() {
            "tools/list" => result(json!({ "tools": [{ "name": "run", "inputSchema": { "type": "object" } }] })),
            "tools/call" => {
                state.n_run += 1;
                let text = json!({ "content": [{ "type": "text", "text": "ran" }] });
                if let Some(events) = &state.events {
                    let event = json!({ "jsonrpc": "2.0", "id": message["id"], "result": text });
                    events.send(format!("data: {event}\n\n")).unwrap();
                }
                state.answer_to_calls.clone().unwrap_or_else(|| result(text))
            }
            method if method.starts_with("notifications/") => response("202 Accepted", "", ""),
            _ => result(json!({})),
        }
    }
}

/// Reads a request: its head in lowercase but for the method, and its body.
async fn received(connection: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if connection.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = bytes.split_off(end + 4);
    while body.len() < length.unwrap_or(0) {
        connection.read_buf(&mut body).await.ok()?;
    }
    Some((head, body))
}

/// Returns the error of a call that is answered so. Any session lasts, and further calls succeed.
async fn refusal(answer: String) -> ToolError {
    let (fake, backend) = Fake::start().await;
    let dispatcher = dispatcher(&backend).await;
    fake.state().answer_to_calls = Some(answer.clone());
    let error = call(&dispatcher, "fake:run", json!({})).await.expect_err(&answer);
    assert_eq!(fake.counts().1, 1, "{answer}");
    fake.state().answer_to_calls = None;
    assert_eq!(call(&dispatcher, "fake:run", json!({})).await.unwrap(), "ran", "{answer}");
    assert_eq!(fake.counts().0, 1, "{answer}");
    error
}

const BAD: [&str; 8] = [
    "400 Bad Request",
    "405 Method Not Allowed",
    "409 Conflict",
    "411 Length Required",
    "415 Unsupported Media Type",
    "422 Unprocessable Content",
    "302 Found",
    "307 Temporary Redirect",
];

#[tokio::test]
async fn an_error_status_ends_the_call_with_the_text_of_the_server() {
    use ErrorKind::{InvalidResponse, OutcomeUnknown, TooLarge, Unavailable};

    let statuses = BAD.map(|status| (status, InvalidResponse)).into_iter().chain([
        ("408 Request Timeout", Unavailable),
        ("413 Content Too Large", TooLarge),
        ("429 Too Many Requests", Unavailable),
        ("503 Service Unavailable", Unavailable),
        ("500 Internal Server Error", OutcomeUnknown),
        ("502 Bad Gateway", OutcomeUnknown),
        ("504 Gateway Timeout", OutcomeUnknown),
    ]);
    for (status, kind) in statuses {
        let number = &status[..3];
        let bodies = [
            ("application/json", rpc_error(json!(null), -32000, "no tea\u{200b}").to_string()),
            (
                "application/json",
                json!({ "jsonrpc": "2.0", "error": { "code": 1, "message": "no tea\u{200b}" } }).to_string(),
            ),
            ("application/json", rpc_error(json!("server-error"), -32600, "no tea\u{200b}").to_string()),
            ("application/json", rpc_error(json!(1_i64 << 40), -32603, "no tea\u{200b}").to_string()),
            ("application/json", json!([rpc_error(json!(null), -32000, "no tea\u{200b}")]).to_string()),
            ("text/plain", "no tea\u{200b}\n".to_owned()),
        ];
        for (content, body) in bodies {
            let headers = format!("content-type: {content}\r\nretry-after: 7\r\nlocation: http://127.0.0.1:1/\r\n");
            let error = refusal(response(status, &headers, &body)).await;
            let text = format!("responded with status {number} (retry after 7s): no tea\\u{{200b}}");
            assert!(error.message().contains(&text), "{status}: {error}");
            assert_eq!(error.kind(), kind, "{status}: {error:?}");
            let after = (kind == Unavailable).then_some(Duration::from_secs(7));
            assert_eq!(error.retry_after(), after, "{status}");
        }
        let page = format!("<p>hello</p>{}", "x".repeat(100_000));
        for (headers, body) in
            [("", ""), ("content-type: text/html\r\n", &*page), ("content-type: application/json\r\n", "")]
        {
            let error = refusal(response(status, headers, body)).await;
            assert_eq!(error.kind(), kind, "{status}: {error:?}");
            assert!(error.message().len() < 200 && error.retry_after().is_none(), "{error}");
        }
    }
}

/// The forms in which servers of earlier revisions refuse `server/discover`. An empty one closes the connection.
fn refused_probes() -> Vec<String> {
    let texts = ["Bad Request: Server not initialized", "session not found: call initialize first", "unknown method"];
    let statuses = "400 401 403 404 405 406 409 410 415 422 429 500 501 502 503";
    let json = "application/json";
    let mut forms = vec![String::new(), "HTTP/1.1".to_owned(), response("302 Found", "location: /login\r\n", "")];
    for status in statuses.split(' ') {
        for (kind, body) in
            [("text/plain", texts[0]), ("text/html", "<p>initialize a session</p>"), (json, ""), (json, "{")]
        {
            let headers = format!("content-type: {kind}\r\n");
            forms.push(response(&format!("{status} Status"), &headers, body));
        }
        let challenge = "www-authenticate: Bearer\r\n";
        forms.push(response(&format!("{status} Status"), challenge, ""));
    }
    for (nth, id) in [json!(null), json!("$ID"), json!("server-error"), json!(7)].into_iter().enumerate() {
        for code in [-32000, -32001, -32600, -32601, -32602, -32020, -32021, -32022, 0] {
            let error = rpc_error(id.clone(), code, texts[nth % 3]);
            forms.extend(
                ["200 OK", "400 Bad Request", "404 Not Found", "500 Error"].map(|status| of_json(status, &error)),
            );
            forms.push(of_events(&format!("event: message\ndata: {error}\n\n")));
        }
    }
    let supported = json!({ "requested": "2026-07-28", "supported": ["2025-06-18", "2024-11-05"] });
    let mut unsupported = rpc_error(json!("$ID"), -32022, "Unsupported protocol version");
    unsupported["error"]["data"] = supported;
    forms.push(of_json("400 Bad Request", &unsupported));
    forms.extend([
        of_json("200 OK", &json!({})),
        of_json("200 OK", &json!([])),
        of_events(""),
        of_events(": hello\n\n"),
    ]);
    forms.push(of_json("200 OK", &json!({ "jsonrpc": "2.0", "id": "$ID", "result": {} })));
    forms.extend([response("202 Accepted", "", ""), response("200 OK", "content-type: text/html\r\n", "<p>hello</p>")]);
    forms
}

#[tokio::test]
async fn a_server_that_refuses_the_probe_in_any_form_connects_at_the_first_attempt() {
    for form in refused_probes() {
        let (fake, backend) = Fake::start().await;
        fake.state().answer_to_probe = Some(form.clone());
        in_the_end(backend.start()).await.unwrap_or_else(|error| panic!("{form}: {error:?}"));
        assert_eq!(in_the_end(backend.tools()).await.expect(&form).tools.len(), 1, "{form}");
        assert_eq!(fake.counts().0, 1, "{form}");
    }
}

#[tokio::test]
async fn a_server_that_does_not_respond_to_the_probe_connects_at_the_first_attempt() {
    let (fake, backend) = Fake::start().await;
    fake.state().hangs = Some("server/discover");
    in_the_end(backend.start()).await.unwrap();
    assert_eq!(in_the_end(backend.tools()).await.unwrap().tools.len(), 1);
}

/// The server has understood the request, and knows none of the revisions with `initialize`.
#[tokio::test]
async fn a_list_of_later_revisions_ends_the_attempt() {
    let (fake, backend) = Fake::start().await;
    let mut error = rpc_error(json!("$ID"), -32022, "Unsupported protocol version");
    error["error"]["data"] = json!({ "requested": "2026-07-28", "supported": ["2027-03-01"] });
    fake.state().answer_to_probe = Some(of_json("400 Bad Request", &error));
    let error = in_the_end(backend.start()).await.unwrap_err();
    let message = "the MCP server `fake` supports none of the MCP revisions of this client, only: 2027-03-01";
    assert_eq!((error.message(), fake.counts().0), (message, 0));
}

/// Every combination of a status and a kind of body ends the call, and the next call succeeds.
#[tokio::test]
async fn an_answer_of_any_status_and_kind_ends_its_request() {
    let statuses = "200 202 204 302 400 401 403 404 405 408 410 413 422 429 500 502 503 504";
    let error = |id: Value| rpc_error(id, -32000, "no tea");
    let mut absent = error(Value::Null);
    absent.as_object_mut().unwrap().shift_remove("id");
    let progress = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": {} });
    let (json, events) = ("application/json", "text/event-stream");
    let bodies = [
        ("", String::new()),
        ("text/plain", "no tea".to_owned()),
        ("text/html", "<p>no tea</p>".to_owned()),
        (json, "{".to_owned()),
        (json, error(json!("$ID")).to_string()),
        (json, error(Value::Null).to_string()),
        (json, absent.to_string()),
        (json, error(json!("server-error")).to_string()),
        (json, json!([error(json!("$ID"))]).to_string()),
        (events, format!("data: {progress}\n\n")),
        (events, format!("data: {}\n\n", error(json!("$ID")))),
    ];
    for status in statuses.split(' ') {
        for (kind, body) in &bodies {
            let headers = if kind.is_empty() { String::new() } else { format!("content-type: {kind}\r\n") };
            let answer = response(&format!("{status} Status"), &headers, body);
            // The second one ends before its body does.
            for answer in [answer.clone(), answer.replace("content-length: $LENGTH", "content-length: 1000")] {
                let (fake, backend) = Fake::start().await;
                let dispatcher = dispatcher(&backend).await;
                fake.state().answer_to_calls = Some(answer.clone());
                call(&dispatcher, "fake:run", json!({})).await.expect_err(&answer);
                fake.state().answer_to_calls = None;
                assert_eq!(call(&dispatcher, "fake:run", json!({})).await.expect(&answer), "ran");
            }
        }
    }
}

#[tokio::test]
async fn a_retry_date_is_the_time_until_then() {
    let answer = |date: &str| response("429 Too Many Requests", &format!("retry-after: {date}\r\n"), "");
    let error = refusal(answer("Wed, 21 Oct 2015 07:28:00 GMT")).await;
    assert_eq!(error.retry_after(), Some(Duration::ZERO));
    let error = refusal(answer("Tue, 31 Dec 2999 23:59:59 GMT")).await;
    assert_eq!(error.retry_after(), Some(Duration::from_secs(24 * 60 * 60)), "the upper bound");
    let error = refusal(answer("soon")).await;
    assert_eq!((error.is_retryable(), error.retry_after()), (true, None));
}

/// The texts are those of the errors, which other tests cover.
#[tokio::test]
async fn a_successful_status_without_the_response_ends_the_call() {
    let ok = |content: &str, body: &str| response("200 OK", &format!("content-type: {content}\r\n"), body);
    let json = |body: Value| ok("application/json", &body.to_string());
    let event = |body: &Value| format!("event: message\ndata: {body}\n\n");
    let progress =
        json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": 1 } });
    for answer in [
        json(rpc_error(json!(null), -32000, "no")),
        json(rpc_error(json!("x"), -32000, "no")),
        json(json!({ "jsonrpc": "2.0", "error": { "code": -32000, "message": "no" } })),
        json(json!({ "error": "no" })),
        json(json!([rpc_error(json!(null), -32000, "no")])),
        json(json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })),
        json(json!([])),
        json(json!({})),
        json(json!(null)),
        ok("application/json", ""),
        ok("text/html", "<p>hello</p>"),
        ok("text/plain", ""),
        response("200 OK", "", ""),
        response("202 Accepted", "", ""),
        response("204 No Content", "", ""),
        of_events(""),
        of_events(": comment\n\n"),
        of_events(&event(&progress)),
        of_events(&event(&rpc_error(json!(null), -32000, "no"))),
        of_events(&(event(&progress) + &event(&rpc_error(json!(null), -32000, "no")))),
        of_events(&event(&rpc_error(json!(1_i64 << 40), -32000, "no"))),
        of_events(&event(&json!({ "error": { "message": "no" } }))),
        of_events(&event(&json!([rpc_error(json!(null), -32000, "no")]))),
        of_events("data: {]\n\n"),
        of_events("data: {\"id\": null, \"error\": {\"code\": -32000, \"message\": \"no \\ud800\"}}\n\n"),
        of_events("data: {\"id\": \"x\", \"error\": {\"code\": -32000, \"message\": \"no\", \"data\": NaN}}\n\n"),
        of_events("data: [{\"id\": null, \"error\": {\"code\": -32000, \"message\": \"\\udc00\"}}]\n\n"),
    ] {
        let has_text = answer.contains("-32000");
        let error = refusal(answer.clone()).await;
        assert!(!has_text || format!("{error:?}").contains("-32000"), "{answer}: {error:?}");
    }
}

/// Each HTTP exchange has one answer, so that the id adds nothing.
#[tokio::test]
async fn a_result_with_another_id_is_that_of_its_exchange() {
    for id in [json!(null), json!(1_i64 << 40), json!("server"), json!({})] {
        let result = json!({ "content": [{ "type": "text", "text": "one" }] });
        let result = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        for answer in [of_json("200 OK", &result), of_events(&format!("data: {result}\n\n"))] {
            let (fake, backend) = Fake::start().await;
            let dispatcher = dispatcher(&backend).await;
            fake.state().answer_to_calls = Some(answer);
            assert_eq!(call(&dispatcher, "fake:run", json!({})).await.unwrap(), "one", "{id}");
        }
    }
}

#[tokio::test]
async fn a_batch_with_the_response_is_the_response() {
    let result = json!({ "jsonrpc": "2.0", "id": "$ID", "result": { "content": [{ "type": "text", "text": "one" }] } });
    let batch = json!([rpc_error(json!(null), 1, "no"), result]);
    for answer in [of_json("200 OK", &batch), of_events(&format!("data: {batch}\n\n"))] {
        let (fake, backend) = Fake::start().await;
        let dispatcher = dispatcher(&backend).await;
        fake.state().answer_to_calls = Some(answer);
        assert_eq!(call(&dispatcher, "fake:run", json!({})).await.unwrap(), "one");
    }
}

#[tokio::test]
async fn an_event_with_a_name_is_not_a_message() {
    let result = json!({ "jsonrpc": "2.0", "id": "$ID", "result": { "content": [{ "type": "text", "text": "one" }] } });
    let events = format!("event: error\ndata: {{\"error\": {{\"message\": \"slow\"}}}}\n\ndata: {result}\n\n");
    let (fake, backend) = Fake::start().await;
    let dispatcher = dispatcher(&backend).await;
    fake.state().answer_to_calls = Some(of_events(&events));
    assert_eq!(call(&dispatcher, "fake:run", json!({})).await.unwrap(), "one");
}

#[tokio::test]
async fn the_outcome_of_a_call_in_a_lost_session_is_unknown() {
    let (fake, backend) = Fake::start().await;
    let dispatcher = dispatcher(&backend).await;
    fake.state().holds_call = true;
    let held = tokio::spawn({
        let dispatcher = dispatcher.clone();
        async move { call(&dispatcher, "fake:run", json!({})).await }
    });
    until(async || fake.counts().1 == 1).await;
    fake.restart();
    assert_eq!(call(&dispatcher, "fake:run", json!({})).await.unwrap(), "ran");
    let error = in_the_end(held).await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutcomeUnknown, "{error:?}");
}

/// No revision allows it, and some servers do it.
#[tokio::test]
async fn the_stream_of_a_session_delivers_the_result_of_an_accepted_call() {
    let (fake, backend) = Fake::start().await;
    let (events, stream) = tokio::sync::mpsc::unbounded_channel();
    {
        let mut state = fake.state();
        (state.events, state.stream) = (Some(events), Some(stream));
        state.answer_to_calls = Some(response("202 Accepted", "", ""));
    }
    let dispatcher = dispatcher(&backend).await;
    // The stream starts concurrently with the first requests.
    let ping = json!({ "jsonrpc": "2.0", "id": "theirs", "method": "ping" });
    fake.state().events.as_ref().unwrap().send(format!("data: {ping}\n\n")).unwrap();
    until(async || fake.state().n_answers == 1).await;
    assert_eq!(call(&dispatcher, "fake:run", json!({})).await.unwrap(), "ran");
}

#[tokio::test]
async fn initialization_waits_while_the_rate_is_limited() {
    let (fake, backend) = Fake::start().await;
    for n_accepted in 0..3 {
        fake.state().refusals = vec!["429 Too Many Requests", "503 Service Unavailable"];
        match n_accepted {
            0 => in_the_end(backend.start()).await.unwrap(),
            _ => assert_eq!(in_the_end(backend.tools()).await.unwrap().tools.len(), 1),
        }
        assert!(fake.state().refusals.is_empty());
    }
    assert_eq!(fake.counts().0, 1);
}

/// The forms in which servers report an unknown session.
fn unknown_sessions() -> Vec<String> {
    let missing = "Bad Request: No valid session ID provided";
    let mut forms = vec![
        response("404 Not Found", "", ""),
        response("410 Gone", "", ""),
        response("400 Bad Request", "content-type: text/plain\r\n", "Invalid session ID"),
        response("422 Unprocessable", "", "Unexpected message, expect initialize request"),
        of_events(&format!("data: {}\n\n", rpc_error(json!(null), -32001, "Session not found"))),
    ];
    for id in [json!(null), json!("$ID"), json!("server-error")] {
        forms.extend([
            of_json("404 Not Found", &rpc_error(id.clone(), -32001, "Session not found")),
            of_json("400 Bad Request", &rpc_error(id.clone(), -32000, missing)),
            of_json("200 OK", &rpc_error(id.clone(), -32001, "Session not found")),
            of_json("200 OK", &rpc_error(id, -32600, "Unknown session; call initialize first")),
        ]);
    }
    forms
}

#[tokio::test]
async fn calls_in_an_unknown_session_share_one_new_session_and_run_once() {
    for form in unknown_sessions() {
        let (fake, backend) = Fake::start().await;
        fake.state().answer_to_strangers = Some(form.clone());
        let dispatcher = dispatcher(&backend).await;
        for n_restarts in 1..=2 {
            fake.restart();
            let calls: Vec<_> = (0..8)
                .map(|_| {
                    let dispatcher = dispatcher.clone();
                    tokio::spawn(async move { call(&dispatcher, "fake:run", json!({})).await })
                })
                .collect();
            for call in calls {
                assert_eq!(in_the_end(call).await.unwrap().expect(&form), "ran");
            }
            assert_eq!(fake.counts(), (1 + n_restarts, 8 * n_restarts), "{form}");
        }
        assert_eq!(backend.status().state, BackendState::Ready);
    }
}

#[tokio::test]
async fn a_server_without_session_ids_is_initialized_again() {
    let (fake, backend) = Fake::start().await;
    fake.state().is_global = true;
    let refusal = of_json("400 Bad Request", &rpc_error(json!(null), -32000, "Bad Request: Server not initialized"));
    fake.state().answer_to_strangers = Some(refusal);
    let dispatcher = dispatcher(&backend).await;
    fake.restart();
    assert_eq!(call(&dispatcher, "fake:run", json!({})).await.unwrap(), "ran");
    assert_eq!(fake.counts(), (2, 1));
}

#[tokio::test]
async fn an_error_of_a_tool_about_its_sessions_is_not_repeated() {
    for status in ["200 OK", "400 Bad Request"] {
        let error = refusal(of_json(status, &rpc_error(json!("$ID"), -32001, "the session 7 was not found"))).await;
        assert!(format!("{error:?}").contains("the session 7 was not found"), "{error:?}");
    }
}

#[tokio::test]
async fn a_call_that_may_have_run_is_not_repeated_in_a_new_session() {
    let (fake, backend) = Fake::start().await;
    let dispatcher = dispatcher(&backend).await;
    fake.state().answer_to_strangers = Some(of_json("400 Bad Request", &rpc_error(json!(null), 1, "unknown session")));
    fake.state().runs_first = true;
    fake.restart();
    let error = call(&dispatcher, "fake:run", json!({})).await.unwrap_err();
    assert_eq!((error.kind(), fake.counts().1), (ErrorKind::OutcomeUnknown, 1), "{error:?}");
    fake.state().runs_first = false;
    assert_eq!(call(&dispatcher, "fake:run", json!({})).await.unwrap(), "ran");
}

#[tokio::test]
async fn a_required_login_is_not_an_unknown_session() {
    for headers in ["www-authenticate: Bearer error=\"invalid_token\"\r\n", ""] {
        let (fake, backend) = Fake::start().await;
        let dispatcher = dispatcher(&backend).await;
        let text = if headers.is_empty() { "log in" } else { "the session has expired" };
        fake.state().answer_to_strangers = Some(response("401 Unauthorized", headers, text));
        fake.restart();
        let error = call(&dispatcher, "fake:run", json!({})).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unauthorized, "{error:?}");
        assert_eq!(fake.counts(), (1, 0));
        until(async || backend.status().state != BackendState::Ready).await;
    }
}

#[tokio::test]
async fn a_server_that_does_not_respond_is_not_ready_until_it_does() {
    let (fake, backend) = Fake::start().await;
    let soon = Duration::from_millis(300);
    let backend = backend.timeout(soon).start_timeout(soon);
    let dispatcher = dispatcher(&backend).await;
    assert_eq!(backend.status().state, BackendState::Ready);
    fake.state().hangs = Some("");
    let error = call(&dispatcher, "fake:run", json!({})).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut, "{error:?}");
    until(async || backend.status().state != BackendState::Ready).await;
    // An attempt to connect fails, too.
    let attempt = async || call(&dispatcher, "fake:run", json!({})).await.unwrap_err().kind();
    until(async || attempt().await == ErrorKind::Unavailable).await;
    assert_ne!(backend.status().state, BackendState::Ready);
    fake.state().hangs = None;
    assert_eq!(call_restarted(&dispatcher, "fake:run", json!({})).await.unwrap(), "ran");
    assert_eq!(backend.status().state, BackendState::Ready);
}

#[tokio::test]
async fn a_call_that_takes_too_long_keeps_the_connection_of_a_server_that_responds() {
    let (fake, backend) = Fake::start().await;
    let backend = backend.timeout(Duration::from_millis(300));
    let dispatcher = dispatcher(&backend).await;
    fake.state().hangs = Some("tools/call");
    let error = call(&dispatcher, "fake:run", json!({})).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut, "{error:?}");
    fake.state().hangs = None;
    assert_eq!(call(&dispatcher, "fake:run", json!({})).await.unwrap(), "ran");
    assert_eq!((fake.counts().0, backend.status().n_restarts), (1, 0));
}

/// Adds all numbers.
#[tool(namespace = "math")]
fn sum(numbers: Vec<f64>) -> f64 {
    numbers.iter().sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_argument_beyond_the_limit_of_our_server_ends_with_the_reason() {
    let server = Server::new(Dispatcher::new(catalog![sum].unwrap()).unwrap()).unwrap();
    let listening = server.http().bind("127.0.0.1:0").await.unwrap();
    let endpoint = Endpoint::new(&format!("http://{}/mcp", listening.local_addr().unwrap())).unwrap();
    tokio::spawn(listening.run(std::future::pending()));
    let backend = McpBackend::http("remote", endpoint);
    let dispatcher = dispatcher(&backend).await;
    let numbers = vec![0.123_456_789_012_345_6; 5 << 16];
    let error = call(&dispatcher, "remote:math_sum", json!({ "numbers": numbers })).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge, "{error:?}");
    assert!(error.message().ends_with("413: the request body exceeds the limit of 4194304 bytes"), "{error}");
    assert_eq!(backend.status().n_restarts, 0);

    // Over stdio, a message may be longer.
    let proxy = Server::new(dispatcher).unwrap();
    let mut client = Client::connect(&proxy, (Era::Legacy, Way::Pipes), json!({})).await;
    let numbers = vec![0.123_456_789_012_345_6; 5 << 16];
    let none = |_: &Value| unreachable!("no question");
    let response = in_the_end(client.call("remote_math_sum", json!({ "numbers": numbers }), none)).await;
    let text = response["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.ends_with("413: the request body exceeds the limit of 4194304 bytes"), "{text}");
}
