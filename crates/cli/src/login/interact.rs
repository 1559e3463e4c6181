//! A login in the browser of the user.

use std::io::{BufRead, Read, Write};
use std::time::Duration;

use tokio::time::timeout;
use toolkit_mcp_client::{Endpoint, OAuthError};

use super::server::failed;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::style::{self, printable};

/// The maximum length of a pasted address in bytes.
const MAX_LINE_BYTES: u64 = 16 << 10;

/// Logs in, with a browser on this machine or with an address that the user pastes.
pub(super) async fn login(
    server: &str,
    endpoint: &Endpoint,
    is_elsewhere: bool,
    limit: Duration,
) -> Result<Exit, CommandError> {
    let error = |error: OAuthError| failed(server, error);
    let login = endpoint.login().await.map_err(error)?;
    let url = printable(login.url()).into_owned();
    let state = if is_elsewhere {
        note(&format!("open this URL in a browser, and log in:\n\n{url}\n"));
        note("then paste the address of the page that cannot be opened (http://127.0.0.1:...):");
        login.wait_or_paste(limit, paste).await
    } else {
        match open(login.url().to_owned()).await {
            true => note(&format!("waiting for the login in the browser; if it has not opened, open\n\n{url}\n")),
            false => note(&format!("open this URL in a browser on this machine (or see --no-browser):\n\n{url}\n")),
        }
        login.wait(limit).await
    };
    let state = state.map_err(error)?;
    let scopes = if state.scopes.is_empty() { String::new() } else { format!(" ({})", state.scopes.join(" ")) };
    note(&printable(&format!("logged in at {}{scopes}", state.issuer)));
    Ok(Exit::Success)
}

/// Opens the default browser. The URL begins with `https://` or `http://`. Returns false if there is no browser.
async fn open(url: String) -> bool {
    // Some launchers wait until the browser has started.
    let opened = tokio::task::spawn_blocking(move || webbrowser::open(&url).is_ok());
    matches!(timeout(Duration::from_secs(5), opened).await, Ok(Ok(true)))
}

/// Reads an address from stdin. Returns `None` at its end.
async fn paste(rejected: Option<OAuthError>) -> Option<String> {
    if let Some(error) = rejected {
        note(&format!("{}; paste the address again:", printable(&error.to_string())));
    }
    let line = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        let n_bytes = std::io::stdin().lock().take(MAX_LINE_BYTES).read_line(&mut line);
        n_bytes.is_ok_and(|n_bytes| n_bytes > 0).then_some(line)
    });
    line.await.ok().flatten()
}

fn note(text: &str) {
    let _ = writeln!(anstream::stderr(), "{} {text}", style::NOTE);
}
