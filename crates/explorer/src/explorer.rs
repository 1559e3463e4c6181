//! The route of the page, and its document, which contains no data.

use std::fmt::Write as _;

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{Method, Response, StatusCode};
use serde_json::json;
use toolkit::dispatch::BoxFuture;
use toolkit_mcp_server::{Admission, Body, Route, RouteRequest};

use crate::assets::{self, ASSETS, Cache, Version, error, is_own, respond};
use crate::catalog::{details, entries, export};
use crate::recent::{RecentCalls, Viewer};

const JSON: &str = "application/json";
const HTML: &str = "text/html; charset=utf-8";

/// A page to read, search and try the tools of a server; a [`Route`] of the server.
///
/// | path | response |
/// |---|---|
/// | `GET /explorer` | the page, for everyone |
/// | `GET /explorer/VERSION/FILE` | its scripts and styles, for everyone |
/// | `GET /explorer/catalog` | the tools that the caller may call, as JSON |
/// | `GET /explorer/tool?name=NAME` | one of them in full |
/// | `GET /explorer/export` | the tools as an HTML page that needs no server |
/// | `GET /explorer/events` | recent calls, as an event stream |
///
/// # Examples
///
/// ```
/// use http::Request;
/// use toolkit_explorer::Explorer;
/// use tower_service::Service as _;
/// # use toolkit::{Catalog, Dispatcher};
/// # use toolkit_mcp_server::Server;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = Server::new(Dispatcher::new(Catalog::new([])?)?)?;
/// let mut service = server.http().route(Explorer::new("My tools")).into_service();
/// let request = Request::get("/explorer").header("host", "localhost").body(String::new())?;
/// let response = service.call(request).await?;
/// assert_eq!(response.headers()["content-type"], "text/html; charset=utf-8");
/// # Ok(())
/// # }
/// ```
#[must_use]
pub struct Explorer {
    title: String,
    paths: Paths,
    program: Option<Program>,
    calls: Option<RecentCalls>,
    operator_scope: Option<String>,
    version: Version,
}

/// The program that serves the tools over stdio.
struct Program {
    name: String,
    command: String,
}

impl Explorer {
    /// Creates a page with a title, at `/explorer` of a server whose endpoint is `/mcp`.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            paths: Paths { page: "/explorer".to_owned(), endpoint: "/mcp".to_owned() },
            program: None,
            calls: None,
            operator_scope: None,
            version: Version::new(),
        }
    }

    /// Sets the paths of the page and of the MCP endpoint, as browsers see them, for a server behind a router.
    ///
    /// # Examples
    ///
    /// ```
    /// # use toolkit_explorer::Explorer;
    /// let explorer = Explorer::new("My tools").paths("/api/explorer", "/api/mcp");
    /// ```
    pub fn paths(self, page: impl Into<String>, endpoint: impl Into<String>) -> Self {
        let absolute = |path: String| format!("/{}", path.trim_matches('/'));
        Self { paths: Paths { page: absolute(page.into()), endpoint: absolute(endpoint.into()) }, ..self }
    }

    /// Sets the program that serves the tools with `COMMAND serve` and calls them with `NAME call`, for the snippets of the
    /// page. `command` is the absolute path that a client starts.
    pub fn program(self, name: impl Into<String>, command: impl Into<String>) -> Self {
        Self { program: Some(Program { name: name.into(), command: command.into() }), ..self }
    }

    /// Shows recent calls. Authenticated callers see their own, and callers without a subject those of such callers.
    pub fn recent_calls(self, calls: RecentCalls) -> Self {
        Self { calls: Some(calls), ..self }
    }

    /// Sets a scope whose callers see the calls of all callers.
    pub fn operator_scope(self, scope: impl Into<String>) -> Self {
        Self { operator_scope: Some(scope.into()), ..self }
    }

    /// Returns the part of a path below that of the page.
    fn below<'p>(&self, path: &'p str) -> Option<&'p str> {
        let below = path.strip_prefix(&*self.paths.page)?;
        (below.is_empty() || below.starts_with('/')).then_some(below.trim_start_matches('/'))
    }

    fn answer(&self, request: &RouteRequest<'_>) -> Response<Body> {
        if !is_own(request.headers) {
            return error(StatusCode::FORBIDDEN, "another web page cannot use this page\n");
        }
        if !matches!(*request.method, Method::GET | Method::HEAD) {
            let mut response = error(StatusCode::METHOD_NOT_ALLOWED, "send GET\n");
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        match self.below(request.uri.path()).unwrap_or_default() {
            "" => {
                let document = document(&self.title, &self.paths, &self.version);
                respond(StatusCode::OK, HTML, Cache::Never, document)
            }
            "catalog" => respond(StatusCode::OK, JSON, Cache::Never, self.catalog(request)),
            "tool" => tool(request),
            "export" => {
                let program = self.program.as_ref().map(|program| &*program.name);
                match export(&self.title, program, request) {
                    Some(page) => respond(StatusCode::OK, HTML, Cache::Never, page),
                    None => error(StatusCode::INTERNAL_SERVER_ERROR, "the tools cannot be exported\n"),
                }
            }
            "events" => self.events(request),
            file => match file.split_once('/').and_then(|(version, name)| assets::find(&self.version, version, name)) {
                Some(asset) => {
                    let text = Bytes::from_static(asset.text.as_bytes());
                    respond(StatusCode::OK, asset.kind(), Cache::Always, text)
                }
                None => error(StatusCode::NOT_FOUND, "not found\n"),
            },
        }
    }

    fn catalog(&self, request: &RouteRequest<'_>) -> String {
        let program = self.program.as_ref();
        let program = program.map(|program| json!({ "name": program.name, "command": program.command }));
        let info = json!({
            "title": self.title,
            "program": program,
            "caller": request.caller.and_then(|caller| caller.subject()),
            "hasToken": request.caller.is_some(),
            "hasCalls": self.calls.is_some(),
        });
        format!("{{\"info\":{info},\"tools\":{}}}", entries(request))
    }

    fn events(&self, request: &RouteRequest<'_>) -> Response<Body> {
        let Some(calls) = &self.calls else {
            return error(StatusCode::NOT_FOUND, "calls are not recorded\n");
        };
        let is_operator = self.operator_scope.as_ref().zip(request.caller);
        let is_operator = is_operator.is_some_and(|(scope, caller)| caller.scopes().contains(scope));
        let viewer = if is_operator { Viewer::Operator } else { Viewer::new(request.caller) };
        let body = Body::from_stream(calls.events(viewer, request.server));
        let mut response = respond(StatusCode::OK, "text/event-stream", Cache::Never, body);
        let buffering = HeaderName::from_static("x-accel-buffering");
        response.headers_mut().insert(buffering, HeaderValue::from_static("no"));
        response
    }
}

