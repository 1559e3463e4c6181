//! Formats of texts, which a schema does not assert.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::Deserialize;
use toolkit::{Dispatcher, catalog, tool};
use toolkit_contract::lint::{Rule, lint};

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code)]
struct Contact {
    #[schemars(email)]
    email: String,
    #[schemars(email, regex(pattern = r"^[^@\s]+@[^@\s]+$"), example = "a@b")]
    checked: String,
}

/// Invites people.
#[tool(namespace = "formats", destructive = false)]
#[allow(unused_variables)]
fn invite(
    #[schemars(email)] to: &str,
    #[schemars(url)] page: Option<String>,
    contact: Contact,
    from: IpAddr,
    on: Option<chrono::NaiveDate>,
    name: String,
) {
}

#[test]
fn a_format_that_neither_the_schema_nor_the_type_enforces_is_reported() {
    let catalog = catalog![invite].unwrap();
    let found = lint(&catalog, &[]);
    let mut places: Vec<&str> = found
        .iter()
        .filter(|diagnostic| diagnostic.rule == Rule::UnenforcedFormat)
        .map(|diagnostic| &*diagnostic.location)
        .collect();
    places.sort_unstable();
    assert_eq!(places, ["arguments/contact/email", "arguments/page", "arguments/to"], "{found:#?}");
}

#[test]
fn a_format_is_enforced_by_a_pattern_or_by_the_type() {
    let dispatcher = Dispatcher::new(catalog![invite].unwrap()).unwrap();
    let arguments = |checked: &str, from: &str| {
        serde_json::json!({
            "to": "bob", "contact": { "email": "bob", "checked": checked }, "from": from, "name": "Bob",
        })
    };
    dispatcher.call_sync("invite", arguments("a@b", "::1")).unwrap();
    for (arguments, place) in [(arguments("bob", "::1"), "/contact/checked"), (arguments("a@b", "here"), "/from")] {
        assert_eq!(dispatcher.call_sync("invite", arguments).unwrap_err().violations()[0].pointer, place);
    }
}
