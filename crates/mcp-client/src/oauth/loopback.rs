//! The listener that receives the redirect of the authorization server.

use std::collections::VecDeque;
use std::io;
use std::io::ErrorKind::{ConnectionAborted, ConnectionReset};
use std::time::Duration;

use reqwest::Url;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

/// The path of the redirect URI.
pub(super) const PATH: &str = "/callback";

/// The maximum size of a request in bytes, without its body.
const MAX_REQUEST_BYTES: usize = 16 << 10;

/// The time to receive a request and to send the page.
const IO_TIMEOUT: Duration = Duration::from_secs(5);

/// The maximum number of open connections. Browsers open some in advance. Another one closes the oldest.
const MAX_CONNECTIONS: usize = 16;

/// A listener on the loopback interface.
pub(super) struct Loopback {
    listener: TcpListener,
    pub(super) redirect_uri: Url,
}

/// The browser that has sent the redirect, which waits for the page.
pub(super) struct Browser(TcpStream);

impl Browser {
    /// Shows the outcome of the login.
    pub(super) async fn show(self, is_success: bool) {
        let text = match is_success {
            true => "You are logged in. You can close this page.",
            false => "The login has failed. The program shows the reason.",
        };
        let _ = timeout(IO_TIMEOUT, respond(self.0, "200 OK", text)).await;
    }
}

impl Loopback {
    /// Listens on a port, or on a free one if it is 0.
    pub(super) async fn bind(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let redirect_uri = format!("http://{}{PATH}", listener.local_addr()?);
        let redirect_uri = Url::parse(&redirect_uri).map_err(io::Error::other)?;
        Ok(Self { listener, redirect_uri })
    }

    /// Waits for the redirect for which `judge` returns a value. Other requests get an error page.
    pub(super) async fn wait<T>(&self, judge: impl Fn(&Url) -> Option<T>) -> io::Result<(T, Browser)> {
        let mut connections = JoinSet::new();
        let mut open: VecDeque<AbortHandle> = VecDeque::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept() => {
                    let (stream, _) = match accepted {
                        Ok(accepted) => accepted,
                        // Browsers give up connections that they have opened in advance.
                        Err(error) if matches!(error.kind(), ConnectionAborted | ConnectionReset) => continue,
                        Err(error) => return Err(error),
                    };
                    open.retain(|connection| !connection.is_finished());
                    // Connections that send nothing must not delay the redirect.
                    if open.len() >= MAX_CONNECTIONS && let Some(oldest) = open.pop_front() {
                        oldest.abort();
                    }
                    let receiving = timeout(IO_TIMEOUT, receive(stream, self.redirect_uri.clone()));
                    open.push_back(connections.spawn(receiving));
                }
                Some(received) = connections.join_next() => {
                    let Ok(Ok(Some((stream, url)))) = received else { continue };
                    if let Some(value) = url.as_ref().and_then(&judge) {
                        return Ok((value, Browser(stream)));
                    }
                    open.push_back(connections.spawn(timeout(IO_TIMEOUT, async {
                        respond(stream, "404 Not Found", "This is not the page of a login.").await;
                        None
                    })));
                }
            }
        }
    }
}

/// Reads the head of a request. Returns its URL if it is a `GET` of the redirect URI.
async fn receive(mut stream: TcpStream, redirect_uri: Url) -> Option<(TcpStream, Option<Url>)> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut chunk = [0; 1024];
        let n_bytes = stream.read(&mut chunk).await.ok()?;
        if n_bytes == 0 || head.len() + n_bytes > MAX_REQUEST_BYTES {
            return None;
        }
        head.extend_from_slice(&chunk[..n_bytes]);
    }
    let url = std::str::from_utf8(&head).ok().and_then(|head| target(head, &redirect_uri));
    Some((stream, url))
}

fn target(head: &str, redirect_uri: &Url) -> Option<Url> {
    let mut lines = head.split("\r\n");
    let mut request = lines.next()?.split(' ');
    let (Some("GET"), Some(target), Some(_)) = (request.next(), request.next(), request.next()) else {
        return None;
    };
    // A web page whose name resolves to this machine sends another host.
    let authority = format!("127.0.0.1:{}", redirect_uri.port()?);
    let host = lines.filter_map(|line| line.split_once(':')).find(|(name, _)| name.eq_ignore_ascii_case("host"));
    if host.is_none_or(|(_, host)| host.trim() != authority) || !target.starts_with('/') {
        return None;
    }
    let url = Url::parse(&format!("http://{authority}{target}")).ok()?;
    (url.path() == redirect_uri.path()).then_some(url)
}

/// Sends a page, which contains nothing of the request.
async fn respond(mut stream: TcpStream, status: &str, text: &str) {
    let page =
        format!("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Login</title><p>{text}</p></html>\n");
    let response = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\ncache-control: no-store\r\n\
         content-security-policy: default-src 'none'; frame-ancestors 'none'\r\nreferrer-policy: no-referrer\r\n\
         x-content-type-options: nosniff\r\nconnection: close\r\n\r\n{page}",
        page.len()
    );
    if stream.write_all(response.as_bytes()).await.is_ok() {
        let _ = stream.shutdown().await;
    }
}
