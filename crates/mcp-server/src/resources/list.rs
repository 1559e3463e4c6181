//! `resources/list`, `resources/templates/list` and `skills/list`, over all providers.

use std::collections::BTreeMap;
use std::ops::Bound;

use serde::Serialize;
use toolkit::call::BoxFuture;
use toolkit::mcp::Revision;
use toolkit::resource::Resources;
use toolkit::{Context, ToolError};
use toolkit_mcp::json_bytes;

use super::answer::{Failed, Scope, acquire};
use crate::access::Access;
use crate::served::{self, CacheHints};
use crate::state::ServerState;

/// A request for a page of a list.
pub(super) struct ListRequest<'r> {
    pub(super) shared: &'r ServerState,
    pub(super) context: &'r Context,
    pub(super) revision: Revision,
    pub(super) after: Option<String>,
    pub(super) scope: Scope,
    pub(super) access: Option<&'r Access>,
}

impl ListRequest<'_> {
    /// Writes a page of the entries of all providers that the caller may read, sorted by URI. Those of earlier providers take
    /// precedence, as for reading.
    pub(super) async fn page<T: Serialize>(
        self,
        field: &str,
        list: impl for<'a> Fn(&'a dyn Resources, &'a Context) -> BoxFuture<'a, Result<Vec<T>, ToolError>>,
        uri: impl Fn(&T) -> &String,
    ) -> Result<Vec<u8>, Failed> {
        let Self { shared, context, revision, after, scope, access } = self;
        let (mut entries, mut n_answered, mut last_error) = (BTreeMap::new(), 0, None);
        for (idx, provider) in shared.resources.all().iter().enumerate() {
            let _permit = acquire(shared, context, idx, None).await?;
            match list(&**provider, context).await {
                Ok(listed) => {
                    n_answered += 1;
                    let is_granted = |entry: &T| access.is_none_or(|access| access.grants_resource(uri(entry)));
                    for entry in listed.into_iter().filter(is_granted) {
                        entries.entry(uri(&entry).clone()).or_insert(entry);
                    }
                }
                Err(error) => last_error = Some(error),
            }
        }
        // One provider that fails must not hide the others.
        let ttl_ms = match last_error {
            Some(error) if n_answered == 0 => return Err(error.into()),
            Some(_) => 0,
            None => ttl_ms(shared),
        };
        let start = after.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
        let mut rest = entries.range::<String, _>((start, Bound::Unbounded));
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
