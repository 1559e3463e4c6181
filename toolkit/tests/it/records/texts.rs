//! Titles and descriptions: from constants, from files, and from doc comments of every form.

use serde_json::json;
use toolkit::catalog::Naming;
use toolkit::{Catalog, catalog, tool, toolset};

const TITLE: &str = "A title";

mod shared {
    pub const DESCRIPTION: &str = "Says what several tools say.";
}

#[tool(namespace = "texts", title = TITLE, description = shared::DESCRIPTION)]
fn constant() {}

#[tool(namespace = "texts", title = concat!("A ", "title"), description = include_str!("description.txt"))]
fn evaluated() {}

struct Shelf;

#[toolset(namespace = "texts")]
impl Shelf {
    const DESCRIPTION: &str = "Says what the type says.";

    #[tool(title = Self::DESCRIPTION, description = Self::DESCRIPTION)]
    fn associated(&self) {}
}

fn catalog() -> Catalog {
    catalog![constant, evaluated, Shelf::associated, commented].unwrap()
}

#[test]
fn a_title_and_a_description_can_be_constants() {
    let catalog = catalog();
    for (name, title, description) in [
        ("constant", "A title", "Says what several tools say."),
        ("evaluated", "A title", "Reads its description from a file.\n"),
        ("associated", "Says what the type says.", "Says what the type says."),
    ] {
        let tool = catalog.resolve(name).unwrap();
        assert_eq!((tool.title(), tool.description()), (Some(title), description), "{name}");
    }
}

const EXAMPLE: &str = r#"{"a": 1}"#;

/// Doubles.
#[tool(namespace = "texts", examples = [EXAMPLE, concat!("{\"a\": ", 2, "}"), {"a": 3}], meta = concat!("{\"team\": \"texts\"}"))]
fn double(a: i64) -> i64 {
    2 * a
}

#[test]
fn examples_and_meta_can_be_constants() {
    let catalog = catalog![double].unwrap();
    let tool = catalog.resolve("double").unwrap();
    assert_eq!(tool.examples(), [json!({ "a": 1 }), json!({ "a": 2 }), json!({ "a": 3 })]);
    assert_eq!(tool.meta(), Some(json!({ "team": "texts" })));
}

/// Halves.
#[tool(namespace = "texts", examples = [stringify!({"b": 1}), stringify!(none)], meta = stringify!([]))]
fn halve(a: i64) -> i64 {
    a / 2
}

#[test]
fn a_catalog_reports_constants_that_are_not_the_json_of_their_tool() {
    let rejected = catalog![halve].unwrap().check(Naming::default()).unwrap_err().to_string();
    for part in ["example 1 is invalid", "example 2 is invalid", "`meta` must be a JSON object"] {
        assert!(rejected.contains(part), "{rejected}");
    }
}

/// Adds.
///
/// ```
/// # fn hidden() {}
/// #
/// ## shown
/// let sum = 1;
/// ```
///
/// ```sh
/// # a comment
/// ```
#[tool(namespace = "texts")]
#[allow(unused_variables)]
fn commented(
    /** First.
     * Second.
     *
     * - an item
     */
    stars: u8,
    /// Text.
    ///
    /// ```no_run
    /// # use std::fs;
    /// fs::read("a");
    /// ```
    hidden: u8,
    #[doc = " Raw."] raw: u8,
) {
}

#[test]
fn a_doc_comment_is_read_as_rustdoc_reads_it() {
    let catalog = catalog();
    let tool = catalog.resolve("commented").unwrap();
    let expect = "Adds.\n\n```\n# shown\nlet sum = 1;\n```\n\n```sh\n# a comment\n```";
    assert_eq!(tool.description(), expect);
    let property = |name: &str| tool.input().as_value()["properties"][name]["description"].clone();
    assert_eq!(property("stars"), "First.\nSecond.\n\n- an item");
    assert_eq!(property("hidden"), "Text.\n\n```no_run\nfs::read(\"a\");\n```");
    assert_eq!(property("raw"), json!("Raw."));
}
