//! Against pages that reach for a server of the machine they are shown on (DNS rebinding, cross-site requests).

use http::{HeaderMap, Uri, header};

/// The names by which a machine calls itself.
const LOCAL: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Which names the server answers to, and to pages of which origins.
#[derive(Clone, Debug, Default)]
pub(super) struct Guard {
    pub(super) hosts: Vec<String>,
    pub(super) origins: Vec<String>,
    /// Whether only the machine itself reaches the server.
    pub(super) is_local: bool,
}

impl Guard {
    /// Whether the request was meant for this server, by somebody who may.
    pub(super) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), &'static str> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(host), None) => host.to_str().ok(),
            (None, _) => uri.authority().map(|authority| authority.as_str()),
            (Some(_), Some(_)) => None,
        };
        if !host.is_some_and(|host| self.is_host(host)) {
            return Err("the server does not answer to this `Host`");
        }
        match headers.get(header::ORIGIN).map(|origin| origin.to_str()) {
            None => Ok(()),
            Some(Ok(origin)) if self.is_origin(origin) => Ok(()),
            Some(_) => Err("the server does not answer to pages of this `Origin`"),
        }
    }

    fn is_host(&self, host: &str) -> bool {
        let name = without_port(host);
        let is_given = |given: &String| given.eq_ignore_ascii_case(host) || given.eq_ignore_ascii_case(name);
        if self.hosts.iter().any(is_given) {
            return true;
        }
        match self.is_local {
            true => is_local(name),
            // Whoever can reach it has a token, unless the host of the server wants it otherwise.
            false => self.hosts.is_empty(),
        }
    }

    /// Whether a page of this origin may see the answers.
    pub(super) fn is_origin(&self, origin: &str) -> bool {
        if self.origins.iter().any(|given| given.eq_ignore_ascii_case(origin)) {
            return true;
        }
        let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        host.is_some_and(|host| is_local(without_port(host)))
    }
}

fn is_local(name: &str) -> bool {
    LOCAL.iter().any(|local| local.eq_ignore_ascii_case(name))
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}
