//! Modules whose tools share a namespace, a version and tags.

use toolkit::{Catalog, Dispatcher, Tool, catalog};

mod plain {
    #[toolkit::toolset(
        namespace = "files",
        version = env!("CARGO_PKG_VERSION"),
        tags = ["disk"],
        category = "storage",
        read_only
    )]
    pub mod files {
        use toolkit::{tool, toolset};

        /// Reads a file.
        #[tool]
        pub fn read(path: String) -> String {
            path
        }

        /// Writes a file.
        #[tool(version = "9.0.0", tags = ["write"], destructive)]
        pub fn write(path: String) -> String {
            path
        }

        /// Is no tool.
        pub fn helper() -> u8 {
            1
        }

        pub mod deep {
            /// Lists a folder.
            #[toolkit::tool(namespace = "folders")]
            pub fn list() -> u8 {
                super::helper()
            }
        }

        pub struct Trash;

        #[toolset(version = "2.0.0")]
        impl Trash {
            /// Empties the trash.
            #[tool(destructive)]
            pub fn empty(&self) {}

            /// Counts what is in the trash.
            #[tool]
            pub fn count(&self) -> u8 {
                0
            }
        }

        #[toolset(namespace = "links", tags = ["graph"])]
        pub mod links {
            /// Follows a link.
            #[toolkit::tool]
            pub fn follow() -> u8 {
                2
            }
        }
    }
}

use plain::files::{self, Trash, deep, links};

fn all() -> Catalog {
    catalog![files::read, files::write, deep::list, Trash::empty, Trash::count, links::follow].unwrap()
}

#[test]
fn tools_take_over_what_their_module_declares_and_they_do_not() {
    let catalog = all();
    let version = env!("CARGO_PKG_VERSION");
    let ids: Vec<String> = catalog.iter().map(|tool| tool.id().to_string()).collect();
    let expect = [
        "files:count:2.0.0".to_owned(),
        "files:empty:2.0.0".to_owned(),
        format!("files:read:{version}"),
        "files:write:9.0.0".to_owned(),
        format!("folders:list:{version}"),
        format!("links:follow:{version}"),
    ];
    assert_eq!(ids, expect);
    let tool = |name: &str| -> &Tool { catalog.resolve(name).unwrap() };
    assert_eq!(tool("read").tags(), ["disk"]);
    assert_eq!(tool("write").tags(), ["disk", "write"]);
    assert_eq!(tool("follow").tags(), ["disk", "graph"]);
    assert_eq!(tool("follow").category(), Some("storage"));
    assert_eq!(tool("read").annotations().read_only, Some(true));
    // A tool that modifies something is not read-only, whatever the module declares.
    assert_eq!(tool("write").annotations().read_only, None);
    assert_eq!(tool("empty").annotations().destructive, Some(true));
}

#[test]
fn tools_of_a_module_are_called_like_others() {
    let dispatcher = Dispatcher::builder(all()).state(Trash).build().unwrap();
    assert_eq!(dispatcher.call_sync("files:read", r#"{"path": "a"}"#).unwrap().value(), "a");
    assert_eq!(dispatcher.call_sync("links:follow", "{}").unwrap().value(), 2);
    assert_eq!(files::helper(), 1);
}
