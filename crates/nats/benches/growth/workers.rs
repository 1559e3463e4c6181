//! Simulated workers: connections that subscribe and answer as workers do, and share the definitions of their tools.

use std::collections::HashMap;
use std::sync::Arc;

use async_nats::{Client, HeaderMap};
use bytes::Bytes;
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use toolkit::{Catalog, Dispatcher, Tool};
use toolkit_nats::{Connect, Worker};

use super::Failure;

pub(crate) const N_TOOLSETS: usize = 10;
pub(crate) const N_NAMESPACES: usize = 10;

/// The announcement and the answers of a real worker.
struct Toolset {
    info: Value,
    digest: String,
    /// The pages of definitions, by the body of the request.
    pages: HashMap<String, (String, Bytes)>,
}

/// A connected worker.
struct Simulated {
    client: Client,
    info: Value,
    _services: JoinSet<()>,
}

pub(crate) async fn run(url: &str, n_workers: usize, n_tools: usize) -> Result<(), Failure> {
    let mut toolsets = Vec::new();
    for nth in 0..N_TOOLSETS {
        let ids = (0..n_tools).map(|tool| (tool % N_NAMESPACES, format!("set{nth}_tool{tool}")));
        toolsets.push(Arc::new(Toolset::copy(url, tools(ids)?).await?));
    }
    let mut workers = Vec::new();
    for nth in 0..n_workers {
        workers.push(Simulated::start(url, &toolsets[nth % N_TOOLSETS]).await?);
    }
    let new = Arc::new(Toolset::copy(url, tools([(0, "extra".to_owned())].into_iter())?).await?);

    let client = async_nats::connect(url).await?;
    let mut commands = client.subscribe("growth.*.*").await?;
    client.publish("growth.ready", Bytes::new()).await?;
    let mut joined = None;
    while let Some(command) = commands.next().await {
        match &*command.subject {
            "growth.join.known" => joined = Some(Simulated::start(url, &toolsets[0]).await?),
            "growth.join.new" => joined = Some(Simulated::start(url, &new).await?),
            _ => {
                if let Some(left) = joined.take() {
                    left.client.publish("tk.event.leave", left.info.to_string().into()).await?;
                    left.client.flush().await?;
                }
            }
        }
    }
    drop(workers);
    Ok(())
}

/// Returns tools in numbered namespaces, whose definitions have about 2 KB.
fn tools(ids: impl Iterator<Item = (usize, String)>) -> Result<Vec<Tool>, Failure> {
    let input = json!({
        "type": "object",
        "properties": { "path": { "type": "string", "description": "The path of the file to read. ".repeat(10) } },
        "additionalProperties": false
    });
    let tool = |(namespace, name): (usize, String)| {
        let builder = Tool::builder(name)
            .namespace(format!("space{namespace}"))
            .description("Reads a file and returns its text. ".repeat(40));
        Ok(builder.input(input.clone()).build()?)
    };
    ids.map(tool).collect()
}

impl Toolset {
    /// Starts a real worker, and reads what it announces.
    async fn copy(url: &str, tools: Vec<Tool>) -> Result<Self, Failure> {
        let worker = Worker::new(Connect::new(url)?, Dispatcher::new(Catalog::new(tools)?)?);
        let client = async_nats::connect(url).await?;
        let mut joins = client.subscribe("tk.event.join").await?;
        client.flush().await?;
        let (stop, stopped) = oneshot::channel::<()>();
        let running = tokio::spawn(worker.run(async { drop(stopped.await) }));
        let join = joins.next().await.ok_or("no worker")?;
        let info: Value = serde_json::from_slice(&join.payload)?;
        let digest = info["metadata"]["digest"].as_str().ok_or("no digest")?.to_owned();
        let mut pages = HashMap::new();
        let index = fetch(&client, &digest, "", &mut pages).await?;
        for line in index.lines() {
            let namespace = line.split(' ').next().unwrap_or_default();
            fetch(&client, &digest, &format!(" {namespace}"), &mut pages).await?;
        }
        drop(stop);
        running.await??;
        Ok(Self { info, digest, pages })
    }
}

/// Reads all pages of the index or a namespace.
async fn fetch(
    client: &Client,
    digest: &str,
    namespace: &str,
    pages: &mut HashMap<String, (String, Bytes)>,
) -> Result<String, Failure> {
    let (mut text, mut nth, mut n_pages) = (String::new(), 0, 1);
    while nth < n_pages {
        let request = format!("{nth}{namespace}");
        let answer = client.request(format!("tk.tools.{digest}"), request.clone().into()).await?;
        let number = answer.headers.as_ref().and_then(|headers| headers.get("Tk-Pages")).ok_or("no number")?;
        n_pages = number.as_str().parse()?;
        text.push_str(std::str::from_utf8(&answer.payload)?);
        pages.insert(request, (number.to_string(), answer.payload));
        nth += 1;
    }
    Ok(text)
}

impl Simulated {
    async fn start(url: &str, toolset: &Arc<Toolset>) -> Result<Self, Failure> {
        let client = async_nats::connect(url).await?;
        let instance: String = std::iter::repeat_with(fastrand::alphanumeric).take(32).collect();
        let mut info = toolset.info.clone();
        info["id"] = json!(instance);
        let mut services = JoinSet::new();
        let text = Bytes::from(info.to_string());
        for verb in ["PING", "INFO", "STATS"] {
            for subject in
                [format!("$SRV.{verb}"), format!("$SRV.{verb}.toolkit"), format!("$SRV.{verb}.toolkit.{instance}")]
            {
                serve(&client, client.subscribe(subject).await?, text.clone(), &mut services);
            }
        }
        let calls = client.queue_subscribe(format!("tk.call.{}.>", toolset.digest), "q".to_owned()).await?;
        serve(&client, calls, "null".into(), &mut services);
        // Messages about calls never arrive here.
        let mut controls = client.subscribe(format!("tk.ctl.{instance}.*")).await?;
        services.spawn(async move { while controls.next().await.is_some() {} });
        let mut requests = client.queue_subscribe(format!("tk.tools.{}", toolset.digest), "q".to_owned()).await?;
        let (answering, toolset) = (client.clone(), Arc::clone(toolset));
        services.spawn(async move {
            while let Some(request) = requests.next().await {
                let page = std::str::from_utf8(&request.payload).ok().and_then(|page| toolset.pages.get(page));
                let (Some(reply), Some((n_pages, page))) = (request.reply, page) else { continue };
                let mut headers = HeaderMap::new();
                headers.insert("Tk-Pages", &**n_pages);
                let _ = answering.publish_with_headers(reply, headers, page.clone()).await;
            }
        });
        client.publish("tk.event.join", text).await?;
        client.flush().await?;
        Ok(Self { client, info, _services: services })
    }
}

/// Answers each message with the same text.
fn serve(client: &Client, mut messages: async_nats::Subscriber, text: Bytes, services: &mut JoinSet<()>) {
    let client = client.clone();
    services.spawn(async move {
        while let Some(message) = messages.next().await {
            let Some(reply) = message.reply else { continue };
            let _ = client.publish(reply, text.clone()).await;
        }
    });
}
