//! Cost of an incremental build after one of many tools has changed.

use std::io;
use std::time::Duration;

use toolkit_benches::program::{Size, Workshop, sizes};
use toolkit_benches::ways::{Way, ways};
use toolkit_plot::results::{Recorder, Table};

/// The number of repetitions, whose median is the result.
const N_ROUNDS: usize = 3;

fn main() -> io::Result<()> {
    let sizes = match sizes()? {
        Size::Quick => vec![10],
        Size::Usual => vec![200],
        Size::Given(sizes) => sizes,
    };
    let workshop = Workshop::open("rebuild", "")?;
    let ways = ways();
    for way in &ways {
        workshop.package(way.package, &way.dependencies)?;
    }
    println!("| written with | tools | whole package, CPU s | after one body | after one signature |");
    println!("|---|---:|---:|---:|---:|");
    let mut recorder = Recorder::new("cargo run --release -p toolkit-benches --bin rebuild");
    let mut table = Table::new("incremental builds", &["tools", "whole_s", "after_body", "after_signature"]);
    for way in &ways {
        for &size in &sizes {
            let whole = (way.tools)(size);
            let changes = [with_body(&whole, size / 2), with_signature(&whole, size / 2)];
            // Once for the dependencies.
            rebuilt(&workshop, way, &whole)?;
            let mut times: [Vec<Duration>; 3] = Default::default();
            for _ in 0..N_ROUNDS {
                workshop.remove_incremental()?;
                times[0].push(rebuilt(&workshop, way, &whole)?);
                for (times, changed) in times[1..].iter_mut().zip(&changes) {
                    times.push(rebuilt(&workshop, way, changed)?);
                    rebuilt(&workshop, way, &whole)?;
                }
            }
            let [full, body, signature] = times.map(median);
            let [body, signature] = [body, signature].map(|time| time / full);
            println!("| {} | {size} | {full:.1} | {:.0} % | {:.0} % |", way.name, 100.0 * body, 100.0 * signature);
            table.row(way.name, [size as f64, full, body, signature].map(Some));
        }
    }
    recorder.add(table);
    recorder.finish()
}

/// Builds the package with a source, and returns the processor time.
fn rebuilt(workshop: &Workshop, way: &Way, source: &str) -> io::Result<Duration> {
    workshop.source(way.package, "src/lib.rs", source)?;
    Ok(workshop.cargo_incremental(&["build", "--package", way.package])?.1)
}

/// Changes the body of one function.
fn with_body(source: &str, nth: usize) -> String {
    let function = format!("fn add_{nth}(");
    changed(source, |line| line.contains(&function).then(|| line.replace(" + ", " - ")))
}

/// Changes the type of one argument.
fn with_signature(source: &str, nth: usize) -> String {
    let (function, arguments) = (format!("fn add_{nth}("), format!("struct Add{nth} "));
    changed(source, |line| {
        let is_changed = line.contains(&function) || line.contains(&arguments);
        let narrowed = || line.replace("b: i64", "b: i32").replace("+ args.b", "+ i64::from(args.b)");
        is_changed.then(|| narrowed().replace("+ b", "+ i64::from(b)"))
    })
}

fn changed(source: &str, change: impl Fn(&str) -> Option<String>) -> String {
    let lines = source.lines().map(|line| change(line).unwrap_or_else(|| line.to_owned()) + "\n");
    let changed: String = lines.collect();
    assert_ne!(changed, source, "nothing has changed");
    changed
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64()
}
