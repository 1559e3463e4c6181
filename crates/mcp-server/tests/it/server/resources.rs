//! Resources: reading, listing, and requests that try to get more.

mod access;
mod proxied;
mod subscriptions;

use std::time::Duration;

use tokio::io::AsyncBufReadExt;
use toolkit::backend::{Backend, BackendCall, BackendResponse, OfferedTools};
use toolkit::call::{BoxFuture, Credentials};
use toolkit::resource::{Resource, ResourceContents, ResourceTemplate, ResourceWatch, Resources};
use toolkit::tool::BackendKind;
use toolkit::{Context, Tool, ToolError};
use toolkit_backends::Backends;
use toolkit_mcp_server::{
    App, Caller, DirectoryResources, Proxy, Request, ResourceSet, ServeError, ServerBuilder, TemplateResources,
    TokenError, Verify,
};

use super::changes::{next, session};
use super::*;

const PNG: &[u8] = b"\x89PNG";

fn builder() -> ServerBuilder {
    Server::builder(dispatcher()).named("tests", "1.0.0")
}

fn set() -> ResourceSet {
    ResourceSet::new()
        .with(Resource::new("config://app", "app").mime_type("application/json"), "{}")
        .with(Resource::new("icon://app", "icon").mime_type("image/png"), PNG)
}

fn notes() -> TemplateResources {
    let template = ResourceTemplate::new("notes://{id}", "note").mime_type("text/plain");
    let read = |params: toolkit_mcp_server::UriParams, _: Context| async move {
        match &params["id"] {
            "internal" => Err(ToolError::internal(std::io::Error::other("the password is hunter2"))),
            "expired" => Err(ToolError::failed("the note has expired")),
            "panic" => panic!("the password is hunter2"),
            "slow" => std::future::pending().await,
            id => Ok((id != "none").then(|| format!("note {id}"))),
        }
    };
    TemplateResources::new(template, read).unwrap()
}

async fn serving(builder: ServerBuilder) -> Client {
    Client::of(serve(builder.build().unwrap().http()).await)
}

fn read(uri: &str) -> Value {
    json!({ "uri": uri })
}

/// Proxies close a connection without traffic.
#[tokio::test(start_paused = true)]
async fn comments_keep_the_connection_of_a_slow_resource_open() {
    use http_body_util::BodyExt as _;
    use tower_service::Service as _;

    let server = builder().resources(notes()).call_timeout(Duration::from_secs(25)).build().unwrap();
    let request = http::Request::post("/mcp").header("host", "localhost").header("content-type", "application/json");
    let request = request.header("accept", "application/json, text/event-stream");
    let message = request.body(super::request(1, "resources/read", read("notes://slow")).to_string()).unwrap();
    let response = server.http().into_service().call(message).await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let body = std::str::from_utf8(&body).unwrap();
    assert!(body.starts_with(":\n\n:\n\nevent: message\n"), "{body}");
    assert!(body.contains("the timeout of the server"), "{body}");
}

#[tokio::test]
async fn texts_and_bytes_are_read_in_both_eras() {
    let client = serving(builder().resources(set()).resources(notes())).await;
    let legacy = client.send(&request(1, "resources/read", read("icon://app"))).await.result();
    let blob = json!({ "uri": "icon://app", "mimeType": "image/png", "blob": "iVBORw==" });
    assert_eq!(legacy, json!({ "contents": [blob] }));

    let modern = client.send(&modern(1, "resources/read", read("notes://7"))).await.result();
    let note = json!({ "uri": "notes://7", "mimeType": "text/plain", "text": "note 7" });
    assert_eq!(modern["contents"], json!([note]));
    assert_eq!(modern["resultType"], "complete");
    assert_eq!((&modern["ttlMs"], &modern["cacheScope"]), (&json!(0), &json!("public")));
}

#[tokio::test]
async fn an_unknown_resource_is_the_error_of_its_era() {
    let client = serving(builder().resources(set()).resources(notes())).await;
    for uri in ["config://other", "notes://none", "notes://", "", "file:///etc/passwd", "CONFIG://app"] {
        assert_eq!(client.send(&request(1, "resources/read", read(uri))).await.code(), -32002, "{uri}");
    }
    let error = client.send(&modern(1, "resources/read", read("config://other"))).await.json();
    assert_eq!(error["error"]["code"], -32602);
    assert_eq!(error["error"]["data"], json!({ "uri": "config://other" }));
    assert_eq!(error["error"]["message"], "no resource has the URI `config://other`");
}

