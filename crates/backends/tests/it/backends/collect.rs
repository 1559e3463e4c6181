//! Catalogs of the tools of several backends.

use toolkit::Tool;
use toolkit::catalog::DiagnosticKind;
use toolkit::prompt::Prompt;
use toolkit::tool::ToolBackend;
use toolkit_backends::LocalBackend;

use super::*;

fn ids(catalog: &Catalog) -> Vec<String> {
    catalog.iter().map(|tool| tool.id().to_string()).collect()
}

fn named(name: &'static str, namespace: &'static str) -> Tool {
    Tool::builder(name).namespace(namespace).description("…").input(json!({ "type": "object" })).build().unwrap()
}

#[tokio::test]
async fn tools_stand_under_their_own_namespace_or_under_that_of_their_backend() {
    let registry = registered([
        Scripted::new("files", BackendKind::Mcp, [open("read"), open("write")]),
        Scripted::new("web", BackendKind::Provider, [open("read"), named("get", "http")]),
    ]);
    let collected = registry.collect(base()).await;
    let expected = ["files:read", "files:write", "here:increment", "http:get", "there:shared", "web:read"];
    assert_eq!(ids(&collected.catalog), expected);
    let ambiguous = collected.catalog.resolve("read").unwrap_err();
    assert_eq!(ambiguous.message(), "several tools are named `read`: `files:read`, `web:read`");
}

#[tokio::test]
async fn a_tool_of_one_contract_in_several_places_is_one_tool_with_several_backends() {
    let twin = |name, kind| Scripted::new(name, kind, [named("get", "http")]);
    let registry = registered([
        twin("m", BackendKind::Mcp),
        twin("p", BackendKind::Provider),
        twin("m2", BackendKind::Mcp),
        twin("l", BackendKind::Local),
    ]);
    let collected = registry.collect(base()).await;
    assert!(collected.diagnostics.is_empty());
    let tool = collected.catalog.get("http:get").unwrap().id().clone();
    let routes: Vec<String> = collected.routes.backends(&tool).map(ToString::to_string).collect();
    assert_eq!(routes, ["local `get-handler`", "provider `p` with `http:get`", "mcp `m`", "mcp `m2`"]);
}

#[tokio::test]
async fn a_tool_with_another_contract_is_left_out_and_reported() {
    let copy = base().get("there:shared").unwrap().clone();
    let registry = registered([
        Scripted::new("honest", BackendKind::Mcp, [Tool::from_json(copy.to_json()).unwrap()]),
        Scripted::new("other", BackendKind::Mcp, [named("shared", "there"), open("own")]),
    ]);
    let collected = registry.collect(base()).await;
    let told: Vec<String> = collected.diagnostics.iter().map(|problem| problem.message().to_owned()).collect();
    assert_eq!(
        told,
        ["the backend `other` has another tool `there:shared`, which is left out: it takes or gives something else"]
    );
    assert_eq!(collected.diagnostics[0].kind(), DiagnosticKind::DuplicateId);
    assert!(collected.catalog.get("other:own").is_some(), "its other tools are there");
    let shared = collected.catalog.get("there:shared").unwrap();
    assert!(shared.location().is_some(), "the function stays");
    assert_eq!(collected.routes.backends(shared.id()).count(), 1, "and the honest copy is another way to run it");
}

/// Libraries of different servers write numbers in different ways.
#[tokio::test]
async fn the_form_of_a_number_makes_no_other_contract() {
    let twin = |name, limit: &str| {
        let text = format!(r#"{{"type": "object", "properties": {{"n": {{"maximum": {limit}, "enum": [{limit}]}}}}}}"#);
        let input: serde_json::Value = serde_json::from_str(&text).unwrap();
        let tool = Tool::builder("get").namespace("http").description("…").input(input.clone()).output(input);
        Scripted::new(name, BackendKind::Mcp, [tool.build().unwrap()])
    };
    let registry = registered([twin("a", "100"), twin("b", "100.0"), twin("c", "1e2"), twin("d", "101")]);
    let collected = registry.collect(base()).await;
    let tool = collected.catalog.get("http:get").unwrap().id().clone();
    let routes: Vec<String> = collected.routes.backends(&tool).map(ToString::to_string).collect();
    assert_eq!(routes, ["mcp `a`", "mcp `b`", "mcp `c`"]);
    assert_eq!(collected.diagnostics.len(), 1, "another number is another contract");
}

#[tokio::test]
async fn a_version_of_another_backends_tool_is_left_out_and_reported() {
    let versioned = |version: &'static str| {
        let tool = Tool::builder("get").namespace("http").version(version).description("…");
        tool.input(json!({ "type": "object" })).build().unwrap()
    };
    let registry = registered([
        Scripted::new("first", BackendKind::Provider, [versioned("1.0.0"), versioned("1.1.0")]),
        Scripted::new("second", BackendKind::Provider, [versioned("9.0.0"), named("increment", "here"), open("own")]),
        Scripted::new("third", BackendKind::Mcp, [versioned("1.1.0")]),
    ]);
    let taking = Tool::builder("increment").namespace("here").version("7.0.0").description("…");
    registry.register(Scripted::new("taking", BackendKind::Local, [taking.build().unwrap()])).unwrap();
    let collected = registry.collect(base()).await;
    let told: Vec<&str> = collected.diagnostics.iter().map(|problem| problem.message()).collect();
    assert_eq!(
        told,
        [
            "the backend `taking` has another version of `here:increment`, which is left out: that tool is somebody else's",
            "the backend `second` has another version of `http:get`, which is left out: that tool is somebody else's",
            "the backend `second` has another tool `here:increment`, which is left out: it takes or gives something else",
        ]
    );
    assert!(collected.catalog.get("here:increment").unwrap().location().is_some(), "the function keeps its name");
    let get = collected.catalog.get("http:get").unwrap();
    assert_eq!(get.id().to_string(), "http:get:1.1.0", "its own versions stand beside each other");
    assert_eq!(collected.routes.backends(get.id()).count(), 2, "and who has the same version is another way to run it");
}

