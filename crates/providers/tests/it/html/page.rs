//! The structure, the content security policy and the anchors of the page.

use std::collections::HashSet;

use data_encoding::BASE64;
use sha2::{Digest, Sha256};
use test_support::{hostile, ran, real_servers, sample};

use super::*;

/// Returns the pages for tests of the whole document.
fn pages() -> Vec<String> {
    let mut pages = vec![text_of([]), text_of(hostile::tools())];
    for (_, tools) in sample(real_servers(), 3) {
        let mut ids = HashSet::new();
        pages.push(text_of(tools.into_iter().filter(|tool| ids.insert(tool.id().clone()))));
    }
    ran(pages.len());
    pages
}

#[test]
fn every_page_is_well_formed() {
    for text in pages() {
        let page = Html::parse_document(&text);
        assert!(page.errors.is_empty(), "{:?} in {}", page.errors, &text[text.len().saturating_sub(2000)..]);
    }
}

#[test]
fn ids_are_unique_and_internal_links_have_targets() {
    for text in pages() {
        let page = Html::parse_document(&text);
        let mut ids = HashSet::new();
        for element in all(&page, "[id]") {
            let id = element.value().id().unwrap();
            assert!(ids.insert(id), "two elements are called {id}");
        }
        for link in all(&page, "a[href]") {
            match link.attr("href").unwrap().strip_prefix('#') {
                Some(anchor) => assert!(ids.contains(anchor), "nothing is called {anchor}"),
                None => assert!(link.attr("href").unwrap().starts_with(['?', 'h', 'H'])),
            }
        }
        assert_eq!(all(&page, "nav li a").len(), all(&page, "article").len());
        assert!(all(&page, "summary a").is_empty(), "a summary is a control itself");
    }
}

#[test]
fn the_policy_allows_this_style_and_this_script_and_nothing_else() {
    let page = page_of([]);
    let policy = all(&page, "meta[http-equiv='Content-Security-Policy']")[0].attr("content").unwrap();
    for (tag, directive) in [("style", "style-src"), ("script", "script-src")] {
        let inside = all(&page, tag)[0].text().collect::<String>();
        let hash = BASE64.encode(&Sha256::digest(inside));
        assert!(policy.contains(&format!("{directive} 'sha256-{hash}';")), "the hash of the {tag} is {hash}");
    }
    assert!(policy.starts_with("default-src 'none';") && policy.contains("base-uri 'none'; form-action 'none'"));
    assert!(!policy.contains("unsafe") && !policy.contains("http"));
}

#[test]
fn a_page_has_the_same_bytes_each_time() {
    let tools = || {
        let mut tools: Vec<Tool> = real_servers().into_iter().flat_map(|(_, tools)| tools).collect();
        tools.sort_by(|a, b| a.id().cmp(b.id()));
        tools.dedup_by(|a, b| a.id() == b.id());
        tools
    };
    let mut reversed = tools();
    reversed.reverse();
    assert!(text_of(tools()) == text_of(reversed));
}

#[test]
fn anchors_do_not_depend_on_versions() {
    let tool = |version| Tool::builder("add").namespace("math").version(version).build().unwrap();
    for page in [page_of([tool("1.0.0")]), page_of([tool("2.0.0"), tool("1.0.0")])] {
        assert!(text(&page, "[id='math:add'] h3").starts_with("math:add "));
    }
    let page = page_of([tool("2.0.0"), tool("1.0.0")]);
    assert_eq!(text(&page, "[id='math:add'] h3 .version"), "2.0.0");
    assert_eq!(text(&page, "details[id='math:add:1.0.0'] > summary"), "Version 1.0.0");
}
