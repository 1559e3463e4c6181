//! Measures how the cost of work grows with the number of tools and steps:
//! `cargo bench -p toolkit-benches --bench growth`.
//!
//! Each row is the time of one operation, or of one tool or step of it, at several sizes. The ratio of the last size to
//! the first one shows how the cost grows; 1.0 is linear for rows that are divided by the size.

use std::hint::black_box;
use std::time::{Duration, Instant};

use toolkit::catalog::Naming;
use toolkit::chain::{Chain, Step};
use toolkit::mcp::{Revision, ToolList};
use toolkit::{Catalog, Context, Dispatcher, Manifest, Tool, tool};

/// Adds two integers.
#[tool(namespace = "math")]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

const TOOLS: [usize; 3] = [1_000, 10_000, 100_000];
const STEPS: [usize; 3] = [1, 16, 256];

const VERBS: [&str; 16] = [
    "read", "write", "list", "find", "delete", "update", "create", "merge", "export", "import", "check", "send",
    "fetch", "rename", "archive", "convert",
];
const NOUNS: [&str; 16] = [
    "file", "message", "invoice", "calendar", "issue", "branch", "customer", "order", "image", "report", "user",
    "ticket", "event", "document", "payment", "channel",
];

type Row = (&'static str, [Duration; 3]);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut rows: Vec<Row> = [
        "unknown name: a typo",
        "unknown name: two typos",
        "unknown name: nothing similar",
        "unknown name: the first",
        "`Catalog::new`, a tool",
        "`Catalog::get`",
        "`ToolList::new`, a tool",
        "`Catalog::check`, a tool",
        "a list of tools as a JSON value, a tool",
        "`Manifest::from_mcp_json`, a tool",
    ]
    .map(|name| (name, [Duration::ZERO; 3]))
    .to_vec();
    for (nth, n_tools) in TOOLS.into_iter().enumerate() {
        for (row, time) in rows.iter_mut().zip(of_catalog(n_tools)?) {
            row.1[nth] = time;
        }
    }
    print("tools", TOOLS, &rows);
    println!();
    let mut rows: Vec<Row> =
        ["a call", "a step of a chain", "a step of a prepared chain"].map(|name| (name, [Duration::ZERO; 3])).to_vec();
    for (nth, n_steps) in STEPS.into_iter().enumerate() {
        for (row, time) in rows.iter_mut().zip(of_chain(n_steps)?) {
            row.1[nth] = time;
        }
    }
    print("steps", STEPS, &rows);
    Ok(())
}

fn of_catalog(n_tools: usize) -> Result<[Duration; 10], Box<dyn std::error::Error>> {
    let tools = || (0..n_tools).map(tool_of).collect::<Result<Vec<Tool>, _>>();
    let mut created = Vec::new();
    for _ in 0..5 {
        let tools = tools()?;
        let start = Instant::now();
        let catalog = Catalog::new(tools)?;
        created.push(start.elapsed());
        drop(black_box(catalog));
    }
    let catalog = Catalog::new(tools()?)?;
    let name = catalog.iter().nth(n_tools / 2).expect("there are tools").id().to_string();
    let first = once(|| catalog.resolve(&typo(&name, 1)).is_err());
    let unknown = |name: String| median(201, || catalog.resolve(&name).unwrap_err());
    let listed =
        median(5, || ToolList::new(&catalog, Revision::default(), Naming::default()).expect("they are listed"));
    let checked = median(5, || catalog.check(Naming::default()).is_ok());
    let list = ToolList::new(&catalog, Revision::default(), Naming::default())?.to_json();
    let parsed = median(5, || serde_json::from_str::<serde_json::Value>(&list).expect("it is JSON"));
    let read = median(5, || Manifest::from_mcp_json(&*list).expect("it is a list"));
    Ok([
        unknown(typo(&name, 1)),
        unknown(typo(&name, 2)),
        unknown("zzyzx:qqqqqqqqqqqqqq".to_owned()),
        first,
        created.into_iter().min().unwrap_or_default() / u32::try_from(n_tools)?,
        median(201, || (0..1000).map(|_| catalog.get(black_box(&name)).is_some()).filter(|found| *found).count())
            / 1000,
        listed / u32::try_from(n_tools)?,
        checked / u32::try_from(n_tools)?,
        parsed / u32::try_from(n_tools)?,
        read / u32::try_from(n_tools)?,
    ])
}

fn of_chain(n_steps: usize) -> Result<[Duration; 3], Box<dyn std::error::Error>> {
    let dispatcher = Dispatcher::new(Catalog::linked()?)?;
    let step = |nth: usize| match nth {
        0 => Step::new("math:add").arg("a", 1).arg("b", 2),
        nth => Step::new("math:add").arg("a", 1).take("b", (nth - 1).to_string(), ""),
    };
    let chain = (0..n_steps).fold(Chain::new(), |chain, nth| chain.then(step(nth).named(nth.to_string())));
    let context = Context::new();
    let call = median(201, || dispatcher.call_sync("math:add", r#"{"a": 1, "b": 2}"#).expect("it succeeds"));
    let run = median(201, || chain.run_sync(&dispatcher, &context).expect("it is valid").steps().len());
    let prepared = chain.prepare(&dispatcher)?;
    let prepared = median(201, || prepared.run_sync(&context).steps().len());
    let n_steps = u32::try_from(n_steps)?;
    Ok([call, run / n_steps, prepared / n_steps])
}

fn tool_of(nth: usize) -> Result<Tool, toolkit::catalog::Diagnostics> {
    let (verb, noun) = (VERBS[nth % 16], NOUNS[nth / 16 % 16]);
    let schema = serde_json::json!({
        "type": "object",
        "properties": { "path": { "type": "string" }, "limit": { "type": "integer", "minimum": 0 } },
        "required": ["path"],
    });
    Tool::builder(format!("{verb}_{noun}_{nth}"))
        .namespace(format!("{noun}s"))
        .version("1.0.0")
        .description(format!("{verb} {noun} number {nth}"))
        .input(schema)
        .build()
}

/// Swaps the two characters at the start of the name, and doubles the last one if there are two typos.
fn typo(name: &str, n_typos: usize) -> String {
    let (space, rest) = name.split_once(':').unwrap_or(("", name));
    let mut rest: Vec<char> = rest.split(':').next().unwrap_or(rest).chars().collect();
    rest.swap(0, 1);
    if n_typos > 1 {
        rest.remove(3);
    }
    format!("{space}:{}", rest.into_iter().collect::<String>())
}

fn once<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    black_box(work());
    start.elapsed()
}

fn median<T>(n: usize, work: impl Fn() -> T) -> Duration {
    let mut times: Vec<Duration> = (0..n).map(|_| once(&work)).collect();
    times.sort_unstable();
    times[n / 2]
}

fn print(unit: &str, sizes: [usize; 3], rows: &[Row]) {
    println!("| {unit} | {} | {} | {} | last / first |\n|---|---:|---:|---:|---:|", sizes[0], sizes[1], sizes[2]);
    for (name, times) in rows {
        let [a, b, c] = times.map(|time| format!("{:.2} µs", time.as_secs_f64() * 1e6));
        println!("| {name} | {a} | {b} | {c} | {:.1} |", times[2].as_secs_f64() / times[0].as_secs_f64());
    }
}
