//! An MCP client that logs in: `fixture_login URL`. It lists the tools of a server and calls each of them, and logs in
//! whenever the server requires it. `CONTEXT`, or that of the conformance suite, contains the settings as JSON.

use std::error::Error;
use std::time::Duration;

use serde_json::Value;
use test_support::browser;
use toolkit::backend::Backend;
use toolkit::call::ErrorKind;
use toolkit::{Catalog, Dispatcher, ToolError};
use toolkit_backends::Backends;
use toolkit_mcp_client::{Endpoint, McpBackend, OAuth};

const METADATA: &str = "https://conformance-test.local/client-metadata.json";

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let url = std::env::args().next_back().ok_or("usage: fixture_login URL")?;
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_else(|_| "{}".to_owned());
    let context: Value = serde_json::from_str(&context)?;
    let text = |key: &str| context[key].as_str().map(str::to_owned);
    let mut settings = OAuth::new().client_name("tests").client_metadata_url(METADATA);
    if let (Some(id), Some(issuer)) = (text("client_id"), text("issuer")) {
        settings = settings.client_id(id).issuer(issuer);
        if let Some(secret) = text("client_secret") {
            settings = settings.client_secret(secret);
        }
    }
    let endpoint = Endpoint::new(&url)?.oauth(settings);
    let backend = McpBackend::http("server", endpoint.clone());

    while let Err(error) = backend.tools().await {
        login(&endpoint, error).await?;
        backend.start().await.or_else(|error| if is_login(&error) { Ok(()) } else { Err(error) })?;
    }
    let backends = Backends::new();
    backends.register(backend)?;
    let collected = backends.collect(Catalog::new([])?).await;
    let names: Vec<String> = collected.catalog.iter().map(|tool| tool.id().to_string()).collect();
    let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build()?;
    for name in names {
        while let Err(error) = dispatcher.call(&name, "{}").await {
            login(&endpoint, error).await?;
        }
    }
    Ok(())
}

/// Logs in if the error requires it. A browser approves at once.
async fn login(endpoint: &Endpoint, error: ToolError) -> Result<(), Failure> {
    if !is_login(&error) {
        return Err(error.into());
    }
    eprintln!("{error}: {:?}", error.source().map(ToString::to_string));
    let login = endpoint.login().await?;
    let url = login.url().to_owned();
    let waiting = tokio::spawn(login.wait(Duration::from_secs(20)));
    let redirect = browser::follow(&url, "http://127.0.0.1:").await?;
    let page = browser::get(&redirect, &Default::default()).await?;
    eprintln!("{}", page.lines().last().unwrap_or_default());
    eprintln!("{:?}", waiting.await??);
    Ok(())
}

fn is_login(error: &ToolError) -> bool {
    error.kind() == ErrorKind::Unauthorized
}
