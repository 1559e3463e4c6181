//! Search: the tools that fit a request in plain language.

use toolkit::{Catalog, tool};
use toolkit_search::Index;

/// Adds two numbers.
#[tool(namespace = "math", tags = ["arithmetic"])]
fn add(a: f64, b: f64) -> f64 {
    a + b
}

/// Returns the weather forecast for a city.
#[tool(namespace = "weather")]
fn forecast(city: String) -> String {
    format!("sunny in {city}")
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let index = Index::from_tools(&Catalog::linked()?);
    let hits = index.search("add two numbers", 5);
    for hit in &hits {
        println!("{:.2} {} {}", hit.score, hit.summary.id, hit.summary.short_description);
    }
    assert_eq!(hits[0].summary.id, "math:add");
    Ok(())
}
