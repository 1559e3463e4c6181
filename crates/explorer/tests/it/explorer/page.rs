//! The page, its files and its data.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use toolkit::{Catalog, Dispatcher, Tool};
use toolkit_explorer::Explorer;
use toolkit_mcp_server::Server;

use crate::explorer::{get, service};

fn sources() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/web")
}

#[tokio::test]
async fn the_files_are_served_as_they_are_in_the_source() {
    let service = service();
    let page = get(&service, "/explorer").await.text().await;
    let links: Vec<&str> = page.split("href=\"/").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let mut served = Vec::new();
    for link in links {
        let got = get(&service, &format!("/{link}")).await;
        let name = link.rsplit_once('/').unwrap().1;
        let kind = if name.ends_with(".css") { "text/css; charset=utf-8" } else { "text/javascript; charset=utf-8" };
        assert_eq!(got.headers["content-type"], kind);
        assert_eq!(got.text().await, fs::read_to_string(sources().join(name)).unwrap(), "{name}");
        served.push(name.to_owned());
        assert_eq!(get(&service, &format!("/explorer/0123456789abcdef/{name}")).await.status, 404, "another version");
    }
    let files = fs::read_dir(sources()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut files: Vec<String> = files.collect();
    files.sort();
    served.sort();
    assert_eq!(served, files, "the page links to each file once");
}

#[tokio::test]
async fn the_document_has_no_inline_code_and_escapes_its_title() {
    let page = get(&service(), "/explorer").await.text().await;
    assert!(page.contains("<h1>Tools &lt;&amp;&quot;&gt;</h1>"), "{page}");
    assert!(!page.contains("<style") && !page.contains(" style=") && !page.contains(" on"), "{page}");
    assert_eq!(page.matches("<script").count(), 1);
    assert!(page.contains("></script>"), "{page}");
}

#[test]
fn the_scripts_use_no_sink_for_markup_or_code() {
    let sinks = [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
        "setTimeout(\"",
        "DOMParser",
        "createContextualFragment",
        "srcdoc",
        "javascript:",
        "new RegExp(text",
        "importScripts",
        "new Worker",
    ];
    let mut n_files = 0;
    for file in fs::read_dir(sources()).unwrap() {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        n_files += 1;
        for sink in sinks {
            assert!(!text.contains(sink), "{}: {sink}", path.display());
        }
        // Addresses of others are never loaded, and `dom.js` alone decides about attributes.
        let is_dom = path.ends_with("dom.js");
        for line in text.lines().filter(|line| line.contains(".setAttribute(") && !is_dom) {
            let is_constant = line.split(".setAttribute(").skip(1).all(|call| call.starts_with('"'));
            assert!(is_constant, "{}: {line}", path.display());
        }
    }
    assert!(n_files > 20);
}

#[test]
fn the_page_is_small() {
    let total: usize = fs::read_dir(sources()).unwrap().map(|file| fs::read(file.unwrap().path()).unwrap().len()).sum();
    // About 45 kB after compression; nothing is minified.
    assert!(total < 180_000, "{total} bytes");
}

#[tokio::test]
async fn a_tool_without_hints_is_marked_as_one_that_may_be_destructive() {
    let tools = [Tool::builder("mail"), Tool::builder("create").destructive(false)].map(|tool| tool.build().unwrap());
    let dispatcher = Dispatcher::new(Catalog::new(tools).unwrap()).unwrap();
    let service = Server::new(dispatcher).unwrap().http().route(Explorer::new("Tools")).into_service();
    let catalog = get(&service, "/explorer/catalog").await.json().await;
    let hints = |nth: usize| catalog["tools"][nth]["hints"].clone();
    assert_eq!((hints(0), hints(1)), (json!(["not-destructive"]), json!(["may-be-destructive"])));
}

#[tokio::test]
async fn the_catalog_has_what_the_list_shows_and_a_tool_everything() {
    let service = service();
    let catalog = get(&service, "/explorer/catalog").await.json().await;
    let expected = json!({
        "name": "math_add", "id": "math:add:1.0.0", "namespace": "math", "summary": "Adds two integers.",
        "tags": ["numbers"], "hints": ["read-only"],
    });
    let mut add = catalog["tools"][1].clone();
    let tokens = add.as_object_mut().unwrap().shift_remove("tokens").unwrap();
    assert!(tokens.as_u64().unwrap() > 10, "{tokens}");
    assert_eq!(add, expected);
    assert_eq!(catalog["info"]["hasCalls"], true);
    let details: Value = get(&service, "/explorer/tool?name=math_add").await.json().await;
    assert_eq!(details["tool"]["inputSchema"]["properties"]["a"]["type"], "integer");
    assert_eq!(details["id"], "math:add");
    assert_eq!(details["cost"]["total"], tokens);
    assert!(details["examples"][0]["a"].is_number(), "{details}");
    for name in ["", "math:add", "nothing", "..%2f", "math_add&x"] {
        assert_eq!(get(&service, &format!("/explorer/tool?name={name}")).await.status, 404, "{name}");
    }
}
