//! The service as its users and operators see it: pages, clients of MCP, and its shutdown.

use std::error::Error;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, SET_COOKIE};
use reqwest::{Client, ClientBuilder, Response, StatusCode};
use rusqlite::{Connection, params};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use toolkit_runtime::Authorities;

type Outcome = Result<(), Box<dyn Error>>;

/// A running service with two users.
struct Service {
    process: Child,
    url: String,
    file: PathBuf,
    client: Client,
}

impl Service {
    fn start(name: &str) -> Result<Self, Box<dyn Error>> {
        let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.db"));
        let _ = std::fs::remove_file(&file);
        let mut process = Command::new(env!("CARGO_BIN_EXE_toolkit-example-service"))
            .arg(&file)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().ok_or("no stdout")?).read_line(&mut line)?;
        let database = Connection::open(&file)?;
        for user in ["ada", "bob"] {
            let key = Sha256::digest(format!("key-of-{user}")).to_vec();
            database.execute("INSERT INTO users (name, key) VALUES (?1, ?2)", params![user, key])?;
        }
        Ok(Self { process, url: line.trim().to_owned(), file, client: client(Client::builder())? })
    }

    /// Calls a tool over MCP with the key of a user.
    async fn call(&self, key: Option<&str>, name: &str, arguments: Value) -> reqwest::Result<Response> {
        let params = json!({ "name": name, "arguments": arguments });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let request = self.client.post(format!("{}/mcp", self.url)).header(CONTENT_TYPE, "application/json");
        let request =
            key.into_iter().fold(request, |request, key| request.header(AUTHORIZATION, format!("Bearer {key}")));
        request.body(message.to_string()).send().await
    }

    /// Returns the result of a call that succeeds.
    async fn result(&self, key: &str, name: &str, arguments: Value) -> Result<Value, Box<dyn Error>> {
        let message = value(self.call(Some(key), name, arguments).await?).await?;
        assert_eq!(message["result"]["isError"], false, "{message}");
        Ok(message["result"]["structuredContent"].clone())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_file(&self.file);
    }
}

/// Builds a client without TLS.
fn client(builder: ClientBuilder) -> Result<Client, Box<dyn Error>> {
    Ok(builder.no_proxy().tls_backend_preconfigured(Authorities::no_tls()?).build()?)
}

async fn value(response: Response) -> Result<Value, Box<dyn Error>> {
    Ok(serde_json::from_slice(&response.bytes().await?)?)
}

#[tokio::test]
async fn a_page_and_a_client_of_one_user_share_the_notes_that_no_other_sees() -> Outcome {
    let service = Service::start("shared")?;
    service.result("key-of-ada", "notes_add", json!({ "text": "Buy milk" })).await?;
    assert_eq!(service.result("key-of-bob", "notes_list", json!({})).await?["result"], json!([]));

    let login = service.client.post(format!("{}/login", service.url)).header(CONTENT_TYPE, "application/json");
    let login = login.body(r#"{"key": "key-of-ada"}"#).send().await?;
    let cookie = login.headers()[SET_COOKIE].to_str()?.split(';').next().ok_or("no cookie")?.to_owned();
    let page = service.client.get(format!("{}/notes", service.url)).header(COOKIE, cookie).send().await?;
    assert_eq!(value(page).await?, json!([{ "id": 1, "text": "Buy milk" }]));
    Ok(())
}

#[tokio::test]
async fn a_call_without_a_key_or_without_a_scope_is_refused() -> Outcome {
    let service = Service::start("refused")?;
    for key in [None, Some("key-of-eve")] {
        let refused = service.call(key, "notes_list", json!({})).await?;
        assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
        assert_eq!(refused.headers()["www-authenticate"], "Bearer");
    }
    let refused = service.call(Some("key-of-bob"), "notes_clear", json!({})).await?;
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    assert_eq!(service.result("key-of-ada", "notes_clear", json!({})).await?["result"], 0);
    let invalid = value(service.call(Some("key-of-bob"), "notes_add", json!({ "text": "" })).await?).await?;
    assert_eq!(invalid["result"]["isError"], true, "{invalid}");
    Ok(())
}

#[tokio::test]
async fn programs_call_tools_without_mcp_and_grpc_is_on_the_same_port() -> Outcome {
    let service = Service::start("programs")?;
    let call = service.client.post(format!("{}/tools/notes_add", service.url)).header(CONTENT_TYPE, "application/json");
    let added = call.header(AUTHORIZATION, "Bearer key-of-bob").body(r#"{"text": "Call Ada"}"#).send().await?;
    assert_eq!(value(added).await?, json!({ "id": 1, "text": "Call Ada" }));

    let grpc = client(Client::builder().http2_prior_knowledge())?;
    let check =
        grpc.post(format!("{}/grpc.health.v1.Health/Check", service.url)).header(CONTENT_TYPE, "application/grpc");
    // An empty message after the header of its frame, and one that has the field `status` with the value `SERVING`.
    let checked = check.header("te", "trailers").body(vec![0_u8; 5]).send().await?.bytes().await?;
    assert_eq!(&checked[..], [0, 0, 0, 0, 2, 8, 1]);
    Ok(())
}

#[cfg(unix)]
#[tokio::test]
async fn a_call_that_runs_ends_before_the_service_and_an_event_stream_does_not_hold_it() -> Outcome {
    let mut service = Service::start("shutdown")?;
    service.result("key-of-ada", "notes_add", json!({ "text": "Buy milk" })).await?;
    let stream = service.client.get(format!("{}/mcp", service.url)).header(AUTHORIZATION, "Bearer key-of-ada");
    let stream =
        stream.header("accept", "text/event-stream").header("mcp-protocol-version", "2025-11-25").send().await?;
    assert_eq!(stream.status(), StatusCode::OK);
    let pid = i32::try_from(service.process.id())?;
    let stop = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        rustix::process::kill_process(
            rustix::process::Pid::from_raw(pid).ok_or("no pid")?,
            rustix::process::Signal::TERM,
        )?;
        Outcome::Ok(())
    };
    let (exported, stopped) = tokio::join!(service.result("key-of-ada", "notes_export", json!({})), stop);
    stopped?;
    assert_eq!(exported?["result"], "Buy milk");
    drop(stream.bytes().await);
    // Well before the shutdown timeout.
    let began = std::time::Instant::now();
    let status = service.process.wait()?;
    assert!(status.success() && began.elapsed() < Duration::from_secs(5), "{status} after {:?}", began.elapsed());
    Ok(())
}