#[tokio::test]
async fn malformed_requests_are_invalid() {
    let client = serving(builder().resources(set())).await;
    for params in [json!({}), json!({ "uri": 7 }), json!({ "uri": format!("notes://{}", "a".repeat(9_000)) })] {
        assert_eq!(client.send(&request(1, "resources/read", params)).await.code(), -32602);
    }
    let mismatch = client.with("mcp-name", "config://other");
    assert_eq!(mismatch.send(&modern(1, "resources/read", read("config://app"))).await.code(), -32020);
    assert_eq!(client.send(&modern(1, "resources/subscribe", read("config://app"))).await.code(), -32601);
    assert_eq!(client.send(&request(1, "resources/write", read("config://app"))).await.code(), -32601);
    assert_eq!(client.send(&request(1, "resources/list", json!({ "cursor": "?" }))).await.code(), -32602);
}

#[tokio::test]
async fn a_failing_provider_shows_only_what_its_author_meant_to_show() {
    let client = serving(builder().resources(notes())).await;
    let message = async |client: &Client, id: &str| {
        let response = client.send(&request(1, "resources/read", read(&format!("notes://{id}")))).await;
        assert_eq!(response.code(), -32603);
        response.json()["error"]["message"].as_str().unwrap().to_owned()
    };
    assert_eq!(message(&client, "expired").await, "the note has expired");
    for id in ["internal", "panic"] {
        assert_eq!(message(&client, id).await, "the resource cannot be read: internal error");
    }
    let hurried = serving(builder().resources(notes()).call_timeout(Duration::from_millis(50))).await;
    let expected = "the request took longer than 50ms, the timeout of the server";
    assert_eq!(message(&hurried, "slow").await, expected);
}

#[tokio::test]
async fn a_failing_provider_does_not_hide_those_after_it() {
    let template = ResourceTemplate::new("config://{id}", "config");
    let failing =
        TemplateResources::new(template, |_, _| async { Err::<Option<String>, _>(ToolError::failed("down")) });
    let client = serving(builder().resources(failing.unwrap()).resources(set())).await;
    let read_it = client.send(&request(1, "resources/read", read("config://app"))).await.result();
    assert_eq!(read_it["contents"][0]["text"], "{}");
    let error = client.send(&request(1, "resources/read", read("config://other"))).await.json();
    assert_eq!((&error["error"]["code"], &error["error"]["message"]), (&json!(-32603), &json!("down")));
}

/// A resource with little text and many or large other fields.
struct Wide(Vec<ResourceContents>);

impl Resources for Wide {
    fn read<'a>(
        &'a self,
        _: &'a str,
        _: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Vec<ResourceContents>>, ToolError>> {
        Box::pin(async { Ok(Some(self.0.clone())) })
    }
}

#[tokio::test]
async fn the_size_limit_counts_each_field_of_each_block() {
    let mut meta = ResourceContents::new("x://y", "");
    meta.meta.insert("a".to_owned(), "a".repeat(2_000).into());
    let mut mime_type = ResourceContents::new("x://y", "");
    mime_type.mime_type = Some("a".repeat(2_000));
    let uri = ResourceContents::new(format!("x://{}", "a".repeat(2_000)), "");
    let many = vec![ResourceContents::new("x://y", ""); 100];
    for contents in [vec![meta], vec![mime_type], vec![uri], many] {
        let client = serving(builder().resources(Wide(contents)).max_result_bytes(1_100)).await;
        let error = client.send(&request(1, "resources/read", read("x://y"))).await.json();
        let message = error["error"]["message"].as_str().unwrap();
        assert!(message.ends_with("more than the limit of 1100 (`max_result_bytes`)"), "{message}");
    }
}

#[tokio::test]
async fn the_size_limit_counts_base64() {
    let resources = ResourceSet::new()
        .with(Resource::new("x://text", "text"), "a".repeat(1_000))
        .with(Resource::new("x://bytes", "bytes"), vec![0; 1_000]);
    let client = serving(builder().resources(resources).max_result_bytes(1_100)).await;
    client.send(&request(1, "resources/read", read("x://text"))).await.result();
    let error = client.send(&request(1, "resources/read", read("x://bytes"))).await.json();
    let expected = "the resource has 1380 bytes as JSON, more than the limit of 1100 (`max_result_bytes`)";
    assert_eq!(error["error"]["message"], expected);
}

