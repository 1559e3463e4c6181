//! Several instances of one toolset in a program.

use std::sync::Arc;

use serde_json::json;
use toolkit::call::ErrorKind;
use toolkit::catalog::{DiagnosticKind, Diagnostics, Instances, Naming};
use toolkit::mcp::{Revision, list_tools};
use toolkit::{Catalog, Dispatcher, catalog, handle, tool, toolset};

struct Jira {
    site: &'static str,
}

struct Db(u32);

#[toolset(namespace = "jira", version = "1.2.0")]
impl Jira {
    /// Returns the address of an issue.
    #[tool(read_only, aliases = ["link", "jira:url", "tracker:url"], examples = [r#"{"issue": 1}"#])]
    fn address(&self, issue: u32) -> String {
        format!("{}/{issue}", self.site)
    }

    /// Returns the name of the site, later.
    #[tool(timeout = "5s")]
    async fn site(&self) -> &'static str {
        self.site
    }

    /// Returns the name of the site, on a thread that may block.
    #[tool(blocking)]
    fn blocking_site(&self) -> &'static str {
        self.site
    }

    /// Returns the version of the interface.
    #[tool]
    fn interface() -> u32 {
        3
    }
}

/// Copies issues into a database.
#[tool(namespace = "jobs")]
fn copy(jira: &Jira, db: &Db) -> String {
    format!("{} into {}", jira.site, db.0)
}

const EU: Jira = Jira { site: "eu" };
const US: Jira = Jira { site: "us" };

fn jira() -> Catalog {
    catalog![Jira::address, Jira::site, Jira::blocking_site, Jira::interface].unwrap()
}

fn two() -> Dispatcher {
    Dispatcher::builder(jira()).instance("jira_eu", EU).instance("jira_us", US).build().unwrap()
}

fn ids(catalog: &Catalog) -> Vec<String> {
    catalog.iter().map(|tool| tool.id().to_string()).collect()
}

#[track_caller]
fn only(problems: &Diagnostics) -> (DiagnosticKind, String) {
    let all: Vec<_> = problems.iter().collect();
    assert_eq!(all.len(), 1, "{problems}");
    (all[0].kind(), all[0].to_string())
}

#[test]
fn each_instance_has_the_tools_in_its_namespace() {
    let dispatcher = two();
    // A method without `self` does not belong to an instance.
    let expect = [
        "jira:interface:1.2.0",
        "jira_eu:address:1.2.0",
        "jira_eu:blocking_site:1.2.0",
        "jira_eu:site:1.2.0",
        "jira_us:address:1.2.0",
        "jira_us:blocking_site:1.2.0",
        "jira_us:site:1.2.0",
    ];
    assert_eq!(ids(dispatcher.catalog()), expect);
    dispatcher.catalog().check(Naming::NamespaceName).unwrap();
}

#[tokio::test]
async fn a_call_borrows_from_the_instance_that_it_names() {
    let dispatcher = two();
    for site in ["eu", "us"] {
        let id = |name: &str| format!("jira_{site}:{name}:1.2.0");
        let result = dispatcher.call_sync(&id("address"), json!({ "issue": 7 })).unwrap();
        assert_eq!((result.value(), result.tool()), (json!(format!("{site}/7")), &*id("address")));
        assert_eq!(result.backend().to_string(), format!("local `{}`", id("address")));
        // Without the version, asynchronously, and on another thread.
        assert_eq!(dispatcher.call(&format!("jira_{site}:site"), json!({})).await.unwrap().value(), site);
        assert_eq!(dispatcher.call(&id("blocking_site"), json!({})).await.unwrap().value(), site);
    }
    let error = dispatcher.call_sync("jira_us:address", json!({ "issue": "x" })).unwrap_err();
    assert!(error.to_string().starts_with("jira_us:address:1.2.0: the arguments do not match the schema"), "{error}");
    let error = dispatcher.call_sync("address", json!({ "issue": 7 })).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AmbiguousTool);
    assert_eq!(dispatcher.call_sync("jira:address", json!({})).unwrap_err().kind(), ErrorKind::UnknownTool);
}

#[test]
fn aliases_move_with_the_namespace_and_those_of_other_namespaces_are_left_out() {
    let dispatcher = two();
    assert_eq!(dispatcher.catalog().resolve("jira_eu:address").unwrap().aliases(), ["jira_eu:link", "jira_eu:url"]);
    assert_eq!(dispatcher.call_sync("jira_us:link", json!({ "issue": 1 })).unwrap().value(), "us/1");
    assert!(dispatcher.catalog().get("tracker:url").is_none());
}

