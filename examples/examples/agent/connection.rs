//! One request and its reply, with `reqwest`.

use std::time::Duration;

use anyhow::{Context, bail};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use serde_json::Value;
use toolkit_providers::Export;
use toolkit_providers::reply::Reply;
use toolkit_runtime::Authorities;

use super::provider::Provider;
use super::terminal;

/// A model of a provider.
pub struct Connection {
    pub provider: &'static Provider,
    client: Client,
    url: String,
    headers: HeaderMap,
    model: String,
}

impl Connection {
    /// Reads the key from the environment. Only a server of the user's own choice, `url`, may work without one.
    pub fn new(provider: &'static Provider, url: Option<&str>, model: &str) -> anyhow::Result<Self> {
        let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        for (name, value) in provider.headers {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        if let Some(variable) = provider.key {
            let (header, prefix) = provider.authorization;
            match std::env::var(variable) {
                Ok(key) => {
                    let mut value = HeaderValue::from_str(&format!("{prefix}{key}")).context(variable)?;
                    value.set_sensitive(true);
                    headers.insert(HeaderName::from_static(header), value);
                }
                Err(_) if url.is_some() => {}
                Err(_) => bail!("the environment variable {variable} has no key"),
            }
        }
        let url = url.unwrap_or(provider.url).trim_end_matches('/');
        let tls = if url.starts_with("https:") { Authorities::platform().tls()? } else { Authorities::no_tls()? };
        let client = Client::builder()
            .tls_backend_preconfigured(tls)
            // A redirect would send the key to another server.
            .redirect(Policy::none())
            .connect_timeout(Duration::from_secs(10))
            .read_timeout(Duration::from_secs(300));
        Ok(Self {
            provider,
            client: client.build()?,
            // The name of a model of Bedrock may contain slashes.
            url: format!("{url}{}", provider.path.replace("MODEL", &model.replace('/', "%2F"))),
            headers,
            model: model.to_owned(),
        })
    }

    /// Sends the messages and reads the reply. Its text is printed as it arrives.
    pub async fn send(&self, tools: &Export, messages: &[Value]) -> anyhow::Result<Reply> {
        let body = (self.provider.body)(&self.model, &tools.json, messages).to_string();
        let request = self.client.post(&self.url).headers(self.headers.clone()).body(body);
        let response = request.send().await?;
        if !response.status().is_success() {
            let (status, body) = (response.status(), response.text().await?);
            bail!("{} responded with {status}: {}", self.provider.api, body.chars().take(2000).collect::<String>());
        }
        if self.provider.is_streamed {
            return self.read_stream(response, tools).await;
        }
        let reply = self.provider.api.read(&response.bytes().await?[..], &tools.names)?;
        terminal::show_reply(&reply);
        Ok(reply)
    }

    async fn read_stream(&self, mut response: Response, tools: &Export) -> anyhow::Result<Reply> {
        let mut stream = self.provider.api.stream(&tools.names);
        loop {
            match response.chunk().await {
                Ok(Some(bytes)) => stream.push(&bytes)?.into_iter().for_each(terminal::show_event),
                Ok(None) => break,
                // What has arrived is a truncated reply, whose calls do not run.
                Err(error) => {
                    eprintln!("\n{:#}", anyhow::Error::new(error));
                    break;
                }
            }
        }
        println!();
        Ok(stream.finish()?)
    }
}
