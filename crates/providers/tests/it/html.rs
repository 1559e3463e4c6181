//! The HTML page: well-formed, complete, and safe for untrusted descriptions.

mod hostile;
mod page;
mod shown;

use scraper::{ElementRef, Html, Selector};
use toolkit::{Catalog, Tool};
use toolkit_providers::html::document;

fn text_of(tools: impl IntoIterator<Item = Tool>) -> String {
    document("Tools", Some("tools"), &Catalog::new(tools).expect("their ids differ"))
}

fn page_of(tools: impl IntoIterator<Item = Tool>) -> Html {
    Html::parse_document(&text_of(tools))
}

fn all<'p>(page: &'p Html, selector: &str) -> Vec<ElementRef<'p>> {
    page.select(&Selector::parse(selector).unwrap()).collect()
}

/// Returns the text of the only matching element.
#[track_caller]
fn text(page: &Html, selector: &str) -> String {
    match &all(page, selector)[..] {
        [one] => one.text().collect::<Vec<_>>().concat().split_whitespace().collect::<Vec<_>>().join(" "),
        found => panic!("{} elements fit {selector}", found.len()),
    }
}
