//! Compilation cost of a tool, and the number of crates it needs.
//!
//! Each way to write tools is a package. It is compiled without tools and with many, and the difference is divided by
//! their number.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;

use toolkit_benches::program::{Size, Workshop, project, sizes};

/// The compiler's defaults, which an author waits for.
const PROFILES: &str = "";

fn main() -> io::Result<()> {
    let sizes = match sizes()? {
        Size::Quick => vec![10],
        Size::Usual => vec![100, 1_000],
        Size::Given(sizes) => sizes,
    };
    let workshop = Workshop::open("compile", PROFILES)?;
    let ways = ways();
    for way in &ways {
        workshop.package(way.package, &way.dependencies)?;
    }
    for (package, _, dependencies) in minimal() {
        workshop.package(package, &dependencies)?;
    }
    println!("| written with | tools | check, CPU s | a tool, ms | debug build, CPU s | a tool, ms |");
    println!("|---|---:|---:|---:|---:|---:|");
    for way in &ways {
        way.measure(&workshop, &sizes)?;
    }
    println!("\n| | crates |\n|---|---:|");
    for (package, name, _) in minimal() {
        println!("| {name} | {} |", n_crates(&workshop, package)?);
    }
    Ok(())
}

/// One way to write tools.
struct Way {
    package: &'static str,
    name: &'static str,
    dependencies: String,
    /// The number of tools.
    tools: fn(usize) -> String,
}

impl Way {
    fn measure(&self, workshop: &Workshop, sizes: &[usize]) -> io::Result<()> {
        let Self { package, name, .. } = self;
        // Once for the dependencies, and then for an empty package.
        let mut empty = [0.0; 2];
        for _ in 0..2 {
            workshop.source(package, "src/lib.rs", &(self.tools)(0))?;
            empty = self.compile(workshop)?;
        }
        for &size in sizes {
            workshop.source(package, "src/lib.rs", &(self.tools)(size))?;
            let [check, build] = self.compile(workshop)?;
            let of_a_tool = |nth: usize, total: f64| (total - empty[nth]) * 1e3 / size as f64;
            let (check_tool, build_tool) = (of_a_tool(0, check), of_a_tool(1, build));
            println!("| {name} | {size} | {check:.1} | {check_tool:.1} | {build:.1} | {build_tool:.1} |");
        }
        Ok(())
    }

    fn compile(&self, workshop: &Workshop) -> io::Result<[f64; 2]> {
        let mut seconds = [0.0; 2];
        for (seconds, command) in seconds.iter_mut().zip(["check", "build"]) {
            *seconds = workshop.cargo(&[command, "--package", self.package])?.1.as_secs_f64();
        }
        Ok(seconds)
    }
}

fn ways() -> Vec<Way> {
    let toolkit = format!("toolkit = {{ path = {:?} }}\n", project().join("toolkit"));
    let derives = "serde = { version = \"1\", features = [\"derive\"] }\nschemars = \"1\"\n";
    let rmcp = "rmcp = { version = \"=3.9.0\", default-features = false, features = [\"server\", \"macros\"] }\n";
    let tools_rs = "tools-rs = \"=0.3.3\"\ntools_core = \"=0.3.3\"\ntools_macros = \"=0.3.0\"\ninventory = \"0.3\"\nserde_json = \"1\"\n";
    vec![
        Way {
            package: "with-derives",
            name: "a function and a struct with the two derives, no tool",
            dependencies: derives.to_owned(),
            tools: |n_tools| repeat(n_tools, |nth| format!("{}{}", arguments(nth), function(nth))),
        },
        Way {
            package: "with-rmcp",
            name: "rmcp 3.9.0, an argument struct",
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
            name: "toolkit, an argument struct",
            dependencies: format!("{toolkit}{derives}"),
            tools: |n_tools| {
                repeat(n_tools, |nth| {
                    format!("{}/// Adds, {nth}.\n#[toolkit::tool]\n{}", arguments(nth), function(nth))
                })
            },
        },
    ]
}

fn repeat(n_tools: usize, tool: impl Fn(usize) -> String) -> String {
    (0..n_tools).map(tool).collect()
}

fn arguments(nth: usize) -> String {
    format!("#[derive(serde::Deserialize, schemars::JsonSchema)]\npub struct Add{nth} {{ pub a: i64, pub b: i64 }}\n")
}

fn function(nth: usize) -> String {
    format!("pub fn add_{nth}(args: Add{nth}) -> i64 {{ args.a + args.b }}\n")
}

/// Routers of a hundred tools, since a longer `impl` is unrealistic. They are public, since rustc drops unreachable
/// private code.
fn by_rmcp(n_tools: usize) -> String {
    let mut source = String::from(
        "use rmcp::handler::server::wrapper::Parameters;\nuse rmcp::{tool, tool_router};\npub struct Tools;\n",
    );
    source.push_str(&repeat(n_tools, arguments));
    let mut write = |text: std::fmt::Arguments<'_>| source.write_fmt(text).expect("a `String` takes everything");
    for first in (0..n_tools).step_by(100) {
        write(format_args!("#[tool_router(router = router_{first}, vis = \"pub\")]\nimpl Tools {{\n"));
        for nth in first..n_tools.min(first + 100) {
            write(format_args!(
                "/// Adds, {nth}.\n#[tool]\nfn add_{nth}(&self, Parameters(args): Parameters<Add{nth}>) -> String {{ (args.a + args.b).to_string() }}\n"
            ));
        }
        write(format_args!("}}\n"));
    }
    source
}

/// The minimal useful configuration of each library: package, name, dependencies.
fn minimal() -> Vec<(&'static str, &'static str, String)> {
    let toolkit = project().join("toolkit");
    vec![
        (
            "least-toolkit-sync",
            "toolkit, no default features",
            format!("toolkit = {{ path = {toolkit:?}, default-features = false }}\n"),
        ),
        (
            "least-toolkit-async",
            "toolkit, with `async`",
            format!("toolkit = {{ path = {toolkit:?}, default-features = false, features = [\"async\"] }}\n"),
        ),
        ("least-toolkit", "toolkit", format!("toolkit = {{ path = {toolkit:?} }}\n")),
        (
            "least-rmcp",
            "rmcp 3.9.0: server, macros, transport-io",
            "rmcp = { version = \"=3.9.0\", default-features = false, features = [\"server\", \"macros\", \
             \"transport-io\"] }\nserde = \"1\"\n"
                .to_owned(),
        ),
        (
            "least-tools-rs",
            "tools-rs 0.3.3 and what its macro asks for",
            "tools-rs = \"=0.3.3\"\ntools_core = \"=0.3.3\"\ntools_macros = \"=0.3.0\"\ninventory = \"0.3\"\nserde = \
             \"1\"\n"
                .to_owned(),
        ),
    ]
}

fn n_crates(workshop: &Workshop, package: &str) -> io::Result<usize> {
    let (printed, _) = workshop.cargo(&["tree", "--package", package, "--edges", "normal", "--prefix", "none"])?;
    let crates = printed.lines().map(|line| line.trim_end_matches(" (*)")).filter(|line| !line.is_empty());
    // The package itself is not a dependency.
    Ok(crates.collect::<BTreeSet<_>>().len() - 1)
}
