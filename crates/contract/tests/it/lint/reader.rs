//! Types that read less or more than their schema accepts.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use toolkit::{catalog, tool};
use toolkit_contract::lint::{Rule, lint};

fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
}

#[derive(Deserialize, JsonSchema)]
struct Text {
    /// A number, as a string.
    #[serde(deserialize_with = "number")]
    number: u32,
}

/// Cannot be called, since the schema requires a number and the type a string.
#[tool(namespace = "reader", read_only)]
fn impossible(
    /// The text.
    text: Text,
    /// A flag.
    flag: bool,
) -> u32 {
    text.number + u32::from(flag)
}

/// States what it reads.
#[tool(namespace = "reader", read_only, examples = [r#"{"text": "7", "flag": true}"#])]
fn stated(
    /// A number, as a string.
    #[serde(deserialize_with = "number")]
    #[schemars(with = "String")]
    text: u32,
    /// A flag.
    flag: bool,
) -> u32 {
    text + u32::from(flag)
}

/// The schema of a `with` requires what serde does not.
#[derive(Deserialize, JsonSchema)]
struct Page {
    /// The number of the page.
    #[schemars(with = "u32")]
    page: Option<u32>,
    /// The order.
    order: String,
}

/// Lists pages.
#[tool(namespace = "reader", read_only)]
fn pages(
    /// The pages.
    of: Page,
    /// Another argument.
    other: u8,
) -> u32 {
    of.page.unwrap_or(0) + u32::try_from(of.order.len()).unwrap() + u32::from(other)
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "shape", rename_all = "snake_case")]
enum Shape {
    /// A circle.
    Circle {
        /// The radius.
        radius: f64,
    },
    /// A rectangle.
    Rectangle {
        /// The width.
        width: f64,
        /// The height.
        height: f64,
    },
}

/// Returns the area. A tagged enum is read to its end before a missing field is noticed.
#[tool(namespace = "reader", read_only)]
fn area(shape: Shape) -> f64 {
    match shape {
        Shape::Circle { radius } => radius * radius,
        Shape::Rectangle { width, height } => width * height,
    }
}

#[test]
fn a_required_property_of_a_tagged_enum_is_needed() {
    let found = lint(&catalog![area].unwrap(), &[]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn arguments_that_the_schema_accepts_and_the_type_does_not_are_reported() {
    let diagnostics = lint(&catalog![impossible, stated].unwrap(), &[]);
    let found: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(diagnostics[0].rule, Rule::UnreadExample);
    assert!(found[0].starts_with(
        "reader:impossible: arguments reject `{\"text\":{\"number\":0},\"flag\":true}`, which their schema accepts; "
    ), "{found:?}");
}

#[test]
fn properties_that_are_required_without_need_are_reported() {
    let found: Vec<String> = lint(&catalog![pages].unwrap(), &[]).iter().map(ToString::to_string).collect();
    let expected = "reader:pages: arguments/of/page is required by the schema, but its type can be read without it; write \
                    `#[serde(default)]`, or `#[schemars(with = \"Option<…>\")]` [needless-required]";
    assert_eq!(found, [expected]);
}
