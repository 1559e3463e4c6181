//! Compilation cost of a tool, and the number of crates it needs.
//!
//! Each way to write tools is a package. It is compiled without tools and with many, and the difference is divided by
//! their number.

use std::collections::BTreeSet;
use std::{fs, io};

use toolkit_benches::program::{Size, Workshop, project, sizes};
use toolkit_benches::ways::{Way, ways};
use toolkit_plot::results::{Recorder, Table};

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
    println!(
        "| written with | tools | check, CPU s | a tool, ms | debug build, CPU s | a tool, ms | lines of LLVM a tool |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
    let mut recorder = Recorder::new("cargo run --release -p toolkit-benches --bin compile");
    let columns = ["tools", "check_s", "check_tool_ms", "build_s", "build_tool_ms", "llvm_lines_tool"];
    let mut table = Table::new("compilation", &columns);
    for way in &ways {
        measure(way, &workshop, &sizes, &mut table)?;
    }
    recorder.add(table);
    println!("\n| | crates |\n|---|---:|");
    let mut table = Table::new("minimal useful configuration", &["crates"]);
    for (package, name, _) in minimal() {
        let n_crates = n_crates(&workshop, package)?;
        println!("| {name} | {n_crates} |");
        table.row(name, [Some(n_crates as f64)]);
    }
    recorder.add(table);
    recorder.finish()
}

/// Measures the compilation of one way, and writes a row for each size.
fn measure(way: &Way, workshop: &Workshop, sizes: &[usize], table: &mut Table) -> io::Result<()> {
    let Way { package, name, .. } = way;
    // Once for the dependencies, and then for an empty package.
    let mut empty = [0.0; 2];
    for _ in 0..2 {
        workshop.source(package, "src/lib.rs", &(way.tools)(0))?;
        empty = compile(package, workshop)?;
    }
    let lines = llvm_lines(way, workshop)?;
    for &size in sizes {
        workshop.source(package, "src/lib.rs", &(way.tools)(size))?;
        let [check, build] = compile(package, workshop)?;
        let of_a_tool = |nth: usize, total: f64| (total - empty[nth]) * 1e3 / size as f64;
        let (check_tool, build_tool) = (of_a_tool(0, check), of_a_tool(1, build));
        println!("| {name} | {size} | {check:.1} | {check_tool:.1} | {build:.1} | {build_tool:.1} | {lines:.0} |");
        table.row(*name, [size as f64, check, check_tool, build, build_tool, lines].map(Some));
    }
    Ok(())
}

/// Returns the number of lines of LLVM code in the functions of a tool more, which no load of the machine changes.
fn llvm_lines(way: &Way, workshop: &Workshop) -> io::Result<f64> {
    const FEW: usize = 2;
    const MANY: usize = 22;
    let mut lines = [0; 2];
    for (lines, size) in lines.iter_mut().zip([FEW, MANY]) {
        workshop.source(way.package, "src/lib.rs", &(way.tools)(size))?;
        // Emitted beside the library, in one file.
        let path = workshop.path(&format!("{}.ll", way.package));
        let emit = format!("--emit=llvm-ir={}", path.display());
        workshop.cargo(&["rustc", "--package", way.package, "--lib", "--", &emit, "-Ccodegen-units=1"])?;
        let mut is_inside = false;
        for line in fs::read_to_string(path)?.lines() {
            is_inside = (is_inside || line.starts_with("define ")) && line != "}";
            *lines += usize::from(is_inside);
        }
    }
    Ok((lines[1] as f64 - lines[0] as f64) / (MANY - FEW) as f64)
}

fn compile(package: &str, workshop: &Workshop) -> io::Result<[f64; 2]> {
    let mut seconds = [0.0; 2];
    for (seconds, command) in seconds.iter_mut().zip(["check", "build"]) {
        *seconds = workshop.cargo(&[command, "--package", package])?.1.as_secs_f64();
    }
    Ok(seconds)
}

/// The minimal useful configuration of each library: package, name, dependencies.
fn minimal() -> Vec<(&'static str, &'static str, String)> {
    let toolkit = project().join("toolkit");
    vec![
        (
            "least-toolkit-sync",
            "toolkit, no default features",
            format!("toolkit-core = {{ path = {toolkit:?}, default-features = false }}\n"),
        ),
        (
            "least-toolkit-async",
            "toolkit, with `async`",
            format!("toolkit-core = {{ path = {toolkit:?}, default-features = false, features = [\"async\"] }}\n"),
        ),
        ("least-toolkit", "toolkit", format!("toolkit-core = {{ path = {toolkit:?} }}\n")),
        (
            "least-rmcp",
            "rmcp 3.11.0: server, macros, transport-io",
            "rmcp = { version = \"=3.11.0\", default-features = false, features = [\"server\", \"macros\", \
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
