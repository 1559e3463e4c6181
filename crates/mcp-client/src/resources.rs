//! The resources of a server.

use std::sync::Arc;

use rmcp::model::{
    ClientRequest, ErrorCode, ListResourceTemplatesRequest, ListResourcesRequest, PaginatedRequestParams,
    ReadResourceRequest, ReadResourceRequestParams,
};
use rmcp::service::ServiceError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use toolkit::call::ErrorKind;
use toolkit::resource::{Resource, ResourceContents, ResourceTemplate, ResourceWatch};
use toolkit::{Context, ToolError};

use super::caller::FromCaller;
use super::connection::Connection;
use super::link::Link;
use super::list::{in_time, size};
use super::remote::Remote;
use super::verbatim::UNREADABLE;
use super::watches::{MAX_WATCHED, is_uri};

/// The maximum number of resources that a server may list, and of templates.
const MAX_LISTED: usize = 10_000;

/// The maximum size of a listed resource as JSON. Larger ones are left out.
const MAX_ENTRY_BYTES: usize = 16 << 10;

/// The maximum size of all resources or templates of a server as JSON.
const MAX_LIST_BYTES: usize = 8 << 20;

/// The maximum number of JSON values in a listed resource. Larger ones are left out. A value needs much more memory
/// than its text.
const MAX_ENTRY_VALUES: usize = 1_000;

/// The maximum number of JSON values in all resources or templates of a server.
const MAX_VALUES: usize = 400_000;

/// The error code for an unknown resource up to revision 2025-11-25.
const RESOURCE_NOT_FOUND: ErrorCode = ErrorCode(-32002);

/// Lists the resources of a server, except for those that cannot be read as such.
pub(super) async fn list(link: &Link) -> Result<Vec<Resource>, ToolError> {
    let request = |params| ClientRequest::ListResourcesRequest(ListResourcesRequest { params, ..Default::default() });
    let connection = link.connection_for_call().await?;
    if !connection.has_resources() {
        return Ok(Vec::new());
    }
    let mut listed: Vec<Resource> = pages(link.remote(), &connection, "resources", request).await?;
    listed.retain(|resource| is_uri(&resource.uri));
    Ok(listed)
}

/// Lists the templates of a server, except for those that cannot be read as such.
pub(super) async fn templates(link: &Link) -> Result<Vec<ResourceTemplate>, ToolError> {
    let request = |params| {
        ClientRequest::ListResourceTemplatesRequest(ListResourceTemplatesRequest { params, ..Default::default() })
    };
    let connection = link.connection_for_call().await?;
    if !connection.has_resources() {
        return Ok(Vec::new());
    }
    let mut listed: Vec<ResourceTemplate> = pages(link.remote(), &connection, "resourceTemplates", request).await?;
    listed.retain(|template| is_uri(&template.uri_template));
    Ok(listed)
}

/// Reads a resource. Returns `None` if the server does not have it.
pub(super) async fn read(
    link: &Link,
    uri: &str,
    context: &Context,
) -> Result<Option<Vec<ResourceContents>>, ToolError> {
    let remote = link.remote();
    let connection = link.connection_for_call().await?;
    if !connection.has_resources() || !is_uri(uri) {
        return Ok(None);
    }
    let _permit = link.permit_in_time().await?;
    let request = ClientRequest::ReadResourceRequest(ReadResourceRequest::new(ReadResourceRequestParams::new(uri)));
    let caller = FromCaller::of(remote, context)?;
    let mut result = match in_time(remote, remote.limits.call, connection.ask(request, caller, None)).await? {
        Ok(Value::Object(result)) => result,
        Ok(_) => return Err(remote.invalid_response("with an invalid result")),
        // Up to 2025-11-25, servers use both codes.
        Err(ServiceError::McpError(error)) if matches!(error.code, RESOURCE_NOT_FOUND | ErrorCode::INVALID_PARAMS) => {
            return Ok(None);
        }
        Err(error) => return Err(failed(remote, &connection, error).await),
    };
    if result.get("resultType").is_some_and(|kind| kind != "complete") {
        // The server requests user input or sampling, which this client does not support.
        let message = "the resource requires a client capability that this program does not support";
        return Err(ToolError::failed(message));
    }
    let contents = result.remove("contents").unwrap_or_default();
    within_limit(remote, &contents, "a resource")?;
    let contents: Vec<ResourceContents> = serde_json::from_value(contents)
        .map_err(|error| remote.invalid_response("with invalid contents of a resource").caused_by(error))?;
    Ok((!contents.is_empty()).then_some(contents))
}

/// Returns the error of a request. The text is that of the server, and that of an internal error of this program would be
/// hidden.
pub(super) async fn failed(remote: &Remote, connection: &Arc<Connection>, error: ServiceError) -> ToolError {
    let error = remote.failed(connection, error).await;
    match error.kind() {
        ErrorKind::Internal => ToolError::failed(error.message()).caused_by(error),
        _ => error,
    }
}

