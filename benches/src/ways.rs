//! The ways to write tools whose compilation is measured.

use std::fmt::Write as _;

use crate::program::project;

/// One way to write tools.
#[derive(Debug)]
pub struct Way {
    /// The name of the package.
    pub package: &'static str,
    /// The name in a table.
    pub name: &'static str,
    /// The lines of `[dependencies]`.
    pub dependencies: String,
    /// Returns the source of a number of tools.
    pub tools: fn(usize) -> String,
}

/// Returns the ways, the one without tools first.
#[must_use]
pub fn ways() -> Vec<Way> {
    let toolkit = format!("toolkit-core = {{ path = {:?} }}\n", project().join("toolkit"));
    let derives = "serde = { version = \"1\", features = [\"derive\"] }\nschemars = \"1\"\n";
    let rmcp = "rmcp = { version = \"=3.11.0\", default-features = false, features = [\"server\", \"macros\"] }\n";
    let tools_rs = "tools-rs = \"=0.3.3\"\ntools_core = \"=0.3.3\"\ntools_macros = \"=0.3.0\"\ninventory = \"0.3\"\nserde_json = \"1\"\n";
    vec![
        Way {
            package: "with-derives",
            name: "a function and two structs with derives, no tool",
            dependencies: derives.to_owned(),
            tools: |n_tools| repeat(n_tools, |nth| format!("{}{}", structs(nth), function(nth))),
        },
        Way {
            package: "with-rmcp",
            name: "rmcp 3.11.0, structs of arguments and result",
            dependencies: format!("{rmcp}{derives}"),
            tools: by_rmcp,
        },
        Way {
            package: "with-tools-rs",
            name: "tools-rs 0.3.3, two parameters",
            dependencies: format!("{tools_rs}{derives}"),
            tools: |n_tools| {
                repeat(n_tools, |nth| {
                    format!(
                        "/// Adds, {nth}.\n#[tools_rs::tool]\npub async fn add_{nth}(a: i64, b: i64) -> i64 {{ a + b }}\n"
                    )
                })
            },
        },
        Way {
            package: "with-parameters",
            name: "toolkit, two parameters",
            dependencies: toolkit.clone(),
            tools: |n_tools| {
                repeat(n_tools, |nth| {
                    format!("/// Adds, {nth}.\n#[toolkit::tool]\npub fn add_{nth}(a: i64, b: i64) -> i64 {{ a + b }}\n")
                })
            },
        },
        Way {
            package: "with-struct",
            name: "toolkit, structs of arguments and result",
            dependencies: format!("{toolkit}{derives}"),
            tools: |n_tools| {
                repeat(n_tools, |nth| format!("{}/// Adds, {nth}.\n#[toolkit::tool]\n{}", structs(nth), function(nth)))
            },
        },
    ]
}

fn repeat(n_tools: usize, tool: impl Fn(usize) -> String) -> String {
    (0..n_tools).map(tool).collect()
}

/// Returns the structs of the arguments and of the result.
fn structs(nth: usize) -> String {
    format!(
        "#[derive(serde::Deserialize, schemars::JsonSchema)]\npub struct Add{nth} {{ pub a: i64, pub b: i64 }}\n\
         #[derive(serde::Serialize, schemars::JsonSchema)]\npub struct Sum{nth} {{ pub sum: i64, pub text: String }}\n"
    )
}

fn function(nth: usize) -> String {
    format!(
        "pub fn add_{nth}(args: Add{nth}) -> Sum{nth} {{ Sum{nth} {{ sum: args.a + args.b, text: String::new() }} }}\n"
    )
}

/// Routers of a hundred tools, since a longer `impl` is unrealistic. They are public, since rustc drops unreachable
/// private code.
fn by_rmcp(n_tools: usize) -> String {
    let mut source = String::from(
        "use rmcp::handler::server::wrapper::{Json, Parameters};\nuse rmcp::{tool, tool_router};\npub struct Tools;\n",
    );
    source.push_str(&repeat(n_tools, structs));
    let mut write = |text: std::fmt::Arguments<'_>| source.write_fmt(text).expect("a `String` takes everything");
    for first in (0..n_tools).step_by(100) {
        write(format_args!("#[tool_router(router = router_{first}, vis = \"pub\")]\nimpl Tools {{\n"));
        for nth in first..n_tools.min(first + 100) {
            write(format_args!(
                "/// Adds, {nth}.\n#[tool]\nfn add_{nth}(&self, Parameters(args): Parameters<Add{nth}>) -> Json<Sum{nth}> {{ Json(Sum{nth} {{ sum: args.a + args.b, text: String::new() }}) }}\n"
            ));
        }
        write(format_args!("}}\n"));
    }
    source
}