#[tokio::test]
async fn a_handle_chooses_an_instance() {
    let dispatcher = two();
    let address = handle!(Jira::address);
    assert_eq!(address.instance("jira_eu").call(&dispatcher, 1).await.unwrap(), "eu/1");
    assert_eq!(address.instance("jira_us").call(&dispatcher, 1).await.unwrap(), "us/1");
    let error = address.call(&dispatcher, 1).await.unwrap_err();
    assert_eq!(
        error.message(),
        "`jira:address:1.2.0` has several instances: `jira_eu:address:1.2.0`, `jira_us:address:1.2.0`; choose one with \
         `Handle::instance`"
    );
    let error = address.instance("jira_cn").call(&dispatcher, 1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownTool);
    // With a single instance, no choice is needed.
    let one = Dispatcher::builder(jira()).instance("jira_eu", EU).build().unwrap();
    assert_eq!(address.call(&one, 1).await.unwrap(), "eu/1");
}

#[test]
fn exports_see_the_instances() {
    let dispatcher = two();
    let listed = list_tools(dispatcher.catalog(), Revision::default(), Naming::NamespaceName).unwrap();
    let names: Vec<_> = listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    assert!(names.contains(&json!("jira_eu_address")) && names.contains(&json!("jira_us_address")), "{names:?}");
}

#[test]
fn shared_state_of_the_same_type_keeps_the_tools_in_their_own_namespace_too() {
    let dispatcher = Dispatcher::builder(jira()).state(EU).instance("jira_us", US).build().unwrap();
    assert_eq!(dispatcher.call_sync("jira:address", json!({ "issue": 1 })).unwrap().value(), "eu/1");
    assert_eq!(dispatcher.call_sync("jira_us:address", json!({ "issue": 1 })).unwrap().value(), "us/1");
}

#[test]
fn a_tool_that_borrows_two_types_takes_what_its_instance_has_and_the_rest_from_the_host() {
    let both = Dispatcher::builder(catalog![copy].unwrap())
        .instance("eu", EU)
        .shared_instance("eu", Arc::new(Db(1)))
        .instance("us", US)
        .state(Db(9))
        .build()
        .unwrap();
    assert_eq!(both.call_sync("eu:copy", json!({})).unwrap().value(), "eu into 1");
    assert_eq!(both.call_sync("us:copy", json!({})).unwrap().value(), "us into 9");

    let apart = Dispatcher::builder(catalog![copy].unwrap()).instance("eu", EU).instance("main", Db(1)).build();
    let messages: Vec<String> = apart.unwrap_err().iter().map(|problem| problem.message().to_owned()).collect();
    assert_eq!(messages.len(), 2);
    assert!(messages[0].contains("the instances `main` have one; add one to the instances of these tools"));
}

#[test]
fn instances_of_a_catalog_without_a_dispatcher() {
    let catalog = catalog![Jira::address].unwrap();
    let catalog = catalog.with_instances(Instances::new().with("a", EU).with_shared("b", Arc::new(US))).unwrap();
    assert_eq!(ids(&catalog), ["a:address:1.2.0", "b:address:1.2.0"]);
    // The state stays with the tools in another catalog.
    let catalog = Catalog::new(catalog.iter().cloned()).unwrap();
    let dispatcher = Dispatcher::new(catalog).unwrap();
    assert_eq!(dispatcher.call_sync("b:address", json!({ "issue": 2 })).unwrap().value(), "us/2");
}

#[test]
fn mistakes_with_instances_are_errors_of_build() {
    let builder = || Dispatcher::builder(catalog![Jira::address].unwrap());
    let first = line!() + 1;
    let twice = builder().instance("jira_eu", EU).instance("jira_eu", US).build().unwrap_err();
    let (kind, message) = only(&twice);
    assert_eq!(kind, DiagnosticKind::DuplicateState);
    let place = format!("tests/it/state/instances.rs:{first}");
    assert_eq!(message.matches(&place).count(), 2, "{message}");
    assert!(
        message.starts_with("the instance `jira_eu` has two values of type `it::state::instances::Jira`"),
        "{message}"
    );

    let (kind, message) = only(&builder().state(EU).instance("a", Db(1)).build().unwrap_err());
    assert_eq!(kind, DiagnosticKind::InvalidInstance);
    assert!(message.starts_with("the instance `a` has no tools"), "{message}");

    let (kind, message) = only(&builder().state(EU).instance("a b", US).build().unwrap_err());
    assert_eq!(kind, DiagnosticKind::InvalidInstance);
    assert!(message.contains("the name of an instance must be a namespace"), "{message}");

    let elsewhere = || Catalog::new([toolkit::Tool::builder("far").build().unwrap()]).unwrap();
    assert!(Dispatcher::builder(elsewhere()).instance("a", Db(1)).build().is_ok());

    // The namespace of the static tool is taken only while the tool exists.
    let taken = builder().state(EU).instance("jira", US).build().unwrap_err();
    assert_eq!(only(&taken).0, DiagnosticKind::DuplicateId);
    assert!(builder().instance("jira", US).build().is_ok());
}