#[tokio::test]
async fn lists_have_pages_without_duplicates() {
    let many = ResourceSet::new();
    for idx in 0..25 {
        many.set(Resource::new(format!("x://{idx:02}"), "x"), "");
    }
    let again = ResourceSet::new().with(Resource::new("x://07", "hidden"), "hidden");
    let client = serving(builder().resources(many).resources(again).resources(notes()).page_size(10)).await;
    let (mut uris, mut cursor) = (Vec::new(), json!({}));
    loop {
        let page = client.send(&modern(1, "resources/list", cursor)).await.result();
        let listed = page["resources"].as_array().unwrap();
        assert!(listed.len() <= 10 && listed.iter().all(|resource| resource["name"] == "x"));
        uris.extend(listed.iter().map(|resource| resource["uri"].as_str().unwrap().to_owned()));
        match page.get("nextCursor") {
            Some(next) => cursor = json!({ "cursor": next }),
            None => break,
        }
    }
    assert_eq!(uris, (0..25).map(|idx| format!("x://{idx:02}")).collect::<Vec<_>>());
    let templates = client.send(&request(1, "resources/templates/list", json!({}))).await.result();
    let note = json!({ "uriTemplate": "notes://{id}", "name": "note", "mimeType": "text/plain" });
    assert_eq!(templates["resourceTemplates"], json!([note]));
}

#[tokio::test]
async fn capabilities_are_declared_only_with_providers() {
    let capabilities = async |builder: ServerBuilder| {
        let client = serving(builder).await;
        let discovered = client.send(&modern(1, "server/discover", json!({}))).await.result()["capabilities"].clone();
        let initialize = request(1, "initialize", json!({ "protocolVersion": LEGACY }));
        assert_eq!(client.send(&initialize).await.result()["capabilities"], discovered);
        discovered["resources"].clone()
    };
    let offered = json!({ "subscribe": true, "listChanged": true });
    assert_eq!(capabilities(builder()).await, Value::Null);
    assert_eq!(capabilities(builder().empty_prompts_and_resources(true)).await, json!({}));
    assert_eq!(capabilities(builder().resources(set())).await, offered);
    assert_eq!(capabilities(builder().resources(set()).empty_prompts_and_resources(true)).await, offered);
}

/// Resources that only their owner can read.
struct Private;

impl Resources for Private {
    fn list<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<Vec<Resource>, ToolError>> {
        Box::pin(async {
            let owner = context.user_id().ok();
            Ok(owner.map(|owner| Resource::new(format!("mine://{owner}"), "mine")).into_iter().collect())
        })
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Vec<ResourceContents>>, ToolError>> {
        Box::pin(async move {
            let caller = context.get::<Request>().and_then(Request::caller).and_then(Caller::subject);
            assert_eq!(caller, context.user_id().ok());
            let is_own = caller.is_some_and(|caller| uri == format!("mine://{caller}"));
            let secret = context.secret("key").map_or("none", |secret| secret.expose());
            Ok(is_own.then(|| vec![ResourceContents::new(uri, secret)]))
        })
    }
}

/// Tokens that are the names of their users.
struct Names;

impl Verify for Names {
    fn verify<'v>(&'v self, token: &'v str) -> BoxFuture<'v, Result<Caller, TokenError>> {
        let credentials = Credentials::new().with_user_id(token).with_secret("key", format!("key of {token}"));
        Box::pin(async move { Ok(Caller::named(token).with_credentials(credentials)) })
    }
}

#[tokio::test]
async fn a_caller_reads_only_its_own_resources() {
    let server = builder().resources(Private).build().unwrap();
    let client = Client::of(serve(server.http().verify(Names)).await);
    let alice = client.with("authorization", "Bearer alice");
    let own = alice.send(&modern(1, "resources/read", read("mine://alice"))).await.result();
    assert_eq!(own["contents"][0]["text"], "key of alice");
    assert_eq!(own["cacheScope"], "private");
    let other = alice.send(&modern(1, "resources/read", read("mine://bob"))).await;
    assert_eq!(other.code(), -32602);
    let list = alice.send(&modern(1, "resources/list", json!({}))).await.result();
    assert_eq!(list["cacheScope"], "private");
    assert_eq!(list["resources"], json!([{ "uri": "mine://alice", "name": "mine" }]));
}

#[tokio::test]
async fn a_cancelled_read_stops() {
    let client = session(&serving(builder().resources(notes())).await).await;
    let slow = request(7, "resources/read", read("notes://slow"));
    let cancel = async {
        loop {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let params = json!({ "requestId": 7 });
            let message = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
            client.post(message.to_string().as_bytes()).await;
        }
    };
    tokio::select! {
        response = client.send(&slow) => assert!(!response.text().contains("result"), "{}", response.text()),
        () = cancel => {}
    }
}

#[tokio::test]
async fn files_outside_of_a_directory_do_not_exist() {
    let base = std::env::temp_dir().join(format!("toolkit-resources-{}", std::process::id()));
    let root = base.join("root");
    std::fs::create_dir_all(root.join("sub")).unwrap();
    std::fs::write(base.join("secret.txt"), "secret").unwrap();
    std::fs::write(root.join("sub/a b.txt"), "text").unwrap();
    std::fs::write(root.join("bytes.bin"), [0xff, 0xfe]).unwrap();
    std::fs::write(root.join("large.txt"), "a".repeat(101)).unwrap();
    std::fs::write(root.join(".env"), "secret").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink(base.join("secret.txt"), root.join("link.txt")).unwrap();
        symlink(&base, root.join("up")).unwrap();
        symlink(root.join("sub"), root.join("inside")).unwrap();
        std::fs::hard_link(base.join("secret.txt"), root.join("hard.txt")).unwrap();
    }
    let directory = DirectoryResources::new("docs", &root).unwrap().max_bytes(100);
    let client = serving(builder().resources(directory)).await;
    let content = client.send(&modern(1, "resources/read", read("docs:///sub/a%20b.txt"))).await.result();
    let expected = json!({ "uri": "docs:///sub/a%20b.txt", "mimeType": "text/plain", "text": "text" });
    assert_eq!(content["contents"], json!([expected]));
    let bytes = client.send(&modern(1, "resources/read", read("docs:///bytes.bin"))).await.result();
    assert_eq!(bytes["contents"][0]["blob"], "//4=");
    assert_eq!(client.send(&modern(1, "resources/read", read("docs:///large.txt"))).await.code(), -32603);