fn tool(request: &RouteRequest<'_>) -> Response<Body> {
    let query = request.uri.query().unwrap_or_default();
    // Names on the wire need no escapes.
    let name = query.strip_prefix("name=").unwrap_or_default();
    let mut listed = request.server.listed().into_iter();
    let listed = listed.find(|listed| listed.name == name).filter(|listed| request.grants(&listed.tool));
    match listed.as_ref().and_then(details) {
        Some(details) => respond(StatusCode::OK, JSON, Cache::Never, details),
        None => error(StatusCode::NOT_FOUND, "there is no such tool\n"),
    }
}

impl Route for Explorer {
    fn admission(&self, path: &str) -> Option<Admission> {
        Some(match self.below(path)? {
            "catalog" | "tool" | "export" | "events" => Admission::Authenticated,
            _ => Admission::Public,
        })
    }

    fn respond<'r>(&'r self, request: RouteRequest<'r>) -> BoxFuture<'r, Response<Body>> {
        let response = self.answer(&request);
        Box::pin(async move { response })
    }

    fn allows_unauthenticated(&self) -> bool {
        false
    }
}

toolkit::debug_fields!(Explorer { title, paths, calls });

/// The addresses that the page uses, as absolute paths.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    /// The page.
    pub(crate) page: String,
    /// The MCP endpoint.
    pub(crate) endpoint: String,
}

/// Returns the document.
pub(crate) fn document(title: &str, paths: &Paths, version: &Version) -> String {
    let assets = format!("{}/{}", escaped(&paths.page), version.as_str());
    let mut links = String::new();
    for asset in ASSETS {
        let rel = match asset.name.rsplit_once('.') {
            Some((_, "css")) => "stylesheet",
            _ => "modulepreload",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(links, "<link rel=\"{rel}\" href=\"{assets}/{}\">", asset.name);
    }
    let (title, page, endpoint) = (escaped(title), escaped(&paths.page), escaped(&paths.endpoint));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"explorer:path\" content=\"{page}\">\n<meta name=\"explorer:endpoint\" content=\"{endpoint}\">\n\
         <link rel=\"icon\" href=\"data:,\">\n{links}<script type=\"module\" src=\"{assets}/main.js\"></script>\n</head>\n\
         <body>\n<a class=\"skip\" href=\"#main\">Skip to the tool</a>\n\
         <header id=\"side\"><h1>{title}</h1></header>\n<main id=\"main\" tabindex=\"-1\">\n\
         <noscript><p class=\"empty\">This page calls tools with JavaScript. <code>export --format html</code> writes a page \
         for reading that works without.</p></noscript>\n</main>\n\
         </body>\n</html>\n"
    )
}

/// Escapes a text for content and for attributes in double quotes.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}
