//! The public interface of every published crate, as rustdoc renders it.
//!
//! `tests/api/CRATE.txt` lists each item with its declaration, methods and trait implementations, so that a change of
//! the interface is visible in a review. The test reads what `cargo doc --no-deps --all-features` wrote:
//!
//! ```sh
//! cargo doc --no-deps --all-features && cargo test --test api -- --ignored
//! ```
//!
//! With `UPDATE_API=1` it writes the files.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use scraper::{ElementRef, Html, Selector};

const CRATES: [&str; 16] = [
    "toolkit",
    "toolkit_backends",
    "toolkit_cli",
    "toolkit_code",
    "toolkit_contract",
    "toolkit_durable",
    "toolkit_explorer",
    "toolkit_mcp_client",
    "toolkit_mcp_server",
    "toolkit_nats",
    "toolkit_otc",
    "toolkit_providers",
    "toolkit_runtime",
    "toolkit_schema",
    "toolkit_search",
    "toolkit_tower",
];

#[test]
#[ignore = "reads the documentation that `cargo doc --no-deps --all-features` writes"]
fn the_public_interface_is_the_listed_one() {
    let listed = Path::new(env!("CARGO_MANIFEST_DIR")).join("api");
    let mut changed = Vec::new();
    for name in CRATES {
        let file = listed.join(name).with_extension("txt");
        let interface = interface(&documentation().join(name));
        assert!(interface.lines().count() > 3, "{name} has no documentation");
        if std::env::var_os("UPDATE_API").is_some() {
            fs::write(&file, &interface).unwrap();
        }
        let before = fs::read_to_string(&file).unwrap_or_default();
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
        let (before, now) = (lines(&before), lines(&interface));
        changed.extend(before.difference(&now).map(|line| format!("{name}: - {line}")));
        changed.extend(now.difference(&before).map(|line| format!("{name}: + {line}")));
    }
    assert!(
        changed.is_empty(),
        "the public interface changed; update tests/api with UPDATE_API=1:\n{}",
        changed.join("\n")
    );
}

/// Returns the folder that `cargo doc` writes to: it is beside the folder for temporary files of tests.
fn documentation() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("a target directory").join("doc")
}

/// Lists all items of a crate, one line for each declaration, method and implementation.
fn interface(folder: &Path) -> String {
    let mut interface = String::new();
    for link in select(&page(&folder.join("all.html")), "ul.all-items a") {
        let href = link.attr("href").expect("a link");
        let item = href.trim_end_matches(".html").replace('/', "::");
        let page = page(&folder.join(href));
        for declaration in select(&page, "pre.item-decl") {
            writeln!(interface, "{item}: {}", text(declaration)).unwrap();
        }
        for method in select(&page, "#implementations-list section.method h4, #deref-methods section.method h4") {
            writeln!(interface, "{item}: {}", text(method)).unwrap();
        }
        for implementation in select(&page, "#trait-implementations-list section.impl h3") {
            writeln!(interface, "{item}: {}", text(implementation)).unwrap();
        }
    }
    interface
}

fn page(path: &Path) -> Html {
    let text = fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("{}: {error}; run `cargo doc` as above", path.display()));
    Html::parse_document(&text)
}

fn select<'p>(page: &'p Html, selector: &str) -> Vec<ElementRef<'p>> {
    page.select(&Selector::parse(selector).expect("a selector")).collect()
}

/// Returns the text of an element on one line.
fn text(element: ElementRef<'_>) -> String {
    element.text().collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}
