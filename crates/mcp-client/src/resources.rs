//! The resources of a server.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;
use toolkit::call::ErrorKind;
use toolkit::resource::{Resource, ResourceContents, ResourceTemplate, ResourceWatch};
use toolkit::{Context, ToolError};
use toolkit_mcp::Code;
use toolkit_runtime::BudgetExceeded;

use super::caller::FromCaller;
use super::connection::Connection;
use super::failure::Failure;
use super::link::Link;
use super::outgoing::Request;
use super::pages::{PagedList, UNREADABLE, pages};
use super::raw::Raw;
use super::remote::Remote;
use super::remote::in_time;
use super::watches::is_uri;

/// The maximum number of resources that a server may list, and of templates.
const MAX_LISTED: usize = 10_000;

/// The maximum size of a listed resource as JSON. Larger ones are left out.
const MAX_ENTRY_BYTES: usize = 16 << 10;

/// The maximum size of a listed skill as JSON. Larger ones are left out.
pub(super) const MAX_SKILL_BYTES: usize = 256 << 10;

/// The maximum size of all resources or templates of a server as JSON.
const MAX_LIST_BYTES: usize = 8 << 20;

/// The maximum number of JSON values in a listed resource. Larger ones are left out. A value needs much more memory
/// than its text.
const MAX_ENTRY_VALUES: usize = 1_000;

/// The maximum number of JSON values in a listed skill: three for each file.
const MAX_SKILL_VALUES: usize = 6_000;

/// The maximum number of JSON values in all resources or templates of a server.
const MAX_VALUES: usize = 400_000;

/// Lists the resources of a server, except for those that cannot be read as such.
pub(super) async fn list(link: &Link) -> Result<Vec<Resource>, ToolError> {
    let mut listed: Vec<Resource> = listed(link, "resources/list", "resources").await?;
    listed.retain(|resource| is_uri(&resource.uri));
    Ok(listed)
}

/// Lists the templates of a server, except for those that cannot be read as such.
pub(super) async fn templates(link: &Link) -> Result<Vec<ResourceTemplate>, ToolError> {
    let mut listed: Vec<ResourceTemplate> = listed(link, "resources/templates/list", "resourceTemplates").await?;
    listed.retain(|template| is_uri(&template.uri_template));
    Ok(listed)
}

async fn listed<T: DeserializeOwned>(
    link: &Link,
    method: &'static str,
    field: &'static str,
) -> Result<Vec<T>, ToolError> {
    if link.sleeps_without(|info| info.has("resources")) {
        return Ok(Vec::new());
    }
    let connection = link.connection_for_call().await?;
    if !connection.info.has("resources") {
        return Ok(Vec::new());
    }
    entries(&link.remote, &connection, method, field).await
}

/// Reads a resource. Returns `None` if the server does not have it.
pub(super) async fn read(
    link: &Link,
    uri: &str,
    context: &Context,
) -> Result<Option<Vec<ResourceContents>>, ToolError> {
    let remote = &link.remote;
    let connection = link.connection_for_call().await?;
    if !connection.info.has("resources") || !is_uri(uri) {
        return Ok(None);
    }
    let _permit = link.permit_in_time().await?;
    let request = Request::about("resources/read", "uri", uri).from(FromCaller::of(remote, context)?);
    let result = match in_time(remote, remote.limits.call, connection.ask(request)).await? {
        Ok(result) if result.is_object() => result,
        Ok(_) => return Err(remote.invalid_response("with an invalid result")),
        // Up to 2025-11-25, servers use both codes.
        Err(Failure::Rpc(error)) if error.has_code(Code::ResourceNotFound) || error.has_code(Code::InvalidParams) => {
            return Ok(None);
        }
        Err(failure) => return Err(failed(remote, &connection, failure).await),
    };
    if result.text_field("resultType").is_some_and(|kind| kind != "complete") {
        // The server requests user input or sampling, which this client does not support.
        let message = "the resource requires a client capability that this program does not support";
        return Err(ToolError::failed(message));
    }
    let contents = result.field("contents").unwrap_or_else(|| Raw::from("null".to_owned()));
    within_limit(remote, &contents, "a resource")?;
    let contents: Vec<ResourceContents> = contents
        .parse()
        .map_err(|error| remote.invalid_response("with invalid contents of a resource").caused_by(error))?;
    Ok((!contents.is_empty()).then_some(contents))
}

/// Returns the error of a request. The text is that of the server, and that of an internal error of this program would be
/// hidden.
pub(super) async fn failed(remote: &Remote, connection: &Arc<Connection>, failure: Failure) -> ToolError {
    let error = remote.failed(connection, failure).await;
    match error.kind() {
        ErrorKind::Internal => ToolError::failed(error.message()).caused_by(error),
        _ => error,
    }
}

/// Returns an error if a result, described by `what`, exceeds the limit of the server.
pub(super) fn within_limit(remote: &Remote, result: &Raw, what: &str) -> Result<(), ToolError> {
    let (n_bytes, max) = (result.get().len(), remote.limits.result_bytes);
    if n_bytes > max {
        let message = format!("{remote} returned {what} of {n_bytes} bytes, more than the limit of {max}");
        return Err(ToolError::new(ErrorKind::ResultTooLarge, message));
    }
    Ok(())
}

/// Watches a resource for the caller of the context, which ends with the returned guard.
///
/// # Errors
///
/// Returns an error if the server does not report changes of the resource, or too many resources are watched.
pub(super) async fn watch(link: Arc<Link>, uri: &str, context: &Context) -> Result<ResourceWatch, ToolError> {
    let remote = &link.remote;
    let connection = link.connection_for_call().await?;
    if !connection.info.has_flag("resources", "subscribe") || !is_uri(uri) {
        return Err(ToolError::failed(format!("{remote} does not report changes of single resources")));
    }
    let mut watch = link.watches.add(uri, context.request().caller()).map_err(|BudgetExceeded { held, max, .. }| {
        let message = format!(
            "the client is subscribed to {held} resources of {remote}, its share of the {max} of all clients; try again later"
        );
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
pub(super) async fn entries<T: DeserializeOwned>(
    remote: &Remote,
    connection: &Arc<Connection>,
    method: &'static str,
    field: &'static str,
) -> Result<Vec<T>, ToolError> {
    let max_bytes = remote.limits.list_bytes.min(MAX_LIST_BYTES);
    // A skill lists its files.
    let max_entry_bytes = if field == "skills" { MAX_SKILL_BYTES } else { MAX_ENTRY_BYTES };
    let list = PagedList { method, field, max_entries: MAX_LISTED, max_bytes, max_entry_bytes };
    let mut listed = pages(remote, connection, &list).await?.entries;
    // One line for each list, since a server may list many.
    if let Some((entry, reason)) = listed.iter().find_map(|entry| Some((entry, entry.get(UNREADABLE)?))) {
        tracing::warn!(%remote, name = %entry["name"], %reason, field, "an entry is left out");
    }
    let max_values = if field == "skills" { MAX_SKILL_VALUES } else { MAX_ENTRY_VALUES };
    listed.retain(|entry| count(entry) <= max_values);
    if listed.iter().map(count).sum::<usize>() > MAX_VALUES {
        let message = format!("{remote} lists more than {MAX_VALUES} values in {field}");
        return Err(ToolError::new(ErrorKind::InvalidResponse, message));
    }
    Ok(listed.into_iter().filter_map(|entry| serde_json::from_value(entry).ok()).collect())
}