    let outside = base.join("secret.txt");
    let hostile = [
        "docs:///../secret.txt",
        "docs:///%2e%2e/secret.txt",
        "docs:///%2E%2E%2Fsecret.txt",
        "docs:///sub/../../secret.txt",
        "docs:///sub/%2e%2e/%2e%2e/secret.txt",
        "docs:///..%5csecret.txt",
        "docs:///link.txt",
        #[cfg(unix)]
        "docs:///hard.txt",
        "docs:///up/secret.txt",
        "docs:///inside/a%20b.txt",
        "docs:///.env",
        "docs:///sub",
        "docs:///",
        "docs:///sub//a%20b.txt",
        "docs:///sub/a%20b.txt%00",
        "docs:///%00",
        "docs://host/sub/a%20b.txt",
        "docs:/sub/a%20b.txt",
        "docs:///sub/a%2520b.txt",
        "file:///etc/passwd",
        "/etc/passwd",
        &format!("docs://{}", outside.display()),
        &format!("docs:///{}", outside.display()),
    ];
    for uri in hostile {
        let response = client.send(&modern(1, "resources/read", read(uri))).await;
        assert_eq!(response.code(), -32602, "{uri}: {}", response.text());
    }
    std::fs::remove_dir_all(&base).unwrap();
}

#[tokio::test]
async fn a_blocking_read_does_not_delay_other_requests() {
    let (release, released) = std::sync::mpsc::channel::<()>();
    let released = Mutex::new(released);
    let released = Arc::new(released);
    let template = ResourceTemplate::new("blocking://{id}", "blocking");
    let blocking = TemplateResources::new(template, move |_, _| {
        let released = Arc::clone(&released);
        async move { Ok(released.lock().unwrap().recv().ok().map(|()| "released")) }
    });
    let client = serving(builder().resources(blocking.unwrap())).await;
    let other = client.clone();
    // All of this test and the server's I/O run on one thread.
    let blocked = request(1, "resources/read", read("blocking://1"));
    let (blocked, ()) = tokio::join!(client.send(&blocked), async {
        other.send(&request(2, "ping", json!({}))).await.result();
        release.send(()).unwrap();
    });
    assert_eq!(blocked.result()["contents"][0]["text"], "released");
}

