//! Cost of linked tools for a program before it calls any of them.
//!
//! Programs with growing numbers of tools are generated and built, and then started in turns. All tools share one
//! argument type, whose schema counts how often it is built; with one type for each tool, the measurement would be that
//! of rustc.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::process::Command;
use std::time::{Duration, Instant};

use toolkit_benches::measure::Sorted;
use toolkit_benches::program::{Size, Workshop, project, sizes};
use toolkit_plot::results::{Recorder, Table};

/// The number of tools in one crate, which rustc compiles easily; ten thousand tools are ten crates.
const TOOLS_IN_A_CRATE: usize = 1_000;

// Bounds the build time; the startup cost of a tool is that of its data, not of its code.
const PROFILES: &str = "[profile.release]\nopt-level = 1\nlto = \"off\"\n";

fn main() -> io::Result<()> {
    let (sizes, n_rounds) = match sizes()? {
        Size::Quick => (vec![10], 11),
        Size::Usual => (vec![10, 1_000, 10_000], 101),
        Size::Given(sizes) => (sizes, 101),
    };
    let sizes: Vec<usize> = std::iter::once(0).chain(sizes).collect();

    let workshop = Workshop::open("startup", PROFILES)?;
    write_programs(&workshop, &sizes)?;
    let (_, cpu_time) = workshop.cargo(&["build", "--release"])?;
    eprintln!("built in {:.0} s of processor time", cpu_time.as_secs_f64());

    let mut runs: BTreeMap<usize, Vec<Run>> = BTreeMap::new();
    for _ in 0..n_rounds {
        for &size in &sizes {
            runs.entry(size).or_default().push(Run::of(&workshop, size)?);
        }
    }
    let mut recorder = Recorder::new("cargo run --release -p toolkit-benches --bin startup");
    recorder.add(print(&runs));
    recorder.finish()
}

fn write_programs(workshop: &Workshop, sizes: &[usize]) -> io::Result<()> {
    let toolkit = format!("toolkit-core = {{ path = {:?} }}\n", project().join("toolkit"));
    workshop.package("shared", "serde = { version = \"1\", features = [\"derive\"] }\nschemars = \"1\"\n")?;
    workshop.source("shared", "src/lib.rs", SHARED)?;
    let mut dependencies = format!("{toolkit}shared = {{ path = \"../shared\" }}\n");
    let mut parts = Vec::new();
    for &size in sizes {
        let mut linked = String::new();
        for first in (0..size).step_by(TOOLS_IN_A_CRATE) {
            let n_tools = TOOLS_IN_A_CRATE.min(size - first);
            let name = format!("part_{first}_{n_tools}");
            if !parts.contains(&name) {
                workshop.package(&name, &format!("{toolkit}shared = {{ path = \"../shared\" }}\n"))?;
                workshop.source(&name, "src/lib.rs", &tools(first, n_tools))?;
                parts.push(name.clone());
            }
            writeln!(linked, "use {name} as _;").expect("a `String` takes everything");
        }
        workshop.source("programs", &format!("src/bin/with_{size}.rs"), &format!("{linked}{PROGRAM}"))?;
    }
    for part in parts {
        writeln!(dependencies, "{part} = {{ path = \"../{part}\" }}").expect("a `String` takes everything");
    }
    workshop.package("programs", &dependencies)
}

fn tools(first: usize, n_tools: usize) -> String {
    let mut source = String::from("use shared::{Answer, Question};\nuse toolkit::tool;\n");
    for nth in first..first + n_tools {
        let tool = format!(
            "\n/// Answers question {nth}.\n#[tool]\nfn answer_{nth}(question: Question) -> Answer {{\n    Answer {{ n: question.n + {nth} }}\n}}\n"
        );
        source.push_str(&tool);
    }
    source
}

const SHARED: &str = r#"
use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

pub static SCHEMAS_BUILT: AtomicUsize = AtomicUsize::new(0);

#[derive(serde::Deserialize)]
pub struct Question {
    pub n: u64,
}

#[derive(serde::Serialize)]
pub struct Answer {
    pub n: u64,
}

fn build() -> Schema {
    SCHEMAS_BUILT.fetch_add(1, Ordering::Relaxed);
    json_schema!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] })
}

impl JsonSchema for Question {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Question".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        build()
    }
}

impl JsonSchema for Answer {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Answer".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        build()
    }
}
"#;

