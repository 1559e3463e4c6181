//! A browser that follows redirects and keeps cookies, for logins over HTTP.

use std::collections::BTreeMap;
use std::error::Error;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The maximum number of redirects.
const MAX_REDIRECTS: usize = 20;

/// Opens a URL, whose pages approve everything, and follows its redirects up to a URL that begins with `until`. Returns
/// that URL, which is not requested.
///
/// # Errors
///
/// Returns an error if a page is not a redirect.
pub async fn follow(url: &str, until: &str) -> Result<String, Box<dyn Error + Send + Sync>> {
    let (mut url, mut cookies) = (url.to_owned(), BTreeMap::new());
    for _ in 0..MAX_REDIRECTS {
        let page = get(&url, &cookies).await?;
        for (name, value) in page.lines().filter_map(|line| line.split_once(": ")) {
            if name.eq_ignore_ascii_case("set-cookie")
                && let Some((name, value)) = value.split(';').next().unwrap_or_default().split_once('=')
            {
                cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        let location = page.lines().filter_map(|line| line.split_once(": "));
        let location =
            location.filter(|(name, _)| name.eq_ignore_ascii_case("location")).map(|(_, to)| to.trim()).next();
        let location = location.ok_or_else(|| format!("no redirect: {page}"))?;
        url = match location.strip_prefix('/') {
            Some(path) => format!("{}/{path}", origin(&url)),
            None => location.to_owned(),
        };
        if url.starts_with(until) {
            return Ok(url);
        }
    }
    Err("too many redirects".into())
}

/// Requests a page, and returns its head and its text.
///
/// # Errors
///
/// Returns an error if the server does not respond.
pub async fn get(url: &str, cookies: &BTreeMap<String, String>) -> Result<String, Box<dyn Error + Send + Sync>> {
    let authority = origin(url).trim_start_matches("http://");
    let path = url.trim_start_matches(origin(url));
    let cookies = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ");
    let mut stream = TcpStream::connect(authority).await?;
    let request = format!("GET {path} HTTP/1.1\r\nhost: {authority}\r\ncookie: {cookies}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut page = Vec::new();
    stream.read_to_end(&mut page).await?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

fn origin(url: &str) -> &str {
    let path = url.find("://").and_then(|start| Some(start + 3 + url[start + 3..].find(['/', '?'])?));
    &url[..path.unwrap_or(url.len())]
}