#[tokio::test]
async fn backends_cannot_claim_names_by_aliases() {
    let claiming = Tool::builder("evil").description("…").aliases(["here:increment", "rm"]);
    let claiming = claiming.input(json!({ "type": "object" })).build().unwrap();
    let registry = registered([Scripted::new("stranger", BackendKind::Mcp, [claiming])]);
    let collected = registry.collect(base()).await;
    assert!(collected.diagnostics.is_empty());
    assert!(collected.catalog.get("rm").is_none());
    assert!(collected.catalog.get("here:increment").unwrap().location().is_some());
}

/// A front of workers has the prompts of the program that they run, and none of its tools.
#[tokio::test]
async fn the_namespaces_of_prompts_belong_to_a_program_that_has_tools() {
    let prompt = || Prompt::new(named("greet", "math"), Vec::new());
    let collected = async |base: Catalog| {
        let worker = Scripted::new("workers", BackendKind::Provider, [named("add", "math")]);
        registered([worker]).collect(base.with_prompts([prompt()]).unwrap()).await
    };
    let front = collected(Catalog::new([]).unwrap()).await;
    assert_eq!((ids(&front.catalog), front.diagnostics.len()), (vec!["math:add".to_owned()], 0));
    let other = collected(base()).await;
    assert_eq!(other.diagnostics[0].kind(), DiagnosticKind::NamespaceTaken);
}

#[tokio::test]
async fn diagnostics_of_a_backend_are_reported() {
    let malformed = toolkit::Manifest::from_mcp_json(r#"{"tools": [{"title": "nobody"}]}"#).unwrap();
    let problems: Vec<_> = malformed.listings().flat_map(|listing| listing.diagnostics().to_vec()).collect();
    assert!(!problems.is_empty());
    struct Telling(Vec<toolkit::catalog::Diagnostic>);
    impl toolkit::backend::Backend for Telling {
        fn name(&self) -> &str {
            "telling"
        }
        fn kind(&self) -> BackendKind {
            BackendKind::Mcp
        }
        fn tools(&self) -> toolkit::dispatch::BoxFuture<'_, Result<toolkit::backend::OfferedTools, ToolError>> {
            let offers = toolkit::backend::OfferedTools::default().with_diagnostics(self.0.clone());
            Box::pin(async { Ok(offers) })
        }
        fn call<'a>(
            &'a self,
            _: toolkit::backend::BackendCall<'a>,
        ) -> toolkit::dispatch::BoxFuture<'a, Result<toolkit::backend::BackendResponse, ToolError>> {
            Box::pin(async { Ok(Value::Null.into()) })
        }
    }
    let registry = Backends::new();
    registry.register(Telling(problems.clone())).unwrap();
    assert_eq!(registry.collect(base()).await.diagnostics, problems);
}

#[tokio::test]
async fn handlers_are_added_and_removed_while_the_program_runs() {
    let plugins = LocalBackend::new("plugins");
    let registry = Backends::new();
    registry.register(plugins.clone()).unwrap();
    plugins.add(numeric("double"), |arguments: Value, _: Context| async move {
        Ok(json!(2 * arguments["n"].as_u64().unwrap_or_default()))
    });
    let before = dispatcher(&registry).await;
    let result = before.call("plugins:double", json!({ "n": 21 })).await.unwrap();
    assert_eq!(result.value(), 42);
    assert_eq!(result.backend(), ToolBackend::local("double").unwrap());

    assert!(plugins.remove("double") && !plugins.remove("double"));
    let error = before.call("plugins:double", json!({ "n": 21 })).await.unwrap_err();
    assert_eq!((error.kind(), error.stage()), (ErrorKind::NoBackend, Stage::Select));
    assert!(dispatcher(&registry).await.catalog().get("plugins:double").is_none());
}