/// Prints the values that `Run` parses.
const PROGRAM: &str = r#"
use std::sync::atomic::Ordering;
use std::time::Instant;

fn main() {
    let start = Instant::now();
    let catalog = toolkit::Catalog::linked().expect("the names differ");
    let taken = start.elapsed().as_nanos();
    let resident = resident_kib();
    let built = shared::SCHEMAS_BUILT.load(Ordering::Relaxed);
    println!("{} {taken} {resident} {built}", catalog.len());
    if std::env::args().nth(1).is_some() {
        let start = Instant::now();
        let n_bytes: usize = catalog.iter().map(|tool| tool.input().as_value().to_string().len()).sum();
        assert!(n_bytes >= catalog.len());
        println!("{} {}", start.elapsed().as_nanos(), shared::SCHEMAS_BUILT.load(Ordering::Relaxed));
    }
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("this is Linux");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("Linux has it");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).expect("a number")
}
"#;

/// One start of a program.
struct Run {
    process: Duration,
    linked: Duration,
    resident_kib: f64,
    schemas_built: u64,
}

impl Run {
    fn of(workshop: &Workshop, size: usize) -> io::Result<Self> {
        let mut program = Command::new(workshop.released(&format!("with_{size}")));
        let start = Instant::now();
        let output = program.output()?;
        let process = start.elapsed();
        let printed = String::from_utf8_lossy(&output.stdout);
        let numbers: Vec<u64> = printed.split_whitespace().filter_map(|number| number.parse().ok()).collect();
        let [n_tools, nanos, resident_kib, schemas_built] = numbers[..] else {
            return Err(io::Error::other(format!("with_{size} printed {printed:?}")));
        };
        assert_eq!(n_tools, size as u64, "every tool is linked");
        Ok(Self { process, linked: Duration::from_nanos(nanos), resident_kib: resident_kib as f64, schemas_built })
    }
}

/// Prints the table, and the cost of one more tool; returns the table.
fn print(runs: &BTreeMap<usize, Vec<Run>>) -> Table {
    println!(
        "| tools | process, ms | more than with none, ms | `Catalog::linked()`, ms | resident, KiB | schemas built |"
    );
    println!("|---:|---:|---:|---:|---:|---:|");
    let columns = ["tools", "process_ms", "more_than_with_none_ms", "linked_ms", "resident_kib", "schemas_built"];
    let mut table = Table::new("startup", &columns);
    for (&size, of_size) in runs {
        let process = median(of_size.iter().map(|run| millis(run.process)));
        let more = of_size.iter().zip(&runs[&0]).map(|(run, none)| millis(run.process) - millis(none.process));
        let linked = median(of_size.iter().map(|run| millis(run.linked)));
        let resident = median(of_size.iter().map(|run| run.resident_kib));
        let schemas_built: u64 = of_size.iter().map(|run| run.schemas_built).sum();
        let more = median(more);
        println!("| {size} | {process:.2} | {more:+.2} | {linked:.3} | {resident:.0} | {schemas_built} |");
        let values = [size as f64, process, more, linked, resident, schemas_built as f64];
        table.row("a program", values.map(Some));
    }
    // The first tool links the code that all tools share, so the cost of one more tool is computed from a small number
    // on.
    let few = runs.range(1..).next();
    for (few, many) in few.into_iter().flat_map(|few| runs.range(few.0 + 1..).map(move |many| (few, many))) {
        let n_tools = (many.0 - few.0) as f64;
        let more = many.1.iter().zip(few.1);
        let of_a_tool = |difference: &dyn Fn(&Run, &Run) -> f64, scale: f64| {
            median(more.clone().map(|(many, few)| difference(many, few))) * scale / n_tools
        };
        println!(
            "\nFrom {} to {} tools, one tool more: process {:.0} ns, `Catalog::linked()` {:.0} ns, resident {:.0} bytes",
            few.0,
            many.0,
            of_a_tool(&|many, few| millis(many.process) - millis(few.process), 1e6),
            of_a_tool(&|many, few| millis(many.linked) - millis(few.linked), 1e6),
            of_a_tool(&|many, few| many.resident_kib - few.resident_kib, 1_024.0),
        );
    }
    table
}

fn median(numbers: impl IntoIterator<Item = f64>) -> f64 {
    Sorted::of(numbers).at(0.5)
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
