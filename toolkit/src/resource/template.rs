//! Resources that a function computes.

use std::fmt;
use std::future::Future;

use super::changes::ResourceChanges;
use super::contents::{ResourceBody, ResourceContents};
use super::interface::Resources;
use super::listing::ResourceTemplate;
use super::pattern::{Pattern, UriParams, UriTemplateError};
use crate::call::{BoxFuture, Context, ToolError};

type Read =
    dyn Fn(UriParams, Context) -> BoxFuture<'static, Result<Option<ResourceBody>, ToolError>> + Send + Sync + 'static;

/// The resources whose URIs match a template, computed by a function.
///
/// A template consists of literals, expressions `{name}`, which match a part of a URI without `/`, and at most one
/// `{+name}` at the end, which matches a path.
///
/// # Examples
///
/// ```
/// use toolkit::resource::{ResourceTemplate, Resources, TemplateResources};
/// use toolkit::{Context, ToolError};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let template = ResourceTemplate::new("squares://{n}", "square").mime_type("text/plain");
/// let squares = TemplateResources::new(template, |params, _context| async move {
///     let n: Option<u64> = params["n"].parse().ok();
///     Ok(n.and_then(|n| n.checked_mul(n)).map(|square| square.to_string()))
/// })?;
///
/// let contents = squares.read("squares://12", &Context::new()).await?.ok_or("an unknown URI")?;
/// assert_eq!(contents[0].as_text(), Some("144"));
/// assert!(squares.read("squares://twelve", &Context::new()).await?.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TemplateResources {
    template: ResourceTemplate,
    pattern: Pattern,
    read: Box<Read>,
    changes: ResourceChanges,
}

impl TemplateResources {
    /// Creates a provider. The function receives the values of the template's expressions and the context of the
    /// request, and returns `None` for an unknown resource.
    ///
    /// # Errors
    ///
    /// Returns an error if the template is malformed, or has an expression that cannot be matched.
    pub fn new<B, F>(
        template: ResourceTemplate,
        read: impl Fn(UriParams, Context) -> F + Send + Sync + 'static,
    ) -> Result<Self, UriTemplateError>
    where
        B: Into<ResourceBody>,
        F: Future<Output = Result<Option<B>, ToolError>> + Send + 'static,
    {
        let pattern = Pattern::parse(&template.uri_template)?;
        let read = move |params: UriParams, context: Context| -> BoxFuture<'static, _> {
            let body = read(params, context);
            Box::pin(async move { Ok(body.await?.map(Into::into)) })
        };
        Ok(Self { template, pattern, read: Box::new(read), changes: ResourceChanges::new() })
    }
}

impl Resources for TemplateResources {
    fn templates<'a>(&'a self, _: &'a Context) -> BoxFuture<'a, Result<Vec<ResourceTemplate>, ToolError>> {
        Box::pin(async { Ok(vec![self.template.clone()]) })
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Vec<ResourceContents>>, ToolError>> {
        Box::pin(async move {
            let Some(params) = self.pattern.matched(uri) else {
                return Ok(None);
            };
            let body = (self.read)(params, context.clone()).await?;
            Ok(body.map(|body| {
                let (mime_type, meta) = (self.template.mime_type.clone(), self.template.meta.clone());
                vec![ResourceContents { uri: uri.to_owned(), mime_type, body, meta }]
            }))
        })
    }

    /// Returns the connection over which the host reports that a resource has changed.
    fn changes(&self) -> Option<&ResourceChanges> {
        Some(&self.changes)
    }
}

impl fmt::Debug for TemplateResources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TemplateResources").field("template", &self.template.uri_template).finish_non_exhaustive()
    }
}
