//! Several instances of one toolset.

use toolkit::{Dispatcher, catalog, toolset};

use super::*;

struct Jira {
    site: &'static str,
}

#[toolset(namespace = "jira", version = "1.2.0")]
impl Jira {
    /// Returns the address of an issue.
    #[tool(read_only, aliases = ["link", "jira:url", "tracker:url"], examples = [r#"{"issue": 1}"#])]
    fn address(&self, issue: u32) -> String {
        format!("{}/{issue}", self.site)
    }
}

#[test]
fn a_lock_sees_the_instances() {
    let jira = Dispatcher::builder(catalog![Jira::address].unwrap());
    let dispatcher =
        jira.instance("jira_eu", Jira { site: "eu" }).instance("jira_us", Jira { site: "us" }).build().unwrap();
    let lock = Lock::from_json(&Lock::from_catalog(dispatcher.catalog()).to_json()).unwrap();
    assert!(lock.tools().any(|tool| tool.id().to_string() == "jira_us:address:1.2.0"));
    assert_eq!(lock.compare(&Lock::from_catalog(dispatcher.catalog())).changes().count(), 0);
}
