//! User interfaces of tools (MCP Apps, `io.modelcontextprotocol/ui`).

use serde_json::{Map, Value, json};
use toolkit::call::BoxFuture;
use toolkit::resource::{Resource, ResourceContents, Resources};
use toolkit::{Context, ToolError};

/// The media type of user interfaces.
const MIME_TYPE: &str = "text/html;profile=mcp-app";

/// An HTML page that a host shows for the results of a tool (MCP Apps).
///
/// A tool refers to its page with `#[tool(ui = "ui://…")]`, or in its `_meta`. Hosts without the extension show the content of the result, so the tool should
/// return text beside its data. The page receives both from the host, over `postMessage`.
///
/// A host runs the page in a sandbox without network access. The page lists the origins that it needs, which become its
/// content security policy.
///
/// # Examples
///
/// ```
/// use toolkit::{Content, Dispatcher, Structured, catalog, tool};
/// use toolkit_mcp_server::{App, Server};
///
/// /// Shows the sales of each quarter.
/// #[tool(read_only, ui = "ui://sales/chart.html")]
/// fn sales() -> Structured<Vec<u64>> {
///     Structured::new(vec![3, 5, 4, 7], [Content::text("Sales by quarter: 3, 5, 4, 7")])
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let chart = App::new("ui://sales/chart.html", "<canvas></canvas><script>/* … */</script>")
///     .title("Sales")
///     .connect_domains(["https://api.example.com"])
///     .prefers_border(true);
/// let server = Server::builder(Dispatcher::new(catalog![sales]?)?).resources(chart).build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct App {
    resource: Resource,
    html: String,
    csp: Map<String, Value>,
    ui: Map<String, Value>,
}

impl App {
    /// Creates a page. Hosts accept only URIs that start with `ui://`. The name is the last part of the URI.
    pub fn new(uri: impl Into<String>, html: impl Into<String>) -> Self {
        let (uri, html) = (uri.into(), html.into());
        let name = uri.rsplit('/').next().unwrap_or_default().to_owned();
        let resource = Resource::new(uri, name).mime_type(MIME_TYPE).size(html.len() as u64);
        Self { resource, html, csp: Map::new(), ui: Map::new() }
    }

    /// Sets the name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.resource = self.resource.title(title);
        self
    }

    /// Sets the origins to which the page may send requests. Default: none.
    pub fn connect_domains(self, origins: impl IntoIterator<Item: Into<String>>) -> Self {
        self.domains("connectDomains", origins)
    }

    /// Sets the origins from which the page may load images, scripts, style sheets and fonts. Default: none.
    pub fn resource_domains(self, origins: impl IntoIterator<Item: Into<String>>) -> Self {
        self.domains("resourceDomains", origins)
    }

    /// Sets the origins of pages that the page may embed. Default: none.
    pub fn frame_domains(self, origins: impl IntoIterator<Item: Into<String>>) -> Self {
        self.domains("frameDomains", origins)
    }

    /// Sets whether the host should draw a border. By default the host decides.
    pub fn prefers_border(mut self, on: bool) -> Self {
        self.ui.insert("prefersBorder".to_owned(), on.into());
        self
    }

    fn domains(mut self, field: &str, origins: impl IntoIterator<Item: Into<String>>) -> Self {
        let origins: Vec<String> = origins.into_iter().map(Into::into).collect();
        self.csp.insert(field.to_owned(), origins.into());
        self
    }

    /// Returns `_meta`. Some hosts read it from the list of resources and others from the contents.
    fn meta(&self) -> Map<String, Value> {
        let mut ui = self.ui.clone();
        if !self.csp.is_empty() {
            ui.insert("csp".to_owned(), self.csp.clone().into());
        }
        match ui.is_empty() {
            true => Map::new(),
            false => Map::from_iter([("ui".to_owned(), json!(ui))]),
        }
    }
}

impl Resources for App {
    fn list<'a>(&'a self, _: &'a Context) -> BoxFuture<'a, Result<Vec<Resource>, ToolError>> {
        let mut resource = self.resource.clone();
        resource.meta = self.meta();
        Box::pin(async { Ok(vec![resource]) })
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        _: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Vec<ResourceContents>>, ToolError>> {
        let contents = (uri == self.resource.uri).then(|| {
            let mut contents = ResourceContents::new(uri, &*self.html).mime_type(MIME_TYPE);
            contents.meta = self.meta();
            vec![contents]
        });
        Box::pin(async { Ok(contents) })
    }
}
