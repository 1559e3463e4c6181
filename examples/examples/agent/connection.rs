//! One request and its response, with `reqwest`.

use std::time::Duration;

use anyhow::bail;
use reqwest::Client;
use reqwest::redirect::Policy;
use toolkit_providers::reply::Api;
use toolkit_providers::request::{Conversation, NextStep};
use toolkit_runtime::Authorities;

use super::terminal;

/// A connection to a provider.
pub struct Connection {
    client: Client,
    key: Option<String>,
}

impl Connection {
    /// Reads the key from the environment. Only a server of the user's own choice, `url`, may work without one.
    pub fn new(api: Api, url: Option<&str>) -> anyhow::Result<Self> {
        let key = match api.key_variable().map(|variable| (variable, std::env::var(variable))) {
            Some((_, Ok(key))) => Some(key),
            Some((variable, Err(_))) if url.is_none() => bail!("the environment variable {variable} has no key"),
            _ => None,
        };
        let is_plain = url.is_some_and(|url| !url.starts_with("https:")) || api.key_variable().is_none();
        let tls = if is_plain { Authorities::no_tls()? } else { Authorities::platform().tls()? };
        let client = Client::builder()
            .tls_backend_preconfigured(tls)
            // A redirect would send the key to another server.
            .redirect(Policy::none())
            .connect_timeout(Duration::from_secs(10))
            .read_timeout(Duration::from_secs(300));
        Ok(Self { client: client.build()?, key })
    }

    /// Sends the next request, and reads its response. The text is printed as it arrives.
    pub async fn send(&self, chat: &mut Conversation) -> anyhow::Result<NextStep> {
        let mut request = chat.request()?;
        if let Some(key) = &self.key {
            request = request.with_key(key);
        }
        let mut post = self.client.post(&request.url).body(request.body.to_string());
        for (name, value) in request.headers {
            post = post.header(name, value);
        }
        let mut response = match post.send().await {
            Ok(response) => response,
            Err(error) => return chat.send_failed().map(NextStep::Wait).ok_or(error.into()),
        };
        let header = |name: &str| response.headers().get(name)?.to_str().ok();
        let mut stream = chat.response(response.status().as_u16(), header);
        while let Ok(Some(bytes)) = response.chunk().await {
            stream.push(&bytes)?.into_iter().for_each(terminal::show_event);
        }
        Ok(chat.finish(stream)?)
    }
}
