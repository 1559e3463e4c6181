//! Pages for a browser to be tested with, into a folder: tools that try everything, and a thousand of servers that exist.

use std::collections::HashSet;
use std::path::Path;

use test_support::{hostile, real_servers};
use toolkit::Catalog;
use toolkit::tool::Namespace;
use toolkit_providers::html::document;

fn main() {
    let folder = std::env::args().nth(1).expect("the folder is an argument");
    write(Path::new(&folder), "hostile", Catalog::new(hostile::tools()).expect("their ids differ"));
    // Each of them three times makes more than a thousand.
    let servers = real_servers();
    let large = ["", "-2", "-3"].into_iter().flat_map(|times| {
        servers.iter().flat_map(move |(name, tools)| {
            let namespace = Namespace::new(format!("{name}{times}")).expect("a file is named like a namespace");
            tools.iter().map(move |tool| tool.in_namespace(namespace.clone()))
        })
    });
    let mut ids = HashSet::new();
    let large = large.filter(|tool| ids.insert(tool.id().clone()));
    write(Path::new(&folder), "large", Catalog::new(large).expect("their ids differ"));
}

fn write(folder: &Path, name: &str, catalog: Catalog) {
    let page = document(name, None, &catalog);
    std::fs::write(folder.join(format!("{name}.html")), page).expect("the folder can be written to");
}
