//! `resources/list` and `resources/templates/list`.

use std::collections::BTreeMap;

use serde::Serialize;
use toolkit::mcp::Revision;
use toolkit::resource::Resources;
use toolkit::{Context, ToolError};
use toolkit_mcp::json_bytes;

use super::answer::{Failed, Scope, acquire};
use crate::access::Access;
use crate::served::{self, CacheHints};
use crate::state::ServerState;

/// Writes a page of the resources of all providers, sorted by URI.
pub(super) async fn resources(
    shared: &ServerState,
    context: &Context,
    revision: Revision,
    after: Option<String>,
    scope: Scope,
    access: Option<&Access>,
) -> Result<Vec<u8>, Failed> {
    let mut listing = Listing::default();
    for (idx, provider) in shared.resources.all().iter().enumerate() {
        let _permit = acquire(shared, context, idx, None).await?;
        listing.add(provider.list(context).await, |resource| &resource.uri, access);
    }
    listing.page("resources", shared, revision, after, scope)
}

/// Writes a page of the templates of all providers, sorted by their text.
pub(super) async fn templates(
    shared: &ServerState,
    context: &Context,
    revision: Revision,
    after: Option<String>,
    scope: Scope,
    access: Option<&Access>,
) -> Result<Vec<u8>, Failed> {
    let mut listing = Listing::default();
    for (idx, provider) in shared.resources.all().iter().enumerate() {
        let _permit = acquire(shared, context, idx, None).await?;
        listing.add(provider.templates(context).await, |template| &template.uri_template, access);
    }
    listing.page("resourceTemplates", shared, revision, after, scope)
}

/// The entries of all providers by their URI, and the errors of providers.
pub(super) struct Listing<T> {
    entries: BTreeMap<String, T>,
    n_answered: usize,
    error: Option<ToolError>,
}

impl<T> Default for Listing<T> {
    fn default() -> Self {
        Self { entries: BTreeMap::new(), n_answered: 0, error: None }
    }
}

impl<T: Serialize> Listing<T> {
    /// Adds the entries of a provider that the caller may read. Those of earlier providers take precedence, as for reading.
    pub(super) fn add(
        &mut self,
        listed: Result<Vec<T>, ToolError>,
        uri: impl Fn(&T) -> &String,
        access: Option<&Access>,
    ) {
        match listed {
            Ok(entries) => {
                self.n_answered += 1;
                let is_granted = |entry: &T| access.is_none_or(|access| access.grants_resource(uri(entry)));
                for entry in entries.into_iter().filter(is_granted) {
                    self.entries.entry(uri(&entry).clone()).or_insert(entry);
                }
            }
            Err(error) => self.error = Some(error),
        }
    }

    pub(super) fn page(
        self,
        field: &str,
        shared: &ServerState,
        revision: Revision,
        after: Option<String>,
        scope: Scope,
    ) -> Result<Vec<u8>, Failed> {
        // One provider that fails must not hide the others.
        let ttl_ms = match self.error {
            Some(error) if self.n_answered == 0 => return Err(error.into()),
            Some(_) => 0,
            None => ttl_ms(shared),
        };
        let mut rest = match &after {
            Some(after) => {
                self.entries.range::<String, _>((std::ops::Bound::Excluded(after), std::ops::Bound::Unbounded))
            }
            None => self.entries.range::<String, _>(..),
        };
        let page: Vec<(&String, &T)> = rest.by_ref().take(shared.page_size.max(1)).collect();
        let last = page.last().map(|(uri, _)| uri.as_bytes());
        let next = last.filter(|_| rest.next().is_some()).map(|uri| data_encoding::BASE64URL_NOPAD.encode(uri));
        let entries: Vec<Vec<u8>> = page.iter().map(|(_, entry)| json_bytes(entry)).collect();
        Ok(served::write(field, &entries, next.as_deref(), revision, CacheHints { ttl_ms, scope: scope.as_str() }))
    }
}

/// Returns the time for which clients may cache a list and its entries.
pub(super) fn ttl_ms(shared: &ServerState) -> u64 {
    // The servers behind a proxy may change their lists without notice.
    if shared.is_proxy() { 0 } else { shared.list_ttl() }
}
