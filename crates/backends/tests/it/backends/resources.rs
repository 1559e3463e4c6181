//! The resources of backends, which are there while their backend is enabled, and see no credentials.

use std::sync::Arc;

use toolkit::backend::{Backend, BackendCall, BackendResponse, OfferedTools};
use toolkit::call::Credentials;
use toolkit::dispatch::BoxFuture;
use toolkit::resource::{
    Resource, ResourceBody, ResourceChanges, ResourceContents, ResourceTemplate, ResourceWatch, Resources, Skill,
};
use toolkit_backends::LocalBackend;

use super::*;

/// A server with resources and skills, which are named after what it knows about the caller.
#[derive(Default)]
struct Docs(ResourceChanges);

fn known(context: &Context) -> String {
    context.user_id().map_or("nobody", |_| "somebody").to_owned()
}

impl Backend for Docs {
    fn name(&self) -> &str {
        "docs"
    }

    fn kind(&self) -> BackendKind {
        BackendKind::Mcp
    }

    fn tools(&self) -> BoxFuture<'_, Result<OfferedTools, ToolError>> {
        Box::pin(async { Ok(OfferedTools::default()) })
    }

    fn call<'a>(&'a self, _: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> {
        Box::pin(async { Ok(BackendResponse::Nothing) })
    }

    fn resources(&self) -> Option<&dyn Resources> {
        Some(self)
    }
}

impl Resources for Docs {
    fn list<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<Vec<Resource>, ToolError>> {
        Box::pin(async { Ok(vec![Resource::new("docs:///a", known(context))]) })
    }

    fn templates<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<Vec<ResourceTemplate>, ToolError>> {
        Box::pin(async { Ok(vec![ResourceTemplate::new("docs:///{name}", known(context))]) })
    }

    fn read<'a>(
        &'a self,
        uri: &'a str,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Vec<ResourceContents>>, ToolError>> {
        let contents = ResourceContents::new(uri, ResourceBody::Text(known(context)));
        Box::pin(async { Ok(Some(vec![contents])) })
    }

    fn has_skills(&self) -> bool {
        true
    }

    fn skills<'a>(&'a self, context: &'a Context) -> BoxFuture<'a, Result<Vec<Skill>, ToolError>> {
        Box::pin(async {
            Ok(vec![Skill::new(format!("skill://{}", known(context)), serde_json::Map::new(), Vec::new())])
        })
    }

    fn watch<'a>(&'a self, _: &'a str, context: &'a Context) -> BoxFuture<'a, Result<ResourceWatch, ToolError>> {
        Box::pin(async { Ok(ResourceWatch::new(known(context))) })
    }

    fn changes(&self) -> Option<&ResourceChanges> {
        Some(&self.0)
    }
}

fn named(resources: &[(String, Arc<dyn Resources>)]) -> Vec<(&str, bool)> {
    resources.iter().map(|(name, resources)| (&**name, resources.has_skills())).collect()
}

#[tokio::test]
async fn resources_are_those_of_enabled_backends_and_see_no_credentials() {
    let registry = registered([Scripted::new("plain", BackendKind::Mcp, [])]);
    registry.register(Docs::default()).unwrap();
    registry.register(LocalBackend::new("without")).unwrap();
    let offered = registry.resources();
    assert_eq!(named(&offered), [("plain", false), ("docs", true)]);
    let docs = &offered[1].1;
    let context = Context::new().with_credentials(Credentials::new().with_user_id("ada"));
    let name = "nobody".to_owned();
    assert_eq!(docs.list(&context).await.unwrap(), [Resource::new("docs:///a", &name)]);
    assert_eq!(docs.templates(&context).await.unwrap(), [ResourceTemplate::new("docs:///{name}", &name)]);
    let contents = ResourceContents::new("docs:///a", ResourceBody::Text(name));
    assert_eq!(docs.read("docs:///a", &context).await.unwrap(), Some(vec![contents]));
    assert_eq!(docs.skills(&context).await.unwrap()[0].uri, "skill://nobody");
    assert!(docs.skill("skill://nobody", &context).await.unwrap().is_some());
    assert!(docs.skill("skill://other", &context).await.unwrap().is_none());
    assert!(docs.watch("docs:///a", &context).await.is_ok() && docs.changes().is_some());
    assert!(offered[0].1.changes().is_none());

    registry.disable("docs");
    assert_eq!(named(&registry.resources()), [("plain", false)]);
    assert!(!docs.has_skills() && docs.list(&context).await.unwrap().is_empty());
    assert!(docs.templates(&context).await.unwrap().is_empty() && docs.skills(&context).await.unwrap().is_empty());
    assert!(docs.read("docs:///a", &context).await.unwrap().is_none());
    assert!(docs.skill("skill://nobody", &context).await.unwrap().is_none());
    let error = docs.watch("docs:///a", &context).await.unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Unavailable, "the backend `docs` is disabled"));
}
