//! Tests of what the results of tools link to.

use std::fs;

use serde_json::json;
use toolkit::Content;
use toolkit::resource::ResourceBody;
use toolkit_examples::{Root, resources};

use super::common::Host;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nand more";

#[test]
fn each_link_of_a_tool_is_readable() {
    let host = Host::read_only();
    host.put("notes/a b.txt", "one\ntwo\nthree\n");
    host.put("pictures/é.png", PNG);
    let calls = [
        ("files:read_file", json!({ "path": "notes/a b.txt", "max_lines": 1 }), "one\ntwo\nthree\n".as_bytes()),
        ("files:view_picture", json!({ "path": "pictures/é.png" }), PNG),
    ];
    let files = resources::files(Root::read_only(host.dir.path().join("inside")).unwrap()).unwrap();
    for (tool, arguments, expected) in calls {
        let links = host.content(tool, arguments).into_iter().filter_map(|block| match block {
            Content::ResourceLink { uri, .. } => Some(uri),
            _ => None,
        });
        let links: Vec<String> = links.collect();
        assert_eq!(links.len(), 1, "{tool}");
        let contents = host.read(&files, &links[0]).unwrap();
        match &contents[0].body {
            ResourceBody::Text(text) => assert_eq!(text.as_bytes(), expected),
            ResourceBody::Blob(base64) => {
                assert_eq!(&ResourceBody::from(expected), &ResourceBody::Blob(base64.clone()))
            }
            other => panic!("{other:?}"),
        }
    }
    // All tools that link to something are tested above.
    let sources = ["files.rs", "pictures.rs", "search.rs", "tables.rs", "text.rs", "json.rs", "git.rs", "units.rs"];
    let sources = sources.map(|file| fs::read_to_string(format!("{}/src/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap());
    assert_eq!(sources.iter().map(|source| source.matches("resource_link(").count()).sum::<usize>(), 2);
}

#[test]
fn files_outside_of_the_root_are_not_resources() {
    let host = Host::read_only();
    host.put("a.txt", "inside");
    #[cfg(unix)]
    std::os::unix::fs::symlink(host.dir.path().join("secret.txt"), host.dir.path().join("inside/link")).unwrap();
    let files = resources::files(Root::read_only(host.dir.path().join("inside")).unwrap()).unwrap();
    assert!(host.read(&files, "root:///a.txt").is_some());
    for path in
        ["../secret.txt", "%2e%2e/secret.txt", "..%2Fsecret.txt", "link", "/etc/passwd", "a.txt%00", ".git/config"]
    {
        assert!(host.read(&files, &format!("root:///{path}")).is_none(), "{path}");
    }
}
