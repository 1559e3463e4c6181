//! The resources that the conformance suite expects, and those that the tools link to.

use serde_json::json;
use toolkit::resource::{Resource, ResourceSet, ResourceTemplate, TemplateResources, UriTemplateError};
use toolkit_mcp_server::ServerBuilder;

use super::PNG;

/// Adds the resources to a server.
pub fn added(server: ServerBuilder) -> Result<ServerBuilder, UriTemplateError> {
    let text = |name: &str| Resource::new(format!("test://{name}"), name).mime_type("text/plain");
    let set = ResourceSet::new()
        .with(text("static-text"), "This is the content of the static text resource.")
        .with(Resource::new("test://static-binary", "static-binary").mime_type("image/png"), PNG)
        .with(text("watched-resource"), "Watched resource content")
        .with(text("linked-resource"), "linked");
    let template = ResourceTemplate::new("test://template/{id}/data", "template").mime_type("application/json");
    let template = TemplateResources::new(template, |params, _| async move {
        let id = &params["id"];
        Ok(Some(json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") }).to_string()))
    })?;
    Ok(server.resources(set).resources(template))
}