/// A tool with a user interface.
fn with_ui(uri: &str) -> Dispatcher {
    let Value::Object(meta) = json!({ "ui": { "resourceUri": uri, "visibility": ["model"] } }) else { unreachable!() };
    let chart = Tool::builder("chart").description("Shows a chart.").meta(meta).build().unwrap();
    Dispatcher::new(Catalog::new([chart]).unwrap()).unwrap()
}

#[tokio::test]
async fn a_user_interface_has_its_policy_in_the_list_and_in_the_contents() {
    let app = App::new("ui://sales/chart.html", "<p>Sales</p>").connect_domains(["https://api.example.com"]);
    let builder = Server::builder(with_ui("ui://sales/chart.html")).resources(app.prefers_border(true));
    let client = serving(builder).await;
    let ui = json!({ "csp": { "connectDomains": ["https://api.example.com"] }, "prefersBorder": true });
    for request in [modern, request] {
        let list = client.send(&request(1, "resources/list", json!({}))).await.result();
        let contents = client.send(&request(1, "resources/read", read("ui://sales/chart.html"))).await.result();
        for described in [&list["resources"][0], &contents["contents"][0]] {
            assert_eq!(described["mimeType"], "text/html;profile=mcp-app");
            assert_eq!(described["_meta"]["ui"], ui);
        }
        assert_eq!(contents["contents"][0]["text"], "<p>Sales</p>");
    }
    let modern = client.send(&modern(1, "tools/list", json!({}))).await.result()["tools"][0]["_meta"].clone();
    assert_eq!(modern["ui"], json!({ "resourceUri": "ui://sales/chart.html", "visibility": ["model"] }));
    assert_eq!(modern["ui/resourceUri"], Value::Null);
    let legacy = client.send(&request(1, "tools/list", json!({}))).await.result()["tools"][0]["_meta"].clone();
    assert_eq!(legacy["ui/resourceUri"], "ui://sales/chart.html");
}

#[tokio::test]
async fn a_user_interface_lists_each_kind_of_origin_and_is_named_by_the_end_of_its_uri() {
    let app = App::new("ui://sales/chart.html", "<p>é</p>").title("Sales").prefers_border(false);
    let app =
        app.connect_domains(["https://a"]).resource_domains(["https://b", "https://c"]).frame_domains(["https://d"]);
    let context = Context::new();
    let listed = app.list(&context).await.unwrap().remove(0);
    assert_eq!((&*listed.name, listed.title.as_deref(), listed.size), ("chart.html", Some("Sales"), Some(9)));
    let csp = json!({
        "connectDomains": ["https://a"], "resourceDomains": ["https://b", "https://c"], "frameDomains": ["https://d"],
    });
    assert_eq!(listed.meta["ui"], json!({ "prefersBorder": false, "csp": csp }));
    assert!(app.read("ui://sales/other.html", &context).await.unwrap().is_none());
    let plain = App::new("ui://a", "");
    assert!(plain.list(&context).await.unwrap()[0].meta.is_empty());
    assert!(plain.read("ui://a", &context).await.unwrap().unwrap()[0].meta.is_empty());
}

#[tokio::test]
async fn a_user_interface_that_is_not_served_is_a_diagnostic() {
    let app = App::new("ui://sales/chart.html", "");
    let error = Server::builder(with_ui("ui://sales/other.html")).resources(app.clone()).build().unwrap_err();
    assert!(matches!(error, ServeError::Apps(_)));
    let expected = "`chart`: the user interface `ui://sales/other.html` is not a resource of the server";
    assert_eq!(error.to_string(), expected);
    assert!(Server::builder(with_ui("ui://sales/chart.html")).build().is_err());
    // A provider that needs a runtime cannot be checked.
    let template = ResourceTemplate::new("ui://{name}", "page");
    let sleeping = TemplateResources::new(template, |_, _| async {
        tokio::time::sleep(Duration::from_millis(1)).await;
        Ok(None::<String>)
    });
    let builder = Server::builder(with_ui("ui://chart")).resources(app).resources(sleeping.unwrap());
    std::thread::spawn(|| builder.build().unwrap()).join().unwrap();
}

#[tokio::test]
async fn a_provider_that_hangs_does_not_starve_another() {
    let client = serving(builder().resources(set()).resources(notes()).concurrency(8)).await;
    for idx in 0..20 {
        let client = client.clone();
        tokio::spawn(async move { client.send(&request(idx, "resources/read", read("notes://slow"))).await });
    }
    let others = async {
        for idx in 0..50 {
            client.send(&request(idx, "resources/read", read("config://app"))).await.result();
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), others).await.expect("others are served");
}