/// Returns an error if a result, described by `what`, exceeds the limit of the server.
pub(super) fn within_limit(remote: &Remote, result: &impl Serialize, what: &str) -> Result<(), ToolError> {
    let max = remote.limits.result_bytes;
    let n_bytes = if max == usize::MAX { 0 } else { size(result) };
    if n_bytes > max {
        let message = format!("{remote} returned {what} of {n_bytes} bytes, more than the limit of {max}");
        return Err(ToolError::new(ErrorKind::ResultTooLarge, message));
    }
    Ok(())
}

/// Watches a resource, which ends with the returned guard.
///
/// # Errors
///
/// Returns an error if the server does not report changes of the resource, or too many resources are watched.
pub(super) async fn watch(link: Arc<Link>, uri: &str) -> Result<ResourceWatch, ToolError> {
    let remote = link.remote();
    let connection = link.connection_for_call().await?;
    if !connection.has_subscriptions() || !is_uri(uri) {
        return Err(ToolError::failed(format!("{remote} does not report changes of single resources")));
    }
    let mut watch = link.watches().add(uri).ok_or_else(|| {
        let message = format!("clients are subscribed to {MAX_WATCHED} resources of {remote}; try again later");
        ToolError::new(ErrorKind::Overloaded, message)
    })?;
    let subscribed = in_time(remote, remote.limits.start, watch.subscribed()).await?;
    subscribed.map_err(|reason| {
        // The text may be meant for the operator of the server.
        ToolError::failed(format!("{remote} refuses to report changes of the resource")).caused_by(&*reason)
    })?;
    Ok(ResourceWatch::new((watch, link)))
}

/// Returns the number of JSON values in a value, itself included.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum::<usize>(),
        Value::Object(fields) => fields.values().map(count).sum::<usize>(),
        _ => 0,
    }
}

/// Lists the entries of all pages, except for those that cannot be read as such.
pub(super) async fn pages<T: DeserializeOwned>(
    remote: &Remote,
    connection: &Arc<Connection>,
    field: &str,
    request: impl Fn(Option<PaginatedRequestParams>) -> ClientRequest,
) -> Result<Vec<T>, ToolError> {
    let limits = &remote.limits;
    let invalid = |how: String| ToolError::new(ErrorKind::InvalidResponse, format!("{remote} lists {how}"));
    let max_bytes = limits.list_bytes.min(MAX_LIST_BYTES);
    let (mut entries, mut n_listed, mut n_bytes, mut n_values) = (Vec::new(), 0, 0, 0);
    let mut cursor = None::<String>;
    for _ in 0..limits.pages {
        let params = cursor.clone().map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        let Some(mut page) = page(remote, connection, request(params)).await? else {
            return Ok(Vec::new());
        };
        let Some(Value::Array(mut listed)) = page.remove(field) else {
            return Err(invalid(format!("no `{field}`")));
        };
        n_listed += listed.len();
        n_bytes += listed.iter().map(size).sum::<usize>();
        if n_listed > MAX_LISTED {
            return Err(invalid(format!("more than {MAX_LISTED} {field}")));
        }
        if n_bytes > max_bytes {
            return Err(invalid(format!("more than {max_bytes} bytes of {field}")));
        }
        // One line for each page, since a server may list many.
        if let Some((entry, reason)) = listed.iter().find_map(|entry| Some((entry, entry.get(UNREADABLE)?))) {
            tracing::warn!(%remote, name = %entry["name"], %reason, field, "an entry is left out");
        }
        listed.retain(|entry| size(entry) <= MAX_ENTRY_BYTES && count(entry) <= MAX_ENTRY_VALUES);
        n_values += listed.iter().map(count).sum::<usize>();
        if n_values > MAX_VALUES {
            return Err(invalid(format!("more than {MAX_VALUES} values in {field}")));
        }
        entries.extend(listed.into_iter().filter_map(|entry| serde_json::from_value(entry).ok()));
        match page.remove("nextCursor") {
            Some(Value::String(next)) if !next.is_empty() => {
                if cursor.as_ref() == Some(&next) {
                    return Err(invalid(format!("{field} with the same cursor twice")));
                }
                cursor = Some(next);
            }
            _ => return Ok(entries),
        }
    }
    Err(invalid(format!("more than {} pages of {field}", limits.pages)))
}

/// Requests a page. Returns `None` if the server does not have the method, although it has declared resources.
async fn page(
    remote: &Remote,
    connection: &Arc<Connection>,
    request: ClientRequest,
) -> Result<Option<Map<String, Value>>, ToolError> {
    let listing = connection.ask(request, FromCaller::default(), None);
    match in_time(remote, remote.limits.start, listing).await? {
        Ok(Value::Object(page)) => Ok(Some(page)),
        Ok(_) => Err(remote.invalid_response("with an invalid list of resources")),
        Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => Ok(None),
        Err(error) => Err(remote.failed(connection, error).await),
    }
}
