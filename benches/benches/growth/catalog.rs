//! Catalogs that grow: lookup, unknown names, lists and manifests.

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use serde_json::Value;
use toolkit::catalog::{Diagnostics, Naming};
use toolkit::mcp::{Revision, ToolList};
use toolkit::{Catalog, Manifest, Tool};
use toolkit_benches::measure::Sorted;
use toolkit_plot::results::Recorder;

use crate::corpus;
use crate::table::{Cost, Growth};

type Corpus = fn(usize) -> Result<Vec<Tool>, Diagnostics>;

pub(crate) fn measure(recorder: &mut Recorder, sizes: &[usize]) -> Result<(), Box<dyn Error>> {
    for (title, corpus) in
        [("catalog of small tools", corpus::small as Corpus), ("catalog of varied tools", corpus::varied)]
    {
        let mut growth = Growth::new(title, "tools");
        for &n_tools in sizes {
            names(&mut growth, &Catalog::new(corpus(n_tools)?)?);
            whole(&mut growth, corpus, n_tools)?;
        }
        growth.report(recorder);
    }
    Ok(())
}

/// Measures names, which are looked up one at a time.
fn names(growth: &mut Growth, catalog: &Catalog) {
    let n_tools = catalog.iter().len();
    let names: Vec<String> = catalog.iter().map(|tool| tool.id().to_string()).collect();
    // In an order that no cache predicts.
    let asked: Vec<&str> = (0..1_000).map(|nth| &*names[nth * 7_919 % n_tools]).collect();
    let mut add = |row: &str, nanos| growth.add(row, n_tools, Cost { nanos, ..Cost::default() });
    let found = || asked.iter().filter(|name| catalog.get(black_box(name)).is_some()).count();
    add("`Catalog::get`", median(201, || once(found)) / asked.len() as f64);
    let middle = &names[n_tools / 2];
    for (row, name) in [
        ("unknown name: a typo", typo(middle, 1)),
        ("unknown name: two typos", typo(middle, 2)),
        ("unknown name: nothing similar", "zzyzx:qqqqqqqqqqqqqq".to_owned()),
    ] {
        add(row, median(201, || once(|| catalog.resolve(&name).is_err())));
    }
}

/// Measures what is done with all tools together, in turns.
fn whole(growth: &mut Growth, corpus: Corpus, n_tools: usize) -> Result<(), Box<dyn Error>> {
    let n_rounds = (50_000 / n_tools).clamp(3, 41);
    let naming = Naming::default();
    let catalog = Catalog::new(corpus(n_tools)?)?;
    let list = ToolList::new(&catalog, Revision::default(), naming)?.to_json();
    const ROWS: [&str; 5] = [
        "a tool: `Catalog::new`",
        "a tool: `ToolList::new`",
        "a tool: `Catalog::check`",
        "a tool: a list as a JSON value",
        "a tool: `Manifest::from_mcp_json`",
    ];
    let mut rounds = Vec::new();
    for _ in 0..n_rounds {
        let tools = corpus(n_tools)?;
        rounds.push([
            once(|| Catalog::new(tools)),
            once(|| ToolList::new(&catalog, Revision::default(), naming)),
            once(|| catalog.check(naming)),
            once(|| serde_json::from_str::<Value>(&list)),
            once(|| Manifest::from_mcp_json(&*list)),
        ]);
    }
    for (nth, row) in ROWS.into_iter().enumerate() {
        let nanos = Sorted::of(rounds.iter().map(|round| round[nth])).at(0.5) / n_tools as f64;
        // Reading a manifest is compared to reading the same text as a tree.
        let ratios = Sorted::of(rounds.iter().map(|round| round[nth] / round[3]));
        let ratio = (nth >= 3).then(|| [0.5, 0.1, 0.9].map(|quantile| ratios.at(quantile)));
        growth.add(row, n_tools, Cost { nanos, ratio, ..Cost::default() });
    }
    Ok(())
}

/// Swaps the two characters at the start of the name, and removes another one if there are two typos.
fn typo(name: &str, n_typos: usize) -> String {
    let (space, rest) = name.split_once(':').unwrap_or(("", name));
    let mut rest: Vec<char> = rest.split(':').next().unwrap_or(rest).chars().collect();
    rest.swap(0, 1);
    if n_typos > 1 {
        rest.remove(3);
    }
    format!("{space}:{}", rest.into_iter().collect::<String>())
}

/// Returns the nanoseconds that the work takes, without dropping its result.
fn once<T>(work: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    let result = black_box(work());
    let taken: Duration = start.elapsed();
    drop(result);
    taken.as_nanos() as f64
}

fn median(n: usize, work: impl Fn() -> f64) -> f64 {
    Sorted::of((0..n).map(|_| work())).at(0.5)
}
