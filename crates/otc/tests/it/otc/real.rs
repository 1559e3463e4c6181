//! A real catalogue of 1,080 tools, in and out again.

use test_support::real_definitions;
use toolkit_otc::{Definition, Naming, Published};

use super::*;

#[test]
fn every_definition_of_a_real_catalogue_comes_back_as_it_was() {
    let definitions = real_definitions();
    if definitions.is_empty() {
        return;
    }
    let tools: Vec<Tool> = definitions.iter().map(tool_of).collect();
    let catalog = Catalog::new(tools).unwrap();
    catalog.check(toolkit::catalog::Naming::NamespaceName).unwrap();
    let published = Published::new(&catalog, &Naming::default());
    assert!(published.diagnostics().is_empty(), "{:?}", published.diagnostics());
    let listed = published.to_json();
    let listed = listed["tools"].as_array().unwrap();
    let (mut n_equal, mut n_scopeless) = (0, 0);
    for definition in &definitions {
        let got = listed.iter().find(|listed| listed["id"] == definition["id"]).unwrap();
        let mut expected = definition.clone();
        // An empty list of scopes is omitted.
        if let Some(authorization) = expected.pointer_mut("/requirements/authorization/0")
            && authorization["oauth2"]["scopes"].as_array().is_none_or(Vec::is_empty)
        {
            authorization.as_object_mut().unwrap().shift_remove("oauth2");
            n_scopeless += 1;
        }
        assert_eq!(*got, expected);
        n_equal += 1;
    }
    assert_eq!((listed.len(), n_equal, n_scopeless), (1080, 1080, 109));
    ran(n_equal);
}

#[test]
fn a_definition_of_a_real_catalogue_is_the_same_read_twice() {
    let definitions = real_definitions();
    for definition in &definitions {
        let tool = tool_of(definition);
        let again = json!(Definition::from_tool(&tool, &Naming::default()).unwrap());
        assert_eq!(tool_of(&again), tool);
    }
    ran(definitions.len());
}
